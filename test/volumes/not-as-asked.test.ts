/** Tests volumes that a plugin creates not as asked: never accepted, and deleted with the record. */
import { expect } from 'chai';
import type * as plain from '../../src/csi/generated/plain.js';
import { refusalOf } from '../refusal.js';
import type { Call, Step } from './fake-plugin.js';
import { always, gate, inOrder } from './scripts.js';
import { spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };
const capacity = { requiredBytes: 1_000, limitBytes: 2_000 };

describe('a volume that is created not as asked', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });

  /** Changes the plugin's answers to CreateVolume from here on. */
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
    it(`V16 V11 ${what}: fails, naming both sizes; not usable, deleted by its id`, async () => {
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

  it('V16 no size, or a size within the limits: accepted', async () => {
    making((volume) => ({ ...volume, capacityBytes: 0n }));
    expect(await house.volumes.create(spec('untold', { capacity }))).to.include({ state: 'created' });
    making((volume) => ({ ...volume, capacityBytes: 2_000n }));
    expect(await house.volumes.create(spec('data', { capacity }))).to.include({ capacityBytes: 2_000 });
  });

  it('V16 clone without a content source: fails, and the source stays', async () => {
    await house.volumes.create(spec('first'));
    making(({ contentSource: _, ...volume }) => volume);
    const asked = spec('data', { source: { volume: { namespace: 'default', id: 'first' } } });
    const refusal = await refusalOf(house.volumes.create(asked));
    expect(refusal.message).to.include('content of volume vol-1').and.to.include('made vol-2');
    await house.volumes.delete(key);
    expect([...house.plugin.volumes.keys()]).to.deep.equal(['vol-1']);
  });

  it('V11 retried after the plugin is fixed: created', async () => {
    making((volume) => ({ ...volume, capacityBytes: 1n }));
    await refusalOf(house.volumes.create(spec('data', { capacity })));
    making((volume) => volume);
    await house.volumes.retry(key);
    await house.rest();
    expect(await house.volumes.get(key)).to.include({ state: 'created', csiId: 'vol-1', capacityBytes: 1_000 });
    expect(await house.volumes.get(key)).to.not.have.property('error');
  });

  it('V11 V13 retried without success: still deleted by its id', async () => {
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
    it(`V13 V14 deleted ${force ? 'with force ' : ''}during a retry that is refused: deleted by its id`, async () => {
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

  it('V13 V14 deleted with force during a retry, deletion refused: a leftover with its id', async () => {
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

  it('V13 V16 registered as an external volume: refused, naming its owner; deleted with that one', async () => {
    making((volume) => ({ ...volume, capacityBytes: 1n }));
    await refusalOf(house.volumes.create(spec('data', { capacity })));
    const taking = spec('other', { external: { csiId: 'vol-1' } });
    const refusal = await refusalOf(house.volumes.create(taking));
    expect(refusal).to.include({ code: 'VOLUME_EXISTS' });
    expect(refusal.message).to.include("knows volume default/data as 'vol-1'");
    await house.volumes.delete(key);
    expect(house.plugin.told()).to.deep.equal(['CreateVolume: OK', 'DeleteVolume: OK']);
  });

  it('V13 deleted during its creation: deleted as soon as the answer comes', async () => {
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
