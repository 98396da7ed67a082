/**
 * Tests migrations with recorded histories. A history that is played again makes the same calls: so each migrated record of
 * version 3 has to equal the one that the present version commits at the same point.
 */
import { expect } from 'chai';
import { volumesPrefix } from '../../machines/kit/addresses.js';
import type { Leftover, Publication } from '../../machines/volume/types.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import { HostedMachine } from '../../src/engine/machine/hosted-machine.js';
import type { Commit } from '../../src/engine/store.js';
import { volumeMigrations } from '../../src/volumes/migrations.js';
import { bySeed, type Recorded, recorded } from '../histories/recorded.js';
import { linesOf, policyOfThen } from '../histories/recording.js';
import { fullPlanOf } from '../simulation/snapshots-plan.js';
import { volumesHistory } from '../simulation/volumes-history.js';

const machine = HostedMachine.of(volumeMachine);
/** Seeds that differ since a deletion first looks for mounts of a replaced agent: requests come a moment later, and share other commits. */
const laterSince = [610, 5_234, 5_502, 7_497];
const every = Number(process.env.EVERY ?? 6);

const migrated = ({ value, context, ...line }: Recorded, from: string): Recorded => {
  const later = volumeMigrations.filter((migration) => migration.from >= from);
  return { ...line, ...later.reduce((snapshot, { migrate }) => migrate(snapshot), { value, context }) };
};

interface HowAttached {
  publications: Record<string, Pick<Publication, 'attachedBy'>>;
  leftovers: Pick<Leftover, 'attachedBy'>[];
}

/** Keeps of how each publication came to be attached only what a record of version 3 can show. */
function asKnown(line: Recorded, before: Recorded): Recorded {
  const { publications, leftovers, ...context } = line.context as HowAttached;
  const known = (before.context as HowAttached).publications;
  const left = Object.entries(publications).map(([nodeId, { attachedBy, ...one }]) => [
    nodeId,
    { ...one, ...(attachedBy && known[nodeId]?.attachedBy && { attachedBy }) },
  ]);
  return {
    ...line,
    context: {
      ...context,
      publications: Object.fromEntries(left),
      leftovers: leftovers.map(({ attachedBy: _, ...one }) => one),
    },
  };
}

/** Words of a failure that read otherwise since. */
const inPresentWords = (lines: Recorded[]): Recorded[] =>
  JSON.parse(JSON.stringify(lines).replaceAll("secrets can't be had:", 'cannot resolve secrets:'));

async function played(seed: number): Promise<Recorded[]> {
  const commits: Commit[] = [];
  const committed = (commit: Commit): unknown => commits.push(commit);
  await volumesHistory(fullPlanOf(seed), { committed, policy: policyOfThen, isAskedAsBefore: true });
  return linesOf(seed, commits, [volumesPrefix]);
}

describe('records of volumes of version 3', () => {
  it('each migrated record is what the present version commits at the same point of its history', async () => {
    const before = [...bySeed(recorded('3', 'volumes'))].filter(
      ([seed], index) => index % every === 0 && !laterSince.includes(seed),
    );
    let compared = 0;
    for (const [seed, lines] of before) {
      const expected = inPresentWords(lines.map((line) => migrated(line, '3')));
      const found = (await played(seed)).map((line, index) => asKnown(line, expected[index] ?? line));
      expect(JSON.parse(JSON.stringify(found)), `seed ${seed}`).to.deep.equal(expected);
      compared += lines.length;
    }
    expect(compared).to.be.greaterThan(500);
  });
});

for (const version of ['2', '3'])
  describe(`records of volumes of version ${version}`, () => {
    it('the present machine reads each of them, and says the same of it', () => {
      for (const line of recorded(version, 'volumes')) {
        const { value, context } = migrated(line, version);
        expect(machine.restore({ value, context }).value, line.address).to.deep.equal(value);
      }
    });
  });
