/** Recorded journals of every version lead to the same states with the machines of this version. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { catalog } from '../../machines/catalog.js';
import type { JournalCheck } from '../../src/journal/check-journal.js';
import { mainPath } from '../scenarios/agent-process.js';
import { journalsOf, journalVersions } from './journals.js';

type Check = JournalCheck & { file: string };

describe('recorded journals', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-journals-'));
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  const check = (paths: string[]): Promise<{ code: number | null; checks: Check[] }> =>
    new Promise((resolve) => {
      const args = [mainPath, 'replay', '--check', ...paths, '--json'];
      const child = execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (_, stdout) =>
        resolve({ code: child.exitCode, checks: JSON.parse(stdout) }),
      );
    });

  /** Files of the journals of a version. */
  const written = (version: string, change = (text: string) => text): string[] =>
    journalsOf(version).map((text, index) => {
      const path = join(directory, `${index}.ndjson`);
      writeFileSync(path, change(text));
      return path;
    });

  for (const version of journalVersions())
    it(`J5 replay --check: those of version ${version} lead to the same states with this version`, async () => {
      const { code, checks } = await check(written(version));
      expect(checks.filter(({ divergence }) => divergence)).to.deep.equal([]);
      expect(code).to.equal(0);
    });

  it('J5 those of the present version show every machine, and nearly every entry is compared', async () => {
    const { checks } = await check(written('4'));
    const compared = new Map<string, number>();
    const sum = { compared: 0, skipped: 0 };
    for (const { address, compared: count, skipped } of checks) {
      const machine = address.slice(0, address.indexOf('/'));
      compared.set(machine, (compared.get(machine) ?? 0) + count);
      sum.compared += count;
      sum.skipped += skipped;
    }
    for (const machine of catalog.keys()) expect(compared.get(machine), machine).to.be.greaterThan(3);
    expect(sum.compared).to.be.greaterThan(2_500);
    expect(sum.skipped).to.be.lessThan(sum.compared / 20);
  });

  it('J5 a state that differs from the recorded one: exit code 1, with seq, expected and got', async () => {
    const [path = ''] = written('4', (text) => text.replace('"after":{"state":"created"', '"after":{"state":"failed"'));
    const { code, checks } = await check([path]);
    expect(code).to.equal(1);
    const [{ divergence } = {}] = checks.filter((one) => one.divergence);
    expect(divergence).to.deep.include({ path: 'state', expected: 'failed', got: 'created' });
  });
});
