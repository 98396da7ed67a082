/** Tests migrations with recorded histories: the present machine must read each record of earlier versions. */
import { expect } from 'chai';
import { mountMachine } from '../../machines/mount/mount.js';
import { HostedMachine } from '../../src/engine/machine/hosted-machine.js';
import { mountMigrations } from '../../src/mounts/migrations.js';
import { type Recorded, recorded } from '../histories/recorded.js';

const from2 = mountMigrations.filter(({ from }) => from === '2');

function migrated({ value, context, ...line }: Recorded, migrations = mountMigrations): Recorded {
  return { ...line, ...migrations.reduce((snapshot, { migrate }) => migrate(snapshot), { value, context }) };
}

describe('records of mounts', () => {
  it('each of version 2 is read by the present machine, in the state that it had', () => {
    const machine = HostedMachine.of(mountMachine);
    for (const line of recorded('2', 'mounts'))
      expect(machine.restore(migrated(line, from2)).value, line.address).to.deep.equal(line.value);
  });
});
