/** What followers of one topic share: reads of the store, rows in memory, and the look for what others append. */
import { expect } from 'chai';
import { eventId } from '../../../src/engine/topics/event-ids.js';
import type { TopicFeed } from '../../../src/engine/topics/topic-feed.js';
import { eventOf } from '../../../src/engine/topics/topics.js';
import { watched } from '../lab.js';
import { type Reader, reader } from '../reader.js';
import { readerOf, run, TopicLab, topic } from '../topic-lab.js';

describe('followers of one topic share', () => {
  let lab: TopicLab;

  beforeEach(async () => {
    lab = await new TopicLab().open();
  });

  const readers = (feed: TopicFeed, count: number, start: number): Reader[] =>
    Array.from({ length: count }, () => reader(readerOf(feed, start)));

  describe('reads', () => {
    it('1,000 read a topic from its beginning, then each page is read once', async () => {
      await lab.sayElsewhere(600);
      const crowd = readers(lab.feed(), 1_000, 0);
      await lab.rest();
      for (const { said } of crowd) expect(said).to.deep.equal(run(1, 600));
      expect(lab.reads).to.equal(3);
    });

    it('100 wait at the end, then each append costs one read, and its rows are the same objects for all', async () => {
      const topics = lab.topics();
      const crowd = Array.from({ length: 100 }, () => reader(topics.follow(topic, 0)));
      await lab.rest();
      const before = lab.reads;
      for (let n = 0; n < 10; n += 1) {
        await lab.say(topics, 5);
        await lab.rest();
      }
      expect(lab.reads - before).to.equal(10);
      expect(new Set(crowd.flatMap(({ rows }) => rows))).to.have.property('size', 50);
      expect(crowd[0]?.rows.every(Object.isFrozen)).to.equal(true);
    });

    it('one who comes for what others have just read reads nothing', async () => {
      await lab.sayElsewhere(2_000);
      const feed = lab.feed();
      readers(feed, 1, 0);
      await lab.rest();
      const before = lab.reads;
      const [late] = readers(feed, 1, 1_500);
      await lab.rest();
      expect(late?.said).to.deep.equal(run(1_501, 2_000));
      expect(lab.reads).to.equal(before);
    });

    it('an event is parsed once, and nobody can change it for others', async () => {
      await lab.sayElsewhere();
      const [stored] = (await lab.data.readTopic(topic, 0, 1)).rows;
      if (!stored) throw new Error('nothing was said');
      const row = { ...stored, id: eventId(topic, stored.cursor) };
      expect(eventOf(row)).to.equal(eventOf(row));
      expect(eventOf(row)).to.be.frozen;
    });
  });

  describe('memory', () => {
    it('some read from the beginning of a long topic, some at its end: both get all, and little is held', async () => {
      await lab.sayElsewhere(20_000);
      const feed = lab.feed();
      const behind = readers(feed, 3, 0);
      const [atEnd] = readers(feed, 1, 20_000);
      for (let n = 0; n < 10; n += 1) {
        await lab.sayElsewhere(10);
        await lab.clock.advance(2_000);
        expect(atEnd?.said).to.deep.equal(run(20_001, lab.said));
        expect(feed.held.rows).to.be.at.most(16 * 256);
      }
      for (const { said } of behind) expect(said).to.deep.equal(run(1, lab.said));
    });

    it('long texts, then fewer rows are held', async () => {
      await lab.sayElsewhere(3_000, 'x'.repeat(8_000));
      const feed = lab.feed();
      const [all] = readers(feed, 1, 0);
      await lab.rest();
      expect(all?.said).to.have.length(3_000);
      expect(feed.held.rows).to.be.at.most(2 * 256);
    });

    it('R10 500 stick at different places: they cost no read, no memory and no timer, and delay nobody', async () => {
      await lab.sayElsewhere(2_000);
      const feed = lab.feed();
      const stuck = run(0, 499).map((n) => readerOf(feed, n * 4));
      await Promise.all(stuck.map((rows) => rows.next()));
      await lab.clock.advance(2_000);
      expect(feed.held).to.deep.equal({ readers: 0, rows: 0 });
      expect(lab.clock.pending).to.equal(0);
      const before = lab.reads;
      const [quick] = readers(feed, 1, 1_990);
      await lab.rest();
      expect(quick?.said).to.deep.equal(run(1_991, 2_000));
      expect(lab.reads - before).to.equal(1);
      for (const [n, rows] of stuck.entries()) expect((await rows.next()).value).to.include({ cursor: n * 4 + 2 });
    });

    it('the last follower has left, then nothing is held', async () => {
      await lab.sayElsewhere(300);
      const feed = lab.feed();
      const rows = readerOf(feed, 0);
      await rows.next();
      expect(feed.held).to.deep.equal({ readers: 1, rows: 256 });
      await rows.return();
      expect(feed.held).to.deep.equal({ readers: 0, rows: 0 });
    });
  });

  describe('the look for what others append', () => {
    it('another runtime appends to the same store, then all hear of it within the time of two polls', async () => {
      const crowd = readers(lab.feed(), 50, 0);
      await lab.rest();
      await lab.sayElsewhere(3);
      await lab.rest();
      expect(crowd[0]?.said).to.deep.equal([]);
      await lab.clock.advance(2_000);
      for (const { said } of crowd) expect(said).to.deep.equal([1, 2, 3]);
    });

    it('our append lands behind one of another runtime, then both come, in the order of the store', async () => {
      const topics = lab.topics();
      const follower = reader(topics.follow(topic, 0));
      await lab.say(topics);
      await lab.rest();
      await lab.sayElsewhere();
      await lab.say(topics);
      await lab.rest();
      expect(follower.rows.map(({ cursor }) => cursor)).to.deep.equal([1, 2, 3]);
      expect(follower.said).to.deep.equal([1, 2, 3]);
    });

    it('50 wait and nothing happens: one look per second for all of them; none while nobody follows', async () => {
      const feed = lab.feed();
      const crowd = Array.from({ length: 50 }, () => readerOf(feed, 0));
      for (const rows of crowd) void rows.next();
      await lab.clock.advance(1_000);
      const before = lab.reads;
      await lab.clock.advance(10_000);
      expect(lab.reads - before).to.equal(10);
      for (const rows of crowd) await rows.return();
      await lab.clock.advance(10_000);
      expect(lab.reads - before).to.equal(10);
      expect(lab.clock.pending).to.equal(0);
    });

    it('own appends keep coming, then it is not looked for more', async () => {
      const topics = lab.topics();
      reader(topics.follow(topic, 0));
      await lab.rest();
      const before = lab.reads;
      for (let n = 0; n < 10; n += 1) {
        await lab.say(topics);
        await lab.clock.advance(900);
      }
      expect(lab.reads - before).to.equal(10);
    });

    it('the store fails a while, then who waits hears of nothing but the news after it', async () => {
      const [follower] = readers(lab.feed(), 1, 0);
      await lab.clock.advance(1_000);
      lab.store.fail('readTopic', 'before', 5);
      await lab.sayElsewhere();
      await lab.clock.advance(5_000);
      expect(follower).to.deep.include({ state: 'reading', said: [] });
      await lab.clock.advance(2_000);
      expect(follower).to.deep.include({ state: 'reading', said: [1] });
    });
  });

  it('R13 the runtime stops: those who wait, read or rest end, and no timer is left', async () => {
    const topics = lab.topics();
    await lab.say(topics, 10);
    const waiting = watched(topics.follow(topic, 10).next());
    const resting = topics.follow(topic, 0);
    await resting.next();
    lab.store.hold('readTopic', 'after', 1);
    const loading = watched(topics.follow(topic, 9_999).next());
    await topics.stop();
    await lab.rest();
    const end = { state: 'answered', value: { value: undefined, done: true } };
    expect(waiting).to.deep.include(end);
    expect(loading).to.deep.include(end);
    expect(await resting.next()).to.deep.equal(end.value);
    expect(lab.clock.pending).to.equal(0);
  });
});
