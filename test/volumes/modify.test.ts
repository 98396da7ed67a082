/** Volumes whose mutable parameters are changed. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { allCapabilities, type Step } from './fake-plugin.js';
import { gate } from './scripts.js';
import { spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };

describe('a volume that is modified', () => {
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

  it('V1 resolves once the plugin has taken them, and says so by event', async () => {
    await house.volumes.modify(key, { iops: '2' });
    expect(asked()).to.deep.equal([{ iops: '2' }]);
    expect((await house.events()).at(-1)).to.deep.include({ kind: 'modified', mutableParameters: { iops: '2' } });
  });

  it('V21 what they have been changed to is told; what was refused is told as such', async () => {
    await house.volumes.modify(key, { tier: 'gold', iops: '2' });
    expect((await house.volumes.get(key))?.mutableParameters).to.deep.equal({ iops: '2', tier: 'gold' });
    modifyingTells({ code: 'INVALID_ARGUMENT' });
    await refusalOf(house.volumes.modify(key, { iops: 'x' }));
    const volume = await house.volumes.get(key);
    expect(volume?.mutableParameters).to.deep.equal({ iops: '2', tier: 'gold' });
    expect(volume?.modification).to.deep.include({ mutableParameters: { iops: 'x' }, failed: true });
  });

  it('V12 others while a call is under way: both are changed, one after the other', async () => {
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

  it('V1 V11 V12 refused as others were asked for meanwhile: who asked hears so, the others are changed', async () => {
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

  it('V1 V12 done, then refused to another who asked for it with more: who asked first is told that it is done', async () => {
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

  it('V1 V12 refused, and asked for again while the others are being changed: tried again, and done', async () => {
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

  it('V12 the same as its call is under way, which is refused: tried again, and both have its outcome', async () => {
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

  it('V12 others while one waits for its next attempt: changed together', async () => {
    modifyingTells({ code: 'UNAVAILABLE' });
    const first = house.volumes.modify(key, { iops: '2' });
    await house.rest();
    const second = house.volumes.modify(key, { tier: 'gold' });
    await house.clock.advance(60_000);
    await Promise.all([first, second]);
    expect(asked()).to.deep.equal([{ iops: '2' }, { iops: '2', tier: 'gold' }]);
  });

  it('V11 INVALID_ARGUMENT: rejects, the volume can be used, and other parameters can be asked for', async () => {
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

  it('V10 an answer that is lost: the same again, also by the next runtime', async () => {
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

  it('V2 the spec that it was made with, or the same with what it was changed to: the same volume, and no call', async () => {
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

  it('V2 made with mutable parameters, or taken over, by a plugin that changes none: refused, and it is never called', async () => {
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
