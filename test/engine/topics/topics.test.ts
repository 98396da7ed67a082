/** Broadcasts and their followers: in order, once, from the requested cursor, until the follower ends. */
import { expect } from 'chai';
import type { ActorSystem } from '../../../src/engine/actor-system.js';
import type { Cursor } from '../../../src/engine/store.js';
import { followAs } from '../../../src/engine/topics/topic-reader.js';
import { deskKind, deskTopic, say } from '../desk.js';
import { failureOf, Lab, type Life, textsOf, topicOf, watched } from '../lab.js';
import { reader } from '../reader.js';

describe('topics', () => {
  let lab: Lab;
  let life: Life;

  beforeEach(async () => {
    lab = new Lab();
    await start();
  });

  const start = async (): Promise<void> => {
    life = await lab.start([deskKind]);
  };
  const speak = (text: string, address = 'desk/a'): Promise<unknown> => life.engine.ask(address, say(text));
  const said = async (): Promise<unknown[]> => textsOf(await topicOf(lab, deskTopic)).map(({ text }) => text);

  describe('the outbox', () => {
    it('events of one commit and of several arrive in order, with the time of their commit', async () => {
      await life.engine.ask('desk/a', { type: 'sayBoth', texts: ['1', '2'] });
      await lab.clock.advance(1_000);
      await speak('3');
      await lab.rest();
      const rows = await topicOf(lab, deskTopic);
      expect(rows.map(({ cursor, source, seq, index }) => [cursor, source, seq, index])).to.deep.equal([
        [1, 'desk/a', 1, 0],
        [2, 'desk/a', 1, 1],
        [3, 'desk/a', 2, 0],
      ]);
      const now = lab.clock.now();
      expect(textsOf(rows)).to.deep.equal([
        { type: 'said', text: '1', at: now - 1_000 },
        { type: 'said', text: '2', at: now - 1_000 },
        { type: 'said', text: '3', at: now },
      ]);
    });

    it('runtime dies between the commit and the topic: events arrive after the restart', async () => {
      life.store.hold('appendTopic');
      await speak('1');
      await speak('2');
      await lab.rest();
      expect(await said()).to.deep.equal([]);
      await start();
      await speak('3');
      await lab.rest();
      expect(await said()).to.deep.equal(['1', '2', '3']);
    });

    for (const method of ['appendTopic', 'settle'] as const) {
      it(`runtime dies before the answer to ${method}: the events are in the topic once`, async () => {
        life.store.hold(method, 'after');
        await life.engine.ask('desk/a', { type: 'sayBoth', texts: ['1', '2'] });
        await lab.rest();
        await start();
        await speak('3');
        await lab.rest();
        expect(await said()).to.deep.equal(['1', '2', '3']);
        expect(await lab.data.unsettled({ prefix: '', limit: 9 })).to.deep.equal({ rows: [] });
      });
    }

    for (const moment of ['before', 'after'] as const) {
      it(`topic fails ${moment} the write: retried until the events are in it, once and in order`, async () => {
        life.store.fail('appendTopic', moment, 3);
        await speak('1');
        await speak('2', 'desk/b');
        await lab.clock.advance(100);
        await speak('3');
        await lab.clock.advance(10_000);
        expect(await said()).to.deep.equal(['1', '2', '3']);
      });
    }

    it('event while the one before it fails to be written: waits for its turn', async () => {
      const release = life.store.hold('appendTopic', 'before', 1);
      life.store.fail('appendTopic', 'before');
      await speak('1');
      await lab.rest();
      await speak('2');
      release();
      await lab.clock.advance(1_000);
      expect(await said()).to.deep.equal(['1', '2']);
    });

    it('many broadcasts at once: one write carries those that have gathered', async () => {
      const addresses = Array.from({ length: 50 }, (_, index) => `desk/${index}`);
      await Promise.all(addresses.map((address) => speak(address, address)));
      await lab.rest();
      expect(await said()).to.deep.equal(addresses);
      expect(life.store.calls.filter((method) => method === 'appendTopic').length).to.be.lessThan(5);
    });
  });

  describe('following', () => {
    it("from 'now': all events after the call, also before the first read; none from before", async () => {
      await speak('before');
      await lab.rest();
      const events = life.engine.follow(deskTopic, 'now');
      await speak('between');
      await lab.rest();
      const follower = reader(events);
      await speak('after');
      await lab.rest();
      expect(follower.said).to.deep.equal(['between', 'after']);
    });

    it('from a cursor: the events after it', async () => {
      for (const text of ['1', '2', '3']) await speak(text);
      await lab.rest();
      const follower = reader(life.engine.follow(deskTopic, 1));
      await lab.rest();
      expect(follower.said).to.deep.equal(['2', '3']);
    });

    it('from the last cursor before a restart: no gap, no repeat', async () => {
      for (const text of ['1', '2', '3']) await speak(text);
      await lab.rest();
      const first = reader(life.engine.follow(deskTopic, 0));
      await lab.rest();
      life.store.hold('settle');
      await speak('4');
      await start();
      await speak('5');
      const second = reader(life.engine.follow(deskTopic, first.rows.at(-1)?.cursor ?? 0));
      await lab.rest();
      expect([...first.said, ...second.said]).to.deep.equal(['1', '2', '3', '4', '5']);
    });

    it('topic of more than a page: all of it, in order', async () => {
      const texts = Array.from({ length: 700 }, (_, index) => `${index}`);
      for (const text of texts) void speak(text);
      await lab.clock.advance(0);
      while ((await said()).length < texts.length) await lab.rest();
      const follower = reader(life.engine.follow(deskTopic, 0));
      await lab.rest();
      expect(follower.said).to.deep.equal(texts);
    });

    it('empty topic: its first event arrives', async () => {
      const follower = reader(life.engine.follow('silence', 0));
      await lab.rest();
      expect(follower).to.include({ state: 'reading' });
      expect(follower.said).to.deep.equal([]);
    });

    it('events at the cursor trimmed: CURSOR_EXPIRED names the oldest', async () => {
      for (const text of ['1', '2', '3', '4']) await speak(text);
      await lab.rest();
      await lab.data.trimTopic(deskTopic, 2);
      const behind = reader(life.engine.follow(deskTopic, 1));
      const atTheEdge = reader(life.engine.follow(deskTopic, 2));
      await lab.rest();
      expect(behind.error).to.include({ code: 'CURSOR_EXPIRED' });
      expect(behind.error).to.have.property('message').that.includes('before 3 are gone');
      expect(atTheEdge.said).to.deep.equal(['3', '4']);
    });

    it('topic trimmed past a slow follower: the follower gets the error, and is not moved ahead', async () => {
      const texts = Array.from({ length: 300 }, (_, index) => `${index}`);
      for (const text of texts) await speak(text);
      await lab.rest();
      let goOn = (): void => {};
      const paused = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const follower = reader(life.engine.follow(deskTopic, 0), () => paused);
      await lab.rest();
      await lab.data.trimTopic(deskTopic, 290);
      goOn();
      await lab.rest();
      expect(follower.said).to.deep.equal(texts.slice(0, 256));
      expect(follower.error).to.include({ code: 'CURSOR_EXPIRED' });
    });

    it('follower that never reads on: actors, topic and other followers go on', async () => {
      const stuck = reader(life.engine.follow(deskTopic, 0), () => new Promise(() => {}));
      const other = reader(life.engine.follow(deskTopic, 0));
      for (const text of ['1', '2', '3']) await speak(text);
      await lab.rest();
      expect(stuck.said).to.deep.equal(['1']);
      expect(other.said).to.deep.equal(['1', '2', '3']);
    });

    it('event during a read that missed it: the follower still gets it', async () => {
      let release = (): void => {};
      const follower = reader(life.engine.follow(deskTopic, 0), async () => {
        if (follower.said.length === 1) release = life.store.hold('readTopic', 'after', 1);
      });
      await speak('1');
      await lab.rest();
      await speak('2');
      await lab.rest();
      expect(follower.said).to.deep.equal(['1']);
      release();
      await lab.rest();
      expect(follower.said).to.deep.equal(['1', '2']);
    });

    it('store fails to read: the follower gets STORE_UNAVAILABLE', async () => {
      life.store.fail('readTopic', 'before');
      const follower = reader(life.engine.follow(deskTopic, 0));
      await lab.rest();
      expect(follower.error).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'refused' });
    });

    it("store fails at the 'now' of a follower that never reads: no effect on others", async () => {
      life.store.fail('readTopic', 'before');
      life.engine.follow(deskTopic, 'now');
      await lab.rest();
      await speak('1');
    });
  });

  describe('the end of following', () => {
    it('signal aborted during a wait', async () => {
      const end = new AbortController();
      const follower = reader(life.engine.follow(deskTopic, 'now', end.signal));
      await lab.rest();
      end.abort();
      await lab.rest();
      expect(follower).to.include({ state: 'ended' });
    });

    it('signal aborted in a page: nothing more comes', async () => {
      for (const text of ['1', '2', '3']) await speak(text);
      await lab.rest();
      const end = new AbortController();
      const follower = reader(life.engine.follow(deskTopic, 0, end.signal), async () => end.abort());
      await lab.rest();
      expect(follower).to.deep.include({ state: 'ended', said: ['1'] });
    });

    it('signal aborted before', async () => {
      await speak('1');
      const follower = reader(life.engine.follow(deskTopic, 0, AbortSignal.abort()));
      await lab.rest();
      expect(follower).to.deep.include({ state: 'ended', said: [] });
    });

    it('return() during a wait', async () => {
      const events = life.engine.follow(deskTopic, 'now')[Symbol.asyncIterator]();
      const next = watched(events.next());
      await lab.rest();
      const returned = watched(events.return?.() ?? Promise.reject(new Error('no return')));
      await lab.rest();
      expect(returned).to.deep.include({ state: 'answered', value: { done: true, value: undefined } });
      expect(next).to.deep.include({ state: 'answered', value: { done: true, value: undefined } });
    });

    it('return() before the first read', async () => {
      const events = life.engine.follow(deskTopic, 'now')[Symbol.asyncIterator]();
      await events.return?.();
      expect(await events.next()).to.deep.equal({ done: true, value: undefined });
    });

    it('reader breaks off: later events are not delivered to it', async () => {
      await speak('1');
      await lab.rest();
      for await (const { cursor } of life.engine.follow(deskTopic, 0)) {
        expect(cursor).to.equal(1);
        break;
      }
      const reads = life.store.calls.filter((method) => method === 'readTopic').length;
      await speak('2');
      await lab.rest();
      expect(life.store.calls.filter((method) => method === 'readTopic')).to.have.length(reads);
    });

    it('engine stops: all followers end, also one that comes later', async () => {
      const followers = [0, 'now' as const].map((from) => reader(life.engine.follow(deskTopic, from)));
      await lab.rest();
      await lab.stop(life.engine);
      await lab.data.close();
      followers.push(reader(life.engine.follow(deskTopic, 'now')));
      await lab.rest();
      expect(followers.map(({ state }) => state)).to.deep.equal(['ended', 'ended', 'ended']);
    });
  });

  describe('event ids', () => {
    const from = async (id: unknown): Promise<Cursor | 'now'> => {
      let asked: Cursor | 'now' = 'now';
      const engine: Pick<ActorSystem, 'follow'> = {
        follow: (topic, cursor, signal) => {
          asked = cursor;
          return life.engine.follow(topic, cursor, signal);
        },
      };
      followAs(engine, 'volumes', id === undefined ? undefined : { from: id });
      return asked;
    };

    it("'now', '0' and ids of the topic: accepted", async () => {
      expect(await Promise.all([undefined, 'now', '0', 'volumes@17'].map(from))).to.deep.equal(['now', 'now', 0, 17]);
    });

    it('id of another topic: refused, naming both topics', async () => {
      await life.engine.ask('desk/a', say('one'));
      const { value } = await life.engine.follow(deskTopic, 0).next();
      expect(value?.id).to.equal(`${deskTopic}@1`);
      const error = await failureOf(from(value?.id));
      expect(error).to.include({ code: 'INVALID_ARGUMENT' });
      expect(error.message).to.include(deskTopic).and.to.include('volumes');
    });

    it('number without its topic: refused', async () => {
      expect((await failureOf(from('17'))).message).to.include('without its topic');
    });

    for (const id of [
      '',
      ' ',
      '-1',
      '1.5',
      'volumes@1e3',
      'volumes@',
      '@1',
      'later',
      'volumes@99999999999999999999',
      null,
      3,
    ]) {
      it(`${JSON.stringify(id)}: refused`, async () => {
        expect(await failureOf(from(id))).to.include({ code: 'INVALID_ARGUMENT' });
      });
    }

    for (const [what, options] of Object.entries({
      null: null,
      'a text': 'now',
      'a signal that is none': { signal: 1 },
    })) {
      it(`options that are ${what}: refused`, async () => {
        const asked = Promise.resolve().then(() => followAs(life.engine, 'volumes', options));
        expect(await failureOf(asked)).to.include({ code: 'INVALID_ARGUMENT' });
      });
    }
  });
});
