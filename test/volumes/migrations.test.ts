/** Tests migrations with recorded histories: the present machine must read each record of earlier versions. */
import { expect } from 'chai';
import { volumeMachine } from '../../machines/volume/volume.js';
import { HostedMachine } from '../../src/engine/machine/hosted-machine.js';
import { volumeMigrations } from '../../src/volumes/migrations.js';
import { type Recorded, recorded } from '../histories/recorded.js';

function migrated({ value, context, ...line }: Recorded, migrations = volumeMigrations): Recorded {
  return { ...line, ...migrations.reduce((snapshot, { migrate }) => migrate(snapshot), { value, context }) };
}

describe('records of volumes of version 2', () => {
  it('the present machine reads each of them, in the state that it had', () => {
    const machine = HostedMachine.of(volumeMachine);
    const from2 = volumeMigrations.filter(({ from }) => from === '2');
    for (const line of recorded('2', 'volumes'))
      expect(machine.restore(migrated(line, from2)).value, line.address).to.deep.equal(line.value);
  });
});
