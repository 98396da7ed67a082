/** Records of a later epoch than the lease itself: damaged, and no reason to step down. */
import { expect } from 'chai';
import { deskKind, note } from '../desk.js';
import { failureOf, Lab, type Life, watched } from '../lab.js';

describe('a record of a later epoch than the lease', () => {
  let lab: Lab;
  let life: Life;

  beforeEach(async () => {
    lab = new Lab();
    life = await lab.start([deskKind]);
    await life.engine.ask('desk/a', note('one'));
    await life.engine.ask('desk/b', note('one'));
  });

  /** Writes the record of an actor again, under a later epoch. */
  const raise = async (address: string, epoch: number): Promise<void> => {
    const { seq = 0, text = '' } = (await lab.data.load(address)) ?? {};
    const commit = { address, commitId: 'raised', expectedSeq: seq, epoch, owner: 'nobody', text, journal: '{}' };
    expect(await lab.data.commit([commit])).to.deep.equal([{ status: 'done' }]);
  };

  const runs = async (): Promise<void> => {
    await life.engine.ask('desk/b', note('two'));
    expect(await watched(life.engine.lost)).to.include({ state: 'open' });
  };

  it('34.16 found at the start: its actor is quarantined, and the others run', async () => {
    await lab.stop(life.engine);
    await raise('desk/a', 50);
    life = await lab.start([deskKind]);
    expect(life.report).to.deep.equal({ actors: 1, quarantined: ['desk/a'] });
    expect((await failureOf(life.engine.ask('desk/a', note('two')))).message).to.include(
      'it is of epoch 50, and the lease has come to 2 only',
    );
    await runs();
  });

  it('34.16 found in a list: left out, and quarantined', async () => {
    await lab.stop(life.engine);
    await raise('desk/a', 50);
    life = await lab.start([deskKind], { prefixes: [] });
    const { rows, skipped = [] } = await life.engine.page({ prefix: 'desk/', limit: 9 });
    expect([rows.map(([address]) => address), skipped.map(({ address }) => address)]).to.deep.equal([
      ['desk/b'],
      ['desk/a'],
    ]);
    expect(life.engine.quarantined().map(({ address }) => address)).to.deep.equal(['desk/a']);
    await runs();
  });

  it('34.16 found by a commit: the store is asked for the lease, then the actor is quarantined', async () => {
    await raise('desk/a', 50);
    const asked = watched(life.engine.ask('desk/a', note('two')));
    await lab.rest();
    expect(await asked).to.include({ state: 'rejected' });
    expect(life.engine.quarantined().map(({ address }) => address)).to.deep.equal(['desk/a']);
    await runs();
  });

  it('34.16 found by a commit, and the lease is taken by another one: the engine is fenced', async () => {
    const rival = lab.engine([deskKind], lab.store());
    await lab.data.close();
    await lab.data.open();
    await rival.open();
    await raise('desk/a', 50);
    void watched(life.engine.ask('desk/a', note('two')));
    await lab.rest();
    expect(life.engine.quarantined()).to.deep.equal([]);
    expect(await life.engine.lost).to.include({ code: 'FENCED' });
  });

  it('34.16 released: the lease is taken above its epoch, and the actor runs', async () => {
    await raise('desk/a', 50);
    void watched(life.engine.ask('desk/a', note('two')));
    await lab.rest();
    await life.engine.release('desk/a');
    await life.engine.ask('desk/a', note('three'));
    expect(life.engine.epoch).to.equal(51);
    expect(await lab.data.load('desk/a')).to.include({ epoch: 51 });
    await runs();
  });
});
