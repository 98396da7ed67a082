/**
 * Kills the runtime around each commit of a copy and of the deletion or expansion of its source, while the plugin goes on
 * copying. In the next runtime the source stays until the outcome of the copy is known.
 */
import { expect } from 'chai';
import type { Runtime } from '../../src/runtime/runtime.js';
import { atEachCommit, ignored, type Kill, type KilledHouses } from './killed-houses.js';
import { gate } from './scripts.js';
import { spec } from './volume-house.js';

const first = { namespace: 'default', id: 'first' };
const copy = { id: 'copy' };

interface Way {
  rpc: string;
  copies(runtime: Runtime): Promise<unknown>;
  deletesSource(runtime: Runtime): Promise<void>;
}

const deletesVolume = ({ volumes }: Runtime): Promise<void> => volumes.delete(first);

const ways: Record<string, Way> = {
  clone: {
    rpc: 'CreateVolume',
    copies: ({ volumes }) => volumes.create(spec('copy', { source: { volume: first } })),
    deletesSource: deletesVolume,
  },
  restore: {
    rpc: 'CreateVolume',
    copies: ({ volumes }) => volumes.create(spec('copy', { source: { volumeSnapshot: 'monday' } })),
    deletesSource: ({ snapshots }) => snapshots.delete({ id: 'monday' }),
  },
  snapshot: {
    rpc: 'CreateSnapshot',
    copies: ({ snapshots }) => snapshots.create({ ...copy, volume: first }),
    deletesSource: deletesVolume,
  },
};

interface Cut extends Kill {
  /** Whether both requests are made at once. */
  isRace: boolean;
}

/** More commits than any of these requests has before the copy is made. */
const mostCommits = 12;

describe('the source of a copy whose runtime is killed', () => {
  /** Kills the runtime at this commit after the requests. @returns whether there was such a commit */
  async function killedAt(
    houses: KilledHouses,
    { rpc, copies, deletesSource }: Way,
    { isRace, ...kill }: Cut,
  ): Promise<boolean> {
    const { one, two, plugin } = houses;
    await houses.furnish();
    await one.volumes.create(spec('first', { capacity: { requiredBytes: 10 } }));
    await one.runtime.snapshots.create({ id: 'monday', volume: first });
    plugin.overlaps = 'aborted';
    const { passed, open } = gate();
    plugin.script = (call) => (call.rpc === rpc ? { before: passed } : undefined);
    houses.cutAt(kill);
    copies(one.runtime).catch(ignored);
    if (!isRace) await one.rest();
    deletesSource(one.runtime).catch(ignored);
    one.volumes.expand(first, { requiredBytes: 20 }).catch(ignored);
    await one.clock.advance(1_000);
    const isKilled = await houses.end((isCut) => {
      if (!isCut) open();
    });
    if (!isKilled) return false;
    await houses.succeed();
    copies(two.runtime).catch(ignored);
    for (let round = 0; round < 20; round += 1) {
      deletesSource(two.runtime).catch(ignored);
      if (round === 10) open();
      await two.clock.advance(20_000);
    }
    await two.clock.advance(600_000);
    await deletesSource(two.runtime).catch(ignored);
    const names = [...plugin.volumes.values()].map(({ name }) => name);
    expect(plugin.wrongs, 'calls under a copy').to.deep.equal([]);
    expect(new Set(names).size, 'no volume is made twice').to.equal(names.length);
    expect(
      plugin.told().filter((line) => line.startsWith('Delete')),
      'the source is deleted in the end',
    ).to.have.lengthOf.within(1, 2);
    return true;
  }

  for (const [name, way] of Object.entries(ways))
    for (const done of [false, true])
      for (const isRace of [false, true]) {
        const asked = isRace ? 'asked for with the deletion of its source' : 'under way';
        it(`V13, 34.3 ${name} ${asked}, killed ${done ? 'after' : 'before'} each commit: the source stays`, async () => {
          const commits = await atEachCommit(mostCommits, (houses, commit) =>
            killedAt(houses, way, { commit, done, isRace }),
          );
          expect(commits).to.be.within(3, mostCommits);
        });
      }
});
