/** Migrations: a record of an older version is migrated by a commit of its own, before any other step. */
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import type { Migration } from '../../../src/engine/effects/effects.js';
import { deskKind, noteTo, tell } from '../desk.js';
import { failureOf, historyOf, journalOf, type Life, watched } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { PolicyLab, textOf } from '../policy-lab.js';
import { houseKind, renamed, toV2, toV3 } from '../renovation.js';

const address = 'house/a';

describe('migrations', () => {
  let lab: PolicyLab;
  let life: Life;
  let work: ManualEffect;
  let paint: ManualEffect;

  beforeEach(async () => {
    lab = new PolicyLab();
    work = manualEffect(300_000);
    paint = manualEffect(300_000);
    await start('1');
  });

  const start = async (version: '1' | '2' | '3', migrations: Migration[] = [toV2, toV3]): Promise<void> => {
    life = await lab.start([houseKind(version, { work, paint }, migrations), deskKind]);
  };
  const ask = (event: AnyEventObject): Promise<unknown> => life.engine.ask(address, event);
  const history = (): Promise<string[]> => historyOf(life.engine, address);
  const contextOf = (): object | undefined => life.engine.peek(address)?.context;

  it('older record: one commit migrates it; its journal entry names the migration and holds the state', async () => {
    await ask({ type: 'note', text: 'one' });
    await start('2');
    const [, entry, ...more] = await journalOf(life.engine, address);
    expect(more).to.deep.equal([]);
    expect(entry).to.deep.include({ kind: 'migrated', seq: 2, version: '2', migrations: ['notes are a list'] });
    expect(entry?.snapshot).to.deep.equal({ value: 'idle', context: { list: ['one'], rings: 0 } });
    expect(JSON.parse(await textOf(lab, address))).to.deep.include({ version: '2', snapshot: entry?.snapshot });
    expect(life.engine.peek(address)).to.deep.equal({
      ...{ seq: 2, state: 'idle', context: { list: ['one'], rings: 0 } },
      at: entry?.at,
    });
    await start('2');
    expect(await history()).to.deep.equal(['event note', 'migrated begin']);
  });

  it('two versions behind: both migrations in one commit', async () => {
    await ask({ type: 'note', text: 'one' });
    await start('3');
    const [, entry] = await journalOf(life.engine, address);
    expect(entry?.migrations).to.deep.equal(['notes are a list', 'idle is called free']);
    expect(life.engine.peek(address)).to.deep.include({ seq: 2, state: 'free' });
  });

  it('migrations in another order, with unrelated ones: the right ones are found', async () => {
    await ask({ type: 'note', text: 'one' });
    await start('3', [toV3, { ...toV2, name: 'older', from: '0', to: '1' }, toV2]);
    expect(life.engine.peek(address)).to.deep.include({ seq: 2, state: 'free' });
  });

  it('two migrations with the same name: both are applied', async () => {
    await ask({ type: 'note', text: 'one' });
    await start('3', [
      { ...toV2, name: 'renovation' },
      { ...toV3, name: 'renovation' },
    ]);
    expect(life.report).to.deep.equal({ actors: 1, quarantined: [] });
  });

  for (const moment of ['before', 'after'] as const) {
    it(`runtime dies just ${moment} the commit: migrated once, before waiting messages`, async () => {
      await ask({ type: 'note', text: 'one' });
      await life.engine.ask('desk/b', tell(noteTo(address, 'two')));
      await lab.rest();
      await lab.crash();
      life = await deadAfterFirstCommit(moment);
      await start('2');
      await ask({ type: 'note', text: 'three' });
      expect(await history()).to.deep.equal(['event note', 'event note', 'migrated begin', 'event note']);
      expect(contextOf()).to.deep.include({ list: ['one', 'two', 'three'] });
    });
  }

  /** Begins a life of version 2 whose commits hang. */
  const deadAfterFirstCommit = async (moment: 'before' | 'after'): Promise<Life> => {
    const store = lab.store();
    store.hold('commit', moment);
    const engine = lab.engine([houseKind('2', { work, paint }, [toV2])], store);
    await engine.open();
    const restored = watched(engine.restore(['']));
    await lab.rest();
    const early = watched(engine.ask(address, { type: 'note', text: 'early' }));
    await lab.rest();
    expect(early.state).to.equal('open');
    return { engine, store, report: { actors: 0, quarantined: [String(restored.state)] } };
  };

  it('35.9 restored, and not written yet: not in service, and in no list', async () => {
    await ask({ type: 'note', text: 'one' });
    await lab.crash();
    const store = lab.store();
    const letGo = store.hold('commit');
    const engine = lab.engine([houseKind('2', { work, paint }, [toV2])], store);
    await engine.open();
    await engine.restore(['']);
    const served = watched(engine.inService('house/'));
    await lab.rest();
    expect([served.state, [...engine.views('house/')]]).to.deep.equal(['open', []]);
    letGo();
    await lab.rest();
    expect(served.state).to.equal('answered');
    expect([...engine.views('house/')].map(([listed]) => listed)).to.deep.equal([address]);
  });

  it('message and requests during the load: handled after the migration, in order', async () => {
    await ask({ type: 'note', text: 'one' });
    life = await lab.start([houseKind('2', { work, paint }, [toV2]), deskKind], { prefixes: [] });
    const letGo = life.store.hold('load');
    const told = watched(life.engine.ask('desk/b', tell(noteTo(address, 'two'))));
    const asked = watched(ask({ type: 'note', text: 'three' }));
    await lab.rest();
    letGo();
    await lab.rest();
    expect([told.state, asked.state]).to.deep.equal(['answered', 'answered']);
    expect((await history()).slice(0, 2)).to.deep.equal(['event note', 'migrated begin']);
    expect(contextOf()).to.deep.include({ list: ['one', 'three', 'two'] });
  });

  for (const moment of ['before', 'after'] as const) {
    it(`commit fails several times ${moment} the write: migrated once`, async () => {
      await ask({ type: 'note', text: 'one' });
      life = await lab.start([houseKind('2', {}, [toV2])], { prefixes: [] });
      life.store.fail('commit', moment, 3);
      const asked = watched(ask({ type: 'note', text: 'two' }));
      await lab.clock.advance(2_000);
      expect(asked.state).to.equal('answered');
      expect(await history()).to.deep.equal(['event note', 'migrated begin', 'event note']);
      expect(contextOf()).to.deep.include({ list: ['one', 'two'] });
    });
  }

  describe('of effects', () => {
    it('state keeps its effect: the effect goes on under its old name, as the next attempt', async () => {
      await ask({ type: 'work' });
      await start('2');
      await lab.clock.advance(1_000);
      expect(work.calls).to.have.length(2);
      expect(work.last).to.include({ seq: 1, recovered: true, attempt: 2 });
      work.last.finish('gold');
      await lab.rest();
      expect(contextOf()).to.deep.include({ list: ['gold'] });
    });

    it('new effect beside it: begins at once, as a first attempt', async () => {
      await ask({ type: 'work' });
      await start('3');
      expect(paint.calls.map(({ seq, recovered, attempt }) => ({ seq, recovered, attempt }))).to.deep.equal([
        { seq: 2, recovered: false, attempt: 1 },
      ]);
      await lab.clock.advance(1_000);
      expect(work.last).to.include({ seq: 1, recovered: true, attempt: 2 });
    });

    it('runtime dies after the commit: the new effect runs, and each effect has one result', async () => {
      await ask({ type: 'work' });
      await start('3');
      await start('3');
      await lab.clock.advance(1_000);
      expect(paint.last).to.include({ seq: 2, recovered: true });
      work.last.finish('gold');
      paint.last.finish('red');
      await lab.rest();
      expect(contextOf()).to.deep.include({ list: ['gold', 'red'] });
    });

    it('state has no effect any more: the effect is dropped, and its late result is ignored', async () => {
      await ask({ type: 'work' });
      await start('2', [renamed(toV2, 'idle')]);
      await lab.clock.advance(200_000);
      expect(work.calls).to.have.length(1);
      expect(life.engine.peek(address)).to.include({ state: 'idle' });
      expect(JSON.parse(await textOf(lab, address))).to.deep.include({ effects: [] });
    });

    it('same id with another src: the old effect is dropped and the new one begins', async () => {
      await ask({ type: 'work' });
      await start('2', [renamed(toV2, 'painting')]);
      expect(
        JSON.parse(await textOf(lab, address)).effects.map((effect: object) => Object.values(effect).slice(0, 2)),
      ).to.deep.equal([['work', 'paint']]);
      await lab.clock.advance(1_000);
      expect([work.calls.length, paint.last.seq]).to.deep.equal([1, 2]);
    });
  });

  describe('of timers', () => {
    it('state keeps its timer: fires at its old time, once', async () => {
      await ask({ type: 'nap' });
      await lab.clock.advance(400);
      await start('2');
      await lab.clock.advance(599);
      expect(life.engine.peek(address)).to.include({ state: 'napping' });
      await lab.clock.advance(1);
      expect(life.engine.peek(address)).to.deep.include({ state: 'idle' });
      await lab.clock.advance(10_000);
      expect(contextOf()).to.deep.include({ rings: 1 });
    });

    it('timer fell due while no runtime ran: fires after the migration, once', async () => {
      await ask({ type: 'nap' });
      await lab.crash();
      await lab.clock.advance(5_000);
      await start('2');
      expect((await history()).slice(0, 2)).to.deep.equal(['event nap', 'migrated begin']);
      expect(contextOf()).to.deep.include({ rings: 1 });
    });

    for (const [state, dueMs] of [
      ['static', 2_000],
      ['named', 3_000],
      ['ofContext', 4_000],
      ['ofRandom', undefined],
    ] as const) {
      it(`state renamed to one with a ${state} delay: the delay starts again`, async () => {
        await ask({ type: 'nap' });
        await lab.clock.advance(400);
        await start('2', [renamed(toV2, state)]);
        const [, migrated] = await journalOf(life.engine, address);
        const delayMs = dueMs ?? Math.round(1_000 * (1 + (migrated?.random ?? 0)));
        expect(JSON.parse(await textOf(lab, address)).timers).to.have.length(1);
        await lab.clock.advance(delayMs - 2);
        expect(life.engine.peek(address)).to.include({ state });
        await start('2', [renamed(toV2, state)]);
        await lab.clock.advance(3);
        expect(contextOf()).to.deep.include({ rings: 1 });
      });
    }

    it('state has no timer any more: never fires; a timer raised by hand does', async () => {
      await ask({ type: 'alarm' });
      await ask({ type: 'nap' });
      await start('2', [renamed(toV2, 'idle')]);
      expect(
        JSON.parse(await textOf(lab, address)).timers.map(({ event }: { event: AnyEventObject }) => event.type),
      ).to.deep.equal(['ring', 'ring']);
      await lab.clock.advance(700_000);
      expect(contextOf()).to.deep.include({ rings: 2 });
      expect(await history()).to.deep.equal(['event alarm', 'event nap', 'migrated begin', 'event ring', 'event ring']);
    });
  });

  describe('that fail', () => {
    const faults: [string, Migration[]][] = [
      ['there is none', []],
      ['one is missing in between', [toV3]],
      ['they lead in a circle', [toV2, { ...toV2, name: 'back', from: '2', to: '1' }]],
      ['one leads to itself', [{ ...toV2, to: '1' }]],
      [
        'it throws',
        [
          toV2,
          {
            ...toV3,
            migrate: (snapshot) => {
              Object.assign(snapshot.context, { ruined: true });
              throw new Error('no way');
            },
          },
        ],
      ],
      ['it answers a state that is not there', [toV2, { ...toV3, migrate: (it) => ({ ...it, value: 'attic' }) }]],
      ['it answers half a state', [toV2, { ...toV3, migrate: (it) => ({ ...it, value: { working: 'half' } }) }]],
      ['it answers no context', [toV2, { ...toV3, migrate: ({ value }) => JSON.parse(JSON.stringify({ value })) }]],
      [
        'it answers an empty context',
        [toV2, { ...toV3, migrate: () => JSON.parse('{"value":"free","context":null}') }],
      ],
      ['it answers a list as context', [toV2, { ...toV3, migrate: () => ({ value: 'free', context: [] }) }]],
      ['it answers nothing', [toV2, { ...toV3, migrate: () => JSON.parse('null') }]],
      [
        'it leads to a state whose delay is no time',
        [toV2, { ...toV3, migrate: ({ context }) => ({ value: 'lost', context }) }],
      ],
    ];
    for (const [what, migrations] of faults) {
      it(`${what}: quarantined, record unchanged to the byte, other actors run`, async () => {
        await ask({ type: 'work' });
        await life.engine.ask('desk/b', tell(noteTo(address, 'owed')));
        await lab.rest();
        const before = await lab.data.load(address);
        await start('3', migrations);
        await life.engine.ask('desk/b', { type: 'read' });
        expect(await failureOf(ask({ type: 'note', text: 'two' }))).to.include({ code: 'ACTOR_QUARANTINED' });
        expect(life.engine.quarantined().map((actor) => actor.address)).to.deep.equal([address]);
        expect(await failureOf(life.engine.release(address))).to.include({ code: 'ACTOR_QUARANTINED' });
        await lab.clock.advance(200_000);
        expect(await lab.data.load(address)).to.deep.equal(before);
        expect(work.calls).to.have.length(1);
        await start('3');
        expect(life.report).to.deep.equal({ actors: 2, quarantined: [] });
      });
    }
  });

  describe('and other changes', () => {
    const crash = async (): Promise<void> => {
      for (let time = 0; time < 6; time += 1) await failureOf(ask({ type: 'break' }));
      expect(life.engine.quarantined()).to.have.length(1);
    };

    it('older version and quarantined: stays so; a release ends both', async () => {
      await ask({ type: 'work' });
      await crash();
      const before = await lab.data.load(address);
      await start('3');
      expect(await lab.data.load(address)).to.deep.equal(before);
      await life.engine.release(address);
      expect((await history()).slice(7).sort()).to.deep.equal(['migrated begin', 'recovered begin', 'released begin']);
      await ask({ type: 'note', text: 'well' });
      await lab.clock.advance(1_000);
      expect(work.last).to.include({ recovered: true, attempt: 2 });
      expect(await lab.told()).to.have.length(2);
    });

    it('release of an older version cut off after each commit: the next release continues from there', async () => {
      await ask({ type: 'note', text: 'one' });
      await crash();
      for (let time = 0; time < 3; time += 1) {
        await start('2');
        life.store.hold('commit', 'after');
        const released = watched(life.engine.release(address));
        await lab.rest();
        if (time === 0) expect(released.state).to.equal('open');
      }
      await start('2');
      expect(life.report.quarantined).to.deep.equal([]);
      expect(await lab.told()).to.have.length(2);
      expect((await history()).slice(7).sort()).to.deep.equal(['migrated begin', 'released begin']);
    });

    it('ended actor of an older version: nothing to migrate, and created again in the new version', async () => {
      await ask({ type: 'note', text: 'one' });
      await ask({ type: 'end' });
      await start('3', []);
      await ask({ type: 'note', text: 'anew' });
      expect(life.engine.peek(address)).to.deep.include({ seq: 3, context: { list: ['anew'], rings: 0 } });
      expect((await life.engine.journals.replay(address)).snapshot?.context).to.deep.equal({
        list: ['anew'],
        rings: 0,
      });
    });

    it('replay begins at the migrated entry; a replay to an earlier seq says why it fails', async () => {
      await ask({ type: 'note', text: 'one' });
      await ask({ type: 'note', text: 'two' });
      await start('2');
      await ask({ type: 'note', text: 'three' });
      expect(await life.engine.journals.replay(address)).to.deep.include({
        seq: 4,
        snapshot: { value: 'idle', context: { list: ['one', 'two', 'three'], rings: 0 } },
      });
      expect(await life.engine.journals.replay(address, 3)).to.include({ seq: 3 });
      const error = await failureOf(life.engine.journals.replay(address, 2));
      expect(error).to.include({ code: 'JOURNAL_BROKEN' });
      expect(error.message).to.include('entry 1 is of house version 1; this runtime has version 2');
    });

    it('migration returns a final state: the actor is deleted with effects and timers, and can begin again', async () => {
      await ask({ type: 'alarm' });
      await ask({ type: 'work' });
      await start('2', [renamed(toV2, 'ended')]);
      expect(life.engine.peek(address)).to.equal(undefined);
      expect(await lab.data.load(address)).to.include({ gone: true });
      await lab.clock.advance(700_000);
      expect(work.calls).to.have.length(1);
      await ask({ type: 'note', text: 'anew' });
      expect(contextOf()).to.deep.include({ list: ['anew'], rings: 0 });
      expect((await life.engine.journals.replay(address)).snapshot?.context).to.deep.equal(contextOf());
    });

    it('first step crashed under an older version: a replay shows no actor', async () => {
      await failureOf(ask({ type: 'break' }));
      await start('2');
      expect(await life.engine.journals.replay(address)).to.deep.include({ seq: 1, snapshot: undefined });
    });

    it('on-demand actor: migrated when it is loaded, not before', async () => {
      await ask({ type: 'note', text: 'one' });
      life = await lab.start([{ ...houseKind('2', {}, [toV2]), onDemand: true }]);
      expect(await lab.data.load(address)).to.include({ seq: 1 });
      await ask({ type: 'note', text: 'two' });
      expect(contextOf()).to.deep.include({ list: ['one', 'two'] });
    });
  });
});
