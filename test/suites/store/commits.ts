/** Commits: which are written, which are refused, and what each leaves. */

import { expect } from 'chai';
import { awkwardTexts, commitOf, commitOne, commitTimes, failureOf, type Subject } from './subject.js';

const stored = (seq: number, more: { epoch?: number; owner?: string } = {}) => ({
  status: 'conflict',
  stored: { seq, epoch: 1, owner: 'owner-a', commitId: `a@${seq}`, ...more },
});

export function commitSection(subject: Subject): void {
  describe('commit', () => {
    it('the first commit to an address becomes seq 1 and is loaded as written', async () => {
      expect(await commitOne(subject, commitOf('a', 0, { wakeAtMs: 5 }))).to.deep.equal({ status: 'done' });
      expect(await subject.store.load('a')).to.deep.equal({
        address: 'a',
        seq: 1,
        epoch: 1,
        owner: 'owner-a',
        commitId: 'a@1',
        gone: false,
        wakeAtMs: 5,
        text: 't1',
      });
    });

    it('an address that was never committed to loads as undefined', async () => {
      expect(await subject.store.load('a')).to.equal(undefined);
    });

    it('a commit without wakeAtMs leaves a record that has no such key', async () => {
      await commitOne(subject, commitOf('a', 0, { wakeAtMs: 5 }));
      await commitOne(subject, commitOf('a', 1));
      expect(await subject.store.load('a')).not.to.have.property('wakeAtMs');
    });

    it('a commit on the stored seq replaces the record', async () => {
      await commitTimes(subject, 'a', 2);
      expect(await subject.store.load('a')).to.include({ seq: 2, text: 't2', commitId: 'a@2' });
    });

    it('texts of any kind come back as they were, from record, journal and outbox', async () => {
      await subject.store.commit(
        awkwardTexts.map((text, i) => commitOf(`a/${i}`, 0, { text, journal: text, outbox: text })),
      );
      await subject.reopen();
      for (const [i, text] of awkwardTexts.entries()) {
        expect((await subject.store.load(`a/${i}`))?.text).to.equal(text);
        expect(await subject.store.readJournal(`a/${i}`, 1, 1)).to.deep.equal([{ seq: 1, text }]);
      }
      const { rows } = await subject.store.unsettled({ prefix: 'a/', limit: 100 });
      expect(rows.map((row) => row.text)).to.deep.equal(awkwardTexts);
    });

    it('no items get no results', async () => {
      expect(await subject.store.commit([])).to.deep.equal([]);
    });

    it('everything committed is there after a reopen', async () => {
      await commitTimes(subject, 'a', 3, { wakeAtMs: 7, outbox: 'o' });
      const before = await subject.store.load('a');
      await subject.reopen();
      expect(await subject.store.load('a')).to.deep.equal(before);
      expect(await subject.store.readJournal('a', 1, 10)).to.have.lengthOf(3);
      expect((await subject.store.unsettled({ prefix: '', limit: 10 })).rows).to.have.lengthOf(3);
      expect(await subject.store.due({ prefix: '', untilMs: 7, limit: 10 })).to.have.lengthOf(1);
    });

    it('after a close every call is refused until the store is open again', async () => {
      await subject.store.close();
      expect((await failureOf(subject.store.commit([commitOf('a', 0)]))).message).to.match(/closed/);
      expect((await failureOf(subject.store.load('a'))).message).to.match(/closed/);
      await subject.store.open();
      expect(await subject.store.load('a')).to.equal(undefined);
    });
  });

  describe('commit repeated after a lost answer', () => {
    it('the same commit again is done and writes nothing twice', async () => {
      const commit = commitOf('a', 0, { outbox: 'o' });
      await commitOne(subject, commit);
      await subject.store.settle([{ address: 'a', seq: 1 }]);
      expect(await commitOne(subject, commit)).to.deep.equal({ status: 'done' });
      expect(await subject.store.load('a')).to.include({ seq: 1 });
      expect(await subject.store.readJournal('a', 0, 10)).to.deep.equal([{ seq: 1, text: 'j1' }]);
      expect((await subject.store.unsettled({ prefix: '', limit: 10 })).rows).to.deep.equal([]);
    });

    it('the same commit again is done after a reopen', async () => {
      await commitTimes(subject, 'a', 2);
      await subject.reopen();
      expect(await commitOne(subject, commitOf('a', 1))).to.deep.equal({ status: 'done' });
    });

    it('the same commit twice in one call is done twice and written once', async () => {
      const results = await subject.store.commit([commitOf('a', 0), commitOf('a', 0)]);
      expect(results).to.deep.equal([{ status: 'done' }, { status: 'done' }]);
      expect(await subject.store.readJournal('a', 0, 10)).to.have.lengthOf(1);
    });

    it('the same commit in two calls at once is done twice and written once', async () => {
      const results = await Promise.all([commitOne(subject, commitOf('a', 0)), commitOne(subject, commitOf('a', 0))]);
      expect(results).to.deep.equal([{ status: 'done' }, { status: 'done' }]);
      expect(await subject.store.readJournal('a', 0, 10)).to.have.lengthOf(1);
    });

    it('an older commit again, after a newer one, conflicts with the newer one', async () => {
      await commitTimes(subject, 'a', 3);
      expect(await commitOne(subject, commitOf('a', 1))).to.deep.equal(stored(3));
      expect(await commitOne(subject, commitOf('a', 0))).to.deep.equal(stored(3));
    });

    it('the stored commitId on another seq is no repeat', async () => {
      await commitTimes(subject, 'a', 2);
      expect(await commitOne(subject, commitOf('a', 0, { commitId: 'a@2' }))).to.deep.equal(stored(2));
      expect(await commitOne(subject, commitOf('a', 2, { commitId: 'a@2' }))).to.deep.equal({ status: 'done' });
      expect(await subject.store.load('a')).to.include({ seq: 3 });
    });
  });

  describe('commit on the wrong seq', () => {
    it('an address that was never there, expected at 1, conflicts with nothing stored', async () => {
      expect(await commitOne(subject, commitOf('a', 1))).to.deep.equal({ status: 'conflict' });
      expect(await subject.store.load('a')).to.equal(undefined);
      expect(await subject.store.readJournal('a', 0, 10)).to.deep.equal([]);
    });

    for (const expectedSeq of [0, 1, 3]) {
      it(`a record at seq 2, expected at ${expectedSeq}, conflicts with what is stored`, async () => {
        await commitTimes(subject, 'a', 2);
        const commit = commitOf('a', expectedSeq, { commitId: 'other', outbox: 'o', wakeAtMs: 1 });
        expect(await commitOne(subject, commit)).to.deep.equal(stored(2));
        expect(await subject.store.load('a')).to.include({ seq: 2, text: 't2' });
        expect(await subject.store.readJournal('a', 0, 10)).to.have.lengthOf(2);
        expect((await subject.store.unsettled({ prefix: '', limit: 10 })).rows).to.deep.equal([]);
        expect(await subject.store.due({ prefix: '', untilMs: 9, limit: 10 })).to.deep.equal([]);
      });
    }
  });

  describe('commit by another owner', () => {
    it('an older epoch is refused, whoever holds it', async () => {
      await commitOne(subject, commitOf('a', 0, { epoch: 2 }));
      for (const owner of ['owner-a', 'owner-b']) {
        const result = await commitOne(subject, commitOf('a', 1, { epoch: 1, owner }));
        expect(result).to.deep.equal(stored(1, { epoch: 2 }));
      }
    });

    it('the same epoch of another owner is refused', async () => {
      await commitOne(subject, commitOf('a', 0));
      expect(await commitOne(subject, commitOf('a', 1, { owner: 'owner-b' }))).to.deep.equal(stored(1));
    });

    it('a newer epoch of another owner is accepted at the stored seq, and fences the one before', async () => {
      await commitOne(subject, commitOf('a', 0));
      const takeover = commitOf('a', 1, { epoch: 2, owner: 'owner-b' });
      expect(await commitOne(subject, takeover)).to.deep.equal({ status: 'done' });
      expect(await subject.store.load('a')).to.include({ seq: 2, epoch: 2, owner: 'owner-b' });
      const late = await commitOne(subject, commitOf('a', 2));
      expect(late).to.deep.equal(stored(2, { epoch: 2, owner: 'owner-b' }));
    });

    it('a newer epoch on the wrong seq is refused', async () => {
      await commitTimes(subject, 'a', 2);
      const result = await commitOne(subject, commitOf('a', 1, { commitId: 'b', epoch: 2, owner: 'owner-b' }));
      expect(result).to.deep.equal(stored(2));
    });
  });

  describe('several commits in one call', () => {
    it('one conflict fails no other item, and results come in the order given', async () => {
      await commitOne(subject, commitOf('b', 0));
      const results = await subject.store.commit([commitOf('a', 0), commitOf('b', 7), commitOf('c', 0)]);
      expect(results.map((result) => result.status)).to.deep.equal(['done', 'conflict', 'done']);
      expect(await subject.store.load('a')).to.include({ seq: 1 });
      expect(await subject.store.load('b')).to.include({ seq: 1 });
      expect(await subject.store.load('c')).to.include({ seq: 1 });
    });

    it('several for one address apply in order', async () => {
      const items = [commitOf('a', 0), commitOf('a', 1), commitOf('a', 3), commitOf('a', 2)];
      const results = await subject.store.commit(items);
      expect(results).to.deep.equal([{ status: 'done' }, { status: 'done' }, stored(2), { status: 'done' }]);
      expect(await subject.store.load('a')).to.include({ seq: 3, text: 't3' });
    });

    it('calls for one address made at once apply in the order made', async () => {
      const results = await Promise.all([0, 1, 2].map((seq) => commitOne(subject, commitOf('a', seq))));
      expect(results).to.deep.equal([{ status: 'done' }, { status: 'done' }, { status: 'done' }]);
    });

    it('a name that no store could keep is refused by name, nothing of its call is written, others are', async () => {
      for (const name of ['', 'n'.repeat(3_000), 'é'.repeat(500), 'a\0b', 'a\ud800']) {
        const bad = subject.store.commit([commitOf('in-that-call', 0), commitOf(name, 0)]);
        const good = subject.store.commit([commitOf(`beside-${name.length}`, 0)]);
        const error = await failureOf(bad);
        expect(error).to.be.instanceOf(TypeError);
        expect(error.message).to.include(JSON.stringify(name.slice(0, 20)).slice(0, -1));
        expect(await good).to.deep.equal([{ status: 'done' }]);
        expect(await subject.store.load('in-that-call')).to.equal(undefined);
      }
    });

    it('the longest name is taken, and told from one that differs in its last character', async () => {
      const names = ['a', 'b'].map((last) => 'n'.repeat(959) + last);
      await subject.store.commit(names.map((name) => commitOf(name, 0, { wakeAtMs: 1, outbox: 'o', text: name })));
      await subject.store.appendTopic(names[0] ?? '', [{ source: names[1] ?? '', seq: 1, index: 0, text: '' }]);
      for (const name of names) expect((await subject.store.load(name))?.text).to.equal(name);
    });
  });

  describe('tombstone', () => {
    const bury = () => commitOne(subject, commitOf('a', 1, { gone: true, wakeAtMs: 3 }));

    beforeEach(() => commitOne(subject, commitOf('a', 0, { wakeAtMs: 3 })));

    it('a deleted actor is neither listed nor due', async () => {
      await bury();
      expect((await subject.store.list({ prefix: '', limit: 10 })).rows).to.deep.equal([]);
      expect(await subject.store.due({ prefix: '', untilMs: 9, limit: 10 })).to.deep.equal([]);
    });

    it('a deleted actor is loaded as gone, with nothing to wake for', async () => {
      await bury();
      await subject.reopen();
      const record = await subject.store.load('a');
      expect(record).to.include({ seq: 2, gone: true, text: 't2', commitId: 'a@2' });
      expect(record).not.to.have.property('wakeAtMs');
    });

    it('an actor made anew continues the seq and the journal, and is listed and due again', async () => {
      await bury();
      expect(await commitOne(subject, commitOf('a', 0, { commitId: 'anew' }))).to.deep.equal(stored(2));
      expect(await commitOne(subject, commitOf('a', 2, { wakeAtMs: 4 }))).to.deep.equal({ status: 'done' });
      expect(await subject.store.load('a')).to.include({ seq: 3, gone: false });
      expect((await subject.store.list({ prefix: '', limit: 10 })).rows).to.have.lengthOf(1);
      expect(await subject.store.due({ prefix: '', untilMs: 9, limit: 10 })).to.deep.equal([
        { address: 'a', wakeAtMs: 4 },
      ]);
      expect(await subject.store.readJournal('a', 1, 10)).to.have.lengthOf(3);
    });

    it('the commit that deletes, repeated, is done', async () => {
      await bury();
      expect(await bury()).to.deep.equal({ status: 'done' });
      expect(await subject.store.load('a')).to.include({ seq: 2, gone: true });
    });
  });
}
