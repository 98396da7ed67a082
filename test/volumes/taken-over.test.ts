/** What a volume here has made, and was not told of, is taken over by another: it is the other's alone. */
import { expect } from 'chai';
import type { StagecraftError } from '../../src/errors.js';
import { refusalOf } from '../refusal.js';
import { type DataHouse, inDataHouse, key } from './data-house.js';
import type { Step } from './fake-plugin.js';
import { always, gate, inOrder } from './scripts.js';
import { spec } from './volume-house.js';

describe('a volume that is taken over while another one may have made it, and does not know', () => {
  let house: DataHouse;
  inDataHouse(
    (furnished) => {
      house = furnished;
    },
    { isMade: false },
  );

  const other = { id: 'other' };

  /** The plugin has made the volume `data`, and nobody here was told; it is taken over as `other`. */
  async function takenOver(step: Step): Promise<{ making: Promise<StagecraftError> }> {
    always(house.plugin, 'CreateVolume', { ...step, work: true });
    const making = refusalOf(house.volumes.create(spec('data')));
    await house.rest();
    const made = house.plugin.made(house.plugin.calls[0]?.volume ?? '');
    expect(made?.id).to.equal('vol-1');
    await house.volumes.create(spec('other', { external: { csiId: 'vol-1', context: { made: made?.name ?? '' } } }));
    house.plugin.script = () => undefined;
    return { making };
  }

  /** It is nobody's but the other's: that uses it, and has it whatever becomes of the first. */
  async function isOnlyTheirs(): Promise<void> {
    await house.volumes.publish(other, 'a');
    await house.volumes.delete(key);
    expect(await house.volumes.get(key)).to.equal(undefined);
    expect(house.plugin.told().filter((call) => call.startsWith('Delete'))).to.deep.equal([]);
    expect([...(house.plugin.volumes.get('vol-1')?.attached ?? [])]).to.deep.equal(['csi-a']);
  }

  it('V16 V13 its call is tried again: the first fails, says whose it is, also after a retry, and is let go of', async () => {
    const { making } = await takenOver({ code: 'UNAVAILABLE' });
    await house.clock.advance(60_000);
    const error = await making;
    expect(error).to.include({ code: 'VOLUME_EXISTS', address: 'volume/default/data' });
    expect(error.message).to.include("made it as 'vol-1'");
    expect((await refusalOf(house.volumes.publish(key, 'b'))).code).to.equal('VOLUME_EXISTS');
    await house.volumes.retry(key);
    await house.rest();
    expect(await house.volumes.get(key)).to.include({ state: 'failed' });
    await isOnlyTheirs();
  });

  it('V16 V13 its call is answered later, in another run: the same', async () => {
    const { making } = await takenOver({ code: 'UNAVAILABLE' });
    await house.restart();
    expect((await making).code).to.equal('RUNTIME_CLOSED');
    await house.clock.advance(60_000);
    expect((await house.volumes.get(key))?.error).to.include({ code: 'VOLUME_EXISTS' });
    await isOnlyTheirs();
  });

  it('V16 V13 its first call is still under way: the same', async () => {
    const held = gate();
    house.plugin.overlaps = 'allowed';
    const { making } = await takenOver({ after: held.passed });
    held.open();
    expect((await making).code).to.equal('VOLUME_EXISTS');
    await isOnlyTheirs();
  });

  for (const force of [false, true])
    it(`V13 V16 deleted ${force ? 'with force ' : ''}before that is known: found out, and let go of`, async () => {
      const { making } = await takenOver({ code: 'UNAVAILABLE' });
      const deleting = house.volumes.delete(key, { force });
      await house.clock.advance(60_000);
      await deleting;
      expect((await making).code).to.equal('ABORTED');
      expect(await house.volumes.get(key)).to.equal(undefined);
      expect(house.plugin.told().filter((call) => call.startsWith('Delete'))).to.deep.equal([]);
      expect(await house.volumes.get(other)).to.include({ csiId: 'vol-1' });
    });

  it('V16 it has made another: that is its own', async () => {
    house.plugin.keeps('their');
    inOrder(house.plugin, 'CreateVolume', [{ code: 'UNAVAILABLE' }]);
    const making = house.volumes.create(spec('data'));
    await house.rest();
    await house.volumes.create(spec('other', { external: { csiId: 'their' } }));
    await house.clock.advance(60_000);
    expect(await making).to.include({ csiId: 'vol-1', state: 'created' });
  });

  it('V16 V12 what it is told is on its way to the store: the takeover is refused, naming whose it is', async () => {
    const told = gate();
    const written = gate();
    inOrder(house.plugin, 'CreateVolume', [{ after: told.passed }]);
    const making = house.volumes.create(spec('data'));
    await house.rest();
    const commit = house.store.commit.bind(house.store);
    house.store.commit = async (items) => {
      if (items.some(({ address }) => address === 'volume/default/data')) await written.passed;
      return commit(items);
    };
    told.open();
    await house.rest();
    const taking = refusalOf(house.volumes.create(spec('other', { external: { csiId: 'vol-1' } })));
    await house.rest();
    expect(await house.volumes.get(key)).to.include({ state: 'pending-create' });
    written.open();
    expect(await making).to.include({ csiId: 'vol-1', state: 'created' });
    const error = await taking;
    expect(error).to.include({ code: 'VOLUME_EXISTS', address: 'volume/default/other' });
    expect(error.message).to.include("knows volume default/data as 'vol-1'");
    expect(await house.volumes.get(other)).to.equal(undefined);
  });
});
