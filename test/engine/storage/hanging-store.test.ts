/**
 * Hanging store: callers wait five seconds, each store call ends after ten. Late answers change nothing, and work goes
 * on when the store is back.
 */
import { expect } from 'chai';
import type { Clock } from '../../../src/engine/clock.js';
import { TimeOver } from '../../../src/engine/deadline.js';
import type { ActorKind } from '../../../src/engine/effects/effects.js';
import { Engine } from '../../../src/engine/engine.js';
import { patienceMs } from '../../../src/engine/storage/store-patience.js';
import { type TimedStore, timedStore } from '../../../src/engine/storage/timed-store.js';
import type { Store } from '../../../src/engine/store.js';
import { TimerHeap } from '../../../src/engine/timer-heap.js';
import { memoryStore } from '../../../src/stores/memory/memory.js';
import { seededRandom, simulatedClock } from '../../../src/testing/index.js';
import { controlledStore, type StoreMethod } from '../../support/faulty-store.js';
import { deskKind, deskTopic, note, noteTo, say, tell } from '../desk.js';
import { historyOf, journalOf, Lab, type Life, leaseTtlMs, textsOf, topicOf, watched } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { napMs, workerKind } from '../worker.js';

const limitMs = 10_000;

function timedOn(inner: Store, clock: Clock): { store: TimedStore; timers: TimerHeap } {
  const timers = new TimerHeap(clock);
  return { store: timedStore(inner, { clock, timers, limitMs }), timers };
}

