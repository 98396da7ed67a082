/** Tests how a volume came to be attached, and that the call that detaches it is left out only for what no call has attached. */
import { expect } from 'chai';
import { volumeMigrations } from '../../src/volumes/migrations.js';
import { on } from '../machines/volume/situations.js';
import { Cable } from '../registry/cable.js';
import { inMemory } from '../registry/kept-data.js';
import { allCapabilities } from './fake-plugin.js';
import { inOrder, toldOf } from './scripts.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };
const attaches = 'PUBLISH_UNPUBLISH_VOLUME';
const withoutAttach = allCapabilities.filter((one) => one !== attaches);

describe('how a volume came to be attached', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    await house.volumes.create(spec('data'));
  });
  afterEach(() => house.dispose());

  /** Has the plugin offer other capabilities, and waits for the next probe. */
  const offer = async (capabilities: string[]): Promise<void> => {
    house.plugin.capabilities = capabilities;
    await house.clock.advance(31_000);
  };
  /** The same at once: another definition is probed without a pause. */
  const offerAtOnce = async (capabilities: string[]): Promise<void> => {
    house.plugin.capabilities = capabilities;
    await house.register({ anew: 'yes' });
    await house.rest();
  };
  const onA = async () => (await house.volumes.get(key))?.publications.a;
  const attached = (): string[] => [...house.plugin.volumes.values()].flatMap((volume) => [...volume.attached]);
  const calls = (): string[] => house.plugin.told().filter((line) => /Publish|Unpublish/.test(line));

  /** Expects the unpublish to wait, and the volume to be detached once an instance can do that. */
  const isDetachedOnceItCanBe = async (): Promise<void> => {
    await house.clock.advance(60_000);
    expect((await onA())?.state).to.equal('pending-unpublish');
    expect((await onA())?.message)
      .to.include('attached this volume, or may have')
      .and.include(attaches);
    expect((await house.volumes.get(key))?.error?.code).to.equal('PLUGIN_LACKS');
    await offer(allCapabilities);
    await house.clock.advance(300_000);
    expect(await onA()).to.equal(undefined);
    expect(attached()).to.deep.equal([]);
  };

  it('V5, 34.1 attached by a call, then no instance can detach: the unpublish waits, and says why', async () => {
    await house.volumes.publish(key, 'a');
    expect(await onA()).to.include({ attachedBy: 'call' });
    await offer(withoutAttach);
    house.volumes.unpublish(key, 'a').catch(() => {});
    await isDetachedOnceItCanBe();
    expect(calls()).to.deep.equal(['ControllerPublishVolume csi-a: OK', 'ControllerUnpublishVolume csi-a: OK']);
  });

  it('V5, 34.1 published without a call: unpublished without one, and by one where the plugin attaches since', async () => {
    await offer(withoutAttach);
    for (const since of [withoutAttach, allCapabilities]) {
      await house.volumes.publish(key, 'a');
      expect(await onA()).to.include({ attachedBy: 'none' });
      await offer(since);
      await house.volumes.unpublish(key, 'a');
      expect(await onA()).to.equal(undefined);
    }
    expect(calls()).to.deep.equal(['ControllerUnpublishVolume csi-a: OK']);
  });

  it('V11, 34.1 attached, but the answer lost, then no instance can attach: not taken for published', async () => {
    inOrder(house.plugin, 'ControllerPublishVolume', [{ code: 'UNAVAILABLE', work: true }]);
    house.volumes.publish(key, 'a').catch(() => {});
    await house.rest();
    await offerAtOnce(withoutAttach);
    await house.clock.advance(60_000);
    expect(await onA()).to.include({ state: 'pending-publish', attachedBy: 'call' });
    expect((await onA())?.message).to.include(attaches);
    await offer(allCapabilities);
    await house.clock.advance(300_000);
    expect(await onA()).to.include({ state: 'published', attachedBy: 'call' });
  });

  it('V11, 34.1 attached, but the answer lost, and not wanted any more: detached once an instance can', async () => {
    inOrder(house.plugin, 'ControllerPublishVolume', [{ code: 'UNAVAILABLE', work: true }]);
    house.volumes.publish(key, 'a').catch(() => {});
    await house.rest();
    await offerAtOnce(withoutAttach);
    house.volumes.unpublish(key, 'a').catch(() => {});
    await house.clock.advance(300_000);
    await isDetachedOnceItCanBe();
  });

  it('V11, 34.1 killed in a publish, its repeat refused, then no instance can detach: the unpublish waits', async () => {
    inOrder(house.plugin, 'ControllerPublishVolume', [
      { work: true, after: new Promise(() => {}) },
      { code: 'INVALID_ARGUMENT' },
    ]);
    house.volumes.publish(key, 'a').catch(() => {});
    await house.rest();
    await house.restart();
    await house.clock.advance(60_000);
    expect(await onA()).to.include({ state: 'failed', attachedBy: 'call' });
    await offer(withoutAttach);
    house.volumes.unpublish(key, 'a').catch(() => {});
    await isDetachedOnceItCanBe();
  });

  it('V7, 34.1 listed where nobody asked for it, then no instance can detach: the unpublish waits', async () => {
    inOrder(house.plugin, 'ControllerUnpublishVolume', [{ code: 'UNAVAILABLE' }]);
    for (const volume of house.plugin.volumes.values()) volume.attached.add('csi-a');
    await house.runtime.volumes.reconcile();
    await house.rest();
    expect(await onA()).to.include({ state: 'pending-unpublish', attachedBy: 'call' });
    await offerAtOnce(withoutAttach);
    await isDetachedOnceItCanBe();
  });

  for (const by of ['call', 'none'] as const)
    it(`V13, 34.1 attached by ${by}, left behind by a forced deletion: the retry knows how it came there`, async () => {
      if (by === 'none') await offer(withoutAttach);
      await house.volumes.publish(key, 'a');
      await house.runtime.plugins.deregister('csi-controller', pluginName, 'disk-1');
      house.volumes.delete(key, { force: true }).catch(() => {});
      await house.clock.advance(600_000);
      const left = (await house.volumes.get(key))?.leftovers?.find(({ what }) => what === 'published');
      expect(left).to.include({ attachedBy: by });
      house.plugin.capabilities = withoutAttach;
      await house.register();
      house.volumes.retry(key).catch(() => {});
      await house.clock.advance(600_000);
      const stillThere = (await house.volumes.get(key))?.leftovers?.map(({ what }) => what);
      expect(stillThere).to.deep.equal(by === 'call' ? ['published'] : undefined);
      expect(toldOf(house.plugin, 'ControllerUnpublishVolume')).to.deep.equal([]);
    });

  for (const done of [false, true])
    it(`V11, 34.1 killed ${done ? 'after' : 'before'} the commit of a publish without a call: unpublished without one`, async () => {
      await house.dispose();
      const kept = inMemory();
      const cable = new Cable(kept.store());
      const one = new VolumeHouse();
      one.store = cable;
      one.plugin.capabilities = withoutAttach;
      await one.furnish({ nodeId: 'one' });
      await one.volumes.create(spec('data'));
      const isEnd = ({ journal }: { journal: string }): boolean =>
        JSON.parse(journal).event?.output?.answer?.publishContext !== undefined;
      cable.cutAt({ is: isEnd, done });
      one.volumes.publish(key, 'a').catch(() => {});
      await one.rest();
      await cable.whenCut;
      await one.dispose().catch(() => {}); // A killed runtime can't be closed in order.
      await kept.bury(kept.store());
      house = new VolumeHouse();
      house.store = kept.store();
      house.plugin.capabilities = withoutAttach;
      await house.furnish({ nodeId: 'two' });
      await house.clock.advance(60_000);
      expect(await onA()).to.include({ state: 'published', attachedBy: 'none' });
      // A publish that was cut off may still be under way until its time is over.
      const unpublished = house.volumes.unpublish(key, 'a');
      await house.clock.advance(300_000);
      await unpublished;
      expect(calls()).to.deep.equal([]);
    });

  it('V11, 34.1 killed after the commit of a publish by a call, then no instance can detach: it waits', async () => {
    await house.volumes.publish(key, 'a');
    await house.restart();
    await offer(withoutAttach);
    house.volumes.unpublish(key, 'a').catch(() => {});
    await isDetachedOnceItCanBe();
  });
});

describe('how a volume of version 3 came to be attached', () => {
  const to4 = volumeMigrations.find(({ from }) => from === '3');
  const cases: [what: string, publishContext: Record<string, string> | undefined, by: string | undefined][] = [
    ['a call has given it a context', { device: '/dev/sda' }, 'call'],
    ['its context is empty', {}, undefined],
    ['it has no context', undefined, undefined],
  ];
  for (const [what, publishContext, by] of cases)
    it(`V5, 34.1 ${what}: ${by ?? 'not known'}`, () => {
      const old = { ...on('published'), ...(publishContext && { publishContext }) };
      const context = { lifecycle: { at: 'created' }, publications: { a: old }, work: null };
      const migrated = to4?.migrate({ value: 'published', context });
      expect(migrated?.context)
        .to.have.nested.property('publications.a')
        .that.deep.equals({ ...old, ...(by && { attachedBy: by }) });
    });
});
