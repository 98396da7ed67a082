/** Refused commits: on the wrong seq, or by an owner that has lost its right to write. */

import assert from 'node:assert/strict';
import type { Commit, Lease } from '../../engine/store.js';
import {
  assertHas,
  commitOne,
  commitTimes,
  conflictWithA,
  done,
  dueBy,
  inboxIds,
  journalSeqs,
  owed,
  plainCommit,
  type StoreSubject,
  type TestRunner,
} from './subject.js';

export function conflictSection({ describe, it }: TestRunner, subject: StoreSubject): void {
  describe('commit on the wrong seq', () => {
    it('an address that was never there, expected at 1, conflicts with nothing stored', async () => {
      assert.deepEqual(await commitOne(subject, plainCommit('a', 1)), { status: 'conflict' });
      assert.equal(await subject.store.load('a'), undefined);
      assert.deepEqual(await journalSeqs(subject, 'a'), []);
    });

    for (const expectedSeq of [0, 1, 3]) {
      it(`a record at seq 2, expected at ${expectedSeq}, conflicts with what is stored, and nothing changes`, async () => {
        await subject.store.appendInbox('a', ['x']);
        await commitTimes(subject, 'a', 2, { wakeAtMs: 4 });
        const more = { commitId: 'other', outbox: 'o', wakeAtMs: 1, gone: true, consumed: [1] };
        assert.deepEqual(await commitOne(subject, plainCommit('a', expectedSeq, more)), conflictWithA(2));
        assertHas(await subject.store.load('a'), { seq: 2, text: 't2', gone: false, wakeAtMs: 4 });
        assert.deepEqual(await journalSeqs(subject, 'a'), [1, 2]);
        assert.deepEqual(await owed(subject), []);
        assert.deepEqual(await dueBy(subject, 9), ['a 4']);
        assert.deepEqual(await inboxIds(subject, 'a'), [1]);
      });
    }
  });

  describe('commit by another owner', () => {
    it('an older epoch is refused, whoever holds it', async () => {
      await commitOne(subject, plainCommit('a', 0, { epoch: 2 }));
      for (const owner of ['owner-a', 'owner-b']) {
        const result = await commitOne(subject, plainCommit('a', 1, { epoch: 1, owner }));
        assert.deepEqual(result, conflictWithA(1, { epoch: 2 }));
      }
    });

    it('epochs are compared as numbers: 10 is newer than 9', async () => {
      await commitOne(subject, plainCommit('a', 0, { epoch: 9 }));
      assert.deepEqual(await commitOne(subject, plainCommit('a', 1, { epoch: 10, owner: 'owner-b' })), done);
      const late = await commitOne(subject, plainCommit('a', 2, { epoch: 9 }));
      assert.deepEqual(late, conflictWithA(2, { epoch: 10, owner: 'owner-b' }));
    });

    it('the same epoch of another owner is refused', async () => {
      await commitOne(subject, plainCommit('a', 0));
      assert.deepEqual(await commitOne(subject, plainCommit('a', 1, { owner: 'owner-b' })), conflictWithA(1));
    });

    it('a newer epoch of another owner goes through at the stored seq, and fences the one before', async () => {
      await commitOne(subject, plainCommit('a', 0));
      assert.deepEqual(await commitOne(subject, plainCommit('a', 1, { epoch: 2, owner: 'owner-b' })), done);
      assertHas(await subject.store.load('a'), { seq: 2, epoch: 2, owner: 'owner-b' });
      const late = await commitOne(subject, plainCommit('a', 2));
      assert.deepEqual(late, conflictWithA(2, { epoch: 2, owner: 'owner-b' }));
    });

    it('a newer epoch on the wrong seq is refused', async () => {
      await commitTimes(subject, 'a', 2);
      const result = await commitOne(subject, plainCommit('a', 1, { commitId: 'b', epoch: 2, owner: 'owner-b' }));
      assert.deepEqual(result, conflictWithA(2));
    });
  });
}

