/**
 * Kills the runtime around each commit of a copy and of the deletion or expansion of its source, while the plugin goes on
 * copying. In the next runtime the source stays until the outcome of the copy is known.
 */
import { expect } from 'chai';
import type { Runtime } from '../../src/runtime/runtime.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { Cable } from '../registry/cable.js';
import { inMemory } from '../registry/kept-data.js';
import { gate } from './scripts.js';
import { spec, VolumeHouse } from './volume-house.js';

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

interface Kill {
  commit: number;
  /** Whether the commit takes effect. */
  done: boolean;
  /** Whether both requests are made at once. */
  isRace: boolean;
}

const ignored = (): void => {};
/** More commits than any of these requests has before the copy is made. */
const mostCommits = 12;

describe('the source of a copy whose runtime is killed', () => {
  let houses: VolumeHouse[];
  beforeEach(() => {
    houses = [];
  });
  afterEach(async () => {
    for (const house of houses) await house.dispose().catch(ignored);
  });

  /** Kills the runtime at this commit after the requests. @returns whether there was such a commit */
  async function killedAt({ rpc, copies, deletesSource }: Way, cut: Kill): Promise<boolean> {
    const [one, two] = [new VolumeHouse(), new VolumeHouse()];
    houses.push(one, two);
    const { plugin } = one;
    const kept = inMemory();
    const cable = new Cable(kept.store());
    one.store = cable;
    await one.furnish({ nodeId: 'one' });
    await one.volumes.create(spec('first', { capacity: { requiredBytes: 10 } }));
    await one.runtime.snapshots.create({ id: 'monday', volume: first });
    plugin.overlaps = 'aborted';
    const { passed, open } = gate();
    plugin.script = (call) => (call.rpc === rpc ? { before: passed } : undefined);
    let commits = 0;
    cable.cutAt({ is: () => ++commits === cut.commit, done: cut.done });
    copies(one.runtime).catch(ignored);
    if (!cut.isRace) await one.rest();
    deletesSource(one.runtime).catch(ignored);
    one.volumes.expand(first, { requiredBytes: 20 }).catch(ignored);
    await one.clock.advance(1_000);
    const { isCut } = cable;
    cable.cutAt({ is: () => false, done: true });
    if (!isCut) open();
    const closed = one.runtime.close().catch(ignored);
    await one.clock.advance(60_000);
    await closed;
    if (!isCut) return false;
    await kept.bury(kept.store());
    two.store = kept.store();
    await two.open({ nodeId: 'two', random: seededRandom(2), dispensers: { 'csi-controller': plugin } });
    await two.register();
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
          let commit = 1;
          while (commit <= mostCommits && (await killedAt(way, { commit, done, isRace }))) commit += 1;
          expect(commit).to.be.within(3, mostCommits);
        });
      }
});
