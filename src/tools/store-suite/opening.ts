/** Opening and closing: behaviour common to all stores. */

import assert from 'node:assert/strict';
import type { Store } from '../../engine/store.js';
import { assertHas, commitOne, done, plainCommit, rejectionOf, type StoreSubject, type TestRunner } from './subject.js';

const lease = { name: 'node/n1', epoch: 1, owner: 'a', ttlMs: 1_000 };
const range = { prefix: '', limit: 1 };

const calls: Record<string, (store: Store) => Promise<unknown>> = {
  acquireLease: (store) => store.acquireLease({ name: 'node/n1', owner: 'a', ttlMs: 1_000, holder: 'a' }),
  renewLease: (store) => store.renewLease(lease),
  releaseLease: (store) => store.releaseLease(lease),
  load: (store) => store.load('a'),
  list: (store) => store.list(range),
  due: (store) => store.due({ ...range, untilMs: 1 }),
  commit: (store) => store.commit([plainCommit('a', 0)]),
  unsettled: (store) => store.unsettled(range),
  settle: (store) => store.settle([{ address: 'a', seq: 1 }]),
  appendInbox: (store) => store.appendInbox('a', ['x']),
  readInbox: (store) => store.readInbox('a', 0, 1),
  appendTopic: (store) => store.appendTopic('t', [{ source: 'a', seq: 1, index: 0, text: 'x' }]),
  readTopic: (store) => store.readTopic('t', 0, 1),
  trimTopic: (store) => store.trimTopic('t', 1),
  readJournal: (store) => store.readJournal('a', 0, 1),
  trimJournal: (store) => store.trimJournal('a', 1),
};

export function openingSection({ describe, it }: TestRunner, subject: StoreSubject): void {
  describe('open and close', () => {
    for (const [method, call] of Object.entries(calls)) {
      it(`${method} on a closed store is refused with an error, and goes through once it is open again`, async () => {
        await subject.store.close();
        await rejectionOf(call(subject.store));
        await subject.store.open();
        await call(subject.store);
      });
    }

    it('an open store is opened again, then nothing changes', async () => {
      await commitOne(subject, plainCommit('a', 0));
      const asked = { name: 'node/n1', ttlMs: subject.leaseTtlMs, holder: 'agent a' };
      await subject.store.acquireLease({ ...asked, owner: 'a' });
      await subject.store.open();
      assertHas(await subject.store.load('a'), { seq: 1 });
      assertHas(await subject.store.acquireLease({ ...asked, owner: 'b' }), { status: 'held' });
      assert.deepEqual(await commitOne(subject, plainCommit('a', 1)), done);
    });

    it('a closed store is closed again, then nothing changes', async () => {
      await subject.store.close();
      await subject.store.close();
      await subject.store.open();
      assert.deepEqual(await commitOne(subject, plainCommit('a', 0)), done);
    });

    it('opened again on what it has written itself, it suspects nothing', async () => {
      const suspicions: string[] = [];
      const events = { warn: () => {}, suspect: (reason: string) => void suspicions.push(reason) };
      await commitOne(subject, plainCommit('a', 0));
      await subject.store.close();
      await subject.store.open(events);
      await commitOne(subject, plainCommit('a', 1));
      assert.deepEqual(suspicions, []);
    });
  });
}