describe('a store that hangs', () => {
  let lab: Lab;
  let life: Life;
  let work: ManualEffect;

  beforeEach(async () => {
    lab = new Lab();
    work = manualEffect(60_000);
    await start();
  });

  const kinds = (): ActorKind[] => [deskKind, workerKind({ work })];
  const start = async (): Promise<void> => {
    life = await lab.start(kinds());
  };
  const ask = (text: string, address = 'desk/a', requestId?: string): Promise<unknown> =>
    life.engine.ask(address, note(text), requestId ? { requestId } : {});
  const notes = (address = 'desk/a'): Promise<unknown> => life.engine.ask(address, { type: 'read' });
  const said = async (): Promise<unknown[]> => textsOf(await topicOf(lab, deskTopic)).map(({ text }) => text);

  describe('each call of the port', () => {
    const lease = { name: 'node/x', owner: 'x', epoch: 1, ttlMs: 1 };
    const range = { prefix: '', limit: 9 };
    const timed = timedOn(memoryStore(), simulatedClock()).store;
    const calls: [StoreMethod, (store: typeof timed) => Promise<unknown>][] = [
      ['acquireLease', (store) => store.acquireLease({ ...lease, holder: 'x' })],
      ['renewLease', (store) => store.renewLease(lease)],
      ['releaseLease', (store) => store.releaseLease(lease)],
      ['load', (store) => store.load('desk/a')],
      ['list', (store) => store.list(range)],
      ['due', (store) => store.due({ ...range, untilMs: 0 })],
      ['commit', (store) => store.commit([])],
      ['unsettled', (store) => store.unsettled(range)],
      ['settle', (store) => store.settle([])],
      ['appendInbox', (store) => store.appendInbox('desk/a', [])],
      ['readInbox', (store) => store.readInbox('desk/a', 0, 9)],
      ['appendTopic', (store) => store.appendTopic('t', [])],
      ['readTopic', (store) => store.readTopic('t', 0, 9)],
      ['trimTopic', (store) => store.trimTopic('t', 0)],
      ['readJournal', (store) => store.readJournal('desk/a', 0, 9)],
      ['trimJournal', (store) => store.trimJournal('desk/a', 0)],
    ];
    for (const [method, call] of calls) {
      it(`${method} without an answer within the limit: fails; answered in time: leaves no timer`, async () => {
        const clock = simulatedClock();
        const controlled = controlledStore(memoryStore());
        const { store, timers } = timedOn(controlled, clock);
        await store.open();
        await call(store);
        await clock.advance(0);
        expect(timers.size).to.equal(0);
        const release = controlled.hold(method);
        let error: unknown;
        call(store).catch((reason) => {
          error = reason;
        });
        await clock.advance(limitMs - 1);
        expect(error).to.equal(undefined);
        await clock.advance(1);
        expect(String(error)).to.include(`no answer to ${method}`);
        release();
        await clock.advance(0);
        expect(timers.size).to.equal(0);
      });
    }
  });

  describe('its silence', () => {
    const range = { prefix: '', limit: 9 };
    const failing = (call: Promise<unknown>): Promise<unknown> => call.catch(() => undefined);

    it('lasts from the first call without an answer until the next answer', async () => {
      const clock = simulatedClock();
      const controlled = controlledStore(memoryStore());
      const { store } = timedOn(controlled, clock);
      await store.open();
      await store.list(range);
      expect(store.silentSince).to.equal(undefined);
      const release = controlled.hold('list');
      const askedAt = clock.now();
      void failing(store.list(range));
      await clock.advance(limitMs);
      expect(store.silentSince).to.equal(askedAt);
      void failing(store.list(range));
      await clock.advance(limitMs);
      expect(store.silentSince).to.equal(askedAt);
      release();
      await store.list(range);
      expect(store.silentSince).to.equal(undefined);
    });

    it('call fails after a later call was answered: no silence', async () => {
      const clock = simulatedClock();
      const controlled = controlledStore(memoryStore());
      const { store } = timedOn(controlled, clock);
      await store.open();
      controlled.hold('list');
      void failing(store.list(range));
      await store.due({ ...range, untilMs: 0 });
      await clock.advance(limitMs);
      expect(store.silentSince).to.equal(undefined);
    });
  });

  for (const moment of ['before', 'after'] as const) {
    describe(`commit, held ${moment} the write`, () => {
      it('caller gets an unknown outcome after five seconds; the commit is repeated, and counts once', async () => {
        const release = life.store.hold('commit', moment);
        const asked = watched(ask('one'));
        await lab.clock.advance(patienceMs - 1);
        expect(asked.state).to.equal('open');
        await lab.clock.advance(1);
        expect(asked.error).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'unknown' });
        await lab.clock.advance(60_000);
        release();
        await lab.clock.advance(limitMs);
        expect(new Set(life.store.commits.flat().map(({ commitId }) => commitId)).size).to.equal(1);
        expect(await notes()).to.deep.equal(['one']);
        expect(await historyOf(life.engine, 'desk/a')).to.deep.equal(['event note', 'event read']);
      });

      it('late answer, and the repeat hangs as well: the actor waits for the repeat', async () => {
        const release = life.store.hold('commit', moment, 1);
        void watched(ask('one'));
        await lab.clock.advance(limitMs);
        const later = life.store.hold('commit');
        await lab.clock.advance(50);
        release();
        await lab.rest();
        expect(life.engine.peek('desk/a')).to.equal(undefined);
        later();
        await lab.rest();
        expect(life.engine.peek('desk/a')).to.include({ seq: 1 });
      });

      it('requests behind it are refused after five seconds; a repeat gets an unknown outcome', async () => {
        const release = life.store.hold('commit', moment);
        void watched(ask('one', 'desk/a', 'r1'));
        await lab.rest();
        const behind = [watched(ask('two')), watched(ask('one', 'desk/a', 'r1'))];
        await lab.clock.advance(patienceMs - 1);
        expect(behind.map(({ state }) => state)).to.deep.equal(['open', 'open']);
        await lab.clock.advance(1);
        expect(behind.map(({ error }) => error?.outcome)).to.deep.equal(['refused', 'unknown']);
        release();
        await lab.clock.advance(limitMs);
        expect(await notes()).to.deep.equal(['one']);
      });

      it('effect ends and timer fires meanwhile: neither is lost', async () => {
        await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
        await life.engine.ask('worker/b', { type: 'nap' });
        await lab.clock.advance(1_000);
        const release = life.store.hold('commit', moment);
        work.last.finish('gold');
        await lab.clock.advance(napMs + 20_000);
        release();
        await lab.clock.advance(limitMs);
        expect(life.engine.peek('worker/a')?.context).to.deep.include({ results: ['gold'] });
        expect(life.engine.peek('worker/b')?.context).to.deep.include({ naps: 1 });
      });
    });
  }

  it('load hangs: callers learn in time that nothing has changed; when it is back, all goes on', async () => {
    const release = life.store.hold('load');
    const asked = watched(ask('one'));
    await lab.clock.advance(patienceMs);
    expect(asked.error).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'refused' });
    release();
    await lab.clock.advance(limitMs);
    await ask('two');
    expect(await notes()).to.deep.equal(['two']);
  });

  describe('a caller with a limit of its own', () => {
    const limited = (text: string, signal: AbortSignal): Promise<unknown> =>
      life.engine.ask('desk/a', note(text), { signal });

    it('time over during the load: the caller learns that nothing has changed, and that is true', async () => {
      const release = life.store.hold('load');
      const limit = new AbortController();
      const asked = watched(limited('one', limit.signal));
      const read = watched(life.engine.read('desk/a', limit.signal));
      await lab.clock.advance(2_000);
      limit.abort(new TimeOver(2_000));
      await lab.rest();
      for (const { error } of [asked, read])
        expect(error).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'refused', address: 'desk/a' });
      release();
      await ask('two');
      expect(await notes()).to.deep.equal(['two']);
    });

    it('time over during the commit: the caller gets an unknown outcome', async () => {
      const release = life.store.hold('commit');
      const limit = new AbortController();
      const asked = watched(limited('one', limit.signal));
      await lab.clock.advance(2_000);
      limit.abort(new TimeOver(2_000));
      await lab.rest();
      expect(asked.error).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'unknown' });
      release();
      await lab.rest();
      expect(await notes()).to.deep.equal(['one']);
    });

    it('caller gives up before or during the request, store away: ABORTED, nothing has changed', async () => {
      const release = life.store.hold('load');
      const limit = new AbortController();
      const asked = watched(limited('one', limit.signal));
      limit.abort(new Error('enough'));
      const late = watched(limited('two', limit.signal));
      await lab.clock.advance(1_250);
      for (const { error } of [asked, late]) expect(error).to.include({ code: 'ABORTED', outcome: 'refused' });
      release();
      expect(await notes()).to.deep.equal([]);
    });

    it('V1 time over before the request, or caller gives up, store works: the request goes on', async () => {
      const over = AbortSignal.abort(new TimeOver(1));
      await limited('one', over);
      const limit = new AbortController();
      const asked = limited('two', limit.signal);
      limit.abort(new Error('enough'));
      await asked;
      expect(await notes()).to.deep.equal(['one', 'two']);
    });
  });

  it('reads, lists and releases end after five seconds', async () => {
    for (const method of ['load', 'list', 'readJournal', 'unsettled'] as const) life.store.hold(method);
    const asked = [
      life.engine.read('desk/a'),
      life.engine.page({ prefix: '', limit: 9 }),
      journalOf(life.engine, 'desk/a'),
      life.engine.release('desk/a'),
    ].map(watched);
    await lab.clock.advance(patienceMs - 1);
    expect(asked.map(({ state }) => state)).to.deep.equal(['open', 'open', 'open', 'open']);
    await lab.clock.advance(1);
    expect(asked.map(({ error }) => error?.code)).to.deep.equal(Array(4).fill('STORE_UNAVAILABLE'));
  });

  it('load of a receiver hangs: its messages wait, and arrive once, in order', async () => {
    await ask('begin');
    const release = life.store.hold('load');
    await life.engine.ask('desk/a', tell(noteTo('desk/b', 'one'), noteTo('desk/b', 'two')));
    await lab.clock.advance(30_000);
    release();
    await lab.clock.advance(limitMs);
    expect(await notes('desk/b')).to.deep.equal(['one', 'two']);
  });

  for (const method of ['settle', 'appendTopic'] as const) {
    for (const moment of ['before', 'after'] as const) {
      it(`${method} hangs ${moment} the write: outbox delivered once, in order, and settled later`, async () => {
        const release = life.store.hold(method, moment);
        await life.engine.ask('desk/a', say('one'));
        await life.engine.ask('desk/a', say('two'));
        await lab.clock.advance(60_000);
        await life.engine.ask('desk/a', say('three'));
        release();
        await lab.clock.advance(2 * limitMs);
        expect(await said()).to.deep.equal(['one', 'two', 'three']);
        expect(await lab.data.unsettled({ prefix: '', limit: 9 })).to.deep.equal({ rows: [] });
      });
    }
  }

  it('readTopic hangs: the follower gets STORE_UNAVAILABLE, or all events once the store is back', async () => {
    await life.engine.ask('desk/a', say('one'));
    const release = life.store.hold('readTopic');
    const follower = life.engine.follow(deskTopic, 0)[Symbol.asyncIterator]();
    const first = watched(follower.next());
    await lab.clock.advance(limitMs);
    if (first.state === 'rejected') expect(first.error).to.include({ code: 'STORE_UNAVAILABLE' });
    release();
    await lab.clock.advance(limitMs);
    expect(first.state).to.not.equal('open');
  });

  it('readJournal hangs: the reader gets STORE_UNAVAILABLE', async () => {
    await ask('one');
    life.store.hold('readJournal');
    const read = watched(journalOf(life.engine, 'desk/a'));
    const replayed = watched(life.engine.journals.replay('desk/a'));
    await lab.clock.advance(limitMs);
    expect(read.error).to.include({ code: 'STORE_UNAVAILABLE' });
    expect(replayed.error).to.include({ code: 'STORE_UNAVAILABLE' });
  });

  it('renewLease hangs once: the next renewal comes in time, and nothing stops', async () => {
    life.store.hold('renewLease', 'after', 1);
    await lab.clock.advance(3 * leaseTtlMs);
    await ask('still here');
  });

  for (const method of ['list', 'due', 'unsettled'] as const) {
    it(`${method} hangs during a restore: the restore ends, and the runtime can stop`, async () => {
      await life.engine.ask('worker/b', { type: 'nap' });
      await lab.crash();
      const store = lab.store();
      const release = store.hold(method);
      const engine = lab.engine(kinds(), store);
      await engine.open();
      const restored = watched(engine.restore(['']));
      await lab.clock.advance(3 * limitMs);
      expect(restored.state).to.not.equal('open');
      release();
      await lab.clock.advance(napMs);
      await lab.stop(engine);
      expect(lab.clock.pending).to.equal(0);
    });
  }

  it('trimTopic and trimJournal hang: nobody notices', async () => {
    await lab.stop(life.engine);
    const controlled = lab.store();
    controlled.hold('trimTopic');
    controlled.hold('trimJournal');
    const engine = new Engine({
      store: controlled,
      clock: lab.clock,
      random: seededRandom(1),
      logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
      lease: { name: 'node/n1', holder: 'x', ttlMs: leaseTtlMs },
      policy: { journal: { keep: 2, snapshotEvery: 2, goneMs: 1_000 } },
      topics: { keep: 2 },
    }).host(kinds());
    await engine.open();
    for (let at = 0; at < 12; at += 1) await engine.ask('desk/a', say(`${at}`));
    await lab.clock.advance(3 * limitMs);
    expect(await engine.ask('desk/a', { type: 'read' })).to.deep.equal([]);
    await lab.stop(engine);
    expect(lab.clock.pending).to.equal(0);
  });

  describe('stop', () => {
    const everything: StoreMethod[] = [
      ...(['commit', 'load', 'settle', 'appendTopic', 'readTopic', 'list', 'due', 'unsettled'] as const),
      ...(['renewLease', 'releaseLease', 'acquireLease', 'readJournal', 'trimJournal', 'trimTopic'] as const),
    ];
    const hangs: [string, StoreMethod[]][] = [
      ...everything.map((method): [string, StoreMethod[]] => [method, [method]]),
      ['appendTopic and settle', ['appendTopic', 'settle']],
      ['commit and releaseLease', ['commit', 'releaseLease']],
      ['all of it', everything],
    ];
    for (const [what, methods] of hangs) {
      it(`${what} hangs: the stop ends, callers get an error, and no timer remains`, async () => {
        await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
        const release = life.store.hold('settle');
        await life.engine.ask('desk/a', say('settled late'));
        await lab.rest();
        for (const method of methods) life.store.hold(method);
        const asked = [
          watched(ask('one')),
          watched(ask('two', 'desk/new')),
          watched(life.engine.ask('desk/b', say('three'))),
        ];
        await lab.rest();
        if (!methods.includes('settle')) release();
        let stopped = false;
        void life.engine.stop().then(() => {
          stopped = true;
        });
        await lab.clock.advance(25_000);
        expect(stopped).to.equal(true);
        expect(asked.map(({ state }) => state)).to.not.include('open');
        expect(lab.clock.pending).to.equal(0);
        await lab.data.open();
        await start();
        await lab.clock.advance(1_000);
        expect(await said()).to.include('settled late');
      });
    }

    it('close hangs: the process ends anyway', async () => {
      life.store.hold('close');
      const stopped = watched(life.engine.stop());
      await lab.clock.advance(60_000);
      expect(stopped.state).to.equal('answered');
      expect(lab.clock.pending).to.equal(0);
    });
  });

  it('store hangs at random calls for a while: each message counts once', async () => {
    const methods = ['commit', 'load', 'settle', 'appendTopic', 'unsettled'] as const;
    for (let seed = 1; seed <= 20; seed += 1) {
      const random = seededRandom(seed);
      const upTo = (most: number): number => Math.floor(random.next() * most);
      lab = new Lab();
      await start();
      const told: string[] = [];
      for (let step = 0; step < 12; step += 1) {
        const method = methods[upTo(methods.length)] ?? 'commit';
        const release = life.store.hold(method, random.next() < 0.5 ? 'before' : 'after', 1 + upTo(3));
        const text = `${seed}.${step}`;
        const asked = watched(life.engine.ask(`desk/${upTo(3)}`, tell(noteTo('desk/sink', text))));
        await lab.clock.advance(upTo(30_000));
        release();
        await lab.clock.advance(10_000);
        if (asked.error?.outcome !== 'refused') told.push(text);
      }
      await lab.clock.advance(60_000);
      const heard = await notes('desk/sink');
      expect(heard, `seed ${seed}`).to.have.members(told);
      expect(heard, `seed ${seed}`).to.have.length(told.length);
      await lab.stop(life.engine);
      expect(lab.clock.pending, `seed ${seed}`).to.equal(0);
    }
  });

  it('open fails, as the lease has no answer: the caller learns it in time', async () => {
    await lab.stop(life.engine);
    const store = lab.store();
    store.hold('acquireLease');
    const engine = lab.engine(kinds(), store);
    const opened = watched(engine.open());
    await lab.clock.advance(limitMs);
    expect(opened.state).to.equal('rejected');
    expect(lab.clock.pending).to.equal(0);
  });
});
