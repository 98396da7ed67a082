/**
 * Agents that share a Redis, and volumes on a driver on a real socket: one agent at a time makes calls, and when it
 * closes, is killed or frozen, the one that stands by goes on. The driver judges all of them together.
 */
import { join } from 'node:path';
import { expect } from 'chai';
import { type FaultDriver, faultDriver } from '../../dist/src/tools/fault-driver/fault-driver.js';
import type { Runtime } from '../../src/runtime/runtime.js';
import type { RedisProcess } from '../redis/servers.js';
import { eventually, within } from '../until.js';
import { lapseLeases, loggerInto, Scene } from './redis-scene.js';
import { VolumesChild } from './redis-volumes-child-driver.js';
import { openLeader, reportOf, type VolumesChildOptions, volumeOf } from './redis-volumes-scene.js';

const nodes = ['node-1', 'node-2'];

describe('volumes on a shared Redis', () => {
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
    nodes,
  });

  async function standBy(nodeId: string): Promise<Runtime> {
    const runtime = await openLeader({ ...settings(nodeId), logger: loggerInto([]) });
    scene.atEnd(() => runtime.close().catch(() => undefined));
    return runtime;
  }

  async function working(): Promise<VolumesChild> {
    // So that there is always something in flight.
    for (const rpc of ['CreateVolume', 'ControllerPublishVolume', 'ControllerUnpublishVolume', 'DeleteVolume'] as const)
      driver.script(rpc, { delayMs: 20 }, { times: 'always' });
    const child = await VolumesChild.start(settings('agent-1'));
    scene.atEnd(() => child.kill());
    return child;
  }

  const done = (child: VolumesChild): number => child.of('told').filter(({ how }) => how === 'done').length;
  const leads = (runtime: Runtime) => (): boolean => runtime.leadership.isOurs;

  /** What the child was told to be done is so, what it asked for is being done; and the driver has no more than that. */
  async function check(child: VolumesChild, runtime: Runtime): Promise<void> {
    const last = new Map<string, string>();
    for (const { id, what } of child.of('told').filter(({ how }) => how === 'done')) last.set(id, what);
    const asked = new Map(child.of('asked').map(({ id, what }) => [id, what]));
    const expected = (id: string): string => asked.get(id) ?? '';
    await eventually('all that was asked for is done', async () => {
      for (const id of asked.keys()) {
        const volume = await runtime.volumes.get({ id });
        // The last thing that it asked for may not have been taken: then it is as the one before left it.
        const isDeleted = volume === undefined;
        const [publication] = Object.values(volume?.publications ?? {});
        const is = isDeleted ? 'delete' : publication?.state === 'published' ? 'publish' : volume.state;
        const fits = {
          create: ['delete', 'created'],
          publish: ['created', 'publish'],
          unpublish: ['publish', 'created'],
          delete: ['created', 'delete'],
        }[expected(id)];
        if (!fits?.includes(is)) return false;
      }
      return true;
    });
    for (const [id, what] of last) {
      const volume = await runtime.volumes.get({ id });
      if (what === 'delete') expect(volume, id).to.equal(undefined);
      else if (asked.get(id) !== 'delete') expect(volume?.csiId, id).to.be.a('string');
      if (what === 'publish' && asked.get(id) === 'publish')
        expect(Object.values(volume?.publications ?? {})[0]?.state, id).to.equal('published');
    }
    expect(driver.violations().map(({ text }) => text)).to.deep.equal([]);
  }

  it('V9 the leader closes: the standby leads, and removes what the other made', async () => {
    const first = await standBy('agent-1');
    const second = await standBy('agent-2');
    expect([leads(first)(), leads(second)()]).to.deep.equal([true, false]);
    for (const id of nodes) await first.nodes.report(reportOf(id));
    await first.volumes.create(volumeOf('data'));
    expect(second.leadership.refusal).to.include('node agent-1').and.include(first.dataDir);
    expect((await second.volumes.get({ id: 'data' }))?.state).to.equal('created');
    await second.volumes.publish({ id: 'data' }, 'node-1');
    await first.close();
    await eventually('the second leads', leads(second));
    await second.volumes.unpublish({ id: 'data' }, 'node-1');
    await second.volumes.delete({ id: 'data' });
    expect(driver.violations()).to.deep.equal([]);
  });

  for (const round of [1, 2]) {
    it(`V1 V13 the leader is killed (${round}): the other takes over, nothing is lost or made twice`, async () => {
      const child = await working();
      const runtime = await standBy('agent-2');
      await eventually('the child works', () => done(child) > 30 * round);
      await child.kill();
      expect(leads(runtime)()).to.equal(false);
      await lapseLeases(server.client());
      await eventually('the other leads', leads(runtime));
      await check(child, runtime);
      const names = driver.calls().flatMap(({ rpc, request }) => {
        return rpc === 'CreateVolume' && request instanceof Object && 'name' in request ? [String(request.name)] : [];
      });
      // A create that is repeated has the same name.
      expect(new Set(names).size).to.be.at.most(new Set(child.of('asked').map(({ id }) => id)).size);
    });
  }

  it('V12 D7 the leader is frozen through a takeover: it stands by, has its requests done by the other, and leads again later', async () => {
    const child = await working();
    const runtime = await standBy('agent-2');
    await eventually('the child works', () => done(child) > 20);
    child.freeze();
    await eventually('the other leads', leads(runtime));
    await check(child, runtime);
    const thawedAtMs = Date.now();
    child.thaw();
    const since = () => child.of('told').filter(({ atMs }) => atMs >= thawedAtMs);
    await eventually('the other does what it asks for', () => since().filter(({ how }) => how === 'done').length > 8);
    expect(leads(runtime)()).to.equal(true);
    await within('it closes', runtime.close());
    await eventually('the child leads again', () => done(child) > 20 && since().some(({ how }) => how === 'done'));
    await eventually('all of that is told', () => child.of('elected').length > 2);
    expect(child.of('elected').map(({ nodeId }) => nodeId)).to.deep.equal(['agent-1', 'agent-2', 'agent-1']);
    expect(child.of('lost').map(({ code }) => code)).to.deep.equal([]);
    expect(driver.violations().map(({ text }) => text)).to.deep.equal([]);
  });
});
