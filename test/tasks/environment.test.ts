/** Values in the environment of a task may be secrets: nothing that is shown of it has them, and no record. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { TaskOptions } from '../../src/index.js';
import { signalGroup } from '../../src/tasks/processes.js';
import { findProcesses } from './found.js';
import { TaskHouse, until } from './task-house.js';

/** Prints its variable into a file of its own directory, then lives on without a socket. */
const printing: TaskOptions = {
  id: 'hostpath',
  type: 'node',
  command: ['sh', '-c', 'cd "$STAGECRAFT_TASK_DIR"; printf %s "$TOKEN" > new; mv new token; sleep 600'],
  healthTimeoutMs: 600_000,
};

describe('the environment of a task', () => {
  let house: TaskHouse;

  beforeEach(async () => {
    house = await new TaskHouse().open();
  });
  afterEach(() => house.dispose());

  const tokenPath = (): string => join(house.dataDir, 'tasks', 'hostpath', 'token');
  /** Reads the text that the process has printed, once it differs from the last one. */
  const printed = async (before = ''): Promise<string> => {
    for (;;) {
      const text = existsSync(tokenPath()) ? readFileSync(tokenPath(), 'utf8') : before;
      if (text !== before && text !== '') return text;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  /** Whether a text is in any file of the store. */
  const isStored = (text: string): boolean => {
    const state = join(house.dataDir, 'state');
    return readdirSync(state).some((name) => readFileSync(join(state, name)).includes(text));
  };
  /** Another runtime of the same data directory, before which the process of the task has ended or not. */
  const restart = async (isLost: boolean): Promise<void> => {
    await house.runtime.close();
    if (isLost) for (const { group } of findProcesses(`${house.dataDir}#hostpath`)) signalGroup(group, 'SIGKILL');
    await house.open();
  };

  it('34.11 a value that is a text reaches the process, and no byte of the store', async () => {
    await house.runtime.tasks.start({ ...printing, env: { TOKEN: 'planted-value' } });
    expect(await printed()).to.equal('planted-value');
    expect([isStored('TOKEN'), isStored('planted-value')]).to.deep.equal([true, false]);
  });

  it('34.11 after a restart the same values leave the process alone, others begin another run', async () => {
    const { tasks } = house.runtime;
    await tasks.start({ ...printing, env: { TOKEN: 'planted-value' } });
    await printed();
    const { allocId } = tasks.status('hostpath');
    await restart(false);
    await house.runtime.tasks.start({ ...printing, env: { TOKEN: 'planted-value' } });
    expect(house.runtime.tasks.status('hostpath').allocId).to.equal(allocId);
    await house.runtime.tasks.start({ ...printing, env: { TOKEN: 'another' } });
    expect(house.runtime.tasks.status('hostpath').allocId).to.not.equal(allocId);
  });

  it('34.11 process lost, runtime restarted: the run waits for its values, and begins once they are given', async () => {
    await house.runtime.tasks.start({ ...printing, env: { TOKEN: 'planted-value' } });
    await printed();
    await restart(true);
    const [end] = (await until(house.updates, 'exited')).filter(({ type }) => type === 'exited');
    // The log may have values in it, which nobody knows yet.
    expect(end).to.have.nested.property('end.tail').that.includes('not shown: values of its environment');
    await house.runtime.tasks.start({ ...printing, env: { TOKEN: 'planted-value' } });
    await until(house.updates, 'started');
    expect(house.pids).to.have.length.above(0);
  });

  it('34.11 two starts of one task at the same time: its later runs have the values of the second', async () => {
    const { tasks } = house.runtime;
    await Promise.all(['first', 'second'].map((TOKEN) => tasks.start({ ...printing, env: { TOKEN } })));
    rmSync(tokenPath(), { force: true });
    await tasks.restart('hostpath');
    expect(await printed('first')).to.equal('second');
  });

  it('34.11 a secret is fetched at each start, a stored value is in the record by choice', async () => {
    await house.runtime.close();
    let value = 'planted-first';
    await house.open({
      secrets: { resolve: async (refs) => Object.fromEntries(Object.keys(refs).map((key) => [key, value])) },
    });
    const { tasks } = house.runtime;
    await tasks.start({ ...printing, env: { TOKEN: { secret: 'file:token' }, LEVEL: { stored: 'chosen-value' } } });
    expect(await printed()).to.equal('planted-first');
    value = 'planted-second';
    await tasks.restart('hostpath');
    expect(await printed('planted-first')).to.equal('planted-second');
    expect(['chosen-value', 'planted-first', 'planted-second'].map(isStored)).to.deep.equal([true, false, false]);
    expect(tasks.status('hostpath').spec.env).to.deep.equal(['TOKEN', 'LEVEL']);
  });

  it('34.11 a secret that can not be had: the run fails with its name, and is tried again', async () => {
    await house.runtime.tasks.start({ ...printing, env: { TOKEN: { secret: 'file:token' } } });
    const restarting = (await until(house.updates, 'restarting')).at(-1);
    expect(restarting).to.have.property('reason').that.includes('no secrets provider is configured for TOKEN');
  });

  it('T1 journal, replay and status tell the names of its variables and none of their values', async () => {
    const { tasks, journal } = house.runtime;
    const spec: TaskOptions = { id: 'hostpath', type: 'node', command: ['sleep', '600'] };
    await tasks.start({ ...spec, env: { TOKEN: 'first secret' } });
    await tasks.start({ ...spec, env: { TOKEN: 'second secret' } });
    const address = 'task/n1/hostpath';
    const entries = [];
    for await (const entry of journal.entries(address)) entries.push(entry);
    const shown = [...entries, await journal.replay(address), await journal.replay(address, { to: 1 })];
    expect(entries.filter((entry) => JSON.stringify(entry).includes('"env":{"TOKEN":"***"}'))).to.have.length.above(1);
    for (const one of shown.slice(-2)) expect(JSON.stringify(one)).to.include('"env":{"TOKEN":"***"}');
    expect(JSON.stringify([shown, tasks.list()])).to.not.include('secret');
    expect(tasks.status('hostpath').spec.env).to.deep.equal(['TOKEN']);
  });
});
