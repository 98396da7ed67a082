/** Topics: broadcast events, appended once each, read by cursor. */

import { expect } from 'chai';
import type { TopicEntry } from '../../../src/engine/store.js';
import { awkwardTexts, failureOf, type Subject } from './subject.js';

const entry = (source: string, seq: number, index = 0): TopicEntry => ({
  source,
  seq,
  index,
  text: `${source}${seq}.${index}`,
});

export function topicSection(subject: Subject): void {
  const append = (...entries: TopicEntry[]) => subject.store.appendTopic('t', entries);
  const read = (after = 0, limit = 100, topic = 't') => subject.store.readTopic(topic, after, limit);
  const texts = async (): Promise<string[]> => (await read()).rows.map((row) => row.text);

  describe('topic', () => {
    it('a topic that never had an event is empty, its newest cursor 0 and its oldest 1', async () => {
      expect(await read()).to.deep.equal({ rows: [], oldest: 1, newest: 0 });
    });

    it('events are read whole, in the order appended, under cursors that rise', async () => {
      await append(entry('a', 1, 0), entry('a', 1, 1));
      await append(entry('b', 7));
      expect(await read()).to.deep.equal({
        rows: [
          { cursor: 1, source: 'a', seq: 1, index: 0, text: 'a1.0' },
          { cursor: 2, source: 'a', seq: 1, index: 1, text: 'a1.1' },
          { cursor: 3, source: 'b', seq: 7, index: 0, text: 'b7.0' },
        ],
        oldest: 1,
        newest: 3,
      });
    });

    it('the same batch again appends nothing', async () => {
      await append(entry('a', 1, 0), entry('a', 1, 1));
      await append(entry('a', 1, 0), entry('a', 1, 1));
      expect(await texts()).to.deep.equal(['a1.0', 'a1.1']);
    });

    it('of a batch that is there in part, the rest is appended', async () => {
      await append(entry('a', 1, 0));
      await append(entry('a', 1, 0), entry('a', 1, 1), entry('a', 2, 0));
      expect(await texts()).to.deep.equal(['a1.0', 'a1.1', 'a2.0']);
    });

    it('an older event of the same source is there already, even at a higher index', async () => {
      await append(entry('a', 3, 0));
      await append(entry('a', 2, 5));
      expect(await texts()).to.deep.equal(['a3.0']);
    });

    it('an event twice in one batch is appended once', async () => {
      await append(entry('a', 1), entry('a', 1));
      expect(await texts()).to.deep.equal(['a1.0']);
    });

    it('what is newest is told per source and per topic', async () => {
      await append(entry('a', 9));
      await append(entry('b', 1));
      await subject.store.appendTopic('u', [entry('a', 1)]);
      expect(await texts()).to.deep.equal(['a9.0', 'b1.0']);
      expect((await read(0, 10, 'u')).rows).to.have.lengthOf(1);
    });

    it('calls made at once with the same events append each event once', async () => {
      await Promise.all([append(entry('a', 1), entry('a', 2)), append(entry('a', 1), entry('a', 2))]);
      expect(await texts()).to.deep.equal(['a1.0', 'a2.0']);
    });

    it('pages follow each other by cursor', async () => {
      await append(...[1, 2, 3, 4, 5].map((seq) => entry('a', seq)));
      expect((await read(0, 2)).rows.map((row) => row.cursor)).to.deep.equal([1, 2]);
      expect((await read(2, 2)).rows.map((row) => row.cursor)).to.deep.equal([3, 4]);
      expect((await read(4, 2)).rows.map((row) => row.cursor)).to.deep.equal([5]);
      expect(await read(5, 2)).to.deep.equal({ rows: [], oldest: 1, newest: 5 });
    });

    it('texts of any kind come back as they were', async () => {
      await append(...awkwardTexts.map((text, i) => ({ source: 'a "b"\\', seq: i + 1, index: 0, text })));
      expect(await texts()).to.deep.equal(awkwardTexts);
    });

    it('a source that no store could keep is refused, and nothing of its batch is appended', async () => {
      expect(await failureOf(append(entry('a', 1), entry('n'.repeat(3_000), 1)))).to.be.instanceOf(TypeError);
      expect(await texts()).to.deep.equal([]);
    });

    it('cursors, and what is newest of each source, stay over a reopen', async () => {
      await append(entry('a', 1), entry('a', 2));
      await subject.reopen();
      await append(entry('a', 2), entry('a', 3));
      expect((await read()).rows.map((row) => `${row.cursor} ${row.text}`)).to.deep.equal([
        '1 a1.0',
        '2 a2.0',
        '3 a3.0',
      ]);
    });
  });

  describe('topic trimmed', () => {
    beforeEach(() => append(...[1, 2, 3, 4].map((seq) => entry('a', seq))));

    it('events up to and with the cursor are forgotten, of this topic only', async () => {
      await subject.store.appendTopic('tt', [entry('a', 1)]);
      await subject.store.trimTopic('t', 2);
      const { rows, oldest, newest } = await read();
      expect(rows.map((row) => row.cursor)).to.deep.equal([3, 4]);
      expect({ oldest, newest }).to.deep.equal({ oldest: 3, newest: 4 });
      expect((await read(0, 10, 'tt')).rows).to.have.lengthOf(1);
    });

    it('with all forgotten, the newest stays and the oldest is the next to come', async () => {
      await subject.store.trimTopic('t', 4);
      await subject.reopen();
      expect(await read()).to.deep.equal({ rows: [], oldest: 5, newest: 4 });
    });

    it('a cursor that never was trims no event to come', async () => {
      await subject.store.trimTopic('t', 100);
      await append(entry('a', 5));
      const { rows, oldest, newest } = await read();
      expect(rows.map((row) => row.cursor)).to.deep.equal([5]);
      expect({ oldest, newest }).to.deep.equal({ oldest: 5, newest: 5 });
    });

    it('a forgotten event appended again stays forgotten', async () => {
      await subject.store.trimTopic('t', 4);
      await append(entry('a', 4), entry('a', 5));
      expect(await texts()).to.deep.equal(['a5.0']);
    });

    it('a trim of what is trimmed, or of an unknown topic, changes nothing', async () => {
      await subject.store.trimTopic('t', 2);
      await subject.store.trimTopic('t', 1);
      await subject.store.trimTopic('unknown', 1);
      expect((await read()).oldest).to.equal(3);
      expect(await read(0, 10, 'unknown')).to.deep.equal({ rows: [], oldest: 1, newest: 0 });
    });
  });
}
