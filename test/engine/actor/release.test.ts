/** Release of a quarantined actor: it runs again, once, with all messages owed to it, even if killed on the way. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { AnyEventObject } from 'xstate';
import type { Store } from '../../../src/engine/store.js';
import { deskKind, note, noteTo, tell } from '../desk.js';
import { breakDown, fragileKind, nap } from '../fragile.js';
import { failureOf, historyOf, type Life, watched } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { PolicyLab, plant, textOf } from '../policy-lab.js';
import { houseKind, toV2, toV3 } from '../renovation.js';

const address = 'fragile/a';

describe('release', () => {
  let lab: PolicyLab;
  let life: Life;
  let work: ManualEffect;

  beforeEach(async () => {
    lab = new PolicyLab();
    work = manualEffect();
    await restart();
  });

  const restart = async (): Promise<void> => {
    life = await lab.start([fragileKind({ work }), deskKind]);
  };
  const ask = (event: AnyEventObject): Promise<unknown> => life.engine.ask(address, event);
  const crash = async (): Promise<void> => {
    for (let time = 0; time < 6; time += 1) await failureOf(ask(breakDown));
    expect(life.engine.quarantined()).to.have.length(1);
  };
  /** Damages the stored record. @returns the text before */
  const damage = async (): Promise<string> => {
    const text = await textOf(lab, address);
    await plant(lab, address, '{');
    await restart();
    expect(life.engine.quarantined()).to.have.length(1);
    return text;
  };

  it('crashed actor released: works, is reported, and its crashes count from zero', async () => {
    await ask({ type: 'note', text: 'one' });
    await crash();
    await life.engine.release(address);
    expect(life.engine.quarantined()).to.deep.equal([]);
    const { quarantined, crashes = [] } = JSON.parse(await textOf(lab, address));
    expect([quarantined, crashes]).to.deep.equal([undefined, []]);
    await ask({ type: 'note', text: 'two' });
    expect(life.engine.peek(address)?.context).to.deep.include({ notes: ['one', 'two'] });
    for (let time = 0; time < 5; time += 1) await failureOf(ask(breakDown));
    expect(life.engine.quarantined()).to.deep.equal([]);
    await restart();
    expect(life.report.quarantined).to.deep.equal([]);
    const [, released, ...more] = await lab.told();
    expect(released).to.deep.equal({ type: 'actor.released', address, at: lab.clock.now() });
    expect(more).to.deep.equal([]);
  });

  it('released again and again: each time one event of each kind', async () => {
    for (let time = 0; time < 3; time += 1) {
      await crash();
      await life.engine.release(address);
    }
    await restart();
    expect((await lab.told()).map((event) => Object.values(event)[0])).to.deep.equal(
      [1, 2, 3].flatMap(() => ['actor.quarantined', 'actor.released']),
    );
  });

  it('replay covers crash, quarantine and release', async () => {
    await ask({ type: 'note', text: 'one' });
    await crash();
    await life.engine.release(address);
    expect((await historyOf(life.engine, address)).at(-1)).to.equal('released begin');
    expect((await life.engine.journals.replay(address)).snapshot).to.deep.equal(
      JSON.parse(await textOf(lab, address)).snapshot,
    );
  });

  it('healthy actor, working actor, missing actor: nothing is written', async () => {
    await ask({ type: 'work' });
    const before = await lab.data.load(address);
    await life.engine.release(address);
    expect(await failureOf(life.engine.release('fragile/nobody'))).to.include({ code: 'ACTOR_NOT_FOUND' });
    expect(await lab.data.load(address)).to.deep.equal(before);
    expect(await lab.data.load('fragile/nobody')).to.equal(undefined);
    expect(life.engine.has('fragile/nobody')).to.equal(false);
    expect(work.last.signal.aborted).to.equal(false);
    expect(await failureOf(life.engine.release('stranger/a'))).to.include({ code: 'ACTOR_NOT_FOUND' });
  });

  it('effect of a released actor runs again, recovered, and only one result counts', async () => {
    await ask({ type: 'work' });
    const [first] = work.calls;
    await crash();
    await life.engine.release(address);
    await lab.clock.advance(1_000);
    expect(work.calls).to.have.length(2);
    expect(work.last).to.include({ recovered: true, seq: 1 });
    first?.finish('of the past');
    work.last.finish('gold');
    await lab.rest();
    expect(life.engine.peek(address)?.context).to.deep.include({ results: ['gold'] });
  });

  for (const [what, releaseMs] of [
    ['overdue', 5_000],
    ['not due yet', 500],
  ] as const) {
    it(`timer ${what}: fires once, at once or on time`, async () => {
      await ask(nap(1_000));
      await crash();
      await lab.clock.advance(releaseMs);
      await life.engine.release(address);
      await lab.clock.advance(Math.max(1_000 - releaseMs, 0));
      expect(life.engine.peek(address)?.context).to.deep.include({ naps: 1 });
      await restart();
      await lab.clock.advance(10_000);
      expect(life.engine.peek(address)?.context).to.deep.include({ naps: 1 });
    });
  }

  for (const moment of ['before', 'after'] as const) {
    it(`runtime dies just ${moment} the commit: ${moment === 'after' ? 'in' : 'out of'} service`, async () => {
      await ask({ type: 'work' });
      await crash();
      await life.engine.ask('desk/b', tell(noteTo(address, 'hello')));
      life.store.hold('commit', moment);
      const released = watched(life.engine.release(address));
      await lab.rest();
      expect(released.state).to.equal('open');
      await restart();
      expect(life.engine.quarantined()).to.have.length(moment === 'after' ? 0 : 1);
      if (moment === 'before') await life.engine.release(address);
      await lab.clock.advance(1_000);
      expect(await lab.told()).to.have.length(2);
      expect(life.engine.peek(address)?.context).to.deep.include({ notes: ['hello'] });
      expect(work.last).to.include({ recovered: true });
    });

    it(`commit fails ${moment} the write: released, once`, async () => {
      await crash();
      life.store.fail('commit', moment, 2);
      const released = watched(life.engine.release(address));
      await lab.clock.advance(5_000);
      expect(released.state).to.equal('answered');
      expect(await lab.told()).to.have.length(2);
      expect(await lab.data.load(address)).to.include({ seq: 7 });
    });
  }

  it('load hangs: the release waits, and so do requests', async () => {
    await crash();
    const letGo = life.store.hold('load');
    const outcomes = [watched(life.engine.release(address))];
    await lab.rest();
    outcomes.push(watched(ask({ type: 'note', text: 'meanwhile' })));
    await lab.rest();
    expect(outcomes.map(({ state }) => state)).to.deep.equal(['open', 'open']);
    letGo();
    await lab.rest();
    expect(outcomes.map(({ state }) => state)).to.deep.equal(['answered', 'answered']);
    expect(life.engine.peek(address)?.context).to.deep.include({ notes: ['meanwhile'] });
  });

  it('released several times at once: all callers wait for it, and one commit is written', async () => {
    await crash();
    const letGo = life.store.hold('load');
    const outcomes = [1, 2, 3].map(() => watched(life.engine.release(address)));
    await lab.rest();
    outcomes.push(watched(life.engine.release(address)));
    await lab.rest();
    expect(outcomes.map(({ state }) => state)).to.deep.equal(['open', 'open', 'open', 'open']);
    letGo();
    await lab.rest();
    expect(outcomes.map(({ state }) => state)).to.deep.equal(['answered', 'answered', 'answered', 'answered']);
    expect(await lab.data.load(address)).to.include({ seq: 7 });
    expect(await lab.told()).to.have.length(2);
  });

  it('unreadable record released several times at once: each call is rejected', async () => {
    await ask({ type: 'note', text: 'one' });
    await damage();
    const outcomes = [1, 2, 3].map(() => watched(life.engine.release(address)));
    await lab.rest();
    expect(outcomes.map(({ error }) => error?.code)).to.deep.equal([1, 2, 3].map(() => 'ACTOR_QUARANTINED'));
  });

  it('unreadable record: release fails, record unchanged; once repaired, it gets all owed messages', async () => {
    await ask({ type: 'note', text: 'one' });
    const text = await damage();
    await life.engine.ask('desk/b', tell(noteTo(address, 'two'), noteTo(address, 'three')));
    const before = await lab.data.load(address);
    const error = await failureOf(life.engine.release(address));
    expect(error).to.include({ code: 'ACTOR_QUARANTINED', address });
    expect(await lab.data.load(address)).to.deep.equal(before);
    await plant(lab, address, text);
    await life.engine.release(address);
    await lab.rest();
    expect(life.engine.peek(address)?.context).to.deep.include({ notes: ['one', 'two', 'three'] });
    await restart();
    expect(life.report.quarantined).to.deep.equal([]);
    expect(life.engine.peek(address)?.context).to.deep.include({ notes: ['one', 'two', 'three'] });
  });

  it('crashed and damaged: needs repair and release, and is still reported', async () => {
    await crash();
    const text = await damage();
    expect(await failureOf(life.engine.release(address))).to.include({ code: 'ACTOR_QUARANTINED' });
    await plant(lab, address, text);
    await restart();
    expect(life.engine.quarantined()).to.have.length(1);
    await life.engine.release(address);
    await ask({ type: 'note', text: 'well' });
    expect(await lab.told()).to.have.length(2);
  });

  for (const end of ['stops', 'is fenced']) {
    it(`engine ${end} while a release waits for the store: rejected, not reported as done`, async () => {
      await crash();
      life.store.hold('load');
      const released = watched(life.engine.release(address));
      await lab.rest();
      if (end === 'stops') await lab.stop(life.engine);
      else await fence();
      await lab.rest();
      expect(released.state).to.equal('rejected');
      expect(await failureOf(life.engine.release(address))).to.have.property('code');
    });
  }

  const fence = async (): Promise<void> => {
    const lease = { name: 'node/n1', owner: 'rival', holder: 'a rival', ttlMs: 1_000, above: 40 };
    await lab.data.close();
    await lab.data.open();
    await lab.data.acquireLease(lease);
    await lab.clock.advance(60_000);
    await life.engine.lost;
  };

  it('unreadable outbox: nothing sent after the release overtakes it', async () => {
    await life.engine.ask('desk/a', note('one'));
    const text = await textOf(lab, 'desk/a');
    const owed = (said: string): string => JSON.stringify({ messages: [noteTo('desk/b', said)], events: [] });
    await plant(lab, 'desk/a', text, { outbox: '{' });
    await plant(lab, 'desk/a', text, { outbox: owed('before') });
    await restart();
    expect(life.report.quarantined).to.deep.equal(['desk/a']);
    const readable = (store: Store): Store => ({
      ...store,
      unsettled: async (range) => {
        const { rows, ...page } = await store.unsettled(range);
        return {
          rows: rows.map((row) => (row.text === '{' && repaired ? { ...row, text: owed('first') } : row)),
          ...page,
        };
      },
    });
    let repaired = false;
    life = await lab.start([deskKind], { through: readable });
    expect(await failureOf(life.engine.release('desk/a'))).to.include({ code: 'ACTOR_QUARANTINED' });
    repaired = true;
    await life.engine.release('desk/a');
    await life.engine.ask('desk/a', tell(noteTo('desk/b', 'after')));
    await lab.rest();
    expect(life.engine.peek('desk/b')?.context).to.deep.include({ notes: ['first', 'before', 'after'] });
  });

  it('released while one of its messages is under way to the store: neither lost nor doubled', async () => {
    await crash();
    for (const text of ['1', '2', '3']) await life.engine.ask('desk/b', tell(noteTo(address, text)));
    const letGo = life.store.hold('commit', 'after', 2);
    const released = watched(life.engine.release(address));
    await lab.rest();
    letGo();
    await lab.rest();
    expect(released.state).to.equal('answered');
    await restart();
    expect(life.engine.peek(address)?.context).to.deep.include({ notes: ['1', '2', '3'] });
  });

  it('random crashes, releases, migrations, failures, passivations, deaths: messages count once, in order', async () => {
    const house = 'house/a';
    const move = fc.constantFrom<Move[]>(
      ...(['send', 'send', 'send', 'break', 'break', 'release', 'nap', 'work', 'restart', 'upgrade', 'stop'] as const),
      ...(['fail before', 'fail after', 'wait'] as const),
    );
    const moves = fc.array(move, { minLength: 10, maxLength: 60 });
    const property = fc.asyncProperty(moves, fc.constantFrom(0, 10_000), async (history, idleBytes) => {
      const journal = { keep: 4, snapshotEvery: 3, goneMs: 86_400_000 };
      lab = new PolicyLab({ idleBytes, policy: { journal, crashes: { most: 1, withinMs: 60_000 } } });
      let version = 0;
      const begin = async (): Promise<void> => {
        const effects = { work: manualEffect(1_000), paint: manualEffect(2_000) };
        const kind = houseKind((['1', '2', '3'] as const)[version] ?? '3', effects, [toV3, toV2]);
        life = await lab.start([{ ...kind, onDemand: true }, deskKind]);
      };
      await begin();
      const sent: string[] = [];
      /** Repeats the request until it is known to be sent; its id makes it count once. */
      const send = async (text: string): Promise<void> => {
        for (let outcome = watched(Promise.reject(new Error('not yet'))); outcome.state !== 'answered'; ) {
          const event = tell(noteTo(house, text));
          outcome = watched(life.engine.ask('desk/b', event, { requestId: `send ${text}` }));
          await lab.clock.advance(300);
        }
      };
      await send(String(sent.push('0') - 1));
      for (const [at, what] of history.entries()) {
        if (what === 'send') await send(String(sent.push(String(sent.length)) - 1));
        else if (what === 'release') watched(life.engine.release(house));
        else if (what === 'wait') await lab.clock.advance(30_000);
        else if (what === 'fail before') life.store.fail('commit', 'before', 1 + (at % 3));
        else if (what === 'fail after') life.store.fail('commit', 'after', 1 + (at % 3));
        else if (what === 'stop' || what === 'restart' || what === 'upgrade') {
          if (what === 'stop') await lab.stop(life.engine);
          if (what === 'upgrade') version += 1;
          await begin();
        } else watched(life.engine.ask(house, { type: what }));
      }
      version = 2;
      await begin();
      await life.engine.release(house);
      await lab.clock.advance(70_000);
      // Results of effects are noted too; messages are numbers.
      const { snapshot } = JSON.parse(await textOf(lab, house));
      expect(snapshot.context.list.filter((text: unknown) => /^\d+$/.test(String(text)))).to.deep.equal(sent);
      expect((await life.engine.journals.replay(house)).snapshot).to.deep.equal(snapshot);
      const told = (await lab.told()).map((event) => Object.values(event)[0]);
      expect(told).to.deep.equal(told.map((_, at) => (at % 2 === 0 ? 'actor.quarantined' : 'actor.released')));
      expect(await lab.data.unsettled({ prefix: '', limit: 9 })).to.deep.equal({ rows: [] });
    });
    await fc.assert(property, { seed: 3, numRuns: 100 });
  });
});

type Move =
  | 'send'
  | 'break'
  | 'release'
  | 'nap'
  | 'work'
  | 'restart'
  | 'upgrade'
  | 'stop'
  | 'fail before'
  | 'fail after'
  | 'wait';
