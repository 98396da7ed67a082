/** Tests expansions that are replaced before they are done, and taken back. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import type { Step } from './fake-plugin.js';
import { always, gate, inOrder, toldOf } from './scripts.js';
import { spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };
const large = { requiredBytes: 20 };
const smaller = { requiredBytes: 15 };
const present = { requiredBytes: 10 };

describe('replacing an expansion', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    await house.volumes.create(spec('data', { capacity: present }));
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });

  const sizes = (): unknown[] =>
    house.plugin.calls
      .filter(({ rpc }) => rpc === 'ControllerExpandVolume')
      .map(({ request }) => (request as { capacityRange: { requiredBytes: bigint } }).capacityRange.requiredBytes);
  const failingAbove = (most: bigint, step: Step): void => {
    house.plugin.script = ({ rpc, request }) => {
      const { requiredBytes = 0n } = (request as { capacityRange?: { requiredBytes: bigint } }).capacityRange ?? {};
      return rpc === 'ControllerExpandVolume' && requiredBytes > most ? step : undefined;
    };
  };

  for (const code of ['RESOURCE_EXHAUSTED', 'INTERNAL'] as const) {
    it(`V11, 34.24 ${code} again and again: a smaller size replaces the one that can't be had`, async () => {
      failingAbove(15n, { code });
      const first = refusalOf(house.volumes.expand(key, large));
      await house.clock.advance(3_600_000);
      expect(await house.volumes.expand(key, smaller)).to.include({ capacityBytes: 15 });
      expect((await first).code).to.equal('ABORTED');
      expect(sizes().slice(-1)).to.deep.equal([15n]);
      expect(await house.volumes.get(key))
        .to.include({ state: 'created' })
        .and.not.have.property('expansion');
    });

    it(`V11, 34.24 ${code} again and again: the present size takes the expansion back, for good`, async () => {
      always(house.plugin, 'ControllerExpandVolume', { code });
      const first = refusalOf(house.volumes.expand(key, large));
      await house.clock.advance(3_600_000);
      await house.restart();
      const before = sizes().length;
      expect(await house.volumes.expand(key, present)).to.deep.include({ capacityBytes: 10 });
      await house.clock.advance(3_600_000);
      expect(sizes()).to.have.length(before);
      expect((await first).code).to.equal('RUNTIME_CLOSED');
      expect(await house.volumes.get(key))
        .to.include({ state: 'created' })
        .and.not.have.property('expansion');
    });
  }

  const during: [string, Step, { called: bigint[]; capacityBytes: number }][] = [
    ['which then succeeds: the larger size stays', {}, { called: [20n], capacityBytes: 20 }],
    ['which then fails: the smaller size is called', { code: 'INTERNAL' }, { called: [20n, 15n], capacityBytes: 15 }],
    [
      'which is refused: the smaller size is called',
      { code: 'OUT_OF_RANGE' },
      { called: [20n, 15n], capacityBytes: 15 },
    ],
  ];
  for (const [how, step, { called, capacityBytes }] of during)
    it(`V12, 34.24 replaced during the call, ${how}`, async () => {
      const held = gate();
      inOrder(house.plugin, 'ControllerExpandVolume', [{ ...step, before: held.passed }]);
      const first = house.volumes.expand(key, large).catch(({ code }: { code: string }) => ({ code }));
      await house.rest();
      const second = house.volumes.expand(key, smaller);
      await house.rest();
      held.open();
      expect(await second).to.include({ capacityBytes });
      expect(await first).to.deep.include(step.code ? { code: 'ABORTED' } : { capacityBytes: 20 });
      await house.clock.advance(60_000);
      expect(sizes()).to.deep.equal(called);
    });

  it('V1 V12 an earlier size, below the present one, while it grows: done at once, the expansion goes on', async () => {
    await house.volumes.expand(key, smaller);
    inOrder(house.plugin, 'ControllerExpandVolume', [{ code: 'UNAVAILABLE' }]);
    const first = house.volumes.expand(key, large);
    await house.rest();
    expect(await house.volumes.expand(key, present)).to.include({ capacityBytes: 15 });
    await house.clock.advance(60_000);
    expect(await first).to.include({ capacityBytes: 20 });
  });

  it('V12, 34.24 taken back during the call, which then fails: not called again', async () => {
    const held = gate();
    inOrder(house.plugin, 'ControllerExpandVolume', [{ code: 'INTERNAL', before: held.passed }]);
    const first = refusalOf(house.volumes.expand(key, large));
    await house.rest();
    await house.volumes.expand(key, present);
    held.open();
    expect((await first).code).to.equal('ABORTED');
    await house.clock.advance(60_000);
    expect(sizes()).to.deep.equal([20n]);
    expect(await house.volumes.get(key)).to.include({ state: 'created', capacityBytes: 10 });
  });

  it('V12, 34.24 taken back while the call waits for its plugin: over at once, no call is made', async () => {
    house.plugin.health = { healthy: false, description: 'initialising' };
    await house.clock.advance(31_000);
    const first = refusalOf(house.volumes.expand(key, large));
    await house.rest();
    await house.volumes.expand(key, present);
    expect((await first).code).to.equal('ABORTED');
    expect(await house.volumes.get(key)).to.include({ state: 'created' });
    house.plugin.health = { healthy: true, description: 'ready' };
    await house.clock.advance(31_000);
    expect(sizes()).to.deep.equal([]);
  });

  it('V6, 34.24 plugin that reports no sizes: the size that the volume was created with takes it back', async () => {
    const create = house.plugin.createVolume.bind(house.plugin);
    house.plugin.createVolume = async (request) => {
      const { volume } = await create(request);
      return volume ? { volume: { ...volume, capacityBytes: 0n } } : {};
    };
    const untold = { id: 'untold' };
    await house.volumes.create(spec('untold', { capacity: present }));
    always(house.plugin, 'ControllerExpandVolume', { code: 'INTERNAL' });
    const first = refusalOf(house.volumes.expand(untold, large));
    await house.rest();
    await house.volumes.expand(untold, present);
    expect((await first).code).to.equal('ABORTED');
    expect(await house.volumes.get(untold))
      .to.include({ state: 'created' })
      .and.not.have.property('expansion');
  });

  it('V16, 34.24 a size below the present one, while it grows: refused, the expansion goes on', async () => {
    inOrder(house.plugin, 'ControllerExpandVolume', [{ code: 'INTERNAL' }]);
    const first = house.volumes.expand(key, large);
    await house.rest();
    const error = await refusalOf(house.volumes.expand(key, { requiredBytes: 9 }));
    expect(error.message).to.equal('volume default/data: its size is 10: a volume can only grow');
    await house.clock.advance(60_000);
    expect(await first).to.include({ capacityBytes: 20 });
    expect(toldOf(house.plugin, 'ControllerExpandVolume')).to.have.length(2);
  });
});