/**
 * Commits under a lease: once a newer epoch was issued, no commit under an older one is written, whatever is stored.
 */
export function fenceSection({ describe, it }: TestRunner, subject: StoreSubject): void {
  const acquire = async (owner: string, name = 'node/n1'): Promise<Lease> => {
    const result = await subject.store.acquireLease({ name, owner, ttlMs: subject.leaseTtlMs, holder: owner });
    if (result.status === 'granted') return result.lease;
    throw new Error(`not granted: ${JSON.stringify(result)}`);
  };
  const takenOver = async (): Promise<[former: Lease, present: Lease]> => {
    const former = await acquire('a');
    await subject.elapse(subject.leaseTtlMs);
    return [former, await acquire('b')];
  };
  const under = ({ name, epoch, owner }: Lease): Partial<Commit> => ({ lease: name, epoch, owner });

  describe('commit under a lease', () => {
    it('its newest epoch writes', async () => {
      const lease = await acquire('a');
      assert.deepEqual(await commitOne(subject, plainCommit('x', 0, under(lease))), { status: 'done' });
    });

    it('an older epoch writes nothing, to an address that was never there or that it wrote itself', async () => {
      const lease = await acquire('a');
      await commitOne(subject, plainCommit('known', 0, under(lease)));
      await subject.elapse(subject.leaseTtlMs);
      await acquire('b');
      for (const [address, seq] of [
        ['known', 1],
        ['never-there', 0],
      ] as const) {
        const late = await commitOne(subject, plainCommit(address, seq, under(lease)));
        assert.deepEqual(late, { status: 'fenced', epoch: 2, owner: 'b' });
      }
      assert.equal((await subject.store.load('known'))?.seq, 1);
      assert.equal(await subject.store.load('never-there'), undefined);
      assert.deepEqual(await subject.store.readJournal('never-there', 0, 9), []);
    });

    it('a repeat of what was written before the takeover is done', async () => {
      const lease = await acquire('a');
      const commit = plainCommit('x', 0, under(lease));
      await commitOne(subject, commit);
      await subject.elapse(subject.leaseTtlMs);
      await acquire('b');
      assert.deepEqual(await commitOne(subject, commit), { status: 'done' });
    });

    it('the fence stays over a reopen', async () => {
      const [former] = await takenOver();
      await subject.reopen();
      assert.deepEqual(await commitOne(subject, plainCommit('x', 0, under(former))), {
        status: 'fenced',
        epoch: 2,
        owner: 'b',
      });
    });

    it('the same owner under an older epoch is refused too', async () => {
      const first = await acquire('a');
      await acquire('a');
      assert.deepEqual(await commitOne(subject, plainCommit('x', 0, under(first))), {
        status: 'fenced',
        epoch: 2,
        owner: 'a',
      });
    });

    it('another owner under the same epoch is refused', async () => {
      const lease = await acquire('a');
      const late = await commitOne(subject, plainCommit('x', 0, under({ ...lease, owner: 'b' })));
      assert.deepEqual(late, { status: 'fenced', epoch: 1, owner: 'a' });
    });

    it('leases of other names, and commits that name none, are not concerned', async () => {
      const [former] = await takenOver();
      const other = await acquire('a', 'node/n2');
      assert.deepEqual(await commitOne(subject, plainCommit('x', 0, under(other))), { status: 'done' });
      const nameless = plainCommit('y', 0, { epoch: former.epoch, owner: former.owner });
      assert.deepEqual(await commitOne(subject, nameless), { status: 'done' });
    });

    it('a fenced item fails no other of its call', async () => {
      const [former, present] = await takenOver();
      const items = Array.from({ length: 9 }, (_, i) =>
        plainCommit(`x/${i}`, 0, under(i % 2 === 0 ? present : former)),
      );
      const statuses = (await subject.store.commit(items)).map(({ status }) => status);
      assert.deepEqual(
        statuses,
        items.map((_, i) => (i % 2 === 0 ? 'done' : 'fenced')),
      );
    });
  });
}
