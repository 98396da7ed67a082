/** Several agents on a real Redis, with real drivers on some of them: calls are made where the plugin is. */
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { type FaultDriver, faultDriver } from '../../dist/src/tools/fault-driver/fault-driver.js';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import type { RedisProcess } from '../redis/servers.js';
import { refusalOf } from '../refusal.js';
import { loggerInto, Scene } from '../scenarios/redis-scene.js';
import { reportOf, volumeOf } from '../scenarios/redis-volumes-scene.js';
import { eventually } from '../until.js';

describe('calls where the plugin is', () => {
  const scene = new Scene();
  let server: RedisProcess;
  let driver: FaultDriver;

  beforeEach(async () => {
    server = await scene.lab.server();
    driver = await driverOf();
  });
  afterEach(() => scene.clear());

  async function driverOf(): Promise<FaultDriver> {
    const folder = scene.directory();
    const made = await faultDriver({
      ...{ socketPath: join(folder, 'csi.sock'), nodeId: 'node-1', peerNodes: ['node-2'], attach: true },
      dataDir: join(folder, 'data'),
    });
    scene.atEnd(() => made.stop());
    return made;
  }

  async function agent(
    nodeId: string,
    options: { secrets?: Record<string, string>; own?: 'never' } = {},
  ): Promise<Runtime> {
    const runtime = await createRuntime({
      ...{ nodeId, dataDir: join(scene.directory(), 'data'), store: redisStore(server.url), logger: loggerInto([]) },
      ...{ retry: { initialMs: 5, maxMs: 50 }, calls: { timeoutMs: 5_000 }, fingerprint: { intervalMs: 200 } },
      ...(options.own && { cluster: { own: options.own } }),
      ...(options.secrets && { secrets: { resolve: async () => options.secrets ?? {} } }),
    });
    scene.atEnd(() => runtime.close().catch(() => undefined));
    return runtime;
  }

  async function register(runtime: Runtime, of: FaultDriver, name: string, options = {}): Promise<void> {
    const connection = { socketPath: of.socketPath };
    const info = { type: 'csi-controller', name, allocId: `${name}-1`, connection, options };
    await runtime.plugins.register(info);
    await runtime.plugins.waitFor('csi-controller', name, { until: 'healthy' });
  }

  const rpcs = (of: FaultDriver): string[] =>
    of.calls().flatMap(({ rpc }) => (/Volume$/.test(rpc) && !rpc.startsWith('List') ? [rpc] : []));
  const key = { id: 'data' };

  /** The owner has a plugin of its own, so that it stays the owner; `disk` is at the others. */
  async function ownerWithout(secrets?: Record<string, string>): Promise<Runtime> {
    const owner = await agent('agent-a', secrets && { secrets });
    await register(owner, await driverOf(), 'other');
    expect(owner.leadership.isOurs).to.equal(true);
    return owner;
  }

  it('D3 plugin on another host than the owner: a volume from creation to deletion, asked on both', async () => {
    const owner = await ownerWithout();
    const other = await agent('agent-b');
    await register(other, driver, 'disk');
    await owner.nodes.report(reportOf('node-1'));
    const made = await owner.volumes.create(volumeOf('data'));
    expect(made.state).to.equal('created');
    await owner.volumes.publish(key, 'node-1');
    await other.volumes.unpublish(key, 'node-1');
    await owner.volumes.expand(key, { requiredBytes: 2 ** 31 });
    await other.snapshots.create({ id: 'nightly', volume: key });
    await owner.snapshots.delete({ id: 'nightly' });
    expect(await owner.volumes.reconcile('disk')).to.have.nested.property('[0].volumes', 1);
    await owner.volumes.delete(key);
    expect(other.leadership.isOurs).to.equal(false);
    expect(rpcs(driver)).to.deep.equal([
      'CreateVolume',
      'ControllerPublishVolume',
      'ControllerUnpublishVolume',
      'ControllerExpandVolume',
      'DeleteVolume',
    ]);
    expect(driver.violations().map(({ text }) => text)).to.deep.equal([]);
  });

  it('D3 an error of the plugin on another host is that of a plugin here', async () => {
    const owner = await ownerWithout();
    await register(await agent('agent-b'), driver, 'disk');
    driver.script('CreateVolume', { code: 'INVALID_ARGUMENT', text: 'no such class' });
    const refused = await refusalOf(owner.volumes.create(volumeOf('data')));
    expect(refused).to.include({ code: 'CSI_ERROR', rpc: 'CreateVolume', grpcCode: 'INVALID_ARGUMENT', final: true });
    expect(refused.message).to.include('no such class');
  });

  it('D3 secrets are resolved by the agent that makes the call', async () => {
    const owner = await ownerWithout({});
    const other = await agent('agent-b', { secrets: { token: 'known at b' } });
    await register(other, driver, 'disk');
    await other.volumes.create({ ...volumeOf('data'), secrets: { token: 'TOKEN' } });
    expect((await owner.volumes.get(key))?.state).to.equal('created');
    const [create] = driver.calls().filter(({ rpc }) => rpc === 'CreateVolume');
    expect(inspect(create, { depth: 9 }))
      .to.include('token')
      .and.not.to.include('known at b');
  });

  it('D3 plugin nowhere: refused; unhealthy everywhere: waits, and says what is wrong with each instance', async () => {
    const owner = await ownerWithout();
    expect(await refusalOf(owner.volumes.create(volumeOf('data')))).to.include({ code: 'PLUGIN_NOT_FOUND' });
    await register(await agent('agent-b'), driver, 'disk');
    const second = await driverOf();
    await register(await agent('agent-c'), second, 'disk');
    await owner.volumes.create(volumeOf('first'));
    await driver.stop();
    await second.stop();
    await eventually('both are seen unhealthy', async () => {
      const late = await refusalOf(owner.volumes.create(volumeOf('data'), { timeoutMs: 300 }));
      return ['agent-b', 'agent-c'].every((node) => late.message.includes(`of node ${node} can't be called`));
    });
    await driver.start();
    await eventually('it is made', async () => (await owner.volumes.get(key))?.state === 'created');
  });

  it('D3 the agent with the plugin ends in order while it makes a call: another instance makes it', async () => {
    const owner = await ownerWithout();
    const leaving = await agent('agent-b');
    await register(leaving, driver, 'disk');
    driver.script('CreateVolume', { hang: 'before' });
    const made = owner.volumes.create(volumeOf('data'));
    await eventually('the call is there', () => rpcs(driver).length === 1);
    await register(await agent('agent-c'), driver, 'disk');
    await leaving.close();
    expect((await made).state).to.equal('created');
    expect(driver.violations().map(({ text }) => text)).to.deep.equal([]);
  });

  it('D4 volumes of a plugin of scope host: called at their homes, wherever they are asked for', async () => {
    const owner = await agent('agent-a');
    await register(owner, driver, 'disk', { scope: 'host' });
    const other = await agent('agent-b');
    const second = await driverOf();
    await register(other, second, 'disk', { scope: 'host' });
    await other.volumes.create(volumeOf('theirs'));
    await owner.volumes.create(volumeOf('ours'));
    await owner.volumes.create(volumeOf('named'), { home: 'agent-b' });
    const homes = { ours: rpcs(driver).length, theirs: rpcs(second).length };
    expect(homes).to.deep.equal({ ours: 1, theirs: 2 });
    expect(await owner.volumes.reconcile('disk')).to.have.nested.property('[0].volumes', 3);
    await owner.volumes.delete({ id: 'theirs' });
    await other.volumes.delete({ id: 'ours' });
    expect(rpcs(driver)).to.deep.equal(['CreateVolume', 'DeleteVolume']);
    expect(rpcs(second)).to.deep.equal(['CreateVolume', 'CreateVolume', 'DeleteVolume']);
    await other.close();
    const late = await refusalOf(owner.volumes.delete({ id: 'named' }, { timeoutMs: 500 }));
    expect(late.code).to.equal('TIMEOUT');
    expect(late.message).to.include('node agent-b');
    expect(rpcs(driver)).to.have.lengthOf(2);
  });

  it('D10 an agent that never works on volumes stands by for none, and has its requests done', async () => {
    const worker = await agent('agent-a', { own: 'never' });
    const owner = await agent('agent-b');
    await register(owner, driver, 'disk');
    expect((await worker.volumes.create(volumeOf('data'))).state).to.equal('created');
    await owner.close();
    const late = await refusalOf(worker.volumes.delete(key, { timeoutMs: 1_500 }));
    expect([late.code, worker.leadership.isOurs]).to.deep.equal(['TIMEOUT', false]);
    expect(late.message).to.include('no agent is known that works on volumes');
  });
});
