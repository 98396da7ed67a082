/** Several agents on a real Redis: any of them takes any request. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type FaultDriver, faultDriver } from '../../dist/src/tools/fault-driver/fault-driver.js';
import type { Runtime } from '../../src/runtime/runtime.js';
import type { RedisProcess } from '../redis/servers.js';
import { refusalOf } from '../refusal.js';
import { lapseLeases, loggerInto, Scene } from '../scenarios/redis-scene.js';
import { VolumesChild } from '../scenarios/redis-volumes-child-driver.js';
import { openLeader, reportOf, type VolumesChildOptions, volumeOf } from '../scenarios/redis-volumes-scene.js';
import { eventually } from '../until.js';

describe('requests on any agent', () => {
  const scene = new Scene();
  let server: RedisProcess;
  let driver: FaultDriver;

  beforeEach(async () => {
    server = await scene.lab.server();
    const folder = scene.directory();
    driver = await faultDriver({
      socketPath: join(folder, 'csi.sock'),
      nodeId: 'node-1',
      peerNodes: ['node-2'],
      attach: true,
      dataDir: join(folder, 'data'),
    });
    scene.atEnd(() => driver.stop());
  });
  afterEach(() => scene.clear());

  const settings = (nodeId: string): VolumesChildOptions => ({
    url: server.url,
    nodeId,
    dataDir: join(scene.directory(), 'data'),
    socketPath: driver.socketPath,
    nodes: ['node-1', 'node-2'],
  });

  /** @param nodeSocketPath of a node plugin of its own */
  async function agent(nodeId: string, nodeSocketPath?: string): Promise<Runtime> {
    const node = nodeSocketPath === undefined ? {} : { nodeSocketPath };
    const runtime = await openLeader({ ...settings(nodeId), ...node, logger: loggerInto([]) });
    // With a node plugin the directory of mounts is shared: only a release takes that back.
    scene.atEnd(() => runtime.close({ release: nodeSocketPath !== undefined }).catch(() => undefined));
    return runtime;
  }

  const use = { mode: 'write', accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
  const key = { id: 'data' };

  it('D1 a volume from creation to deletion, all asked on the agent that does not work on volumes', async () => {
    const owner = await agent('agent-1');
    const other = await agent('agent-2');
    expect([owner.leadership.isOurs, other.leadership.isOurs]).to.deep.equal([true, false]);
    for (const id of ['node-1', 'node-2']) await other.nodes.report(reportOf(id));
    // Arguments that are left out.
    await other.volumes.reconcile();
    expect(await other.volumes.capacity('disk', undefined, {})).to.deep.equal(await owner.volumes.capacity('disk'));
    const made = await other.volumes.create({ ...volumeOf('data'), capacity: { requiredBytes: 2n ** 30n } });
    expect(made).to.include({ state: 'created', capacityBytes: 2 ** 30 });
    await other.volumes.publish(key, 'node-1');
    expect((await owner.volumes.get(key))?.publications['node-1']?.state).to.equal('published');
    const claim = await other.volumes.claim(key, { allocId: 'web', nodeId: 'node-1', ...use });
    expect(claim).to.include({ allocId: 'web', state: 'taken' });
    await other.volumes.release(key, 'web');
    await other.nodes.reportUnstaged('node-1', key, { claimGeneration: claim.generation });
    await other.snapshots.create({ id: 'nightly', volume: key });
    await other.snapshots.delete({ id: 'nightly' });
    await other.volumes.delete(key);
    expect(await owner.volumes.get(key)).to.equal(undefined);
    expect(driver.violations().map(({ text }) => text)).to.deep.equal([]);
  });

  it('D1 an error is the same as on the owner, with its code, address and faults', async () => {
    const owner = await agent('agent-1');
    const other = await agent('agent-2');
    for (const ask of [
      (runtime: Runtime) => runtime.volumes.publish({ id: 'none' }, 'node-1'),
      (runtime: Runtime) => runtime.volumes.create({ ...volumeOf('x'), plugin: 'none' }),
      (runtime: Runtime) => runtime.volumes.create({ id: 'x' } as never),
      (runtime: Runtime) => runtime.nodes.fence('none', 'gone'),
    ]) {
      const here = await refusalOf(ask(owner));
      const there = await refusalOf(ask(other));
      expect({ ...there, message: there.message }).to.deep.equal({ ...here, message: here.message });
    }
    driver.script('CreateVolume', { code: 'INVALID_ARGUMENT', text: 'no such class' }, { times: 'always' });
    const refused = await refusalOf(other.volumes.create(volumeOf('bad')));
    expect(refused).to.include({ code: 'CSI_ERROR', rpc: 'CreateVolume', grpcCode: 'INVALID_ARGUMENT', final: true });
    expect(refused.address).to.equal('volume/default/bad');
  });

  it('D1 a limit and a signal hold: the caller goes, and what was taken goes on', async () => {
    const owner = await agent('agent-1');
    const other = await agent('agent-2');
    await owner.nodes.report(reportOf('node-1'));
    driver.script('CreateVolume', { delayMs: 1_500 });
    const late = await refusalOf(other.volumes.create(volumeOf('data'), { timeoutMs: 200 }));
    expect(late.code).to.equal('TIMEOUT');
    await eventually('it is made', async () => (await owner.volumes.get(key))?.state === 'created');
    await owner.volumes.claim(key, { allocId: 'first', nodeId: 'node-1', ...use });
    const stop = new AbortController();
    const waiting = refusalOf(
      other.volumes.claim(key, { allocId: 'second', nodeId: 'node-1', ...use, wait: true, signal: stop.signal }),
    );
    await eventually('it waits', async () => (await owner.volumes.get(key))?.waiting.length === 1);
    stop.abort();
    expect((await waiting).code).to.equal('ABORTED');
    await eventually('its place is given up', async () => (await owner.volumes.get(key))?.waiting.length === 0);
  });

  it('D2 an alloc on the agent that does not work on volumes: mounted, written and released, asked there alone', async () => {
    const owner = await agent('agent-1');
    const other = await agent('agent-2', driver.socketPath);
    expect(other.leadership.isOurs).to.equal(false);
    await eventually('the node is known', async () => (await owner.nodes.list()).some(({ id }) => id === 'agent-2'));
    await other.volumes.create(volumeOf('data'));
    const { mode, ...modes } = use;
    const [mount] = await other.allocations.prepare('web', [
      { name: 'd', volume: key, mode, taskPath: '/data', ...modes },
    ]);
    const file = join(mount?.hostPath ?? '', 'hello');
    writeFileSync(file, 'kept');
    expect((await owner.volumes.get(key))?.claims.map(({ allocId, nodeId }) => [allocId, nodeId])).to.deep.equal([
      ['web', 'agent-2'],
    ]);
    await other.allocations.release('web');
    expect(existsSync(file)).to.equal(false);
    await eventually('the claim is gone', async () => (await owner.volumes.get(key))?.claims.length === 0);
    expect((await owner.volumes.get(key))?.publications).to.deep.equal({});
    expect(driver.violations().map(({ text }) => text)).to.deep.equal([]);
  });

  it('D5 the owner is killed while it works on a request: the same request is done by the next one', async () => {
    driver.script('CreateVolume', { delayMs: 2_000 }, { times: 'always' });
    const child = await VolumesChild.start(settings('agent-1'));
    scene.atEnd(() => child.kill());
    const other = await agent('agent-2');
    expect(other.leadership.isOurs).to.equal(false);
    const asked = other.volumes.create(volumeOf('data'));
    await eventually('the owner has it', async () => (await other.volumes.get(key)) !== undefined);
    await child.kill();
    expect((await other.volumes.get(key))?.state).to.equal('pending-create');
    await lapseLeases(server.client());
    expect((await asked).state).to.equal('created');
    expect(other.leadership.isOurs).to.equal(true);
    expect(driver.violations().map(({ text }) => text)).to.deep.equal([]);
  });

  it('D5 Redis has lost who the owner is: the owner tells it again, and requests get there', async () => {
    const owner = await agent('agent-1');
    const client = server.client();
    await client.unlink(...(await client.keys('*:leadership')));
    const other = await agent('agent-2');
    expect((await other.volumes.create(volumeOf('data'))).state).to.equal('created');
    expect([owner.leadership.isOurs, other.leadership.isOurs]).to.deep.equal([true, false]);
    expect((await other.cluster.owner())?.nodeId).to.equal('agent-1');
  });

  it('D5 the owner closes in order while it works on a request: the next one answers it', async () => {
    driver.script('CreateVolume', { delayMs: 1_000 }, { times: 'always' });
    const owner = await agent('agent-1');
    const other = await agent('agent-2');
    const asked = other.volumes.create(volumeOf('data'));
    await eventually('the owner has it', async () => (await owner.volumes.get(key)) !== undefined);
    await owner.close();
    expect((await asked).state).to.equal('created');
    expect(other.leadership.isOurs).to.equal(true);
  });
});
