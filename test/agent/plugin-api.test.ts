/** Plugins that somebody else runs: registered and deregistered through the API and the command line. */
import { join } from 'node:path';
import { expect } from 'chai';
import { serveApi } from '../../src/agent/api.js';
import { FakePlugin, stopFakePlugins } from '../csi/fake-plugin.js';
import { askAgent } from '../support/ask-agent.js';
import { TaskHouse, until } from '../tasks/task-house.js';
import { type Said, stagecraft } from './api-house.js';

describe('plugins of somebody else, through the API', () => {
  let house: TaskHouse;
  let socketPath: string;
  let pluginSocket: string;
  let closeApi: (() => Promise<void>) | undefined;

  const serve = async (): Promise<void> => {
    const drain = async (): Promise<void> => {};
    closeApi = await serveApi({ runtime: house.runtime, socketPath, version: '0', storeKind: 'lmdb', drain });
  };
  const cli = (...args: string[]): Promise<Said> => stagecraft(...args, '--socket', socketPath);

  beforeEach(async () => {
    house = await new TaskHouse().open();
    socketPath = join(house.dataDir, 'agent.sock');
    pluginSocket = join(house.dataDir, 'plugin.sock');
    await FakePlugin.listen(pluginSocket);
    await serve();
  });
  afterEach(async () => {
    await closeApi?.();
    await stopFakePlugins();
    await house.runtime.close({ release: true });
    await house.dispose();
  });

  it('34.21 registered through the API: it is healthy, stays over a restart of the agent, goes when asked', async () => {
    const registration = {
      type: 'csi-node',
      name: 'nfs',
      allocId: 'external',
      connection: { socketPath: pluginSocket },
    };
    for (const body of [registration, registration]) await askAgent(socketPath, 'POST', '/v1/plugins', { body });
    const path = '/v1/plugins/csi-node/nfs';
    expect(await askAgent(socketPath, 'GET', `${path}?waitFor=healthy`)).to.include({ state: 'healthy', instances: 1 });
    await closeApi?.();
    await house.runtime.close();
    await house.open();
    await serve();
    expect(await askAgent(socketPath, 'GET', `${path}?waitFor=healthy`)).to.include({ state: 'healthy' });
    await askAgent(socketPath, 'POST', `${path}/deregister`, { body: { allocId: 'external' } });
    expect(await askAgent(socketPath, 'GET', '/v1/plugins')).to.deep.equal([]);
  });

  it('34.21 a registration with faults is refused with each of them; an unknown instance is not found', async () => {
    const body = { type: 'csi-node', name: 'nfs', allocId: 'external', connection: { socketPath: 'plugin.sock' } };
    const refusal = (ask: Promise<unknown>): Promise<unknown> => ask.catch((error: unknown) => error);
    expect(await refusal(askAgent(socketPath, 'POST', '/v1/plugins', { body }))).to.include({
      code: 'SOCKET_PATH_RELATIVE',
    });
    const unknown = askAgent(socketPath, 'POST', '/v1/plugins/csi-node/nfs/deregister', { body: { allocId: 'x' } });
    expect(await refusal(unknown)).to.include({ code: 'PLUGIN_NOT_FOUND' });
  });

  it('34.21 the instance of a task is not deregistered: the task is named', async () => {
    await house.runtime.tasks.start({ id: 'nfs', type: 'node', socket: pluginSocket });
    await until(house.updates, 'healthy');
    const { allocId } = house.runtime.tasks.status('nfs');
    const asked = askAgent(socketPath, 'POST', '/v1/plugins/csi-node/nfs/deregister', { body: { allocId } });
    const refusal = await asked.catch((error: unknown) => error);
    expect(refusal).to.include({ code: 'INVALID_ARGUMENT' });
    expect(String(refusal)).to.include('stagecraft task stop nfs');
  });

  it('34.21 plugin register and deregister: both sides at once, with options', async () => {
    const both = ['--type', 'csi-controller', 'csi-node'];
    const registered = await cli('plugin', 'register', 'nfs', ...both, '--at', pluginSocket, '--option', 'scope=host');
    expect(registered.stdout).to.equal(
      `plugin nfs is registered at ${pluginSocket}: see stagecraft plugin status nfs\n`,
    );
    expect(
      house.runtime.plugins.list().map(({ type, allocId, options }) => ({ type, allocId, options })),
    ).to.deep.equal([
      { type: 'csi-controller', allocId: 'external', options: { scope: 'host' } },
      { type: 'csi-node', allocId: 'external', options: { scope: 'host' } },
    ]);
    expect((await cli('plugin', 'deregister', 'nfs', ...both)).code).to.equal(0);
    expect(house.runtime.plugins.list()).to.deep.equal([]);
  });
});
