/** Store that has lost confirmed writes: each actor in memory is compared and written again before its next effect. */
import { expect } from 'chai';
import type { StoredRecord } from '../../../src/engine/store.js';
import { deskKind, note, noteTo, tell } from '../desk.js';
import { failureOf, historyOf, journalOf, type Life, watched } from '../lab.js';
import { LossyLab } from '../lossy-lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { napMs, workerKind } from '../worker.js';

describe('a store that was rolled back', () => {
  let lab: LossyLab;
  let life: Life;
  let work: ManualEffect;
  /** Length of the log with nothing but the lease. */
  let empty: number;

  beforeEach(async () => {
    lab = new LossyLab();
    work = manualEffect(60_000);
    await start();
    empty = lab.mark();
  });

  const start = async (): Promise<void> => {
    life = await lab.start([deskKind, workerKind({ work })]);
  };
  const ask = (text: string, address = 'desk/a'): Promise<unknown> => life.engine.ask(address, note(text));
  const notes = (address = 'desk/a'): Promise<unknown> => life.engine.ask(address, { type: 'read' });
  const codes = (): unknown[] =>
    lab.logged.map(({ fields }) => ({ ...fields })).map((fields) => Reflect.get(fields, 'code'));
  const stored = async (address = 'desk/a'): Promise<StoredRecord> => {
    const record = await lab.data.load(address);
    if (!record) throw new Error(`nothing is stored of ${address}`);
    return record;
  };
  /** Writes a commit that the actor does not know, on top of the stored record. */
  const writeBehind = async (changed: { owner?: string; epoch?: number }, outbox?: object): Promise<void> => {
    const { address, seq, epoch, owner, text } = await stored();
    const commit = { address, commitId: 'behind', expectedSeq: seq, epoch, owner, journal: '{}', ...changed };
    const more = {
      text: text.replace('"notes":[', '"notes":["behind",'),
      ...(outbox && { outbox: JSON.stringify(outbox) }),
    };
    expect(await lab.data.commit([{ ...commit, ...more }])).to.deep.equal([{ status: 'done' }]);
  };

  it('actor behind: written again as a whole, under the next seq, and logged', async () => {
    await ask('one');
    const mark = lab.mark();
    await ask('two');
    await ask('three');
    await lab.lose(mark);
    await lab.rest();
    expect(life.store.commits.at(-1)?.[0]).to.include({ expectedSeq: 1, seq: 4 });
    const [first, again] = await journalOf(life.engine, 'desk/a');
    expect(first).to.include({ seq: 1, kind: 'event' });
    expect(again).to.deep.include({ seq: 4, kind: 'rolled-back', source: { kind: 'engine' } });
    expect(again?.snapshot?.context).to.deep.equal({ name: 'desk/a', notes: ['one', 'two', 'three'] });
    expect(again?.error).to.include('after seq 1');
    expect(codes()).to.include.members(['STORE_SUSPECT', 'STORE_ROLLED_BACK']);
    expect(await notes()).to.deep.equal(['one', 'two', 'three']);
    await start();
    expect(await notes()).to.deep.equal(['one', 'two', 'three']);
  });

  it('nothing lost: nothing is written', async () => {
    await ask('one');
    const written = life.store.commits.length;
    lab.suspect();
    await lab.rest();
    expect(life.store.commits).to.have.length(written);
    await ask('two');
    expect(await stored()).to.include({ seq: 2 });
  });

  it('everything lost, lease included: all actors in memory are written again, and can be replayed', async () => {
    await ask('one');
    await ask('two', 'desk/b');
    await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
    await lab.lose(0);
    await lab.clock.advance(20_000);
    expect(await stored('desk/a')).to.include({ seq: 2 });
    expect(await stored('worker/a')).to.include({ seq: 2 });
    await ask('three');
    const { seq, snapshot } = await life.engine.journals.replay('desk/a');
    expect(seq).to.equal(3);
    expect(snapshot?.context).to.deep.include({ notes: ['one', 'three'] });
    work.last.finish('gold');
    await lab.rest();
    expect(life.engine.peek('worker/a')?.context).to.deep.include({ results: ['gold'] });
    await start();
    expect(await notes('desk/b')).to.deep.equal(['two']);
  });

  it('no warning of the loss: the next commit finds it, and its message is handled once', async () => {
    await ask('one');
    const mark = lab.mark();
    await ask('two');
    await lab.rollBack(mark);
    await ask('three');
    expect(await historyOf(life.engine, 'desk/a')).to.deep.equal(['event note', 'rolled-back begin', 'event note']);
    expect(await notes()).to.deep.equal(['one', 'two', 'three']);
  });

  it('timer lost: still fires, once, also after a restart', async () => {
    await life.engine.ask('worker/a', { type: 'nap' });
    await lab.lose(empty);
    await lab.rest();
    await start();
    await lab.clock.advance(2 * napMs);
    expect(life.engine.peek('worker/a')?.context).to.deep.include({ naps: 1 });
  });

  for (const moment of ['before', 'after'] as const) {
    it(`commit under way (held ${moment} the write): repeated, neither lost nor doubled`, async () => {
      await ask('one');
      const mark = lab.mark();
      await ask('two');
      const release = life.store.hold('commit', moment, 1);
      const asked = watched(ask('three'));
      await lab.rest();
      await lab.lose(mark);
      await lab.rest();
      expect(asked.state).to.equal('open');
      release();
      await lab.rest();
      expect(asked.state).to.equal('answered');
      expect(await notes()).to.deep.equal(['one', 'two', 'three']);
      await start();
      expect(await notes()).to.deep.equal(['one', 'two', 'three']);
    });
  }

  it('repeat of an acknowledged commit refused: the caller is not told that nothing has changed', async () => {
    await ask('one');
    const release = life.store.hold('commit', 'after', 1);
    const asked = watched(ask('two'));
    await lab.rest();
    lab.suspect();
    await lab.rest();
    const { commit } = lab.data;
    lab.data.commit = async (items) => items.map(() => ({ status: 'refused', reason: 'read only' }));
    release();
    await lab.rest();
    expect(asked.error?.outcome).to.not.equal('refused');
    lab.data.commit = commit;
    await lab.clock.advance(10_000);
    expect(await notes()).to.deep.equal(['one', 'two']);
  });

  it('load under way: the loaded record is compared too', async () => {
    await ask('one');
    const mark = lab.mark();
    await ask('two');
    await start();
    const second = lab.mark();
    expect(second).to.be.greaterThan(mark);
    life = await lab.start([deskKind], { prefixes: [] });
    const release = life.store.hold('load', 'after', 1);
    const asked = watched(notes());
    await lab.rest();
    await lab.lose(mark);
    release();
    await lab.rest();
    await lab.clock.advance(20_000);
    expect(asked.value).to.deep.equal(['one', 'two']);
    expect((await journalOf(life.engine, 'desk/a')).map(({ kind }) => kind)).to.include('rolled-back');
  });

  describe('more than once', () => {
    it('reported twice at once: written again once', async () => {
      await ask('one');
      await lab.lose(empty);
      lab.suspect();
      await lab.rest();
      expect(await historyOf(life.engine, 'desk/a')).to.deep.equal(['rolled-back begin']);
      await ask('two');
      expect(await stored()).to.include({ seq: 3 });
    });

    it('more is lost while writing again: written again from there', async () => {
      await ask('one');
      const mark = lab.mark();
      await ask('two');
      await ask('three');
      const release = life.store.hold('commit', 'before', 1);
      await lab.lose(mark);
      await lab.rest();
      await lab.lose(empty);
      release();
      await lab.clock.advance(1_000);
      expect(life.engine.quarantined()).to.deep.equal([]);
      expect(await notes()).to.deep.equal(['one', 'two', 'three']);
    });

    it('restored record lost again: written once more', async () => {
      await ask('one');
      const mark = lab.mark();
      await ask('two');
      for (let round = 0; round < 5; round += 1) {
        await lab.lose(mark);
        await lab.rest();
      }
      expect(await stored()).to.include({ seq: 7 });
      await start();
      expect(await notes()).to.deep.equal(['one', 'two']);
    });

    it('more is lost during the comparison: found too', async () => {
      await life.engine.ask('worker/a', { type: 'nap' });
      const mark = lab.mark();
      await life.engine.ask('worker/a', { type: 'leave' });
      const release = life.store.hold('load', 'after', 1);
      lab.suspect();
      await lab.rest();
      await lab.lose(mark);
      release();
      await lab.rest();
      expect(await stored('worker/a')).to.include({ seq: 3 });
    });
  });

  describe('effects meanwhile', () => {
    /** A recovered effect waits for its time. */
    beforeEach(async () => {
      await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
      empty = lab.mark();
      await start();
      expect(work.calls).to.have.length(1);
    });

    it('store cannot say what it holds: no effect starts until it can', async () => {
      const release = life.store.hold('load');
      lab.suspect();
      await lab.clock.advance(5_000);
      expect(work.calls).to.have.length(1);
      release();
      await lab.rest();
      expect(work.calls).to.have.length(2);
    });

    it('lost actor not written again yet: its effect does not start', async () => {
      const release = life.store.hold('commit');
      await lab.lose(empty);
      await lab.clock.advance(4_000);
      expect(work.calls).to.have.length(1);
      release();
      await lab.clock.advance(20_000);
      expect(work.calls).to.have.length(2);
    });

    it('repeated commit without an answer yet: the effects of its actor do not start', async () => {
      const first = life.store.hold('commit', 'after', 1);
      const asked = watched(life.engine.ask('worker/a', { type: 'unknown to it' }));
      await lab.rest();
      lab.suspect();
      first();
      const second = life.store.hold('commit', 'before', 1);
      await lab.clock.advance(4_000);
      expect(work.calls).to.have.length(1);
      second();
      await lab.rest();
      expect(asked.state).to.equal('answered');
      expect(work.calls).to.have.length(2);
    });
  });

  describe('with a record ahead of the actor', () => {
    beforeEach(async () => {
      await ask('one');
    });

    it('written by ourselves: the actor continues from there', async () => {
      await writeBehind({});
      lab.suspect();
      await lab.rest();
      expect(await notes()).to.deep.equal(['behind', 'one']);
      expect(life.engine.quarantined()).to.deep.equal([]);
    });

    it('written by ourselves: its outbox is delivered before later messages of the actor', async () => {
      await ask('x', 'desk/b');
      const release = life.store.hold('unsettled', 'after', 1);
      await writeBehind({}, { messages: [noteTo('desk/b', 'owed')], events: [] });
      lab.suspect();
      await lab.rest();
      const asked = watched(life.engine.ask('desk/a', tell(noteTo('desk/b', 'later'))));
      await lab.rest();
      release();
      await lab.clock.advance(1_000);
      expect(asked.state).to.equal('answered');
      expect(await notes('desk/b')).to.deep.equal(['x', 'owed', 'later']);
    });

    it('with an outbox that cannot be read at first: delivered later', async () => {
      life.store.fail('unsettled', 'before', 3);
      await writeBehind({}, { messages: [noteTo('desk/b', 'owed')], events: [] });
      lab.suspect();
      await lab.clock.advance(20_000);
      expect(await notes('desk/b')).to.deep.equal(['owed']);
    });

    it('waiting messages are handed on, in order, and count once', async () => {
      const release = life.store.hold('load', 'after', 1);
      await writeBehind({});
      lab.suspect();
      await lab.rest();
      const asked = [watched(ask('two')), watched(life.engine.ask('desk/b', tell(noteTo('desk/a', 'three'))))];
      await lab.rest();
      release();
      await lab.rest();
      expect(asked.map(({ state }) => state)).to.deep.equal(['answered', 'answered']);
      expect(await notes()).to.deep.equal(['behind', 'one', 'two', 'three']);
    });

    it('written under an older epoch with the same seq: quarantined, record left as it is', async () => {
      await lab.rollBack(empty);
      const foreign = {
        address: 'desk/a',
        commitId: 'x',
        expectedSeq: 0,
        epoch: 0,
        owner: 'x',
        text: '{}',
        journal: '{}',
      };
      await lab.data.commit([foreign]);
      lab.suspect();
      await lab.rest();
      expect(await failureOf(ask('two'))).to.include({ code: 'ACTOR_QUARANTINED' });
      expect(await stored()).to.include({ commitId: 'x' });
    });

    it('D5 written by another holder of the same epoch: the runtime is fenced', async () => {
      await lab.rollBack(empty);
      const rival = {
        address: 'desk/a',
        commitId: 'x',
        expectedSeq: 0,
        epoch: 1,
        owner: 'x',
        text: '{}',
        journal: '{}',
      };
      await lab.data.commit([rival]);
      lab.suspect();
      await lab.rest();
      expect(await life.engine.lost).to.include({ code: 'FENCED' });
      expect(await failureOf(ask('two'))).to.include({ code: 'FENCED' });
      expect(await stored()).to.include({ commitId: 'x' });
    });

    it('34.16 written under a newer epoch, and the lease is ours: the actor is quarantined', async () => {
      await writeBehind({ owner: 'another', epoch: 9 });
      lab.suspect();
      await lab.rest();
      expect(await failureOf(ask('two'))).to.include({ code: 'ACTOR_QUARANTINED' });
      expect(await stored()).to.include({ epoch: 9 });
    });
  });

  it('reported while the runtime stops: it stops, and no timer remains', async () => {
    await ask('one');
    life.store.hold('load');
    const stopped = life.engine.stop();
    await lab.lose(empty);
    await lab.clock.advance(60_000);
    await stopped;
    expect(lab.clock.pending).to.equal(0);
  });

  it('runtime stops during the comparison: no timer remains', async () => {
    await ask('one');
    life.store.hold('load');
    await lab.lose(empty);
    await lab.rest();
    const asked = watched(ask('two'));
    const stopped = life.engine.stop();
    await lab.clock.advance(60_000);
    await stopped;
    expect(asked.error).to.include({ code: 'RUNTIME_CLOSED' });
    expect(lab.clock.pending).to.equal(0);
  });

  it('store silent for long: requests are refused, not kept waiting', async () => {
    await ask('one');
    life.store.fail('load', 'before', 1_000);
    lab.suspect();
    await lab.rest();
    const asked = watched(ask('two'));
    await lab.clock.advance(6_000);
    expect(asked.error).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'refused' });
  });
});
