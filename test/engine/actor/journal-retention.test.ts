/** Retention of journals: old entries are dropped, kept entries can be replayed, even if a trim failed. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { AnyEventObject } from 'xstate';
import type { Commit, Store } from '../../../src/engine/store.js';
import { seqOf } from '../../../src/stores/commit-rule.js';
import { breakDown, fragileKind, nap } from '../fragile.js';
import { failureOf, journalOf, type Life, watched } from '../lab.js';
import { manualEffect } from '../manual-effect.js';
import { journalPolicy, PolicyLab } from '../policy-lab.js';

const address = 'fragile/a';
const seed = 7;

describe('retention of journals', () => {
  let lab: PolicyLab;
  let life: Life;
  /** Text of each committed snapshot by seq; undefined where the actor was deleted. */
  let committed: Map<number, string | undefined>;

  const start = async (keep: number, snapshotEvery: number): Promise<void> => {
    lab = new PolicyLab({ policy: { ...journalPolicy(keep, snapshotEvery), crashes: { most: 3, withinMs: 60_000 } } });
    committed = new Map();
    await restart();
  };
  const restart = async (): Promise<void> => {
    life = await lab.start([fragileKind({ work: manualEffect(1_000) })], { through: remembering });
  };
  const remembering = (store: Store): Store => ({
    ...store,
    commit: async (items) => {
      const results = await store.commit(items);
      for (const [index, { status }] of results.entries()) if (status === 'done') remember(items[index]);
      return results;
    },
  });
  const remember = (commit: Commit | undefined): void => {
    if (commit?.address !== address) return;
    committed.set(seqOf(commit), JSON.stringify(JSON.parse(commit.text).snapshot));
  };
  const ask = (event: AnyEventObject): Promise<unknown> => life.engine.ask(address, event);
  const note = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) await ask({ type: 'note', text: 'n' });
    await lab.rest();
  };
  const seqs = async (): Promise<number[]> => (await lab.data.readJournal(address, 1, 10_000)).map(({ seq }) => seq);

  /** Checks that each kept seq can be replayed, and that the others are reported as forgotten. */
  const expectReplayable = async (): Promise<void> => {
    const [first = 0] = await seqs();
    for (const [seq, text] of committed) {
      if (seq < first) {
        const error = await failureOf(life.engine.journals.replay(address, seq));
        expect(error).to.include({ code: 'JOURNAL_BROKEN' });
        expect(error.message).to.include('forgotten');
      } else {
        const replayed = await life.engine.journals.replay(address, seq);
        expect({ seq: replayed.seq, text: JSON.stringify(replayed.snapshot) }).to.deep.equal({ seq, text });
      }
    }
  };

  it('old entries are dropped in steps; the minimum is kept, and its first entry holds the state', async () => {
    await start(10, 5);
    for (const [upTo, first] of [
      [14, 1],
      [15, 5],
      [19, 5],
      [20, 10],
      [33, 20],
    ] as const) {
      await note(upTo - Math.max(0, ...(await seqs())));
      expect((await seqs())[0]).to.equal(first);
    }
    const entries = await journalOf(life.engine, address);
    expect(entries.filter(({ snapshot }) => snapshot).map(({ seq }) => seq)).to.deep.equal([20, 25, 30]);
    await expectReplayable();
  });

  for (const [keep, every] of [
    [0, 1],
    [1, 1],
    [3, 1],
    [2, 5],
    [5, 5],
    [0, 3],
  ] as const) {
    it(`keep ${keep}, state in every ${every}th entry: never fewer entries, and not many more`, async () => {
      await start(keep, every);
      for (let seq = 1; seq <= 25; seq += 1) {
        await note(1);
        const { length } = await seqs();
        expect(length)
          .to.be.at.least(Math.min(keep, seq))
          .and.at.most(keep + 2 * every);
      }
      await expectReplayable();
    });
  }

  it('journal() from a forgotten seq: begins with the first kept entry', async () => {
    await start(5, 5);
    await note(22);
    const entries = [];
    for await (const { seq } of life.engine.journals.entries(address, 3)) entries.push(seq);
    expect(entries).to.deep.equal(await seqs());
    expect(entries[0]).to.equal(15);
  });

  it('replay to a forgotten seq says so; replay to 0 gives the time before the actor', async () => {
    await start(5, 5);
    await note(22);
    const error = await failureOf(life.engine.journals.replay(address, 14));
    expect(error).to.include({ code: 'JOURNAL_BROKEN' });
    expect(error.message).to.include('forgotten');
    expect(await life.engine.journals.replay(address, 15)).to.include({ seq: 15 });
  });

  const turns: [string, AnyEventObject, () => Promise<unknown>][] = [
    ['is a crash', breakDown, () => failureOf(ask(breakDown))],
    ['is the end of the actor', { type: 'end' }, () => ask({ type: 'end' })],
    ['is an event that changes nothing', { type: 'unheard' }, () => ask({ type: 'unheard' })],
  ];
  for (const [what, , turn] of turns) {
    it(`entry that should hold the state ${what}: a replay can still begin there`, async () => {
      await start(4, 5);
      await note(9);
      await turn();
      await note(4);
      await expectReplayable();
      await note(1);
      expect((await seqs())[0]).to.equal(10);
      await expectReplayable();
      await note(7);
      await expectReplayable();
    });
  }

  it('entry that should hold the state is stale: a replay can still begin there', async () => {
    await start(4, 5);
    await note(7);
    await ask(nap(1_000)); // 8
    await lab.clock.advance(999);
    const letGo = life.store.hold('commit');
    void ask({ type: 'rest' }); // 9
    await lab.clock.advance(1); // 10
    letGo();
    await lab.rest();
    expect((await journalOf(life.engine, address)).at(-1)).to.include({ seq: 10, kind: 'stale' });
    await note(5);
    expect((await seqs())[0]).to.equal(10);
    await expectReplayable();
  });

  it('entry that should hold the state is a change by the engine: it holds the state', async () => {
    await start(2, 5);
    await note(1);
    for (let time = 0; time < 4; time += 1) await failureOf(ask(breakDown)); // 2 to 5
    await life.engine.release(address); // 6
    await note(4);
    await ask({ type: 'work' });
    for (let time = 0; time < 5; time += 1) await restart(); // recovered
    await note(1);
    await expectReplayable();
  });

  it('trim fails: the next trim makes up for it, and no caller notices', async () => {
    await start(5, 5);
    life.store.fail('trimJournal', 'before', 2);
    await note(19);
    expect((await seqs())[0]).to.equal(1);
    await note(1);
    expect((await seqs())[0]).to.equal(15);
    await expectReplayable();
  });

  it('trim hangs: the actor goes on, and the runtime can stop', async () => {
    await start(5, 5);
    life.store.hold('trimJournal');
    await note(30);
    expect(life.engine.peek(address)).to.include({ seq: 30 });
    await lab.stop(life.engine);
    await lab.clock.advance(60_000);
    await restart();
    await note(5);
    expect((await seqs())[0]).to.equal(30);
    await expectReplayable();
  });

  for (const moment of ['before', 'after'] as const) {
    it(`runtime dies just ${moment} a trim: nothing is missing, and the next trim does it`, async () => {
      await start(5, 5);
      await note(14);
      life.store.hold('trimJournal', moment);
      await note(1);
      await restart();
      expect((await seqs())[0]).to.equal(moment === 'after' ? 10 : 5);
      await expectReplayable();
      await note(5);
      expect((await seqs())[0]).to.equal(15);
    });
  }

  it('old trim takes effect after a newer one: nothing else is missing', async () => {
    await start(5, 5);
    await note(14);
    const letGo = life.store.hold('trimJournal', 'before', 1);
    await note(10);
    expect((await seqs())[0]).to.equal(15);
    letGo();
    await lab.rest();
    expect((await seqs())[0]).to.equal(15);
    await expectReplayable();
  });

  it('limits changed between two lives: the kept entries can still be replayed', async () => {
    await start(20, 7);
    await note(30);
    lab.limits = { policy: journalPolicy(3, 4) };
    await restart();
    await note(2);
    await expectReplayable();
    await note(20);
    await expectReplayable();
  });

  it('random histories and limits: each kept state is replayed to the byte', async () => {
    const kinds = [
      'note',
      'note',
      'read',
      'break',
      'nap',
      'rest',
      'work',
      'end',
      'wait',
      'restart',
      'release',
    ] as const;
    /** Accepts that the actor has not begun yet. */
    const isNobody = (error: unknown): void => {
      expect(error).to.include({ code: 'ACTOR_NOT_FOUND' });
    };
    const property = fc.asyncProperty(
      fc.nat(12),
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.constantFrom(...kinds), { minLength: 5, maxLength: 50 }),
      async (keep, every, history) => {
        await start(keep, every);
        for (const kind of history) {
          if (kind === 'wait') await lab.clock.advance(700);
          else if (kind === 'restart') await restart();
          else if (kind === 'release') await life.engine.release(address).catch(isNobody);
          else watched(ask({ type: kind, text: 'n', ms: 500 }));
        }
        await lab.rest();
        expect((await seqs()).length).to.be.at.least(Math.min(keep, committed.size));
        await expectReplayable();
      },
    );
    await fc.assert(property, { seed, numRuns: 150 });
  });
});
