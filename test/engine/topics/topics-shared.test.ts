/** Shared parts of followers of one topic: store reads, rows in memory, and the poll for events of other processes. */
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
    it('1,000 followers read a topic from its start: each page is read once', async () => {
      await lab.sayElsewhere(600);
      const crowd = readers(lab.feed(), 1_000, 0);
      await lab.rest();
      for (const { said } of crowd) expect(said).to.deep.equal(run(1, 600));
      expect(lab.reads).to.equal(3);
    });

    it('100 followers wait at the end: each append costs one read, and all get the same row objects', async () => {
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

    it('follower of events that others have just read: no read', async () => {
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

    it('event is parsed once, and frozen for all', async () => {
      await lab.sayElsewhere();
      const [stored] = (await lab.data.readTopic(topic, 0, 1)).rows;
      if (!stored) throw new Error('nothing was said');
      const row = { ...stored, id: eventId(topic, stored.cursor) };
      expect(eventOf(row)).to.equal(eventOf(row));
      expect(eventOf(row)).to.be.frozen;
    });
  });

  describe('memory', () => {
    it('some at the start of a long topic, some at its end: both get all, and few rows are held', async () => {
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

    it('long texts: fewer rows are held', async () => {
      await lab.sayElsewhere(3_000, 'x'.repeat(8_000));
      const feed = lab.feed();
      const [all] = readers(feed, 1, 0);
      await lab.rest();
      expect(all?.said).to.have.length(3_000);
      expect(feed.held.rows).to.be.at.most(2 * 256);
    });

    it('R10 500 followers stuck at different cursors: cost no read, memory or timer, and delay nobody', async () => {
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

    it('last follower gone: nothing is held', async () => {
      await lab.sayElsewhere(300);
      const feed = lab.feed();
      const rows = readerOf(feed, 0);
      await rows.next();
      expect(feed.held).to.deep.equal({ readers: 1, rows: 256 });
      await rows.return();
      expect(feed.held).to.deep.equal({ readers: 0, rows: 0 });
    });
  });

  describe('the poll for events of other processes', () => {
    it('another runtime appends to the same store: all followers get it within two polls', async () => {
      const crowd = readers(lab.feed(), 50, 0);
      await lab.rest();
      await lab.sayElsewhere(3);
      await lab.rest();
      expect(crowd[0]?.said).to.deep.equal([]);
      await lab.clock.advance(2_000);
      for (const { said } of crowd) expect(said).to.deep.equal([1, 2, 3]);
    });

    it("our append lands behind one of another runtime: both arrive, in the store's order", async () => {
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

    it('50 followers wait, no events: one poll per second for all; none without followers', async () => {
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

    it('own appends keep coming: no poll', async () => {
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

    it('store fails for a while: waiting followers only get the events after it', async () => {
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

  it('R13 runtime stops: waiting, reading and idle followers end, and no timer remains', async () => {
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
