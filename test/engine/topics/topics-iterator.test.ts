/** Iterator of a follower: ordered for any number of calls at once, and clean however it ends. */
import { expect } from 'chai';
import type { TopicReader } from '../../../src/engine/topics/topic-reader.js';
import type { Topics } from '../../../src/engine/topics/topics.js';
import { watched } from '../lab.js';
import { run, TopicLab, topic } from '../topic-lab.js';

const end = { value: undefined, done: true };

describe('the iterator of a follower', () => {
  let lab: TopicLab;
  let topics: Topics;

  beforeEach(async () => {
    lab = await new TopicLab().open();
    topics = lab.topics();
  });

  const cursors = (signal?: AbortSignal): TopicReader<number> =>
    topics.follow(topic, 0, signal).reading(({ cursor }) => cursor);

  it('many next() at once, before and after events exist: each gets its own, in order', async () => {
    const rows = cursors();
    const early = run(1, 50).map(() => rows.next());
    await lab.say(topics, 300);
    const late = run(51, 300).map(() => rows.next());
    const got = await Promise.all([...early, ...late]);
    expect(got).to.deep.equal(run(1, 300).map((value) => ({ value, done: false })));
  });

  it('many next() at once while most rows are skipped: still in order', async () => {
    await lab.say(topics, 300);
    const tens = topics.follow(topic, 0).reading(({ cursor }) => (cursor % 10 === 0 ? cursor : undefined));
    const got = await Promise.all(run(1, 30).map(() => tens.next()));
    expect(got.map(({ value }) => value)).to.deep.equal(run(1, 30).map((n) => n * 10));
  });

  it('row read as 0, false or null: returned; only undefined is skipped', async () => {
    await lab.say(topics, 4);
    const values = [0, undefined, false, null];
    const rows = topics.follow(topic, 0).reading(({ cursor }) => values[cursor - 1]);
    const got = await Promise.all([rows.next(), rows.next(), rows.next()]);
    expect(got.map(({ value }) => value)).to.deep.equal([0, false, null]);
  });

  for (const asked of [1, 3]) {
    it(`reading a row throws while ${asked} calls wait: the first call gets the error, then the end`, async () => {
      await lab.say(topics, 2);
      const fault = new Error('not of this world');
      const rows = topics.follow(topic, 0).reading(({ cursor }) => {
        if (cursor === 2) throw fault;
        return cursor;
      });
      await rows.next();
      const outcomes = run(1, asked).map(() => watched(rows.next()));
      await lab.rest();
      expect(outcomes[0]).to.include({ state: 'rejected', error: fault });
      for (const outcome of outcomes.slice(1)) expect(outcome.value).to.deep.equal(end);
      expect(await rows.next()).to.deep.equal(end);
      expect(lab.clock.pending).to.equal(0);
    });
  }

  it('ended while its page is being read: the page is dropped', async () => {
    await lab.say(topics, 2);
    const release = lab.store.hold('readTopic', 'after', 1);
    const rows = cursors();
    const asked = watched(rows.next());
    await lab.rest();
    expect(await rows.return()).to.deep.equal(end);
    release();
    await lab.rest();
    expect(asked).to.deep.include({ state: 'answered', value: end });
    expect(lab.clock.pending).to.equal(0);
  });

  it("ended while 'now' is being resolved", async () => {
    const release = lab.store.hold('readTopic', 'after', 1);
    const rows = topics.follow(topic, 'now');
    const asked = watched(rows.next());
    await rows.return();
    release();
    await lab.say(topics);
    await lab.rest();
    expect(asked).to.deep.include({ state: 'answered', value: end });
    expect(lab.clock.pending).to.equal(0);
  });

  const endings: Record<string, (rows: TopicReader<number>, abort: () => void) => Promise<unknown>> = {
    'return, return': async (rows) => [await rows.return(), await rows.return()],
    'abort, abort': async (_, abort) => [abort(), abort()],
    'return, abort': async (rows, abort) => [await rows.return(), abort()],
    'abort, return': async (rows, abort) => [abort(), await rows.return()],
    'stop, abort, return': async (rows, abort) => [await topics.stop(), abort(), await rows.return()],
  };
  for (const [name, finish] of Object.entries(endings)) {
    for (const moment of ['before its first row', 'amid a page', 'while it waits'] as const) {
      it(`${name} ${moment}: ended, and nothing remains`, async () => {
        const controller = new AbortController();
        const rows = cursors(controller.signal);
        if (moment !== 'before its first row') {
          await lab.say(topics, 3);
          await rows.next();
        }
        const waiting = moment === 'while it waits' ? run(1, 4).map(() => watched(rows.next())) : [];
        await lab.rest();
        await finish(rows, () => controller.abort());
        await lab.say(topics);
        await lab.rest();
        for (const { value } of waiting.slice(2)) expect(value).to.deep.equal(end);
        expect(await rows.next()).to.deep.equal(end);
        expect(lab.clock.pending).to.equal(0);
      });
    }
  }

  it('long past: read in stretches that yield to other work', async () => {
    await lab.say(topics, 5_000);
    let got = 0;
    let gotAtTurn = 0;
    setImmediate(() => {
      gotAtTurn = got;
    });
    for await (const cursor of cursors()) {
      got = cursor;
      if (got === 5_000) break;
    }
    expect(gotAtTurn).to.equal(1_024);
  });
});
