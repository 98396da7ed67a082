/** Names: those that no store could keep are refused; all others are kept and distinguished. */

import assert from 'node:assert/strict';
import {
  assertHas,
  awkwardNames,
  commitOne,
  done,
  dueBy,
  inboxIds,
  listed,
  owed,
  plainCommit,
  rejectionOf,
  type StoreSubject,
  type TestRunner,
} from './subject.js';

const unkeepable = ['', 'n'.repeat(3_000), 'é'.repeat(500), 'a\0b', 'a\ud800'];
const entry = (source: string) => ({ source, seq: 1, index: 0, text: source });

export function nameSection({ describe, it }: TestRunner, subject: StoreSubject): void {
  describe('names', () => {
    it('a commit to a name that no store could keep is refused by name, with its whole call; other calls are not', async () => {
      for (const name of unkeepable) {
        const bad = subject.store.commit([plainCommit('in-that-call', 0), plainCommit(name, 0)]);
        const good = commitOne(subject, plainCommit(`beside-${name.length}`, 0));
        const error = await rejectionOf(bad);
        assert.ok(error instanceof TypeError);
        assert.ok(error.message.includes(JSON.stringify(name.slice(0, 20)).slice(0, -1)), error.message);
        assert.deepEqual(await good, done);
        assert.equal(await subject.store.load('in-that-call'), undefined);
      }
    });

    it('such a name of an inbox, a topic, a source or a lease is refused, and nothing of its call is written', async () => {
      for (const name of unkeepable) {
        const asked = { name, owner: 'a', ttlMs: 1_000, holder: 'a' };
        const calls = [
          subject.store.appendInbox(name, ['x']),
          subject.store.appendTopic(name, [entry('a')]),
          subject.store.appendTopic('t', [entry('a'), entry(name)]),
          subject.store.acquireLease(asked),
        ];
        for (const call of calls) assert.ok((await rejectionOf(call)) instanceof TypeError);
      }
      assertHas(await subject.store.readTopic('t', 0, 10), { rows: [], newest: 0 });
    });

    it('a commit without text is refused, and nothing of its call is written', async () => {
      for (const key of ['text', 'journal', 'outbox'] as const) {
        const broken = Object.assign(plainCommit('a', 0), { [key]: 7 });
        assert.ok((await rejectionOf(subject.store.commit([plainCommit('b', 0), broken]))) instanceof TypeError);
        assert.equal(await subject.store.load('b'), undefined);
      }
    });

    it('the longest name is taken, and told from one that differs in its last character', async () => {
      const names = ['a', 'b'].map((last) => 'n'.repeat(959) + last);
      await subject.store.commit(names.map((name) => plainCommit(name, 0, { wakeAtMs: 1, outbox: 'o', text: name })));
      for (const name of names) assertHas(await subject.store.load(name), { text: name });
      const [topic = '', source = ''] = names;
      assert.equal(await subject.store.appendTopic(topic, [entry(source)]), 1);
      assert.deepEqual(await subject.store.appendInbox(topic, ['x']), [1]);
      assert.deepEqual(await listed(subject), names);
      assert.equal((await dueBy(subject, 1)).length, 2);
      assert.equal((await owed(subject)).length, 2);
    });

    it('a name of any characters is loaded, listed, due, owed and paged as it was given', async () => {
      const commits = awkwardNames.map((name) => plainCommit(name, 0, { wakeAtMs: 1, outbox: 'o' }));
      await subject.store.commit(commits.reverse());
      for (const name of awkwardNames) assertHas(await subject.store.load(name), { address: name, seq: 1 });
      assert.deepEqual(await listed(subject), awkwardNames);
      assert.deepEqual(
        await dueBy(subject, 1),
        awkwardNames.map((name) => `${name} 1`),
      );
      assert.deepEqual(
        await owed(subject),
        awkwardNames.map((name) => `${name} 1 o`),
      );
    });

    it('a name of any characters is an inbox, a topic and a source of its own', async () => {
      for (const name of awkwardNames) {
        assert.deepEqual(await subject.store.appendInbox(name, [name]), [1]);
        assert.equal(await subject.store.appendTopic(name, awkwardNames.map(entry)), awkwardNames.length);
      }
      for (const name of awkwardNames) {
        assert.deepEqual(await inboxIds(subject, name), [1]);
        const { rows } = await subject.store.readTopic(name, 0, 100);
        assert.deepEqual(
          rows.map((row) => row.source),
          awkwardNames,
        );
      }
    });

    it('a prefix of any characters means itself, never a pattern', async () => {
      await subject.store.commit(
        [...awkwardNames, 'ab', 'b', 'a{c}'].map((name) => plainCommit(name, 0, { wakeAtMs: 1, outbox: 'o' })),
      );
      for (const prefix of awkwardNames) {
        const expected = awkwardNames.filter((name) => name.startsWith(prefix));
        assert.deepEqual(await listed(subject, prefix), expected);
        assert.deepEqual(
          await dueBy(subject, 1, prefix),
          expected.map((name) => `${name} 1`),
        );
        assert.deepEqual(
          await owed(subject, prefix),
          expected.map((name) => `${name} 1 o`),
        );
      }
    });
  });
}
