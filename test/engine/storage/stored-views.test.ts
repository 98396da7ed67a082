/** Views of records that another runtime writes: read as far as they can be, and one that can't be read stops no other. */
import { expect } from 'chai';
import { HostedMachine } from '../../../src/engine/machine/hosted-machine.js';
import { StoredViews } from '../../../src/engine/storage/stored-views.js';
import { StagecraftError } from '../../../src/errors.js';
import { deskKind, note } from '../desk.js';
import { failureOf, Lab } from '../lab.js';

describe('views of stored records', () => {
  it('34.15 a record that can’t be read: left out of pages, named once, and refused by itself', async () => {
    const lab = new Lab();
    const { engine } = await lab.start([deskKind]);
    for (const name of ['a', 'b', 'c']) await engine.ask(`desk/${name}`, note('one'));
    const { seq = 0, epoch = 0, owner = '' } = (await lab.data.load('desk/b')) ?? {};
    const damaged = { address: 'desk/b', commitId: 'x', expectedSeq: seq, epoch, owner, text: '{', journal: '{}' };
    await lab.data.commit([damaged]);
    const warnings: string[] = [];
    const views = new StoredViews({
      ...{ store: lab.data, clock: lab.clock },
      logger: { warn: (_, message) => void warnings.push(message) },
      readerOf: () => ({ machine: HostedMachine.of(deskKind.machine), kind: deskKind }),
      unreadable: (address, why) => new StagecraftError('NOT_LEADER', why, { address }),
    });
    for (let round = 1; round <= 2; round += 1) {
      const { rows, skipped = [] } = await views.page({ prefix: 'desk/', limit: 9 });
      expect(rows.map(([address]) => address)).to.deep.equal(['desk/a', 'desk/c']);
      expect(skipped.map(({ address }) => address)).to.deep.equal(['desk/b']);
    }
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include('desk/b is left out of lists');
    expect(await failureOf(views.read('desk/b'))).to.include({ code: 'NOT_LEADER', address: 'desk/b' });
  });
});
