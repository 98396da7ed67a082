/**
 * Kills the runtime around each commit while a copy that may lack its content is removed and made again. In the end there is
 * one copy, from a call that succeeded, and nothing else.
 */
import { expect } from 'chai';
import { atEachCommit, ignored, type Kill, type KilledHouses } from './killed-houses.js';
import { spec } from './volume-house.js';

const first = { namespace: 'default', id: 'first' };
/** More commits than the whole course has. */
const mostCommits = 20;

describe('a copy that is removed and made again, whose runtime is killed', () => {
  /** Kills the runtime at this commit after the request. @returns whether there was such a commit */
  async function killedAt(houses: KilledHouses, kill: Kill, isDeleted: boolean): Promise<boolean> {
    const { one, two, plugin } = houses;
    const { createVolume } = Object.getPrototypeOf(plugin) as typeof plugin;
    plugin.createVolume = async (request) => {
      const isRepeat = plugin.made(request.name ?? '') !== undefined;
      const { volume } = await createVolume.call(plugin, request);
      if (volume && isRepeat) delete volume.contentSource;
      return volume ? { volume } : {};
    };
    await houses.furnish();
    await one.volumes.create(spec('first'));
    const asked = spec('copy', { source: { volume: first } });
    let isLost = true;
    plugin.script = ({ rpc }) => {
      if (rpc !== 'CreateVolume' || !isLost) return undefined;
      isLost = false;
      return { code: 'DEADLINE_EXCEEDED', work: true };
    };
    houses.cutAt(kill);
    one.volumes.create(asked).catch(ignored);
    await one.clock.advance(60_000);
    if (!(await houses.end())) return false;
    await houses.succeed();
    await two.clock.advance(10_000);
    if (isDeleted) two.volumes.delete({ id: 'copy' }).catch(ignored);
    else two.volumes.create(asked).catch(ignored);
    await two.clock.advance(1_200_000);
    const { csiId } = (await two.volumes.get({ id: 'copy' })) ?? {};
    const ids = isDeleted ? ['vol-1'] : ['vol-1', csiId];
    expect([...plugin.volumes.keys()], `killed at commit ${kill.commit}`).to.deep.equal(ids);
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
        const commits = await atEachCommit(mostCommits, (houses, commit) =>
          killedAt(houses, { commit, done }, isDeleted),
        );
        expect(commits).to.be.within(6, mostCommits);
      });
});
