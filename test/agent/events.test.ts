/** `stagecraft events`, in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { mainPath } from '../scenarios/agent-process.js';
import { ApiHouse } from './api-house.js';

describe('stagecraft events', () => {
  let api: ApiHouse;

  beforeEach(async () => {
    api = await new ApiHouse().open();
  });
  afterEach(() => api.dispose());

  const events = async (...args: string[]): Promise<{ code: number | null; lines: string[]; stderr: string }> => {
    const { stdout, ...said } = await api.cli('events', ...args);
    return { ...said, lines: stdout.split('\n').filter((line) => line !== '') };
  };

  it('what is kept, a line each; with --json the ids, from which it goes on', async () => {
    for (const id of ['a', 'b']) await api.create(id);
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
    for (const id of ['a', 'b']) await api.create(id);
    const kinds = (await events('--kind', 'created', '--address', 'volume/default/b', '--json')).lines.map((line) =>
      JSON.parse(line),
    );
    expect(kinds.map(({ address, kind }) => `${address} ${kind}`)).to.deep.equal(['volume/default/b created']);
    expect((await events('--plugin', 'none')).lines).to.deep.equal([]);
  });

  it('--follow prints what happens, until Ctrl-C', async () => {
    const child = spawn(process.execPath, [mainPath, 'events', '--follow', '--from', '0', '--socket', api.socketPath]);
    const seen: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => seen.push(line));
    while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await api.create('later');
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
