/** Tests that what is being copied stays: its deletion is refused or waits, and so does its expansion. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { always, gate, inOrder, toldOf } from './scripts.js';
import { spec, VolumeHouse } from './volume-house.js';

const from = { id: 'first' };
const copy = { id: 'copy' };
const volumeOf = (id: string) => ({ namespace: 'default', id });

/** Ways to copy the volume `first`: what is made, and what is its source. */
const ways = ['a clone', 'a restore', 'a restore from a group', 'a snapshot', 'a group snapshot'] as const;
type Way = (typeof ways)[number];

describe('the source of a copy', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = new VolumeHouse();
    house.plugin.pluginCapabilities = [...house.plugin.pluginCapabilities, 'GROUP_CONTROLLER_SERVICE'];
    await house.furnish();
    await house.volumes.create(spec('first', { capacity: { requiredBytes: 10 } }));
  });
  afterEach(async () => {
    try {
      expect(house.plugin.wrongs).to.deep.equal([]);
    } finally {
      await house.dispose();
    }
  });

  const clone = (id = 'copy') => house.volumes.create(spec(id, { source: { volume: volumeOf('first') } }));
  const restore = (volumeSnapshot: string) => house.volumes.create(spec('copy', { source: { volumeSnapshot } }));
  const snapshots = () => house.runtime.snapshots;
  const groups = () => house.runtime.groupSnapshots;

  interface Scene {
    rpc: 'CreateVolume' | 'CreateSnapshot' | 'CreateVolumeGroupSnapshot';
    /** Name of the copy in refusals. */
    name: string;
    copies(): Promise<unknown>;
    state(): Promise<string | undefined>;
    deleteCopy(): Promise<void>;
    deleteSource(options?: { force?: boolean }): Promise<void>;
    removal: string;
  }

  /** Makes the source of such a copy. */
  async function sceneOf(way: Way): Promise<Scene> {
    const volume = {
      rpc: 'CreateVolume' as const,
      name: 'volume default/copy',
      state: async () => (await house.volumes.get(copy))?.state,
      deleteCopy: () => house.volumes.delete(copy),
    };
    const source = {
      deleteSource: (options = {}) => house.volumes.delete(from, options),
      removal: 'DeleteVolume',
    };
    switch (way) {
      case 'a clone':
        return { ...volume, ...source, copies: () => clone() };
      case 'a restore':
        await snapshots().create({ id: 'monday', volume: from });
        return {
          ...volume,
          copies: () => restore('monday'),
          deleteSource: (options) => snapshots().delete({ id: 'monday' }, options),
          removal: 'DeleteSnapshot',
        };
      case 'a restore from a group': {
        const { snapshots: members } = await groups().create({ id: 'all', volumes: [from] });
        return {
          ...volume,
          copies: () => restore(members[0]?.csiId ?? ''),
          deleteSource: (options) => groups().delete({ id: 'all' }, options),
          removal: 'DeleteVolumeGroupSnapshot',
        };
      }
      case 'a snapshot':
        return {
          ...source,
          rpc: 'CreateSnapshot',
          name: 'snapshot default/copy',
          copies: () => snapshots().create({ ...copy, volume: from }),
          state: async () => (await snapshots().get(copy))?.state,
          deleteCopy: () => snapshots().delete(copy),
        };
      case 'a group snapshot':
        return {
          ...source,
          rpc: 'CreateVolumeGroupSnapshot',
          name: 'group snapshot default/copy',
          copies: () => groups().create({ ...copy, volumes: [from] }),
          state: async () => (await groups().get(copy))?.state,
          deleteCopy: () => groups().delete(copy),
        };
    }
  }

  async function isRefused(scene: Scene): Promise<void> {
    const refusal = await refusalOf(scene.deleteSource());
    expect(refusal.code).to.equal('VOLUME_IN_USE');
    expect(refusal.message).to.include(`${scene.name} is being made from it`);
  }

  for (const way of ways) {
    it(`V13, 34.3 ${way} under way: deletion of its source is refused, naming it; done once it is made`, async () => {
      const scene = await sceneOf(way);
      const { passed, open } = gate();
      inOrder(house.plugin, scene.rpc, [{ before: passed }]);
      const made = scene.copies();
      await house.rest();
      await isRefused(scene);
      open();
      await made;
      await scene.deleteSource();
      expect(toldOf(house.plugin, scene.removal)).to.deep.equal([`${scene.removal}: OK`]);
    });

    it(`V13, 34.3 ${way} in doubt, also after a restart: deletion of its source is refused until it is made`, async () => {
      const scene = await sceneOf(way);
      always(house.plugin, scene.rpc, { code: 'DEADLINE_EXCEEDED' });
      scene.copies().catch(() => {});
      await house.clock.advance(10_000);
      await isRefused(scene);
      await house.restart();
      await isRefused(scene);
      house.plugin.script = () => undefined;
      await house.clock.advance(600_000);
      await scene.deleteSource();
      expect(toldOf(house.plugin, scene.removal).at(-1)).to.equal(`${scene.removal}: OK`);
    });

    it(`V13, 34.3 ${way} in doubt whose deletion was asked for: its source stays until that is done`, async () => {
      const scene = await sceneOf(way);
      always(house.plugin, scene.rpc, { code: 'UNAVAILABLE' });
      scene.copies().catch(() => {});
      await house.clock.advance(1_000);
      const deleted = scene.deleteCopy();
      await house.clock.advance(1_000);
      await isRefused(scene);
      house.plugin.script = () => undefined;
      await house.clock.advance(600_000);
      await deleted;
      await scene.deleteSource();
    });

    it(`V13, 34.3 ${way} refused by the plugin: nothing holds its source`, async () => {
      const scene = await sceneOf(way);
      always(house.plugin, scene.rpc, { code: 'INVALID_ARGUMENT' });
      expect((await refusalOf(scene.copies())).code).to.equal('CSI_ERROR');
      await scene.deleteSource();
    });

    it(`V13 V14, 34.3 source of ${way} deleted with force: no call while it is made, but a leftover, and a retry`, async () => {
      const scene = await sceneOf(way);
      const { passed, open } = gate();
      inOrder(house.plugin, scene.rpc, [{ before: passed }]);
      const made = scene.copies();
      await house.rest();
      const gone = scene.deleteSource({ force: true });
      await house.clock.advance(60_000);
      await gone;
      expect(toldOf(house.plugin, scene.removal)).to.deep.equal([]);
      open();
      await made;
      if (scene.removal === 'DeleteVolume') await house.volumes.retry(from);
      else if (scene.removal === 'DeleteSnapshot') await snapshots().retry({ id: 'monday' });
      else await groups().retry({ id: 'all' });
      await house.clock.advance(60_000);
      expect(toldOf(house.plugin, scene.removal)).to.deep.equal([`${scene.removal}: OK`]);
    });

    it(`V9, 34.3 ${way} asked for together with the deletion of its source: one is refused, or waits`, async () => {
      const scene = await sceneOf(way);
      const all = Promise.allSettled([scene.deleteSource(), scene.copies()]);
      await house.clock.advance(600_000);
      const [deletion, made] = await all;
      expect([deletion.status, made.status]).to.include('fulfilled');
      if (made.status === 'rejected') expect(made.reason).to.have.property('code').that.is.oneOf(refusals);
    });

    it(`V13, 34.3 ${way} of what is being deleted: refused`, async () => {
      const scene = await sceneOf(way);
      always(house.plugin, scene.removal as 'DeleteVolume', { code: 'UNAVAILABLE' });
      scene.deleteSource().catch(() => {});
      await house.clock.advance(1_000);
      expect((await refusalOf(scene.copies())).code).to.be.oneOf(refusals);
      expect(await scene.state()).to.be.oneOf([undefined, 'failed']);
      house.plugin.script = () => undefined;
      await house.clock.advance(600_000);
    });
  }

  for (const way of ['a clone', 'a snapshot', 'a group snapshot'] as const)
    it(`V9, 34.3 ${way} under way or in doubt: its source is expanded after it, also after a restart`, async () => {
      const scene = await sceneOf(way);
      const { passed, open } = gate();
      inOrder(house.plugin, scene.rpc, [{ before: passed, code: 'DEADLINE_EXCEEDED' }]);
      scene.copies().catch(() => {});
      await house.rest();
      house.volumes.expand(from, { requiredBytes: 20 }).catch(() => {});
      await house.rest();
      expect((await house.volumes.get(from))?.expansion).to.have.property('capacity');
      always(house.plugin, scene.rpc, { code: 'ABORTED' });
      open();
      await house.clock.advance(20_000);
      await house.restart();
      await house.clock.advance(20_000);
      expect(toldOf(house.plugin, 'ControllerExpandVolume')).to.deep.equal([]);
      expect((await house.volumes.get(from))?.error?.message).to.include(`${scene.name} is being made from it`);
      house.plugin.script = () => undefined;
      await house.clock.advance(600_000);
      expect(toldOf(house.plugin, 'ControllerExpandVolume')).to.deep.equal(['ControllerExpandVolume: OK']);
    });

  for (const way of ['a snapshot', 'a group snapshot'] as const) {
    /** Makes the copy, which is not ready. Then the plugin is asked whether it is, and the answer takes until the next restart. */
    async function askedWhetherReady(scene: Scene): Promise<void> {
      house.plugin.unreadyFor = 1;
      house.plugin.overlaps = 'allowed';
      const made = scene.copies();
      made.catch(() => {});
      await house.rest();
      always(house.plugin, scene.rpc, { before: new Promise(() => {}) });
      await house.clock.advance(2_000);
      expect(await scene.state()).to.equal('waiting');
      expect(toldOf(house.plugin, scene.rpc)).to.deep.equal([`${scene.rpc}: OK`, `${scene.rpc}: no answer`]);
    }

    async function restarts(): Promise<void> {
      const restarted = house.restart();
      await house.clock.advance(30_000);
      await restarted;
    }

    it(`V9 V13, 34.3 ${way} that is not ready, killed while asked: its source is expanded, and not deleted`, async () => {
      const scene = await sceneOf(way);
      await askedWhetherReady(scene);
      await isRefused(scene);
      always(house.plugin, scene.rpc, { code: 'UNAVAILABLE' });
      await restarts();
      await house.volumes.expand(from, { requiredBytes: 20 });
      await isRefused(scene);
      house.plugin.script = () => undefined;
      await house.clock.advance(600_000);
      expect(await scene.state()).to.equal('ready');
      await scene.deleteSource();
    });

    it(`V13, 34.3 ${way} that is not ready, to be deleted, killed while asked: does not hold its source`, async () => {
      const scene = await sceneOf(way);
      await askedWhetherReady(scene);
      scene.deleteCopy().catch(() => {});
      await house.rest();
      house.plugin.script = () => undefined;
      await restarts();
      await scene.deleteSource();
      await house.clock.advance(600_000);
      expect(house.plugin.snapshots.size).to.equal(0);
    });
  }

  it('V9, 34.3 two clones of one volume: made at the same time, while it is published', async () => {
    const { passed, open } = gate();
    always(house.plugin, 'CreateVolume', { before: passed });
    const made = [clone('one'), clone('two')];
    await house.rest();
    expect(house.plugin.copies.underWay.size).to.equal(2);
    await house.volumes.publish(from, 'a');
    open();
    await Promise.all(made);
  });

  it('V13, 34.3 clone that waits for its plugin: holds its source until it is deleted', async () => {
    house.plugin.health = { healthy: false, description: 'initialising' };
    await house.clock.advance(31_000);
    clone().catch(() => {});
    await house.rest();
    expect((await refusalOf(house.volumes.delete(from))).message).to.include('delete it first');
    await house.volumes.delete(copy);
    house.plugin.health = { healthy: true, description: 'ready' };
    await house.clock.advance(31_000);
    await house.volumes.delete(from);
  });
});

const refusals = [
  'VOLUME_DELETING',
  'SNAPSHOT_DELETING',
  'SNAPSHOT_NOT_READY',
  'VOLUME_NOT_FOUND',
  'SNAPSHOT_NOT_FOUND',
  'ABORTED',
];
