/**
 * Two agents that share a Redis, each with a node plugin of its own on a real socket: both nodes are known to the one
 * that leads, and volumes go to both, whichever of the two is killed.
 */
import { join } from 'node:path';
import { expect } from 'chai';
import { type FaultDriver, faultDriver } from '../../dist/src/tools/fault-driver/fault-driver.js';
import type { Runtime } from '../../src/runtime/runtime.js';
import { topologyOf } from '../../src/tools/driver/identity.js';
import type { RedisProcess } from '../redis/servers.js';
import { eventually } from '../until.js';
import { lapseLeases, loggerInto, Scene } from './redis-scene.js';
import { VolumesChild } from './redis-volumes-child-driver.js';
import { openLeader, type VolumesChildOptions, volumeOf } from './redis-volumes-scene.js';

const nodeIds = ['node-1', 'node-2'] as const;
type NodeId = (typeof nodeIds)[number];

describe('nodes of agents on a shared Redis', () => {
  const scene = new Scene();
  let server: RedisProcess;
  /** Of each node its own; that of the first is the controller of both. */
  let drivers: Record<NodeId, FaultDriver>;
  let dataDirs: Record<NodeId, string>;

  beforeEach(async () => {
    server = await scene.lab.server();
    drivers = {
      'node-1': await driver('node-1', { attach: true, peerNodes: ['node-2'] }),
      'node-2': await driver('node-2'),
    };
    dataDirs = { 'node-1': join(scene.directory(), 'data'), 'node-2': join(scene.directory(), 'data') };
    for (const nodeId of nodeIds) says(nodeId, 5);
  });
  afterEach(() => scene.clear());

  async function driver(nodeId: NodeId, more: object = {}): Promise<FaultDriver> {
    const folder = scene.directory();
    const place = { socketPath: join(folder, 'csi.sock'), dataDir: join(folder, 'data') };
    const started = await faultDriver({ ...place, nodeId, mounts: 'memory', ...more });
    scene.atEnd(() => started.stop());
    return started;
  }

  /** All of them see the storage of the first. */
  function says(nodeId: NodeId, maxVolumesPerNode: number): void {
    const answer = { nodeId, maxVolumesPerNode: BigInt(maxVolumesPerNode), accessibleTopology: topologyOf('node-1') };
    drivers[nodeId].script('NodeGetInfo', { answer }, { times: 'always' });
  }

  const settings = (nodeId: NodeId): VolumesChildOptions => ({
    url: server.url,
    nodeId,
    dataDir: dataDirs[nodeId],
    socketPath: drivers['node-1'].socketPath,
    nodeSocketPath: drivers[nodeId].socketPath,
    nodes: [],
  });

  /** In this process. */
  async function open(nodeId: NodeId): Promise<Runtime> {
    const runtime = await openLeader({ ...settings(nodeId), logger: loggerInto([]) });
    scene.atEnd(() => runtime.close().catch(() => undefined));
    return runtime;
  }

  /** In a process of its own. */
  async function start(nodeId: NodeId): Promise<VolumesChild> {
    const child = await VolumesChild.start(settings(nodeId), './redis-nodes-child.ts');
    scene.atEnd(() => child.kill());
    return child;
  }

  /** Ready, each with how many volumes its plugin takes there. */
  const known = async (runtime: Runtime): Promise<string[]> =>
    (await runtime.nodes.list()).flatMap(({ id, state, plugins }) =>
      plugins.map(({ name, nodeId, maxVolumes }) => `${id} ${state}: ${name} ${nodeId} ${maxVolumes}`),
    );
  const isKnown = (runtime: Runtime, ...wanted: string[]) =>
    eventually(`known: ${wanted.join(', ')}`, async () => (await known(runtime)).join() === wanted.join());

  async function publish(runtime: Runtime, id: string, nodeId: NodeId): Promise<void> {
    await runtime.volumes.create(volumeOf(id));
    await runtime.volumes.publish({ id }, nodeId);
    const volume = await runtime.volumes.get({ id });
    expect(volume?.publications[nodeId]).to.include({ state: 'published', csiNodeId: nodeId });
  }

  it('N1 N2 the standby’s node gets volumes, also after its agent was killed, and news after its return', async () => {
    const leader = await open('node-1');
    const child = await start('node-2');
    expect(leader.leadership.isOurs).to.equal(true);
    await isKnown(leader, 'node-1 ready: disk node-1 5', 'node-2 ready: disk node-2 5');
    await publish(leader, 'here', 'node-1');
    await publish(leader, 'there', 'node-2');
    await child.kill();
    await publish(leader, 'more', 'node-2');
    await leader.nodes.down('node-2');
    says('node-2', 9);
    await start('node-2');
    await isKnown(leader, 'node-1 ready: disk node-1 5', 'node-2 ready: disk node-2 9');
    await publish(leader, 'again', 'node-2');
    expect(drivers['node-1'].violations()).to.deep.equal([]);
  });

  it('N1 N2 the leader is killed: the other knows both nodes; the first returns as standby', async () => {
    const child = await start('node-1');
    const other = await open('node-2');
    expect(other.leadership.isOurs).to.equal(false);
    await isKnown(other, 'node-1 ready: disk node-1 5', 'node-2 ready: disk node-2 5');
    await child.kill();
    await lapseLeases(server.client());
    await eventually('the other leads', () => other.leadership.isOurs);
    expect(await known(other)).to.deep.equal(['node-1 ready: disk node-1 5', 'node-2 ready: disk node-2 5']);
    await publish(other, 'here', 'node-1');
    await publish(other, 'there', 'node-2');
    says('node-1', 9);
    await start('node-1');
    await isKnown(other, 'node-1 ready: disk node-1 9', 'node-2 ready: disk node-2 5');
    await publish(other, 'again', 'node-1');
    expect(drivers['node-1'].violations()).to.deep.equal([]);
  });
});
