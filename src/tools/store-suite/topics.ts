/** Topics: broadcast events, appended once each, read by cursor. */

import assert from 'node:assert/strict';
import type { TopicEntry } from '../../engine/store.js';
import { assertHas, awkwardTexts, type StoreSubject, type TestRunner } from './subject.js';

const entry = (source: string, seq: number, index = 0): TopicEntry => ({
  source,
  seq,
  index,
  text: `${source}${seq}.${index}`,
});

export function topicSection({ describe, it, beforeEach }: TestRunner, subject: StoreSubject): void {
  const append = (...entries: TopicEntry[]) => subject.store.appendTopic('t', entries);
  const read = (after = 0, limit = 10_000, topic = 't') => subject.store.readTopic(topic, after, limit);
  const texts = async (): Promise<string[]> => (await read()).rows.map((row) => row.text);
  const cursors = async (after: number, limit?: number): Promise<number[]> =>
    (await read(after, limit)).rows.map((row) => row.cursor);

  describe('topic', () => {
    it('one that never had an event is empty, its newest cursor 0 and its oldest 1', async () => {
      assert.deepEqual(await read(), { rows: [], oldest: 1, newest: 0 });
    });

    it('events are read whole, in the order appended, under cursors that rise', async () => {
      await append(entry('a', 1, 0), entry('a', 1, 1));
      await append(entry('b', 7));
      assert.deepEqual(await read(), {
        rows: [
          { cursor: 1, source: 'a', seq: 1, index: 0, text: 'a1.0' },
          { cursor: 2, source: 'a', seq: 1, index: 1, text: 'a1.1' },
          { cursor: 3, source: 'b', seq: 7, index: 0, text: 'b7.0' },
        ],
        oldest: 1,
        newest: 3,
      });
    });

    it('pages follow each other by cursor', async () => {
      await append(...[1, 2, 3, 4, 5].map((seq) => entry('a', seq)));
      assert.deepEqual(await cursors(0, 2), [1, 2]);
      assert.deepEqual(await cursors(2, 2), [3, 4]);
      assert.deepEqual(await cursors(4, 2), [5]);
      assert.deepEqual(await read(5, 2), { rows: [], oldest: 1, newest: 5 });
      assert.deepEqual(await read(9, 2), { rows: [], oldest: 1, newest: 5 });
      assert.deepEqual(await read(0, 0), { rows: [], oldest: 1, newest: 5 });
    });

    it('texts of any kind come back as they were', async () => {
      await append(...awkwardTexts.map((text, i) => ({ source: 'a "b"\\', seq: i + 1, index: 0, text })));
      assert.deepEqual(await texts(), awkwardTexts);
    });

    it('topics of which one begins with the other are kept apart', async () => {
      await append(entry('a', 1));
      await subject.store.appendTopic('t/u', [entry('a', 1), entry('a', 2)]);
      assertHas(await read(), { newest: 1 });
      assertHas(await read(0, 10, 't/u'), { newest: 2 });
    });

    it('more than a thousand events are appended in one call and read in one', async () => {
      const many = Array.from({ length: 2_500 }, (_, i) => entry('a', Math.floor(i / 10) + 1, i % 10));
      assert.equal(await append(...many), 2_500);
      assert.deepEqual(
        await texts(),
        many.map(({ text }) => text),
      );
    });
  });

  describe('topic, what is newer', () => {
    it('the same batch again appends nothing', async () => {
      await append(entry('a', 1, 0), entry('a', 1, 1));
      await append(entry('a', 1, 0), entry('a', 1, 1));
      assert.deepEqual(await texts(), ['a1.0', 'a1.1']);
    });

    it('of a batch that is there in part, the rest is appended', async () => {
      await append(entry('a', 1, 0));
      await append(entry('a', 1, 0), entry('a', 1, 1), entry('a', 2, 0));
      assert.deepEqual(await texts(), ['a1.0', 'a1.1', 'a2.0']);
    });

    it('an older event of the same source is there already, even at a higher index', async () => {
      await append(entry('a', 3, 0));
      await append(entry('a', 2, 5));
      assert.deepEqual(await texts(), ['a3.0']);
    });

    it('a newer event counts at any index: seqs and indexes are compared as numbers', async () => {
      await append(entry('a', 9, 9), entry('a', 9, 10), entry('a', 10, 0));
      assert.deepEqual(await texts(), ['a9.9', 'a9.10', 'a10.0']);
    });

    it('an event twice in one batch, or an older one behind a newer, is appended once', async () => {
      await append(entry('a', 1), entry('a', 1), entry('a', 3), entry('a', 2));
      assert.deepEqual(await texts(), ['a1.0', 'a3.0']);
    });

    it('what is newest is told per source and per topic', async () => {
      await append(entry('a', 9));
      await append(entry('b', 1));
      await subject.store.appendTopic('u', [entry('a', 1)]);
      assert.deepEqual(await texts(), ['a9.0', 'b1.0']);
      assertHas(await read(0, 10, 'u'), { newest: 1 });
    });

    it('calls made at once with the same events append each event once', async () => {
      const answers = await Promise.all([append(entry('a', 1), entry('a', 2)), append(entry('a', 1), entry('a', 2))]);
      assert.deepEqual(await texts(), ['a1.0', 'a2.0']);
      assert.deepEqual(answers, [2, 2]);
    });

    it('cursors, and what is newest of each source, stay over a reopen', async () => {
      await append(entry('a', 1), entry('b', 2));
      await subject.reopen();
      await append(entry('a', 1), entry('b', 2), entry('a', 2));
      const { rows } = await read();
      assert.deepEqual(
        rows.map((row) => `${row.cursor} ${row.text}`),
        ['1 a1.0', '2 b2.0', '3 a2.0'],
      );
    });
  });

  describe('topic, what an append answers', () => {
    it('the cursor of the last event appended', async () => {
      assert.equal(await append(entry('a', 1), entry('a', 2)), 2);
      assert.equal(await append(entry('b', 1)), 3);
    });

    it('the newest cursor too where nothing was newer', async () => {
      await append(entry('a', 1), entry('a', 2), entry('b', 1));
      assert.equal(await append(entry('a', 1)), 3);
    });

    it('the newest cursor, where there was nothing to append; 0 where there never was an event', async () => {
      assert.equal(await append(), 0);
      await append(entry('a', 1));
      assert.equal(await append(), 1);
      assertHas(await read(), { oldest: 1, newest: 1 });
    });

    it('the same after a trim of all and a reopen', async () => {
      await append(entry('a', 1), entry('a', 2));
      await subject.store.trimTopic('t', 2);
      await subject.reopen();
      assert.equal(await append(entry('a', 2)), 2);
      assert.equal(await append(entry('a', 3)), 3);
    });
  });

  describe('topic trimmed', () => {
    beforeEach(async () => {
      await append(...[1, 2, 3, 4].map((seq) => entry('a', seq)));
    });

    it('events up to and with the cursor are forgotten, of this topic only', async () => {
      await subject.store.appendTopic('tt', [entry('a', 1)]);
      await subject.store.trimTopic('t', 2);
      assert.deepEqual(await cursors(0), [3, 4]);
      assertHas(await read(), { oldest: 3, newest: 4 });
      assertHas(await read(0, 10, 'tt'), { oldest: 1, newest: 1 });
    });

    it('a reader from before the oldest gets what is kept, as much as it asked for', async () => {
      await subject.store.trimTopic('t', 1);
      assert.deepEqual(await cursors(0, 2), [2, 3]);
      assert.deepEqual(await cursors(3, 2), [4]);
    });

    it('with all forgotten, the newest stays and the oldest is the next to come', async () => {
      await subject.store.trimTopic('t', 4);
      await subject.reopen();
      assert.deepEqual(await read(), { rows: [], oldest: 5, newest: 4 });
    });

    it('a cursor that never was trims no event to come', async () => {
      await subject.store.trimTopic('t', 100);
      await append(entry('a', 5));
      assert.deepEqual(await cursors(0), [5]);
      assertHas(await read(), { oldest: 5, newest: 5 });
    });

    it('a forgotten event appended again stays forgotten', async () => {
      await subject.store.trimTopic('t', 4);
      await append(entry('a', 4), entry('a', 5));
      assert.deepEqual(await texts(), ['a5.0']);
    });

    it('a trim of what is trimmed, of nothing, or of an unknown topic, changes nothing', async () => {
      await subject.store.trimTopic('t', 0);
      assertHas(await read(), { oldest: 1 });
      await subject.store.trimTopic('t', 2);
      await subject.store.trimTopic('t', 1);
      await subject.store.trimTopic('unknown', 1);
      assertHas(await read(), { oldest: 3 });
      assert.deepEqual(await read(0, 10, 'unknown'), { rows: [], oldest: 1, newest: 0 });
    });

    it('a trim of thousands forgets them all', async () => {
      await append(...Array.from({ length: 2_500 }, (_, i) => entry('b', i + 1)));
      await subject.store.trimTopic('t', 2_503);
      assert.deepEqual(await cursors(0), [2_504]);
    });
  });
}
