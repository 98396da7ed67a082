/**
 * Records of mounts of older versions, as simulated histories have committed them: the migrations make of each what the present
 * version commits at the same point of the same history.
 */
import { expect } from 'chai';
import { nodeOwnedPrefix } from '../../machines/kit/addresses.js';
import type { Commit } from '../../src/engine/store.js';
import { mountMigrations } from '../../src/mounts/migrations.js';
import { withoutWaits } from '../histories/compared.js';
import { type Recorded, recorded } from '../histories/recorded.js';
import { linesOf, policyOfThen } from '../histories/recording.js';
import { mountsHistory } from '../simulation/mounts-history.js';
import { nodeId } from '../simulation/mounts-life.js';
import { mountsPlanOf } from '../simulation/mounts-plan.js';

function bySeed(lines: Recorded[]): Map<number, Recorded[]> {
  const seeds = new Map<number, Recorded[]>();
  for (const line of lines) seeds.set(line.seed, [...(seeds.get(line.seed) ?? []), line]);
  return seeds;
}

/** A line of version 1 in the form of the present one. */
function migrated({ value, context, ...line }: Recorded): Recorded {
  return { ...line, ...mountMigrations.reduce((snapshot, { migrate }) => migrate(snapshot), { value, context }) };
}

async function historyOf(seed: number): Promise<Recorded[]> {
  const commits: Commit[] = [];
  await mountsHistory(mountsPlanOf(seed), { wrote: (commit) => commits.push(commit), policy: policyOfThen });
  return linesOf(seed, commits, [nodeOwnedPrefix('mount', nodeId)]);
}

/** Their waits take fewer commits than in version 1, so that delays are drawn by other random numbers from there on. */
const drawOtherwise = [
  149, 391, 503, 654, 736, 802, 1_072, 1_141, 1_448, 1_541, 1_779, 1_932, 1_979, 2_297, 2_364, 2_413,
];

/** Messages of version 1 that have been reworded since. */
const reworded = [
  [', which is none of ours:', ', which is not ours:'],
  ['or mend the plugin', 'or fix the plugin'],
] as const;

const inPresentWords = (lines: Recorded[]): Recorded[] =>
  JSON.parse(reworded.reduce((text, [old, present]) => text.replaceAll(old, present), JSON.stringify(lines)));

/** Work whose pause is over is due, whichever of both it is called. */
const withoutPauses = (lines: Recorded[]): Recorded[] =>
  JSON.parse(JSON.stringify(lines).replaceAll('.backing-off"', '.due"'));

describe('records of mounts of version 1', function () {
  this.timeout(300_000);

  it('each, migrated, is what version 2 commits at the same point of the same history, waits apart', async () => {
    let compared = 0;
    for (const [seed, before] of bySeed(recorded('1', 'mounts'))) {
      if (drawOtherwise.includes(seed)) continue;
      const [is, expected] = [
        withoutPauses(await historyOf(seed)),
        withoutPauses(inPresentWords(before).map(migrated)),
      ];
      expect(withoutWaits(is), `seed ${seed}`).to.deep.equal(withoutWaits(expected));
      compared += before.length;
    }
    expect(compared).to.be.greaterThan(3_500);
  });
});
