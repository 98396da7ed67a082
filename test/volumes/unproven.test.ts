/**
 * Tests copies whose answer is lost, with a plugin that leaves out `content_source` when CreateVolume is repeated: what it
 * made is removed and made again, three times at most.
 */
import { expect } from 'chai';
import type * as plain from '../../src/csi/generated/plain.js';
import { troubleOf } from '../../src/inspector/trouble.js';
import { refusalOf } from '../refusal.js';
import type { Step } from './fake-plugin.js';
import { gate, inOrder, toldOf } from './scripts.js';
import { spec, VolumeHouse } from './volume-house.js';

const key = { id: 'copy' };
const first = { namespace: 'default', id: 'first' };

describe('a restore whose answer is lost', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    await house.volumes.create(spec('first'));
    await house.runtime.snapshots.create({ id: 'monday', volume: first });
    house.plugin.calls.length = 0;
    const { createVolume } = Object.getPrototypeOf(house.plugin) as typeof house.plugin;
    house.plugin.createVolume = async (request) => {
      const isRepeat = house.plugin.made(request.name ?? '') !== undefined;
      const { volume } = await createVolume.call(house.plugin, request);
      return volume ? { volume: isRepeat ? withoutSource(volume) : volume } : {};
    };
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });

  const withoutSource = ({ contentSource: _, ...volume }: plain.Volume): plain.Volume => volume;
  const restore = () => house.volumes.create(spec('copy', { source: { volumeSnapshot: 'monday' } }));
  const view = () => house.volumes.get(key);
  const names = (): unknown[] =>
    house.plugin.calls
      .filter(({ rpc }) => rpc === 'CreateVolume')
      .map(({ request }) => (request as { name?: string }).name);
  const lost = { code: 'DEADLINE_EXCEEDED', work: true } as const;

  it('V10, 34.4 repeat without its source: removed, then made again under another name', async () => {
    inOrder(house.plugin, 'CreateVolume', [lost]);
    const made = restore();
    await house.clock.advance(300_000);
    const { uid, state, csiId, name } = await made;
    expect({ state, csiId, name }).to.deep.equal({ state: 'created', csiId: 'vol-3', name: `sc-${uid}-1` });
    expect(names()).to.deep.equal([`sc-${uid}`, `sc-${uid}`, `sc-${uid}-1`]);
    expect(toldOf(house.plugin, 'DeleteVolume')).to.deep.equal(['DeleteVolume: OK']);
    expect([...house.plugin.volumes.keys()]).to.deep.equal(['vol-1', 'vol-3']);
    await house.volumes.delete(key);
    expect([...house.plugin.volumes.keys()]).to.deep.equal(['vol-1']);
  });

  it('V10, 34.4 repeat with its source: kept', async () => {
    delete (house.plugin as { createVolume?: unknown }).createVolume;
    inOrder(house.plugin, 'CreateVolume', [lost]);
    const made = restore();
    await house.clock.advance(300_000);
    expect(await made).to.include({ state: 'created', csiId: 'vol-2' });
  });

  it('V11, 34.4 lost three times: fails without remains, with advice that works and is the same everywhere', async () => {
    inOrder(house.plugin, 'CreateVolume', [lost, {}, lost, {}, lost]);
    const failed = refusalOf(restore());
    await house.clock.advance(1_200_000);
    const refusal = await failed;
    expect(refusal.code).to.equal('VOLUME_UNPROVEN');
    const advice = 'give its calls more time (calls.timeoutMs), then retry';
    expect(refusal.message.endsWith(`what it made was removed; ${advice}`)).to.equal(true);
    const part = (await view())?.parts.find(({ chart }) => chart === 'lifecycle');
    const summary = { address: 'volume/default/copy', machine: 'volume', state: 'failed', why: part?.why ?? '' };
    const trouble = troubleOf({ ...summary, health: 'failed', seq: 1 }, part);
    expect(trouble).to.include({ todo: advice, command: 'stagecraft volume retry copy' });
    expect(new Set(names()).size).to.equal(3);
    expect([...house.plugin.volumes.keys()]).to.deep.equal(['vol-1']);
    expect((await view())?.state).to.equal('failed');
    await house.volumes.retry(key);
    await house.clock.advance(300_000);
    expect((await view())?.state).to.equal('created');
    expect(new Set(names()).size).to.equal(4);
  });

  it('V13, 34.4 failed after three rounds, then deleted: no call', async () => {
    inOrder(house.plugin, 'CreateVolume', [lost, {}, lost, {}, lost]);
    restore().catch(() => {});
    await house.clock.advance(1_200_000);
    house.plugin.calls.length = 0;
    await house.volumes.delete(key);
    expect(house.plugin.told()).to.deep.equal([]);
    expect(await view()).to.equal(undefined);
  });

  it('V10, 34.4 runtime closed in each round: the next one goes on, and nothing is left', async () => {
    inOrder(house.plugin, 'CreateVolume', [lost]);
    restore().catch(() => {});
    await house.clock.advance(10);
    await house.restart();
    await house.clock.advance(300_000);
    expect((await view())?.state).to.equal('created');
    expect(house.plugin.volumes.size).to.equal(2);
  });

  it('V11, 34.31 runtime closed in each of ten rounds: not counted against the plugin, and made in the end', async () => {
    house.plugin.overlaps = 'allowed'; // The calls of closed runtimes never end.
    let calls = 0;
    house.plugin.script = ({ rpc }) => {
      calls += rpc === 'CreateVolume' ? 1 : 0;
      return calls <= 20 && calls % 2 === 1 && rpc === 'CreateVolume'
        ? { work: true, after: new Promise(() => {}) }
        : {};
    };
    restore().catch(() => {});
    for (let round = 1; round <= 10; round += 1) {
      await house.rest();
      expect((await view())?.state).to.equal('pending-create');
      await house.restart();
      await house.clock.advance(130_000);
    }
    expect((await view())?.state).to.equal('created');
    expect(new Set(names()).size).to.equal(11);
    expect(house.plugin.volumes.size).to.equal(2);
  });

  for (const force of [false, true])
    for (const rest of ['under way', 'refused', 'that waits'] as const)
      it(`V13, 34.4 deleted ${force ? 'with force ' : ''}during a removal ${rest}: deleted once, by its id`, async () => {
        const { passed, open } = gate();
        const creations: Step[] = [rest === 'that waits' ? { work: true, after: new Promise(() => {}) } : lost];
        const removals = { refused: { code: 'INTERNAL' }, 'under way': { before: passed }, 'that waits': {} } as const;
        let removal: Step | undefined = removals[rest];
        house.plugin.overlaps = 'allowed';
        house.plugin.script = ({ rpc }) =>
          rpc === 'CreateVolume' ? creations.shift() : rpc === 'DeleteVolume' ? removal : undefined;
        restore().catch(() => {});
        await house.rest();
        // The call of a runtime that has ended may still arrive: the removal waits for that.
        if (rest === 'that waits') await house.restart();
        await house.clock.advance(10_000);
        expect(toldOf(house.plugin, 'DeleteVolume').length > 0).to.equal(rest !== 'that waits');
        expect((await view())?.state).to.equal('pending-create');
        const gone = house.volumes.delete(key, { force });
        await house.rest();
        removal = undefined;
        open();
        await house.clock.advance(300_000);
        await gone;
        expect([...house.plugin.volumes.keys()]).to.deep.equal(['vol-1']);
        expect(await view()).to.equal(undefined);
        expect(toldOf(house.plugin, 'DeleteVolume').filter((line) => line.endsWith('OK'))).to.have.lengthOf(1);
      });

  it('V11 V13, 34.4 removal refused: failed with its id; a retry removes it and makes it again', async () => {
    const creations = [lost];
    let removal: { code: 'PERMISSION_DENIED' } | undefined = { code: 'PERMISSION_DENIED' };
    house.plugin.script = ({ rpc }) =>
      rpc === 'CreateVolume' ? creations.shift() : rpc === 'DeleteVolume' ? removal : undefined;
    const failed = refusalOf(restore());
    await house.clock.advance(300_000);
    expect((await failed).message).to.include('correct the plugin and retry, or delete it');
    removal = undefined;
    await house.volumes.retry(key);
    await house.clock.advance(300_000);
    expect((await view())?.state).to.equal('created');
    expect(house.plugin.volumes.size).to.equal(2);
  });

  it('V16, 34.4 first answer without its source: failed at once, as the plugin never says it', async () => {
    const { createVolume } = Object.getPrototypeOf(house.plugin) as typeof house.plugin;
    house.plugin.createVolume = async (request) => {
      const { volume } = await createVolume.call(house.plugin, request);
      return volume ? { volume: withoutSource(volume) } : {};
    };
    const refusal = await refusalOf(restore());
    expect(refusal.message).to.include('it may be empty; correct the plugin and retry, or delete it');
    expect(refusal.message.match(/delete it/g)).to.have.lengthOf(1);
  });
});
