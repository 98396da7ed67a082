/** `stagecraft events`, in a process of its own. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { serveApi } from '../../src/agent/api.js';
import { mainPath } from '../scenarios/agent-process.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

describe('stagecraft events', function () {
  this.timeout(30_000);
  let house: VolumeHouse;
  let socketPath: string;
  let closeApi: (() => Promise<void>) | undefined;

  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    socketPath = join(house.directory, 'agent.sock');
    closeApi = await serveApi({
      runtime: house.runtime,
      socketPath,
      version: '0',
      storeKind: 'lmdb',
      drain: async () => {},
    });
  });

  afterEach(async () => {
    await closeApi?.();
    await house.dispose();
  });

  const events = (...args: string[]): Promise<{ code: number | null; lines: string[]; stderr: string }> =>
    new Promise((resolve) => {
      const command = [mainPath, 'events', ...args, '--socket', socketPath];
      const child = execFile(process.execPath, command, (_, stdout, stderr) =>
        resolve({ code: child.exitCode, lines: stdout.split('\n').filter((line) => line !== ''), stderr }),
      );
    });

  async function create(id: string): Promise<void> {
    const creating = house.runtime.volumes.create(spec(id));
    await house.rest();
    await creating;
  }

  it('what is kept, a line each; with --json the ids, from which it goes on', async () => {
    for (const id of ['a', 'b']) await create(id);
    const { code, lines } = await events('--topic', 'volumes');
    expect(code).to.equal(0);
    expect(lines.join('\n')).to.match(/volume default\/a: created, .*\n.*volume default\/b: created/);
    const all = (await events('--topic', 'volumes', '--json')).lines.map((line) => JSON.parse(line));
    const rest = (await events('--topic', 'volumes', '--json', '--from', all[0].id)).lines.map((line) =>
      JSON.parse(line),
    );
    expect(rest).to.deep.equal(all.slice(1));
  });

  it('chooses by kind, address and plugin', async () => {
    for (const id of ['a', 'b']) await create(id);
    const kinds = (await events('--kind', 'created', '--address', 'volume/default/b', '--json')).lines.map((line) =>
      JSON.parse(line),
    );
    expect(kinds.map(({ address, kind }) => `${address} ${kind}`)).to.deep.equal(['volume/default/b created']);
    expect((await events('--plugin', 'none')).lines).to.deep.equal([]);
  });

  it('--follow prints what happens, until Ctrl-C', async () => {
    const child = spawn(process.execPath, [mainPath, 'events', '--follow', '--from', '0', '--socket', socketPath]);
    const seen: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => seen.push(line));
    while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await create('later');
    while (!seen.some((line) => line.includes('default/later: created')))
      await new Promise((resolve) => setTimeout(resolve, 10));
    child.kill('SIGINT');
    const [code] = await once(child, 'exit');
    expect(code).to.equal(0);
  });

  it('an unknown topic, an id of another node: refused, exit code 1', async () => {
    const { code, stderr } = await events('--topic', 'other');
    expect(code).to.equal(1);
    expect(stderr).to.contain("there is no topic 'other'");
    expect((await events('--from', 'elsewhere@volumes-1')).stderr).to.contain('another node');
  });
});
