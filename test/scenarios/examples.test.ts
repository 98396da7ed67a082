/** The examples in files of their own, run as their users would, and shown by the documents as they are. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const page = readFileSync(join(docs, 'kinds-of-plugins.md'), 'utf8');

describe('the example of a kind of plugin', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-example-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('R15 a kind of its own: found healthy and used, seen to die and to come back; nothing is left of it', async () => {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [join(docs, 'examples', 'device', 'main.mjs')],
      { env: { ...process.env, TMPDIR: directory }, timeout: 25_000 },
    );
    expect(stderr).to.equal('');
    const [found = '', told = ''] = stdout.split('registered\n');
    expect(found.replace(/\s+/g, ' ')).to.equal(
      "healthy { pluginName: 'acme thermometer', vendorVersion: '1.4.0', capabilities: [ 'READ', 'CALIBRATE' ] } { celsius: 21.5 } ",
    );
    // Whether its daemon listens when it is first looked at is chance.
    expect(told).to.match(
      /^(?:unknown → healthy: ready\n|unknown → unhealthy: failed initial .*\nunhealthy → healthy: ready\n)healthy → unhealthy: .+\nunhealthy → healthy: ready\n\{ celsius: 21\.5 \}\n$/,
    );
    expect(readdirSync(directory)).to.deep.equal([]);
    const runs = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(directory));
    expect(runs).to.deep.equal([]);
  });

  for (const file of readdirSync(join(docs, 'examples', 'device'))) {
    it(`R15 docs/kinds-of-plugins.md shows ${file} as it is`, () => {
      const [, block] = new RegExp(`\\]\\(examples/device/${file}\\)\n\n\`\`\`js\n(.*?)\`\`\``, 's').exec(page) ?? [];
      expect(block).to.equal(readFileSync(join(docs, 'examples', 'device', file), 'utf8'));
    });
  }
});

/** Empty where the process has gone meanwhile. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
