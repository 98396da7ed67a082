/**
 * Kills the runtime around each commit while a copy that may lack its content is removed and made again. In the end there is
 * one copy, from a call that succeeded, and nothing else.
 */
import { expect } from 'chai';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { Cable } from '../registry/cable.js';
import { inMemory } from '../registry/kept-data.js';
import { spec, VolumeHouse } from './volume-house.js';

const first = { namespace: 'default', id: 'first' };
const ignored = (): void => {};
/** More commits than the whole course has. */
const mostCommits = 20;

describe('a copy that is removed and made again, whose runtime is killed', () => {
  let houses: VolumeHouse[];
  beforeEach(() => {
    houses = [];
  });
  afterEach(async () => {
    for (const house of houses) await house.dispose().catch(ignored);
  });

  /** Kills the runtime at this commit after the request. @returns whether there was such a commit */
  async function killedAt(
    commit: number,
    { done, isDeleted }: { done: boolean; isDeleted: boolean },
  ): Promise<boolean> {
    const [one, two] = [new VolumeHouse(), new VolumeHouse()];
    houses.push(one, two);
    const { plugin } = one;
    const { createVolume } = Object.getPrototypeOf(plugin) as typeof plugin;
    plugin.createVolume = async (request) => {
      const isRepeat = plugin.made(request.name ?? '') !== undefined;
      const { volume } = await createVolume.call(plugin, request);
      if (volume && isRepeat) delete volume.contentSource;
      return volume ? { volume } : {};
    };
    const kept = inMemory();
    const cable = new Cable(kept.store());
    one.store = cable;
    await one.furnish({ nodeId: 'one' });
    await one.volumes.create(spec('first'));
    const asked = spec('copy', { source: { volume: first } });
    let isLost = true;
    plugin.script = ({ rpc }) => {
      if (rpc !== 'CreateVolume' || !isLost) return undefined;
      isLost = false;
      return { code: 'DEADLINE_EXCEEDED', work: true };
    };
    let commits = 0;
    cable.cutAt({ is: () => ++commits === commit, done });
    one.volumes.create(asked).catch(ignored);
    await one.clock.advance(60_000);
    const { isCut } = cable;
    cable.cutAt({ is: () => false, done: true });
    const closed = one.runtime.close().catch(ignored);
    await one.clock.advance(60_000);
    await closed;
    if (!isCut) return false;
    await kept.bury(kept.store());
    two.store = kept.store();
    await two.open({ nodeId: 'two', random: seededRandom(2), dispensers: { 'csi-controller': plugin } });
    await two.register();
    await two.clock.advance(10_000);
    if (isDeleted) two.volumes.delete({ id: 'copy' }).catch(ignored);
    else two.volumes.create(asked).catch(ignored);
    await two.clock.advance(1_200_000);
    const { csiId } = (await two.volumes.get({ id: 'copy' })) ?? {};
    const ids = isDeleted ? ['vol-1'] : ['vol-1', csiId];
    expect([...plugin.volumes.keys()], `killed at commit ${commit}`).to.deep.equal(ids);
    expect(plugin.wrongs).to.deep.equal([]);
    if (isDeleted) return true;
    const name = plugin.volumes.get(csiId ?? '')?.name;
    const made = plugin.calls.find(({ rpc, volume }) => rpc === 'CreateVolume' && volume === name);
    expect(made?.answer, 'the call that made it').to.equal('OK');
    return true;
  }

  for (const isDeleted of [false, true])
    for (const done of [false, true])
      it(`V10 V13, 34.4 killed ${done ? 'after' : 'before'} each commit, ${isDeleted ? 'then deleted: nothing is left' : 'asked again: one proven copy'}`, async () => {
        let commit = 1;
        while (commit <= mostCommits && (await killedAt(commit, { done, isDeleted }))) commit += 1;
        expect(commit).to.be.within(6, mostCommits);
      });
});
