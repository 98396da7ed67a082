/** `stagecraft replay` and `journal export`, in processes of their own: on a running agent, and on a file without one. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { serveApi } from '../../src/agent/api.js';
import type { Commit } from '../../src/engine/store.js';
import { mainPath } from '../scenarios/agent-process.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

describe('stagecraft replay', () => {
  let house: VolumeHouse;
  let socketPath: string;
  let closeApi: (() => Promise<void>) | undefined;

  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    socketPath = join(house.directory, 'agent.sock');
    closeApi = await served();
    let failures = 2;
    house.plugin.script = ({ rpc }) => {
      failures -= rpc === 'ControllerPublishVolume' ? 1 : 0;
      return rpc === 'ControllerPublishVolume' && failures >= 0 ? { code: 'INTERNAL', text: 'no luck' } : undefined;
    };
    const creating = house.runtime.volumes.create(spec('data'));
    await house.rest();
    await creating;
    const publishing = house.runtime.volumes.publish({ id: 'data' }, 'a');
    await house.clock.advance(10_000);
    await publishing;
  });

  afterEach(async () => {
    await closeApi?.();
    await house.dispose();
  });

  const served = (): Promise<() => Promise<void>> =>
    serveApi({ runtime: house.runtime, socketPath, version: '0', storeKind: 'lmdb', drain: async () => {} });

  const address = 'volume/default/data';

  const cli = (...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> =>
    new Promise((resolve) => {
      const child = execFile(process.execPath, [mainPath, ...args], (_, stdout, stderr) =>
        resolve({ code: child.exitCode, stdout, stderr }),
      );
    });
  const onAgent = (...args: string[]): ReturnType<typeof cli> => cli(...args, '--socket', socketPath);

  /** An export of all journals. */
  async function exported(): Promise<string> {
    const path = join(house.directory, 'all.jsonl');
    expect((await onAgent('journal', 'export', '--output', path)).code).to.equal(0);
    return path;
  }

  it('J2 --to: state, context, effects asked for and timers due, as they were right after that entry', async () => {
    const lines = JSON.parse((await onAgent('history', address, '--json')).stdout).lines;
    const failed = lines.find(({ code }: { code?: string }) => code === 'INTERNAL');
    const { stdout } = await onAgent('replay', 'volume', 'data', '--to', String(failed.seq));
    expect(stdout).to.match(/^what +ControllerPublishVolume: INTERNAL \(from disk, attempt 1/m);
    expect(stdout).to.match(/^publication\/a +in-doubt\.backing-off +.*no luck/m);
    expect(stdout).to.match(/^TIMER +DUE\n\S+ +\d{4}-/m);
    const moment = JSON.parse((await onAgent('replay', address, '--to', String(failed.seq), '--json')).stdout);
    const live = await house.runtime.journal.replay(address, { to: failed.seq });
    expect(moment.snapshot).to.deep.equal({ value: live.snapshot?.value, context: live.snapshot?.context });
  });

  it('J2 --step and --back go on from there; --diff shows what the entry has changed', async () => {
    const seqOf = async (...args: string[]): Promise<number> =>
      JSON.parse((await onAgent('replay', address, ...args, '--json')).stdout).seq;
    const last = await seqOf();
    expect(await seqOf('--back', '2')).to.equal(last - 2);
    expect(await seqOf('--to', '2', '--step', '1')).to.equal(3);
    expect(await seqOf('--to', '2', '--back', '100')).to.equal(1);
    const { stdout } = await onAgent('replay', address, '--diff');
    expect(stdout).to.contain('~ publications.a.at: "in-doubt" → "published"');
    expect(stdout).not.to.contain('"uid"');
  });

  it('J4 an exported file replays without an agent, to the same moments', async () => {
    const path = await exported();
    for (const to of ['1', '4', '6']) {
      const fromFile = JSON.parse((await cli('replay', path, address, '--to', to, '--json')).stdout);
      const fromAgent = JSON.parse((await onAgent('replay', address, '--to', to, '--json')).stdout);
      expect(fromFile, to).to.deep.equal(fromAgent);
    }
    const { code, stderr } = await cli('replay', path);
    expect(code).to.equal(2);
    expect(stderr).to.match(/actors: name one after it/);
  });

  it('J4 to the standard output, of one actor; a file that could not be written whole is not left', async () => {
    const { stdout } = await onAgent('journal', 'export', address);
    const lines = stdout.trimEnd().split('\n');
    expect(JSON.parse(lines[1] ?? '')).to.include({ actor: address });
    expect(JSON.parse(lines.at(-1) ?? '')).to.include({ end: true, actors: 1 });
    const path = join(house.directory, 'none.jsonl');
    const { code, stderr } = await onAgent('journal', 'export', 'volume/default/other', '--output', path);
    expect(code, stderr).not.to.equal(0);
    expect(() => readFileSync(path)).to.throw();
    expect(() => readFileSync(`${path}.part`)).to.throw();
  });

  it('J5 --check: the same machines agree with a journal; a changed entry is found, exit code 1', async () => {
    const path = await exported();
    expect(await cli('replay', '--check', path)).to.include({ code: 0 });
    const text = readFileSync(path, 'utf8');
    const changed = join(house.directory, 'changed.jsonl');
    writeFileSync(changed, text.replace('"no luck', '"bad luck').replace('"state":"created"', '"state":"failed"'));
    const { code, stdout } = await cli('replay', '--check', path, changed);
    expect(code).to.equal(1);
    expect(stdout).to.match(/changed\.jsonl: .*: DIFFERS at entry \d+: /);
    const checks = JSON.parse((await cli('replay', '--check', changed, '--json')).stdout);
    expect(checks.find(({ divergence }: { divergence?: object }) => divergence).divergence).to.have.keys(
      ...['seq', 'path', 'expected', 'got'],
    );
  });

  /** Has a message delivered at the next start of the runtime, at which the machine of the volume throws. */
  async function crashed(): Promise<void> {
    const { store } = house;
    const commit = store.commit.bind(store);
    const event = { type: 'volume.claim' };
    const outbox = JSON.stringify({ messages: [{ to: address, event }], events: [] });
    store.commit = (items) => {
      const at = items.findIndex((item) => item.address === 'volume/default/other' && !item.outbox);
      if (at >= 0) store.commit = commit;
      return commit(at < 0 ? items : items.with(at, { ...(items[at] as Commit), outbox }));
    };
    const creating = house.volumes.create(spec('other'));
    await house.rest();
    await creating;
    await closeApi?.();
    await house.restart();
    closeApi = await served();
  }

  it('J7 --crash: the steps that led to it, and the stack of the machine, from the agent and from a file', async () => {
    await crashed();
    const path = await exported();
    for (const { code, stdout } of [
      await onAgent('replay', address, '--crash'),
      await cli('replay', path, address, '--crash'),
    ]) {
      expect(code).to.equal(0);
      expect(stdout).to.match(/^\d+ .* ControllerPublishVolume: OK .*\n(\d+ .*\n)*\d+ .* volume\/default\/other /m);
      expect(stdout).to.match(
        /^the machine threw, and keeps its state:\n(.*\n)*caused by TypeError: .*\n {4}at .*requests/m,
      );
      expect(stdout).to.match(/^state +published$/m);
    }
    const { steps, moment } = JSON.parse((await onAgent('replay', address, '--crash', '--json')).stdout);
    expect(steps.at(-1).seq).to.equal(moment.seq);
    expect(moment.entry).to.include({ kind: 'crash' });
    expect((await cli('replay', '--check', path)).code).to.equal(0);
  });

  it('J7 --crash of an actor that never threw: says so', async () => {
    const { code, stderr } = await onAgent('replay', address, '--crash');
    expect(code).to.equal(2);
    expect(stderr).to.contain('never threw');
  });

  it('bad input: an actor that never was, a seq beyond the end, a file that is cut off', async () => {
    expect((await onAgent('replay', 'volume', 'other')).stderr).to.contain('there is no actor');
    expect(JSON.parse((await onAgent('replay', address, '--to', '9999', '--json')).stdout).seq).to.be.below(20);
    const path = await exported();
    const cut = join(house.directory, 'cut.jsonl');
    writeFileSync(cut, readFileSync(path, 'utf8').split('\n').slice(0, 5).join('\n'));
    const { code, stderr } = await cli('replay', cut, address);
    expect(code).not.to.equal(0);
    expect(stderr).to.match(/line \d+: the journal was cut off/);
  });
});
