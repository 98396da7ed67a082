/** Volumes that a plugin makes otherwise than it was asked to: never taken for good, and deleted with the volume. */
import { expect } from 'chai';
import type * as plain from '../../src/csi/generated/plain.js';
import { refusalOf } from '../refusal.js';
import type { Call, Step } from './fake-plugin.js';
import { always, gate, inOrder } from './scripts.js';
import { spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };
const capacity = { requiredBytes: 1_000, limitBytes: 2_000 };

describe('a volume that is not as it was asked for', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });

  /** What the plugin says of what it has made, as it is from here. */
  function making(changed: (volume: plain.Volume) => plain.Volume): void {
    const { createVolume } = Object.getPrototypeOf(house.plugin) as typeof house.plugin;
    house.plugin.createVolume = async (request) => {
      const { volume } = await createVolume.call(house.plugin, request);
      return volume ? { volume: changed(volume) } : {};
    };
  }

  const wrongSizes: [string, bigint, string][] = [
    ['smaller', 999n, 'it has 999 bytes, though at least 1000 were asked for'],
    ['larger', 2_001n, 'it has 2001 bytes, though 2000 at most were asked for'],
  ];
  for (const [what, capacityBytes, words] of wrongSizes)
    it(`V16 V11 ${what}: fails with both sizes, is used for nothing, and is deleted by its id`, async () => {
      making((volume) => ({ ...volume, capacityBytes }));
      const refusal = await refusalOf(house.volumes.create(spec('data', { capacity })));
      expect(refusal).to.include({ code: 'CSI_ERROR', grpcCode: 'OK', answerClass: 'driver-bug', final: true });
      expect(refusal.message).to.include(words).and.to.include('vol-1');
      house.volumes.publish(key, 'a').catch(() => {});
      house.volumes.expand(key, { requiredBytes: 5_000 }).catch(() => {});
      await house.clock.advance(600_000);
      await house.restart();
      await house.clock.advance(600_000);
      expect((await house.volumes.get(key))?.state).to.equal('failed');
      expect(house.plugin.told()).to.deep.equal(['CreateVolume: OK']);
      await house.volumes.unpublish(key, 'a');
      await house.volumes.delete(key);
      expect(house.plugin.told()).to.deep.equal(['CreateVolume: OK', 'DeleteVolume: OK']);
      expect([...house.plugin.volumes.keys()]).to.deep.equal([]);
    });

  it('V16 a size that is not told is no wrong one; nor is one within the limits', async () => {
    making((volume) => ({ ...volume, capacityBytes: 0n }));
    expect(await house.volumes.create(spec('untold', { capacity }))).to.include({ state: 'created' });
    making((volume) => ({ ...volume, capacityBytes: 2_000n }));
    expect(await house.volumes.create(spec('data', { capacity }))).to.include({ capacityBytes: 2_000 });
  });

  it('V16 a copy that is not said to be one: fails, and what was copied stays as it is', async () => {
    await house.volumes.create(spec('first'));
    making(({ contentSource: _, ...volume }) => volume);
    const asked = spec('data', { source: { volume: { namespace: 'default', id: 'first' } } });
    const refusal = await refusalOf(house.volumes.create(asked));
    expect(refusal.message).to.include('content of volume vol-1').and.to.include('made vol-2');
    await house.volumes.delete(key);
    expect([...house.plugin.volumes.keys()]).to.deep.equal(['vol-1']);
  });

  it('V11 tried again once the plugin does better: it is good', async () => {
    making((volume) => ({ ...volume, capacityBytes: 1n }));
    await refusalOf(house.volumes.create(spec('data', { capacity })));
    making((volume) => volume);
    await house.volumes.retry(key);
    await house.rest();
    expect(await house.volumes.get(key)).to.include({ state: 'created', csiId: 'vol-1', capacityBytes: 1_000 });
    expect(await house.volumes.get(key)).to.not.have.property('error');
  });

  it('V11 V13 tried again in vain: it is still deleted by its id', async () => {
    making((volume) => ({ ...volume, capacityBytes: 1n }));
    await refusalOf(house.volumes.create(spec('data', { capacity })));
    always(house.plugin, 'CreateVolume', { code: 'ALREADY_EXISTS' });
    await house.volumes.retry(key);
    await house.rest();
    expect((await house.volumes.get(key))?.error).to.include({ code: 'CSI_ERROR' });
    house.plugin.calls.splice(0);
    await house.volumes.delete(key);
    expect(house.plugin.told()).to.deep.equal(['DeleteVolume: OK']);
    expect([...house.plugin.volumes.keys()]).to.deep.equal([]);
  });

  for (const force of [true, false])
    it(`V13 V14 deleted ${force ? 'with force ' : ''}while it is tried again, which is refused then: deleted by its id`, async () => {
      making((volume) => ({ ...volume, capacityBytes: 1n }));
      await refusalOf(house.volumes.create(spec('data', { capacity })));
      const { passed, open } = gate();
      inOrder(house.plugin, 'CreateVolume', [{ before: passed, code: 'ALREADY_EXISTS' }]);
      await house.volumes.retry(key);
      await house.rest();
      const deleted = house.volumes.delete(key, { force });
      await house.rest();
      open();
      await deleted;
      expect(house.plugin.told().slice(1)).to.deep.equal(['CreateVolume: ALREADY_EXISTS', 'DeleteVolume: OK']);
      expect([...house.plugin.volumes.keys()]).to.deep.equal([]);
      expect(await house.volumes.get(key)).to.equal(undefined);
    });

  it('V13 V14 deleted with force while it is tried again, and not to be deleted: what is left is listed by its id', async () => {
    making((volume) => ({ ...volume, capacityBytes: 1n }));
    await refusalOf(house.volumes.create(spec('data', { capacity })));
    const { passed, open } = gate();
    const steps: Partial<Record<Call['rpc'], Step>> = {
      CreateVolume: { before: passed, code: 'ALREADY_EXISTS' },
      DeleteVolume: { code: 'PERMISSION_DENIED' },
    };
    house.plugin.script = ({ rpc }) => steps[rpc];
    await house.volumes.retry(key);
    await house.rest();
    const deleted = house.volumes.delete(key, { force: true });
    await house.rest();
    open();
    await deleted;
    const [leftover, ...others] = (await house.volumes.get(key))?.leftovers ?? [];
    expect(leftover).to.include({ what: 'created', csiId: 'vol-1' });
    expect(others).to.deep.equal([]);
  });

  it('V13 V16 what was made is to be taken over by another volume: refused, naming whose it is, and deleted with that', async () => {
    making((volume) => ({ ...volume, capacityBytes: 1n }));
    await refusalOf(house.volumes.create(spec('data', { capacity })));
    const taking = spec('other', { external: { csiId: 'vol-1' } });
    const refusal = await refusalOf(house.volumes.create(taking));
    expect(refusal).to.include({ code: 'VOLUME_EXISTS' });
    expect(refusal.message).to.include("knows volume default/data as 'vol-1'");
    await house.volumes.delete(key);
    expect(house.plugin.told()).to.deep.equal(['CreateVolume: OK', 'DeleteVolume: OK']);
  });

  it('V13 deleted while it is made: deleted at once as that is answered', async () => {
    let made = (): void => {};
    always(house.plugin, 'CreateVolume', { before: new Promise<void>((resolve) => (made = resolve)) });
    making((volume) => ({ ...volume, capacityBytes: 1n }));
    house.volumes.create(spec('data', { capacity })).catch(() => {});
    await house.rest();
    const deleted = house.volumes.delete(key);
    made();
    await deleted;
    expect(house.plugin.told()).to.deep.equal(['CreateVolume: OK', 'DeleteVolume: OK']);
  });
});
