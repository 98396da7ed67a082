/** Tests changes of the mutable parameters of volumes. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { allCapabilities, type Step } from './fake-plugin.js';
import { gate } from './scripts.js';
import { spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };

describe('modifying a volume', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    await house.volumes.create(spec('data', { mutableParameters: { iops: '1' } }));
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });

  function modifyingTells(...steps: Step[]): void {
    house.plugin.script = ({ rpc }) => (rpc === 'ControllerModifyVolume' ? steps.shift() : undefined);
  }
  const asked = (): unknown[] =>
    house.plugin.calls
      .filter(({ rpc }) => rpc === 'ControllerModifyVolume')
      .map(({ request }) => (request as { mutableParameters: object }).mutableParameters);

  it('V1 resolves and emits an event once the call has succeeded', async () => {
    await house.volumes.modify(key, { iops: '2' });
    expect(asked()).to.deep.equal([{ iops: '2' }]);
    expect((await house.events()).at(-1)).to.deep.include({ kind: 'modified', mutableParameters: { iops: '2' } });
  });

  it('V21 the view has the changed parameters; a refused change is marked as failed', async () => {
    await house.volumes.modify(key, { tier: 'gold', iops: '2' });
    expect((await house.volumes.get(key))?.mutableParameters).to.deep.equal({ iops: '2', tier: 'gold' });
    modifyingTells({ code: 'INVALID_ARGUMENT' });
    await refusalOf(house.volumes.modify(key, { iops: 'x' }));
    const volume = await house.volumes.get(key);
    expect(volume?.mutableParameters).to.deep.equal({ iops: '2', tier: 'gold' });
    expect(volume?.modification).to.deep.include({ mutableParameters: { iops: 'x' }, failed: true });
  });

  it('V12 other parameters during a call: both are changed, one after the other', async () => {
    let finish = (): void => {};
    modifyingTells({ before: new Promise<void>((resolve) => (finish = resolve)) });
    const first = house.volumes.modify(key, { iops: '2' });
    await house.rest();
    const second = house.volumes.modify(key, { tier: 'gold' });
    await house.rest();
    finish();
    await Promise.all([first, second]);
    expect(asked()).to.deep.equal([{ iops: '2' }, { tier: 'gold' }]);
  });

  it('V1 V11 V12 refused while others are queued: its caller is rejected, the others are changed', async () => {
    const held = gate();
    modifyingTells({ before: held.passed, code: 'INVALID_ARGUMENT' });
    const first = refusalOf(house.volumes.modify(key, { iops: 'x' }));
    await house.rest();
    const second = house.volumes.modify(key, { tier: 'gold' });
    await house.rest();
    held.open();
    expect(await first).to.include({ code: 'CSI_ERROR', grpcCode: 'INVALID_ARGUMENT' });
    await second;
    expect(asked()).to.deep.equal([{ iops: 'x' }, { tier: 'gold' }]);
    expect((await house.volumes.get(key))?.mutableParameters).to.deep.equal({ iops: '1', tier: 'gold' });
  });

  it('V1 V12 done for the first caller, refused for a second with more: the first still resolves', async () => {
    const [one, two] = [gate(), gate()];
    modifyingTells({ before: one.passed }, { before: two.passed, code: 'INVALID_ARGUMENT' });
    const first = house.volumes.modify(key, { tier: 'gold' });
    await house.rest();
    const second = refusalOf(house.volumes.modify(key, { tier: 'gold', iops: 'x' }));
    await house.rest();
    one.open();
    await house.rest();
    const third = house.volumes.modify(key, { size: 'small' });
    await house.rest();
    two.open();
    await first;
    expect(await second).to.include({ code: 'CSI_ERROR', grpcCode: 'INVALID_ARGUMENT' });
    await third;
    expect((await house.volumes.get(key))?.mutableParameters).to.deep.equal({ iops: '1', tier: 'gold', size: 'small' });
  });

  it('V1 V12 refused, then requested again while others are changed: tried again and done', async () => {
    const [one, two] = [gate(), gate()];
    modifyingTells({ before: one.passed, code: 'INVALID_ARGUMENT' }, { before: two.passed });
    const first = refusalOf(house.volumes.modify(key, { iops: '2' }));
    await house.rest();
    const others = house.volumes.modify(key, { tier: 'gold' });
    await house.rest();
    one.open();
    await first;
    await house.rest();
    const again = house.volumes.modify(key, { iops: '2' });
    await house.rest();
    two.open();
    await Promise.all([others, again]);
    expect(asked()).to.deep.equal([{ iops: '2' }, { tier: 'gold' }, { iops: '2' }]);
  });

  it('V12 the same change requested during its call, which is refused: tried again, both get its outcome', async () => {
    const held = gate();
    modifyingTells({ before: held.passed, code: 'INVALID_ARGUMENT' });
    const first = house.volumes.modify(key, { iops: '2' });
    await house.rest();
    const second = house.volumes.modify(key, { iops: '2' });
    await house.rest();
    held.open();
    await Promise.all([first, second]);
    expect(asked()).to.deep.equal([{ iops: '2' }, { iops: '2' }]);
  });

  it('V12 other parameters during backoff: changed together', async () => {
    modifyingTells({ code: 'UNAVAILABLE' });
    const first = house.volumes.modify(key, { iops: '2' });
    await house.rest();
    const second = house.volumes.modify(key, { tier: 'gold' });
    await house.clock.advance(60_000);
    await Promise.all([first, second]);
    expect(asked()).to.deep.equal([{ iops: '2' }, { iops: '2', tier: 'gold' }]);
  });

  it('V11 INVALID_ARGUMENT: rejected; the volume stays usable, and other parameters can be changed', async () => {
    modifyingTells({ code: 'INVALID_ARGUMENT' });
    const error = await refusalOf(house.volumes.modify(key, { colour: 'red' }));
    expect(error).to.deep.include({ code: 'CSI_ERROR', grpcCode: 'INVALID_ARGUMENT', final: true });
    await house.volumes.publish(key, 'a');
    const volume = await house.volumes.get(key);
    expect(volume?.state).to.equal('published');
    expect(volume?.modification?.message).to.contain('INVALID_ARGUMENT');
    expect((await refusalOf(house.volumes.modify(key, { colour: 'red' }))).grpcCode).to.equal('INVALID_ARGUMENT');
    expect(asked()).to.have.length(1);
    await house.volumes.modify(key, { iops: '3' });
    expect(asked()).to.deep.equal([{ colour: 'red' }, { iops: '3' }]);
  });

  it('V10 answer lost: the same call is repeated, also by the next runtime', async () => {
    modifyingTells({ code: 'DEADLINE_EXCEEDED', work: true });
    const cut = refusalOf(house.volumes.modify(key, { iops: '2' }));
    await house.rest();
    await house.restart();
    await cut;
    await house.clock.advance(60_000);
    expect(asked()).to.deep.equal([{ iops: '2' }, { iops: '2' }]);
    expect((await house.volumes.get(key))?.modification).to.equal(undefined);
  });

  it('V11 without MODIFY_VOLUME: PLUGIN_LACKS; with no parameters: INVALID_ARGUMENT', async () => {
    expect((await refusalOf(house.volumes.modify(key, {}))).code).to.equal('INVALID_ARGUMENT');
    house.plugin.capabilities = ['CREATE_DELETE_VOLUME'];
    await house.clock.advance(60_000);
    const error = await refusalOf(house.volumes.modify(key, { iops: '2' }));
    expect(error.code).to.equal('PLUGIN_LACKS');
    expect(asked()).to.deep.equal([]);
  });

  it('V2 created again with the first spec, or with the changed parameters: the same volume, no call', async () => {
    await house.volumes.modify(key, { iops: '2' });
    await house.volumes.modify(key, { tier: 'gold' });
    const calls = house.plugin.calls.length;
    const { uid } = (await house.volumes.get(key)) ?? {};
    for (const mutableParameters of [{ iops: '1' }, { iops: '2', tier: 'gold' }])
      expect(await house.volumes.create(spec('data', { mutableParameters }))).to.include({ uid });
    const other = spec('data', { mutableParameters: { iops: '2' } });
    const refusal = await refusalOf(house.volumes.create(other));
    expect(refusal).to.include({ code: 'VOLUME_EXISTS' });
    expect(refusal.message).to.contain('(mutableParameters.tier is "gold", asked for absent)');
    expect(house.plugin.calls).to.have.length(calls);
  });

  it('V2 mutable parameters, created or external, with a plugin that changes none: refused without a call', async () => {
    house.plugin.capabilities = allCapabilities.filter((one) => one !== 'MODIFY_VOLUME');
    await house.clock.advance(30_000);
    house.plugin.calls.splice(0);
    for (const more of [{}, { external: { csiId: 'their' } }]) {
      const asked = spec('more', { mutableParameters: { iops: '1' }, ...more });
      const refusal = await refusalOf(house.volumes.create(asked));
      expect(refusal).to.include({ code: 'PLUGIN_LACKS', final: true });
      expect(refusal.message).to.include('MODIFY_VOLUME');
      await house.volumes.delete({ id: 'more' });
    }
    await house.volumes.create(spec('more'));
    expect(house.plugin.told()).to.deep.equal(['CreateVolume: OK']);
  });
});
