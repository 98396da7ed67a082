/**
 * Effects left by an earlier runtime: the next one starts them as further attempts, with growing delays, in batches.
 */
import { expect } from 'chai';
import { createMachine, setup } from 'xstate';
import { defaultBackoff } from '../../../machines/kit/backoff.js';
import { type Stamped, unbound } from '../../../machines/kit/host.js';
import type { LiveEffect } from '../../../src/engine/actor/actor-record.js';
import type { ActorKind } from '../../../src/engine/effects/effects.js';
import { seededRandom } from '../../../src/testing/index.js';
import { historyOf, journalOf, Lab, type Life, leaseTtlMs } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { workerKind } from '../worker.js';

const address = 'worker/a';

describe('recovery of effects', () => {
  let lab: Lab;
  let life: Life;
  let work: ManualEffect;
  let listen: ManualEffect;

  beforeEach(async () => {
    lab = new Lab();
    work = manualEffect(60_000);
    listen = manualEffect('loop');
    await restart();
  });

  const kinds = (): ActorKind[] => [workerKind({ work, listen })];
  const restart = async (): Promise<void> => {
    life = await lab.start(kinds());
  };
  const ask = (type: string, to = address): Promise<unknown> => life.engine.ask(to, { type, job: 'dig' });
  const stored = async (): Promise<LiveEffect> => {
    const { effects } = JSON.parse((await lab.data.load(address))?.text ?? '{}');
    return effects[0];
  };
  const kindsOf = async (): Promise<string[]> => (await journalOf(life.engine, address)).map(({ kind }) => kind);

  it('first run is attempt 1, and no commit is written for it', async () => {
    await ask('work');
    expect(work.last).to.include({ attempt: 1, recovered: false });
    expect(await stored()).to.not.have.any.keys('attempt', 'notBeforeMs');
  });

  it('restart: attempt 2, by a commit of its own, which can be replayed, under the old name', async () => {
    await ask('work');
    await restart();
    const [, entry] = await journalOf(life.engine, address);
    expect(entry).to.deep.include({ seq: 2, kind: 'recovered', source: { kind: 'engine' } });
    const { attempt, notBeforeMs = 0, seq } = await stored();
    expect({ attempt, seq }).to.deep.equal({ attempt: 2, seq: 1 });
    expect(notBeforeMs - lab.clock.now()).to.equal(Math.floor(100 * (entry?.random ?? 0)));
    await lab.clock.advance(100);
    expect(work.last).to.include({ attempt: 2, recovered: true, seq: 1 });
    const { snapshot } = JSON.parse((await lab.data.load(address))?.text ?? '{}');
    expect((await life.engine.journals.replay(address)).snapshot).to.deep.equal(snapshot);
    work.last.finish('gold');
    await lab.rest();
    expect(life.engine.peek(address)?.context).to.deep.include({ results: ['gold'] });
  });

  it('starts at its time, neither earlier nor later', async () => {
    await ask('work');
    for (let round = 0; round < 5; round += 1) await restart();
    const { notBeforeMs = 0 } = await stored();
    const leftMs = notBeforeMs - lab.clock.now();
    expect(leftMs).to.be.greaterThan(0);
    await lab.clock.advance(leftMs - 1);
    expect(work.calls).to.have.length(1);
    await lab.clock.advance(1);
    expect(work.calls).to.have.length(2);
    expect(work.last.attempt).to.equal(6);
  });

  it('loop, and effect without deadline: not counted, no entry, started at once', async () => {
    work = manualEffect();
    await restart();
    await ask('work');
    await ask('listen', 'worker/b');
    await restart();
    expect(work.calls).to.have.length(2);
    expect(listen.calls).to.have.length(2);
    expect(work.last).to.include({ attempt: 1, recovered: true });
    expect(await kindsOf()).to.deep.equal(['event']);
  });

  it('killed again and again: each restart counts, and the delays grow as in any backoff', async () => {
    await ask('work');
    for (let attempt = 2; attempt <= 13; attempt += 1) {
      await restart();
      const entry = (await journalOf(life.engine, address)).at(-1);
      const { notBeforeMs = 0, ...effect } = await stored();
      expect(effect.attempt).to.equal(attempt);
      const limitMs = Math.min(defaultBackoff.initialMs * 2 ** (attempt - 2), 300_000);
      expect(notBeforeMs - lab.clock.now()).to.equal(Math.floor(limitMs * (entry?.random ?? 0)));
    }
    await lab.clock.advance(300_000);
    expect(work.last.attempt).to.equal(13);
  });

  it('killed so often that the exponent overflows: waits at most five minutes', async () => {
    await ask('work');
    const record = await lab.data.load(address);
    if (!record) throw new Error('nothing is stored');
    const text = record.text.replace('"src":"work"', '"src":"work","attempt":5000');
    await lab.data.commit([{ ...record, text, journal: '{}', commitId: 'many', expectedSeq: 1, seq: 2 }]);
    await restart();
    await lab.clock.advance(300_000);
    expect(work.last.attempt).to.equal(5_001);
  });

  for (const moment of ['before', 'after'] as const) {
    it(`killed just ${moment} the write of that commit: the next runtime counts from the stored record`, async () => {
      await ask('work');
      await lab.crash();
      const store = lab.store();
      store.hold('commit', moment);
      const engine = lab.engine(kinds(), store);
      await engine.open();
      await engine.restore(['']);
      await lab.clock.advance(10_000);
      expect(work.calls).to.have.length(1);
      await restart();
      await lab.clock.advance(1_000);
      expect(work.calls).to.have.length(2);
      expect(work.last.attempt).to.equal(moment === 'before' ? 2 : 3);
    });
  }

  it('commit refused or unanswered for long: nothing starts before it is accepted', async () => {
    await ask('work');
    await lab.crash();
    const store = lab.store();
    store.fail('commit', 'before', 5);
    const engine = lab.engine(kinds(), store);
    await engine.open();
    await engine.restore(['']);
    await lab.clock.advance(1_000);
    expect(work.calls).to.have.length(1);
    await lab.clock.advance(10_000);
    expect(work.calls).to.have.length(2);
    expect(new Set(store.commits.flat().map(({ commitId }) => commitId)).size).to.equal(1);
  });

  it('state left during the delay: the effect never starts', async () => {
    await ask('work');
    await restart();
    await ask('leave');
    await lab.clock.advance(300_000);
    expect(work.calls).to.have.length(1);
  });

  it('state entered again: attempt 1 of a new effect', async () => {
    await ask('work');
    await restart();
    await ask('again');
    expect(work.last).to.include({ attempt: 1, recovered: false, seq: 3 });
    await lab.clock.advance(1_000);
    expect(work.calls).to.have.length(2);
  });

  it('deadline function throws: an error of the effect, after a restart as before', async () => {
    await ask('work');
    work = Object.assign(manualEffect(), {
      deadlineMs: (): number => {
        throw new Error('how long?');
      },
    });
    await restart();
    await lab.clock.advance(1_000);
    expect(life.engine.quarantined()).to.deep.equal([]);
    expect(await historyOf(life.engine, address)).to.include('event xstate.error.actor.work');
  });

  it('lease lapses before the start time and is regained after it: starts then, once', async () => {
    await ask('work');
    for (let round = 0; round < 10; round += 1) await restart();
    const { notBeforeMs = 0 } = await stored();
    expect(notBeforeMs - lab.clock.now()).to.be.lessThan(leaseTtlMs * 2);
    const lapse = (times: number): void => {
      life.store.fail('renewLease', 'before', times);
      life.store.fail('acquireLease', 'before', times);
    };
    lapse(1_000);
    await lab.clock.advance(leaseTtlMs);
    const started = work.calls.length;
    await lab.clock.advance(leaseTtlMs - 3_000);
    expect(work.calls).to.have.length(started);
    lapse(0);
    await lab.clock.advance(2 * leaseTtlMs);
    expect(work.calls).to.have.length(2);
  });

  it('many actors with effects: at most 100 start at once, and all of them start', async () => {
    for (let at = 0; at < 450; at += 1) await ask('listen', `worker/${at}`);
    const known = listen.calls.length;
    life = await lab.start(kinds());
    expect(listen.calls.length - known).to.be.at.most(100);
    const counts: number[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      const before = listen.calls.length;
      await lab.clock.advance(100);
      counts.push(listen.calls.length - before);
    }
    expect(Math.max(...counts)).to.be.at.most(100);
    expect(listen.calls.length - known).to.equal(450);
    expect(new Set(listen.calls.slice(known).map((call) => call.address)).size).to.equal(450);
  });

  it('many wait for their batch, some states are left: those effects never start', async () => {
    for (let at = 0; at < 250; at += 1) await ask('listen', `worker/${at}`);
    const known = listen.calls.length;
    life = await lab.start(kinds());
    for (let at = 0; at < 250; at += 1) await ask('leave', `worker/${at}`);
    const started = listen.calls.length - known;
    expect(started).to.be.at.most(100);
    await lab.clock.advance(1_000);
    expect(listen.calls.length - known).to.equal(started);
  });

  it('migration begins an effect: that is its first attempt', async () => {
    const effect = unbound<void, object>();
    const old = createMachine({
      id: 'grown',
      version: '1',
      initial: 'busy',
      states: { busy: { invoke: { id: 'first', src: 'first', input: {} } } },
    });
    const grown = setup({
      types: {} as { events: Stamped & { type: 'x' } },
      actors: { first: effect, second: effect },
    });
    const machine = grown.createMachine({
      id: 'grown',
      version: '2',
      initial: 'busy',
      states: {
        busy: {
          invoke: [
            { id: 'first', src: 'first', input: {} },
            { id: 'second', src: 'second', input: {} },
          ],
        },
      },
    });
    const effects = { first: manualEffect(60_000), second: manualEffect(60_000) };
    life = await lab.start([{ machine: old, effects, begin: () => ({}) }]);
    await life.engine.ask('grown/a', { type: 'x' });
    const migrations = [{ name: 'grow', from: '1', to: '2', migrate: <T>(snapshot: T): T => snapshot }];
    life = await lab.start([{ machine, effects, migrations }]);
    await lab.clock.advance(1_000);
    expect(effects.first.last).to.include({ attempt: 2, recovered: true });
    expect(effects.second.last).to.include({ attempt: 1, recovered: false });
  });

  it('killed at random: each start was committed before, and no attempt number comes twice', async () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      const random = seededRandom(seed);
      lab = new Lab();
      work = manualEffect(60_000);
      await restart();
      await ask('work');
      for (let round = 0; round < 8; round += 1) {
        await lab.crash();
        const store = lab.store();
        if (random.next() < 0.3) store.fail('commit', random.next() < 0.5 ? 'before' : 'after', 1);
        const engine = lab.engine(kinds(), store);
        await engine.open();
        await engine.restore(['']);
        await lab.clock.advance(Math.floor(random.next() * 500));
        const { attempt = 1 } = await stored();
        expect(work.last.attempt, `seed ${seed}`).to.be.at.most(attempt);
      }
      const attempts = work.calls.map(({ attempt }) => attempt);
      expect(new Set(attempts).size, `seed ${seed}`).to.equal(attempts.length);
      expect(attempts, `seed ${seed}`).to.deep.equal([...attempts].sort((a, b) => a - b));
    }
  });
});
