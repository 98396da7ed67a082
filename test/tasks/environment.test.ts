/** Values in the environment of a task may be secrets: nothing that is shown of it has them. */
import { expect } from 'chai';
import type { TaskOptions } from '../../src/index.js';
import { TaskHouse } from './task-house.js';

describe('the environment of a task', () => {
  let house: TaskHouse;

  beforeEach(async () => {
    house = await new TaskHouse().open();
  });
  afterEach(() => house.dispose());

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
