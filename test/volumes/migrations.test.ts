/**
 * Records of older versions, as simulated histories have committed them: the migrations make of each what the present version
 * commits at the same point of the same history.
 */
import { expect } from 'chai';
import { volumesPrefix } from '../../machines/kit/addresses.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import { HostedMachine } from '../../src/engine/hosted-machine.js';
import type { Commit } from '../../src/engine/store.js';
import { volumeMigrations } from '../../src/volumes/migrations.js';
import { type Recorded, recorded } from '../histories/recorded.js';
import { linesOf } from '../histories/recording.js';
import { wish } from '../machines/volume/publication-table.js';
import { calling, contextOf, nowMs, published, unpublished } from '../machines/volume/situations.js';
import { fullPlanOf } from '../simulation/snapshots-plan.js';
import { volumesHistory } from '../simulation/volumes-history.js';

/** Histories that version 2 has otherwise, and why. */
const otherwise = new Map([
  [951, 'a commit reaches the store just before its runtime is killed, not just after'],
  [1_245, 'a wish that was overtaken before its call was sent is not called any more'],
  [6_829, 'the same'],
  [1_368, 'a modification that ends while the volume is deleted says nothing'],
  [5_484, 'the same'],
  [6_281, 'the same'],
]);
/** After an interruption version 2 is `due` where the migration says `backing-off`: with a pause that is over, that is the same. */
const pauseIsOver = [3_273, 3_380, 6_591, 7_923];

function bySeed(lines: Recorded[]): Map<number, Recorded[]> {
  const seeds = new Map<number, Recorded[]>();
  for (const line of lines) seeds.set(line.seed, [...(seeds.get(line.seed) ?? []), line]);
  return seeds;
}

/** A line of version 1 in the form of the present one. */
function migrated({ value, context, ...line }: Recorded): Recorded {
  return { ...line, ...volumeMigrations.reduce((snapshot, { migrate }) => migrate(snapshot), { value, context }) };
}

async function historyOf(seed: number): Promise<Recorded[]> {
  const commits: Commit[] = [];
  await volumesHistory(fullPlanOf(seed), { committed: (commit) => commits.push(commit) });
  return linesOf(seed, commits, [volumesPrefix]);
}

const withoutPauses = (line: Recorded | undefined): unknown =>
  line && JSON.parse(JSON.stringify(line).replaceAll('.backing-off"', '.due"'));

describe('records of volumes of version 1', function () {
  this.timeout(300_000);

  it('each, migrated, is what version 2 commits at the same point of the same history', async () => {
    let compared = 0;
    for (const [seed, before] of bySeed(recorded('1', 'volumes'))) {
      if (otherwise.has(seed)) continue;
      const after = await historyOf(seed);
      expect(after.length, `seed ${seed}`).to.equal(before.length);
      for (const [index, line] of before.entries()) {
        const [is, expected] = [after[index], migrated(line)];
        const at = `seed ${seed}, ${line.address}, seq ${line.seq}`;
        if (pauseIsOver.includes(seed)) expect(withoutPauses(is), at).to.deep.equal(withoutPauses(expected));
        else expect(is, at).to.deep.equal(expected);
        compared += 1;
      }
    }
    expect(compared).to.be.greaterThan(7_500);
  });

  it('V8 a publish that was withdrawn, and whose call ended unsent: it is resolved, then undone, in its turn', () => {
    const { lifecycle: _, ...kept } = contextOf({ work: calling('unpublish', 'a') });
    const leaving = { ...wish, number: 1, state: 'pending-unpublish' };
    const withdrawn = { ...wish, csiNodeId: 'csi-b', number: 2, state: 'pending-publish', undoneAfter: 0 };
    const old = { ...kept, creation: {}, deletion: null, publications: { a: leaving, b: withdrawn } };
    const machine = HostedMachine.of(volumeMachine);
    let snapshot = machine.restore(
      migrated({ seed: 0, address: '', seq: 1, value: { 'pending-unpublish': 'calling' }, context: old }),
    );
    const calls = [unpublished, published, unpublished].map(({ of, output }) => {
      const step = machine.step(snapshot, { type: `xstate.done.actor.${of}`, output, at: nowMs, random: 0.5 });
      snapshot = step.snapshot;
      return step.started.map(({ src }) => src);
    });
    expect(calls).to.deep.equal([['controllerPublish'], ['controllerUnpublish'], []]);
    expect(snapshot.context).to.deep.include({ publications: {}, work: null });
  });
});
