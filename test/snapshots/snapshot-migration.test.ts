/** Tests migrations with recorded histories: the present machines must read each record of earlier versions. */
import { expect } from 'chai';
import { groupSnapshotMachine } from '../../machines/snapshot/group.js';
import { volumeSnapshotMachine } from '../../machines/snapshot/snapshot.js';
import { HostedMachine } from '../../src/engine/machine/hosted-machine.js';
import { snapshotMigrations } from '../../src/snapshots/snapshot-migration.js';
import { type Recorded, recorded } from '../histories/recorded.js';

const from2 = snapshotMigrations.filter(({ from }) => from === '2');

function migrated({ value, context, ...line }: Recorded, migrations = snapshotMigrations): Recorded {
  return { ...line, ...migrations.reduce((snapshot, { migrate }) => migrate(snapshot), { value, context }) };
}

describe('records of snapshots', () => {
  it('each of version 2 is read by the present machines, in the state that it had', () => {
    const machines = [volumeSnapshotMachine, groupSnapshotMachine].map((one) => HostedMachine.of(one));
    for (const line of recorded('2', 'snapshots')) {
      const machine = machines.find(({ name }) => line.address.startsWith(`${name}/`));
      expect(machine?.restore(migrated(line, from2)).value, line.address).to.deep.equal(line.value);
    }
  });
});
