/** Retention of topics, and the errors of followers when events are gone or cannot be read. */
import { expect } from 'chai';
import { eventId } from '../../../src/engine/topics/event-ids.js';
import type { Topics } from '../../../src/engine/topics/topics.js';
import { memoryStore } from '../../../src/stores/memory/memory.js';
import { controlledStore } from '../../support/faulty-store.js';
import { reader } from '../reader.js';
import { run, TopicLab, topic } from '../topic-lab.js';

describe('events that are gone', () => {
  let lab: TopicLab;

  beforeEach(async () => {
    lab = await new TopicLab().open();
  });

  const oldest = async (): Promise<number> => (await lab.data.readTopic(topic, 0, 0)).oldest;
  const trims = (): number => lab.store.calls.filter((method) => method === 'trimTopic').length;

  describe('retention', () => {
    let topics: Topics;

    beforeEach(() => {
      topics = lab.topics({ keep: 100 });
    });

    it('topic a tenth above its limit: the oldest events are deleted', async () => {
      await lab.say(topics, 109);
      await lab.rest();
      expect(await oldest()).to.equal(1);
      await lab.say(topics);
      await lab.rest();
      expect(await oldest()).to.equal(11);
    });

    it('events come one by one: the store trims from time to time', async () => {
      for (let n = 0; n < 1_000; n += 1) await lab.say(topics);
      expect(await oldest()).to.be.within(890, 901);
      expect(trims()).to.equal(90);
    });

    it('trim fails: appends go on, and a later trim does the work', async () => {
      lab.store.fail('trimTopic', 'before');
      await lab.say(topics, 110);
      await lab.rest();
      expect(await oldest()).to.equal(1);
      await lab.say(topics, 10);
      await lab.rest();
      expect(await oldest()).to.equal(21);
    });

    it('trim hangs: appends, followers and the stop do not wait for it', async () => {
      lab.store.hold('trimTopic');
      const follower = reader(topics.follow(topic, 0));
      await lab.say(topics, 300);
      await lab.rest();
      expect(follower.said).to.deep.equal(run(1, 300));
      await topics.stop();
    });

    it('runtime dies before it trims: the next one trims with its first append', async () => {
      lab.store.fail('trimTopic', 'before');
      await lab.say(topics, 500);
      await lab.rest();
      await lab.say(lab.topics({ keep: 100 }));
      await lab.rest();
      expect(await oldest()).to.equal(402);
    });
  });

  describe('CURSOR_EXPIRED', () => {
    it('R10 names the id after which all kept events follow, and the end of the topic', async () => {
      await lab.sayElsewhere(10);
      await lab.data.trimTopic(topic, 4);
      const topics = lab.topics();
      const behind = reader(topics.follow(topic, 3));
      await lab.rest();
      expect(behind.error).to.include({
        code: 'CURSOR_EXPIRED',
        oldest: eventId(topic, 4),
        newest: eventId(topic, 10),
      });
      const again = reader(topics.follow(topic, 4));
      await lab.rest();
      expect(again.said).to.deep.equal(run(5, 10));
    });

    for (const trimmed of [1, 255, 256, 257, 299, 300]) {
      it(`events up to ${trimmed} of 300 deleted: can be followed from there, not from before`, async () => {
        await lab.sayElsewhere(300);
        await lab.data.trimTopic(topic, trimmed);
        const topics = lab.topics();
        const [before, there] = [trimmed - 1, trimmed].map((from) => reader(topics.follow(topic, from)));
        await lab.say(topics);
        await lab.rest();
        expect(before?.error).to.include({ code: 'CURSOR_EXPIRED', oldest: eventId(topic, trimmed) });
        expect(there?.said).to.deep.equal(run(trimmed + 1, 301));
      });
    }

    it('topic trimmed in a page that some have partly read: too slow followers get the error', async () => {
      const topics = lab.topics();
      await lab.say(topics, 10);
      const slow = topics.follow(topic, 0);
      await slow.next();
      await lab.clock.advance(5_000);
      await lab.say(topics, 10);
      await lab.data.trimTopic(topic, 15);
      await lab.rest();
      const error: unknown = await slow.next().catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: 'CURSOR_EXPIRED', oldest: eventId(topic, 15), newest: eventId(topic, 20) });
      expect(await slow.next()).to.deep.equal({ value: undefined, done: true });
    });

    it('event that this topic never had: the follower gets the error instead of waiting', async () => {
      await lab.sayElsewhere(10);
      const follower = reader(lab.topics().follow(topic, 900));
      await lab.rest();
      expect(follower.error).to.include({
        code: 'CURSOR_EXPIRED',
        oldest: eventId(topic, 0),
        newest: eventId(topic, 10),
      });
      expect(follower.error).to.have.property('message').that.includes('no event 900: the newest is 10');
    });

    it('cursor of an event appended during a read: not taken for lost', async () => {
      const topics = lab.topics();
      const release = lab.store.hold('readTopic', 'after', 1);
      reader(topics.follow(topic, 0));
      await lab.rest();
      await lab.sayElsewhere();
      const follower = reader(topics.follow(topic, 1));
      release();
      await lab.say(topics);
      await lab.rest();
      expect(follower).to.deep.include({ state: 'reading', said: [2] });
    });

    it('store lost its newest events: waiting followers get the error at the next poll', async () => {
      const older = memoryStore();
      await older.open();
      await older.appendTopic(topic, [{ source: 'speaker', seq: 1, index: 0, text: '{"text":1}' }]);
      let isLost = false;
      lab = await new TopicLab((data) => ({
        ...controlledStore(data),
        readTopic: (...asked) => (isLost ? older : data).readTopic(...asked),
      })).open();
      const topics = lab.topics();
      await lab.say(topics, 3);
      const ahead = reader(topics.follow(topic, 3));
      const level = reader(topics.follow(topic, 1));
      await lab.rest();
      isLost = true;
      await lab.clock.advance(2_000);
      expect(ahead.error).to.include({ code: 'CURSOR_EXPIRED', newest: eventId(topic, 1) });
      expect(level.error).to.include({ code: 'CURSOR_EXPIRED', newest: eventId(topic, 1) });
    });
  });

  describe('a store that fails', () => {
    it('page cannot be read: each waiting follower gets the error, and can go on from its last row', async () => {
      await lab.sayElsewhere(300);
      const topics = lab.topics();
      const release = lab.store.hold('readTopic', 'before', 1);
      lab.store.fail('readTopic', 'before');
      const crowd = run(1, 20).map(() => reader(topics.follow(topic, 0)));
      await lab.rest();
      release();
      await lab.rest();
      for (const { error } of crowd) expect(error).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'refused' });
      const again = reader(topics.follow(topic, 0));
      await lab.rest();
      expect(again.said).to.deep.equal(run(1, 300));
    });

    it('failure between two pages: the events read so far have no gap', async () => {
      await lab.sayElsewhere(300);
      const topics = lab.topics();
      const follower = reader(topics.follow(topic, 0), async () => {
        if (follower.said.length === 200) lab.store.fail('readTopic', 'before');
      });
      await lab.rest();
      expect(follower.said).to.deep.equal(run(1, 256));
      expect(follower.error).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'refused' });
      const again = reader(topics.follow(topic, follower.rows.at(-1)?.cursor ?? 0));
      await lab.rest();
      expect(again.said).to.deep.equal(run(257, 300));
    });

    it('no appends for an hour: retried ever less often, and all events arrive in order', async () => {
      const topics = lab.topics();
      lab.store.fail('appendTopic', 'before', 700);
      const follower = reader(topics.follow(topic, 0));
      for (let minute = 0; minute < 60; minute += 1) {
        void lab.say(topics, 2);
        await lab.clock.advance(60_000);
      }
      expect(lab.store.calls.filter((method) => method === 'appendTopic')).to.have.length.within(701, 760);
      expect(follower.said).to.deep.equal(run(1, 120));
    });

    it('store names a newest event, but holds none: the follower gets the error instead of a loop', async () => {
      lab = await new TopicLab((data) => ({
        ...controlledStore(data),
        readTopic: async () => ({ rows: [], oldest: 1, newest: 5 }),
      })).open();
      const follower = reader(lab.topics().follow(topic, 0));
      await lab.rest();
      expect(follower.error).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'refused' });
    });
  });
});
