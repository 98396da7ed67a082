/** Store rolled back while other work goes on: migrations, restarts, deletions, deliveries, random work. */
import { expect } from 'chai';
import { assign, createMachine } from 'xstate';
import type { ActorKind } from '../../../src/engine/effects/effects.js';
import { seededRandom } from '../../../src/testing/index.js';
import { deskKind, deskTopic, note, noteTo, say, tell } from '../desk.js';
import { historyOf, journalOf, type Life, type Outcome, textsOf, topicOf, watched } from '../lab.js';
import { LossyLab } from '../lossy-lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { workerKind } from '../worker.js';

describe('a store that was rolled back meanwhile', () => {
  let lab: LossyLab;
  let life: Life;
  let work: ManualEffect;

  beforeEach(async () => {
    lab = new LossyLab();
    work = manualEffect(60_000);
    await start();
  });

  const kinds = (): ActorKind[] => [deskKind, workerKind({ work })];
  const start = async (): Promise<void> => {
    life = await lab.start(kinds());
  };
  const ask = (text: string, address = 'desk/a'): Promise<unknown> => life.engine.ask(address, note(text));
  const notes = (address = 'desk/a'): Promise<unknown> => life.engine.ask(address, { type: 'read' });
  /** Begins a life whose commits wait at the store. */
  const startHeld = async (hosted: ActorKind[]): Promise<() => void> => {
    await lab.crash();
    const store = lab.store();
    const release = store.hold('commit');
    const engine = lab.engine(hosted, store);
    await engine.open();
    life = { engine, store, report: await engine.restore(['']) };
    await lab.rest();
    return release;
  };

  describe('during the commit of a migration', () => {
    const machineOf = (version: string, state: string): ActorKind['machine'] =>
      createMachine({
        id: 'book',
        version,
        context: { pages: 0 },
        initial: state,
        states: { [state]: { on: { write: { actions: assign({ pages: ({ context }) => context.pages + 1 }) } } } },
      });
    const old: ActorKind = { machine: machineOf('1', 'open'), effects: {}, begin: () => ({}) };
    const migrate = <T extends object>(snapshot: T): T => ({ ...snapshot, value: 'opened' });
    const grown: ActorKind = {
      machine: machineOf('2', 'opened'),
      effects: {},
      migrations: [{ name: 'open to opened', from: '1', to: '2', migrate }],
    };
    let mark: number;

    beforeEach(async () => {
      life = await lab.start([old]);
      await life.engine.ask('book/a', { type: 'write' });
      mark = lab.mark();
      await life.engine.ask('book/a', { type: 'write' });
    });

    /** Rolls back to the mark, but keeps the lease of the present life. */
    const forget = async (): Promise<void> => {
      const { epoch = 0, owner = '' } = life.store.commits.flat()[0] ?? {};
      await lab.rollBack(mark);
      await lab.data.close();
      await lab.data.open();
      await lab.data.acquireLease({ name: 'node/n1', owner, ttlMs: 15_000, holder: 'x', above: epoch - 1 });
    };

    it('written again and migrated; never taken for deleted', async () => {
      const release = await startHeld([grown]);
      await forget();
      release();
      await lab.rest();
      const record = await lab.data.load('book/a');
      expect(life.store.commits.flat().filter(({ gone }) => gone)).to.deep.equal([]);
      expect(record).to.include({ gone: false });
      expect(life.engine.peek('book/a')).to.deep.include({ state: 'opened', context: { pages: 2 } });
      life = await lab.start([grown]);
      expect(life.engine.peek('book/a')).to.deep.include({ state: 'opened', context: { pages: 2 } });
    });

    it('killed just after it was written again: the next runtime reads it', async () => {
      const release = await startHeld([grown]);
      await forget();
      const { commit } = lab.data;
      let written = 0;
      lab.data.commit = async (items) => {
        const results = await commit(items);
        written += results.filter(({ status }) => status === 'done').length;
        if (written > 0) lab.data.commit = () => new Promise(() => {});
        return results;
      };
      release();
      await lab.rest();
      expect(written).to.equal(1);
      lab.data.commit = commit;
      life = await lab.start([grown]);
      expect(life.engine.quarantined()).to.deep.equal([]);
      expect(life.engine.peek('book/a')).to.deep.include({ state: 'opened', context: { pages: 2 } });
    });
  });

  it('during the recovery of an effect: counts once, and starts after the record is written again', async () => {
    await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
    const release = await startHeld(kinds());
    lab.suspect();
    release();
    await lab.clock.advance(1_000);
    expect(work.calls.map(({ attempt }) => attempt)).to.deep.equal([1, 2]);
    expect((await journalOf(life.engine, 'worker/a')).map(({ kind }) => kind)).to.deep.equal(['event', 'recovered']);
  });

  it('during a deletion: deleted all the same, and its seq continues in the next life', async () => {
    await ask('one');
    const mark = lab.mark();
    await ask('two');
    const release = life.store.hold('commit', 'after', 1);
    const asked = watched(life.engine.ask('desk/a', { type: 'close', tell: [noteTo('desk/b', 'closed')] }));
    await lab.rest();
    await lab.lose(mark);
    release();
    await lab.rest();
    expect(asked.state).to.equal('answered');
    expect(await lab.data.load('desk/a')).to.include({ gone: true, seq: 4 });
    expect(await notes('desk/b')).to.deep.equal(['closed']);
    await ask('anew');
    expect(await notes()).to.deep.equal(['anew']);
    expect(await lab.data.load('desk/a')).to.include({ seq: 6 });
  });

  it('actor quarantined for crashes: stays quarantined', async () => {
    for (let round = 0; round < 6; round += 1) await watched(life.engine.ask('desk/a', { type: 'breakAction' }));
    await lab.rest();
    expect(life.engine.quarantined()).to.have.length(1);
    lab.suspect();
    await lab.rest();
    expect(life.engine.quarantined()).to.have.length(1);
    await life.engine.release('desk/a');
    await ask('one');
    expect(await notes()).to.deep.equal(['one']);
  });

  it('during a restore: each actor is compared, and all effects start in the end', async () => {
    for (const name of ['a', 'b', 'c']) await life.engine.ask(`worker/${name}`, { type: 'work', job: 'dig' });
    await lab.crash();
    const store = lab.store();
    const release = store.hold('list', 'after');
    const engine = lab.engine(kinds(), store);
    await engine.open();
    const restored = engine.restore(['']);
    await lab.rest();
    lab.suspect();
    release();
    await lab.rest();
    lab.suspect();
    await restored;
    await lab.clock.advance(1_000);
    expect(work.calls).to.have.length(6);
  });

  describe('acknowledged item under way, its sender written again, and the runtime killed', () => {
    it('a message: the next runtime delivers it', async () => {
      await ask('begin');
      const mark = lab.mark();
      life.store.hold('load', 'before', 1);
      await life.engine.ask('desk/a', tell(noteTo('desk/b', 'acknowledged')));
      await lab.rollBack(mark);
      await ask('two');
      await start();
      expect(await notes('desk/b')).to.deep.equal(['acknowledged']);
    });

    it('a broadcast: the next runtime appends it', async () => {
      await ask('begin');
      const mark = lab.mark();
      life.store.hold('appendTopic');
      await life.engine.ask('desk/a', say('acknowledged'));
      await lab.rollBack(mark);
      await ask('two');
      await start();
      expect(textsOf(await topicOf(lab, deskTopic)).map(({ text }) => text)).to.deep.equal(['acknowledged']);
    });
  });

  it('lease lost too, and runtime killed: the next one may write the restored records', async () => {
    await ask('one');
    await start();
    await ask('two');
    await lab.lose(0);
    await lab.rest();
    await start();
    expect(await notes()).to.deep.equal(['one', 'two']);
    expect(life.engine.quarantined()).to.deep.equal([]);
  });

  it('acknowledged request with an id was lost: its repeat does not count twice', async () => {
    const mark = lab.mark();
    await life.engine.ask('desk/a', note('one'), { requestId: 'r1' });
    await lab.lose(mark);
    await life.engine.ask('desk/a', note('one'), { requestId: 'r1' });
    expect(await historyOf(life.engine, 'desk/a')).to.deep.equal(['rolled-back begin']);
    expect(await notes()).to.deep.equal(['one']);
  });

  it('any loss at any moment, killed or not: acknowledged work of a live runtime counts, once', async () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = seededRandom(seed);
      const upTo = (most: number): number => Math.floor(random.next() * most);
      lab = new LossyLab();
      await start();
      let begun = lab.mark();
      const told: string[] = [];
      const asked: Promise<unknown>[] = [];
      for (let step = 0; step < 25; step += 1) {
        const text = `${seed}.${step}`;
        told.push(text);
        const from = `desk/${upTo(2)}`;
        asked.push(life.engine.ask(from, tell(noteTo('desk/sink', text))));
        if (random.next() < 0.5) await lab.rest();
        else for (let turn = upTo(12); turn > 0; turn -= 1) await Promise.resolve();
        if (random.next() < 0.3) await lab.lose(begun + upTo(lab.mark() - begun + 1));
        if (random.next() < 0.1) {
          await lab.clock.advance(1_000);
          await start();
          begun = lab.mark();
        }
      }
      await lab.clock.advance(20_000);
      await Promise.all(asked);
      const heard = await notes('desk/sink');
      expect(heard, `seed ${seed}`).to.have.members(told);
      expect(heard, `seed ${seed}`).to.have.length(told.length);
      const { snapshot } = await life.engine.journals.replay('desk/sink');
      expect(snapshot?.context, `seed ${seed}`).to.deep.include({ notes: heard });
      await life.engine.stop();
    }
  });

  it('random losses, hangs, failures, refusals: callers learn the truth, and each message counts once', async () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = seededRandom(seed);
      const upTo = (most: number): number => Math.floor(random.next() * most);
      lab = new LossyLab();
      await start();
      const begun = lab.mark();
      const { commit } = lab.data;
      let refusal = 0;
      lab.data.commit = async (items) =>
        random.next() < refusal ? items.map(() => ({ status: 'refused', reason: 'no room' })) : commit(items);
      const asked: [string, Outcome][] = [];
      for (let step = 0; step < 20; step += 1) {
        refusal = random.next() < 0.3 ? 0.5 : 0;
        const moment = random.next() < 0.5 ? 'before' : 'after';
        const method = (['commit', 'load', 'settle'] as const)[upTo(3)] ?? 'commit';
        const release = random.next() < 0.4 ? life.store.hold(method, moment, 1 + upTo(2)) : (): void => {};
        if (random.next() < 0.2) life.store.fail('commit', moment, 1);
        const text = `${seed}.${step}`;
        asked.push([text, watched(life.engine.ask(`desk/${upTo(2)}`, tell(noteTo('desk/sink', text))))]);
        for (let turn = upTo(12); turn > 0; turn -= 1) await Promise.resolve();
        if (random.next() < 0.3) await lab.lose(begun + upTo(lab.mark() - begun + 1));
        await lab.clock.advance(upTo(2) * upTo(15_000));
        release();
        if (random.next() < 0.5) await lab.rest();
      }
      refusal = 0;
      await lab.clock.advance(60_000);
      const answer = await notes('desk/sink');
      const heard: unknown[] = Array.isArray(answer) ? answer : [];
      const texts = (outcome: (of: Outcome) => boolean): string[] =>
        asked.filter(([, of]) => outcome(of)).map(([text]) => text);
      const said = `seed ${seed}: ${JSON.stringify(heard)}`;
      expect(heard, said).to.include.members(texts(({ state }) => state === 'answered'));
      expect(
        texts(({ error }) => error?.outcome === 'refused').filter((text) => heard.includes(text)),
        said,
      ).to.be.empty;
      expect(new Set(heard).size, said).to.equal(heard.length);
      expect(
        texts(({ state }) => state === 'open'),
        said,
      ).to.deep.equal([]);
      await lab.stop(life.engine);
      expect(lab.clock.pending, said).to.equal(0);
    }
  });
});
