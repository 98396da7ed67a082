/**
 * Tests migrations with recorded histories: each migrated record of version 1 must equal the one that version 2 committed at
 * the same point of the same history, and the present machine must read each record of version 2.
 */
import { expect } from 'chai';
import { mountMachine } from '../../machines/mount/mount.js';
import { HostedMachine } from '../../src/engine/machine/hosted-machine.js';
import { mountMigrations } from '../../src/mounts/migrations.js';
import { withoutWaits } from '../histories/compared.js';
import { bySeed, type Recorded, recorded } from '../histories/recorded.js';

const from1 = mountMigrations.filter(({ from }) => from === '1');
const from2 = mountMigrations.filter(({ from }) => from === '2');

function migrated({ value, context, ...line }: Recorded, migrations = mountMigrations): Recorded {
  return { ...line, ...migrations.reduce((snapshot, { migrate }) => migrate(snapshot), { value, context }) };
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

describe('records of mounts', () => {
  it('each of version 1, migrated, is what version 2 committed at the same point, waits apart', () => {
    const version2 = bySeed(recorded('2', 'mounts'));
    let compared = 0;
    for (const [seed, before] of bySeed(recorded('1', 'mounts'))) {
      if (drawOtherwise.includes(seed)) continue;
      const is = withoutPauses(version2.get(seed) ?? []);
      const expected = withoutPauses(inPresentWords(before).map((line) => migrated(line, from1)));
      expect(withoutWaits(is), `seed ${seed}`).to.deep.equal(withoutWaits(expected));
      compared += before.length;
    }
    expect(compared).to.be.greaterThan(3_500);
  });

  it('each of version 2 is read by the present machine, in the state that it had', () => {
    const machine = HostedMachine.of(mountMachine);
    for (const line of recorded('2', 'mounts'))
      expect(machine.restore(migrated(line, from2)).value, line.address).to.deep.equal(line.value);
  });
});
