/** API of tasks, with a runtime that knows the users of its plugins. */
import { join } from 'node:path';
import { expect } from 'chai';
import { serveApi } from '../../src/agent/api.js';
import { answerOf } from '../scenarios/agent-process.js';
import { askAgent } from '../support/ask-agent.js';
import { hostpath, TaskHouse } from '../tasks/task-house.js';

describe('A4 T7 a task whose plugin is in use, through the API', () => {
  const used = ['volume default/data'];
  let house: TaskHouse;
  let closeApi: (() => Promise<void>) | undefined;
  let socketPath: string;

  const refusalOf = (ask: Promise<unknown>): Promise<unknown> => ask.catch((error: unknown) => error);

  beforeEach(async () => {
    house = await new TaskHouse().open({ dependents: async () => used });
    socketPath = join(house.dataDir, 'agent.sock');
    const drain = async (): Promise<void> => {};
    closeApi = await serveApi({ runtime: house.runtime, socketPath, version: '0', storeKind: 'lmdb', drain });
    await house.runtime.tasks.start(hostpath);
    await house.runtime.plugins.waitFor('csi-node', 'hostpath', { timeoutMs: 120_000 });
  });
  afterEach(async () => {
    await closeApi?.();
    await house.dispose();
  });

  it('A4 T7 stop and remove are refused and name the user; with force they succeed', async () => {
    const path = '/v1/tasks/hostpath';
    for (const ending of ['stop', 'remove']) {
      const error = await refusalOf(askAgent(socketPath, 'POST', `${path}/${ending}`));
      expect(error).to.include({ code: 'PLUGIN_IN_USE' });
      expect(String(error)).to.include('volume default/data');
      const answer = await answerOf(socketPath, 'POST', `${path}/${ending}`, { force: false });
      expect(answer).to.deep.equal({ status: 409, code: 'PLUGIN_IN_USE' });
    }
    expect(await askAgent(socketPath, 'GET', path)).to.include({ state: 'running' });
    await askAgent(socketPath, 'POST', `${path}/remove`, { body: { force: true } });
    expect(await askAgent(socketPath, 'GET', '/v1/tasks')).to.deep.equal([]);
    expect(house.pids).to.deep.equal([]);
  });
});
