/** Group commit: one store call for the commits of one turn; the same commit again until it is answered. */
import { expect } from 'chai';
import { Committer } from '../../../src/engine/actor/committer.js';
import { TroubleLog } from '../../../src/engine/storage/trouble-log.js';
import type { Commit, Store } from '../../../src/engine/store.js';
import { memoryStore } from '../../../src/stores/memory/memory.js';
import { type SimulatedClock, seededRandom, simulatedClock } from '../../../src/testing/index.js';
import { type ControlledStore, controlledStore } from '../../support/faulty-store.js';
import { watched } from '../lab.js';

const writes = { written: (): void => {}, failed: (): void => {} };

describe('the committer', () => {
  let clock: SimulatedClock;
  let data: Store;
  let store: ControlledStore;
  let committer: Committer;
  /** Outcomes in the order in which they were reported. */
  let heard: string[];
  let logged: string[];
  const keep = (_: object, message: string): void => void logged.push(message);
  const logger = { debug: keep, info: keep, warn: keep, error: keep };

  beforeEach(async () => {
    clock = simulatedClock();
    data = memoryStore();
    store = controlledStore(data);
    await store.open();
    committer = new Committer({ writes, store, clock, logger, troubles: new TroubleLog({ clock, logger }) });
    heard = [];
    logged = [];
  });

  const commitOf = (address: string, expectedSeq = 0): Commit => ({
    ...{ address, commitId: `${address}.${expectedSeq}`, expectedSeq, epoch: 1, owner: 'x', text: '{}', journal: '{}' },
  });
  const submit = (address: string, expectedSeq = 0, then: () => void = () => {}): void =>
    committer.submit(commitOf(address, expectedSeq), ({ status }) => {
      heard.push(`${address} ${status}`);
      if (status !== 'unanswered') then();
    });
  const batches = (): string[][] => store.commits.map((items) => items.map(({ address }) => address));
  const rest = (): Promise<void> => clock.advance(0);

  it('many commits in one turn: one call, in order, and each gets its own result', async () => {
    await data.commit([commitOf('b')]);
    for (const address of ['a', 'b', 'c']) submit(address, address === 'b' ? 5 : 0);
    expect(store.commits).to.have.length(0);
    await rest();
    expect(batches()).to.deep.equal([['a', 'b', 'c']]);
    expect(heard).to.deep.equal(['a done', 'b conflict', 'c done']);
  });

  it('turn already long: the commits are written in a later turn, in one call', async () => {
    let nowMs = 0;
    committer = new Committer({
      writes,
      store,
      clock: { ...clock, monotonicMs: () => nowMs },
      logger,
      troubles: new TroubleLog({ clock, logger }),
    });
    submit('a');
    nowMs = 1_000;
    await Promise.resolve();
    submit('b');
    await Promise.resolve();
    submit('c');
    expect(batches()).to.deep.equal([['a']]);
    await rest();
    expect(batches()).to.deep.equal([['a'], ['b', 'c']]);
    expect(heard).to.deep.equal(['a done', 'b done', 'c done']);
  });

  it('very many commits at once: written in order, in calls of bounded size', async () => {
    const names = Array.from({ length: 2_500 }, (_, at) => `a${at}`);
    for (const name of names) submit(name);
    await rest();
    expect(batches().map(({ length }) => length)).to.deep.equal([1_000, 1_000, 500]);
    expect(batches().flat()).to.deep.equal(names);
    expect(heard).to.deep.equal(names.map((name) => `${name} done`));
  });

  it('commits of many steps at once: each step counts for the size of a call', async () => {
    const steps = (address: string): Commit => ({
      ...commitOf(address),
      seq: 300,
      journalBefore: Array(299).fill('{}'),
    });
    for (const name of ['a', 'b', 'c', 'd'])
      committer.submit(steps(name), ({ status }) => heard.push(`${name} ${status}`));
    await rest();
    expect(batches()).to.deep.equal([['a', 'b', 'c'], ['d']]);
    expect(heard).to.deep.equal(['a done', 'b done', 'c done', 'd done']);
  });

  it('commit submitted while another is settled: written in the next call', async () => {
    submit('a', 0, () => submit('a', 1));
    await rest();
    expect(heard).to.deep.equal(['a done', 'a done']);
    expect(batches()).to.deep.equal([['a'], ['a']]);
  });

  it('call hangs: later calls do not wait for it', async () => {
    const release = store.hold('commit', 'before', 1);
    submit('a');
    await rest();
    submit('b');
    await rest();
    expect(heard).to.deep.equal(['b done']);
    release();
    await rest();
    expect(heard).to.deep.equal(['b done', 'a done']);
  });

  for (const moment of ['before', 'after'] as const) {
    it(`call fails ${moment} the write: each commit gets one notice, and is repeated alone until answered`, async () => {
      store.fail('commit', moment, 4);
      submit('a');
      submit('b');
      await clock.advance(10_000);
      expect(heard.filter((text) => text.endsWith('unanswered'))).to.deep.equal(['a unanswered', 'b unanswered']);
      expect(heard.slice(2)).to.have.members(['a done', 'b done']);
      expect(batches().slice(1).flat().length).to.equal(batches().length - 1);
      expect(clock.pending).to.equal(0);
    });
  }

  it('34 refused as it is repeated: not told, as it may have been written before; repeated until it is done', async () => {
    const { commit } = store;
    let calls = 0;
    store.commit = async (items) => {
      calls += 1;
      if (calls === 1) throw new Error('no answer');
      return calls < 5 ? items.map(() => ({ status: 'refused', reason: 'no room' })) : commit(items);
    };
    submit('a');
    await clock.advance(2_000);
    expect([heard, calls]).to.deep.equal([['a unanswered', 'a done'], 5]);
    expect(logged).to.deep.equal([
      'the store does not say whether commits were written, and is asked again: no answer',
      'the store: in order again after 1 s and 4 failures',
    ]);
  });

  it('store throws instead of returning a promise: counts as no answer', async () => {
    const { commit } = store;
    store.commit = () => {
      throw new Error('broken');
    };
    committer = new Committer({ writes, store, clock, logger, troubles: new TroubleLog({ clock, logger }) });
    submit('a');
    await rest();
    expect(heard).to.deep.equal(['a unanswered']);
    store.commit = commit;
    await clock.advance(1_000);
    expect(heard).to.deep.equal(['a unanswered', 'a done']);
  });

  it('callback of one commit throws: the others of the call get their results, and stop still ends', async () => {
    submit('a', 0, () => {
      throw new Error('who hears is broken');
    });
    submit('b');
    await rest();
    const stopped = watched(committer.stop());
    await clock.advance(60_000);
    expect(heard).to.include('b done');
    expect(logged.join()).to.include('who hears is broken');
    expect(stopped.state).to.equal('answered');
  });

  describe('stop', () => {
    it('nothing under way: ends at once', async () => {
      const stopped = watched(committer.stop());
      await rest();
      expect(stopped.state).to.equal('answered');
    });

    it('commits under way: ends when they are answered', async () => {
      const release = store.hold('commit');
      submit('a');
      const stopped = watched(committer.stop());
      await clock.advance(60_000);
      expect(stopped.state).to.equal('open');
      release();
      await rest();
      expect(heard).to.deep.equal(['a done']);
      expect(stopped.state).to.equal('answered');
    });

    it('commit waiting for its repeat: not repeated, and no timer remains', async () => {
      store.fail('commit', 'before', 1_000);
      submit('a');
      await rest();
      const stopped = watched(committer.stop());
      await clock.advance(60_000);
      expect(stopped.state).to.equal('answered');
      expect(store.commits).to.have.length(1);
      expect(clock.pending).to.equal(0);
    });

    it('stopped twice: both calls end', async () => {
      const release = store.hold('commit');
      submit('a');
      const stopped = [watched(committer.stop()), watched(committer.stop())];
      release();
      await rest();
      expect(stopped.map(({ state }) => state)).to.deep.equal(['answered', 'answered']);
    });
  });

  it('calls fail at random: every commit is written once, in the order of its address', async () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      const random = seededRandom(seed);
      data = memoryStore();
      store = controlledStore(data);
      await store.open();
      committer = new Committer({ writes, store, clock, logger, troubles: new TroubleLog({ clock, logger }) });
      const lengths = Array.from({ length: 5 }, () => 1 + Math.floor(random.next() * 6));
      const next = (address: string, seq: number, length: number): void => {
        if (seq < length) submit(address, seq, () => next(address, seq + 1, length));
      };
      for (const [at, length] of lengths.entries()) next(`${at}`, 0, length);
      for (let step = 0; step < 20; step += 1) {
        if (random.next() < 0.5) store.fail('commit', random.next() < 0.5 ? 'before' : 'after', 1);
        await clock.advance(Math.floor(random.next() * 100));
      }
      await clock.advance(20_000);
      for (const [at, length] of lengths.entries()) {
        expect(await data.load(`${at}`), `seed ${seed}`).to.include({ seq: length });
        const journal = await data.readJournal(`${at}`, 0, 99);
        expect(journal, `seed ${seed}`).to.have.length(length);
      }
      expect(clock.pending, `seed ${seed}`).to.equal(0);
    }
  });
});
