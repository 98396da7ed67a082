/** A host is lost and comes back, as operators meet it: three agents on one Redis, a volume in use on the lost one. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type FaultDriver, faultDriver } from '../../dist/src/tools/fault-driver/fault-driver.js';
import { StagecraftError } from '../../src/errors.js';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import { topologyOf } from '../../src/tools/driver/identity.js';
import { unmountBelow } from '../mounts/unmount-below.js';
import type { RedisProcess } from '../redis/servers.js';
import { refusalOf } from '../refusal.js';
import { eventually } from '../until.js';
import { type LogLine, loggerInto, Scene } from './redis-scene.js';
import { VolumesChild } from './redis-volumes-child-driver.js';
import { allocVolume, openLeader, type VolumesChildOptions, volumeOf } from './redis-volumes-scene.js';

describe('a host is lost, and comes back', () => {
  const scene = new Scene();
  let server: RedisProcess;
  /** Node plugin of agent-b, and controller of all. */
  let driver: FaultDriver;
  /** Node plugin of agent-c. */
  let other: FaultDriver;
  let dataDirOfB: string;

  beforeEach(async () => {
    server = await scene.lab.server();
    driver = await driverOf('agent-b', { attach: true, peerNodes: ['agent-c'] });
    other = await driverOf('agent-c', {});
    const answer = { nodeId: 'agent-c', accessibleTopology: topologyOf('agent-b') };
    other.script('NodeGetInfo', { answer }, { times: 'always' });
    dataDirOfB = join(scene.directory(), 'data');
  });
  afterEach(() => scene.clear());

  async function driverOf(nodeId: string, more: object): Promise<FaultDriver> {
    const folder = scene.directory();
    const made = await faultDriver({
      ...{ socketPath: join(folder, 'csi.sock'), dataDir: join(folder, 'data'), nodeId, ...more },
    });
    scene.atEnd(() => made.stop());
    return made;
  }

  const settings = (nodeId: string, nodeSocketPath?: string): VolumesChildOptions => ({
    ...{ url: server.url, nodeId, socketPath: driver.socketPath, nodes: [] },
    dataDir: nodeId === 'agent-b' ? dataDirOfB : join(scene.directory(), 'data'),
    ...(nodeSocketPath !== undefined && { nodeSocketPath }),
  });

  async function agent(nodeId: string, nodeSocketPath?: string, logged: LogLine[] = []): Promise<Runtime> {
    const runtime = await openLeader({ ...settings(nodeId, nodeSocketPath), logger: loggerInto(logged) });
    scene.atEnd(() => runtime.close({ release: nodeSocketPath !== undefined }).catch(() => undefined));
    return runtime;
  }

  const isReady = (runtime: Runtime, nodeId: string): Promise<void> =>
    eventually(`node ${nodeId} is ready`, async () =>
      (await runtime.nodes.list()).some(({ id, state }) => id === nodeId && state === 'ready'),
    );
  const callsOf = (rpc: string): number => driver.calls().filter((call) => call.rpc === rpc).length;
  const unlessInUse = (error: unknown): undefined => {
    if (!(error instanceof StagecraftError && error.code === 'NODE_IN_USE')) throw error;
  };
  const key = { id: 'data' };

  it('D8 fenced on another agent: its volume goes there, not before; back again, it unmounts, then mounts', async () => {
    const owner = await agent('agent-a');
    const next = await agent('agent-c', other.socketPath);
    await isReady(owner, 'agent-c');
    await owner.volumes.create(volumeOf('data'));
    const lost = await VolumesChild.start(settings('agent-b', driver.socketPath), './redis-user-child.ts');
    scene.atEnd(() => lost.kill());
    await eventually('the alloc has its volume', () => lost.of('told').length === 1);
    const file = join(lost.of('told')[0]?.how ?? '', 'hello');
    writeFileSync(file, 'kept');
    await lost.kill();

    const claim = { allocId: 'next', nodeId: 'agent-c', mode: 'write', accessMode: 'single-node-writer' } as const;
    const claimed = next.volumes.claim(key, { ...claim, attachmentMode: 'file-system', wait: true });
    await eventually('it waits', async () => (await next.volumes.get(key))?.waiting.length === 1);
    const early = await refusalOf(next.volumes.publish(key, 'agent-c'));
    expect(early.code).to.equal('VOLUME_IN_USE');
    expect(callsOf('ControllerPublishVolume')).to.equal(1);
    await next.nodes.fence('agent-b', 'its power is off');
    expect(await claimed).to.include({ allocId: 'next', state: 'taken' });
    await next.volumes.publish(key, 'agent-c');
    const states = Object.entries((await owner.volumes.get(key))?.publications ?? {});
    expect(states.map(([node, { state }]) => [node, state])).to.deep.equal([['agent-c', 'published']]);
    expect(readFileSync(file, 'utf8')).to.equal('kept');

    const before = driver.calls().length;
    driver.script('NodeUnpublishVolume', { delayMs: 500 });
    const returned = await agent('agent-b', driver.socketPath);
    const later = returned.allocations.prepare('later', [allocVolume('data')], { wait: true });
    const { generation } = await claimed;
    await next.volumes.release(key, 'next');
    await next.nodes.reportUnstaged('agent-c', key, { claimGeneration: generation });
    const [mount] = await later;
    expect(readFileSync(join(mount?.hostPath ?? '', 'hello'), 'utf8')).to.equal('kept');
    const made = driver.calls().slice(before);
    const nodeCalls = made.flatMap(({ rpc }) => (/^Node(Un)?(stage|publish)/i.test(rpc) ? [rpc] : []));
    expect(nodeCalls).to.deep.equal([
      ...['NodeUnpublishVolume', 'NodeUnstageVolume'],
      ...['NodeStageVolume', 'NodePublishVolume'],
    ]);
    expect(existsSync(file)).to.equal(false);
    expect(await returned.allocations.status('web')).to.have.nested.property('error.code', 'CLAIM_LOST');
    expect((await owner.nodes.status('agent-b')).state).to.equal('ready');
    expect((await owner.volumes.get(key))?.claims.map(({ allocId }) => allocId)).to.deep.equal(['later']);
  });

  it('V9 a volume grows while it is mounted on an agent that does not own it: that one expands it at once', async () => {
    const owner = await agent('agent-a');
    const user = await agent('agent-b', driver.socketPath);
    await isReady(owner, 'agent-b');
    await owner.volumes.create({ ...volumeOf('data'), capacity: { requiredBytes: 2n ** 20n } });
    await user.allocations.prepare('web', [allocVolume('data')]);
    driver.script('ControllerExpandVolume', { answer: { capacityBytes: 2n ** 21n, nodeExpansionRequired: true } });
    await owner.volumes.expand(key, { requiredBytes: 2 ** 21 });
    await eventually('the node has done its part', () => callsOf('NodeExpandVolume') === 1);
  });

  it('D8, 34.26 fenced while its agent lives on: it unmounts what it lost, then its node is ready again', async () => {
    const owner = await agent('agent-a');
    const logged: LogLine[] = [];
    const user = await agent('agent-b', driver.socketPath, logged);
    await isReady(owner, 'agent-b');
    await owner.volumes.create(volumeOf('data'));
    const [mount] = await user.allocations.prepare('web', [allocVolume('data')]);
    const file = join(mount?.hostPath ?? '', 'hello');
    writeFileSync(file, 'kept');
    driver.script('NodeUnpublishVolume', { hang: 'before' });
    await owner.nodes.fence('agent-b', 'by mistake');
    await eventually('it is being unmounted', () => callsOf('NodeUnpublishVolume') === 1);
    await eventually('it knows of the fence', () =>
      logged.some(({ message }) => message.includes('still mounted here')),
    );
    expect((await owner.nodes.status('agent-b')).state).to.equal('down');
    driver.release();
    await eventually('it is unmounted', () => !existsSync(file));
    await isReady(owner, 'agent-b');
    expect(await user.allocations.status('web')).to.have.nested.property('error.code', 'CLAIM_LOST');
  });

  it('D11 two agents with one nodeId: the second is refused with the holder named, and the first works on', async () => {
    const holder = await VolumesChild.start(settings('agent-b', driver.socketPath), './redis-nodes-child.ts');
    scene.atEnd(() => holder.kill());
    const asking = await createRuntime({
      ...{ nodeId: 'agent-a', dataDir: join(scene.directory(), 'data'), store: redisStore(server.url) },
    });
    scene.atEnd(() => asking.close());
    const dataDir = join(scene.directory(), 'data');
    const refused = await refusalOf(createRuntime({ nodeId: 'agent-b', dataDir, store: redisStore(server.url) }));
    expect(refused.code).to.equal('NODE_IN_USE');
    expect(refused.message).to.include(dataDirOfB).and.include(`pid ${holder.pid}`);
    expect((await asking.volumes.create(volumeOf('data'))).state).to.equal('created');
    await isReady(asking, 'agent-b');
  });

  it('D7, D8, 34.32 its agent is frozen, another has its nodeId: old mounts keep the volume until a fence', async () => {
    const owner = await agent('agent-a');
    const next = await agent('agent-c', other.socketPath);
    await isReady(owner, 'agent-c');
    await owner.volumes.create(volumeOf('data'));
    const frozen = await VolumesChild.start(settings('agent-b', driver.socketPath), './redis-user-child.ts');
    scene.atEnd(async () => {
      await frozen.kill();
      unmountBelow(dataDirOfB);
    });
    await eventually('the alloc has its volume', () => frozen.of('told').length === 1);
    const file = join(frozen.of('told')[0]?.how ?? '', 'hello');
    writeFileSync(file, 'kept');
    frozen.freeze();

    const place = { ...settings('agent-b', driver.socketPath), dataDir: join(scene.directory(), 'data') };
    let second: Runtime | undefined;
    await eventually('the lease of the node has lapsed', async () => {
      second ??= await openLeader({ ...place, logger: loggerInto([]) }).catch(unlessInUse);
      return second !== undefined;
    });
    scene.atEnd(() => second?.close());
    await isReady(owner, 'agent-b');
    const before = driver.calls().length;
    const why = `mounted on node agent-b by the agent of ${dataDirOfB} on host `;
    const waits: string[] = [];
    void next.allocations.prepare('next', [allocVolume('data')], { wait: true }).catch(() => undefined);
    void second?.allocations.release('web').catch(() => undefined);
    await eventually('the next alloc is told', async () => {
      waits.push(...Object.values((await next.allocations.status('next').catch(() => undefined))?.waits ?? {}));
      return waits.some((reason) => reason.includes(why));
    });
    expect((await refusalOf(owner.volumes.delete(key))).message).to.include(why);
    frozen.thaw();
    await eventually('the first agent knows', () => frozen.of('lost').some(({ code }) => code === 'FENCED'));
    expect(
      driver
        .calls()
        .slice(before)
        .filter(({ rpc }) => /Un(stage|publish)|DeleteV/.test(rpc)),
    ).to.deep.equal([]);
    expect(readFileSync(file, 'utf8')).to.equal('kept');

    await owner.nodes.fence('agent-b', 'nothing there uses it any more');
    await eventually('the volume goes there', async () => {
      const { claims = [], publications = {} } = (await owner.volumes.get(key)) ?? {};
      return claims[0]?.allocId === 'next' && publications['agent-c']?.state === 'published';
    });
    await isReady(owner, 'agent-b');
    expect(await second?.mounts.list()).to.deep.equal([]);
  });

  it('D11 two node plugins with one CSI node id: both named in the log and the errors of both hosts', async () => {
    const logs: LogLine[][] = [[], []];
    const owner = await agent('agent-a', undefined, logs[0]);
    await agent('agent-b', driver.socketPath);
    await isReady(owner, 'agent-b');
    const twin = await agent('agent-c', driver.socketPath, logs[1]);
    const why = "cannot register node agent-c: plugin 'disk' knows node agent-b as 'agent-b'";
    for (const logged of logs)
      await eventually('it is logged', () => logged.some(({ message }) => message.includes(why)));
    for (const { nodes } of [owner, twin]) {
      const { code, message } = await refusalOf(nodes.status('agent-c'));
      expect(code).to.equal('NODE_NOT_FOUND');
      expect(message).to.include(why);
    }
    expect((await twin.nodes.list()).map(({ id }) => id)).to.deep.equal(['agent-b']);
  });
});
