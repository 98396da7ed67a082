/**
 * Tombstones of deleted actors: nothing counts twice when the actor is created again; the journal is dropped in time.
 */
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import { deskKind, noteTo, tell } from '../desk.js';
import { fragileKind, nap } from '../fragile.js';
import { failureOf, historyOf, journalOf, type Life } from '../lab.js';
import { journalPolicy, PolicyLab } from '../policy-lab.js';

const address = 'fragile/a';
const goneMs = 3_600_000;
/** Tolerance for dropping a journal: due work is looked for from time to time. */
const slackMs = 300_000;

describe('tombstones', () => {
  let lab: PolicyLab;
  let life: Life;

  beforeEach(async () => {
    lab = new PolicyLab({ policy: journalPolicy(1_000, 200, goneMs) });
    await restart();
  });

  const restart = async (): Promise<void> => {
    life = await lab.start([fragileKind(), deskKind]);
  };
  const ask = (event: AnyEventObject, requestId?: string): Promise<unknown> =>
    life.engine.ask(address, event, requestId ? { requestId } : {});
  const note = (text: string): Promise<unknown> => ask({ type: 'note', text });
  const end = async (): Promise<void> => {
    await ask({ type: 'end' });
    await lab.rest();
  };
  const history = (): Promise<string[]> => historyOf(life.engine, address);
  const notes = (): unknown => Object(life.engine.peek(address)?.context).notes;

  it('actor ends: leaves memory and listings; created again, its seq continues', async () => {
    await note('one');
    await end();
    expect([life.engine.peek(address), life.engine.has(address)]).to.deep.equal([undefined, false]);
    expect(await lab.data.load(address)).to.include({ gone: true, seq: 2, wakeAtMs: lab.clock.now() + goneMs });
    await note('two');
    expect(life.engine.peek(address)).to.deep.include({ seq: 3, state: 'idle' });
    expect(notes()).to.deep.equal(['two']);
    expect(await lab.data.load(address)).to.not.have.property('wakeAtMs');
  });

  it('actor ends with a timer set: never fires, also not in its next life', async () => {
    await ask(nap(1_000));
    await end();
    await note('anew');
    await restart();
    await lab.clock.advance(10_000);
    expect(await history()).to.deep.equal(['event nap', 'event end', 'event note']);
  });

  it('many lives with restarts: the seq only rises', async () => {
    for (let life_ = 0; life_ < 5; life_ += 1) {
      await note('x');
      await end();
      await restart();
    }
    expect((await journalOf(life.engine, address)).map(({ seq }) => seq)).to.deep.equal(
      [...Array(10).keys()].map((n) => n + 1),
    );
  });

  it('message repeated after the end, also after a restart: counts once', async () => {
    life.store.hold('settle');
    await life.engine.ask('desk/b', tell(noteTo(address, 'one'), { to: address, event: { type: 'end' } }));
    await lab.rest();
    await restart();
    expect(await history()).to.deep.equal(['event note', 'event end']);
    await life.engine.ask('desk/b', tell(noteTo(address, 'two')));
    await lab.rest();
    expect(notes()).to.deep.equal(['two']);
  });

  it('request that ended the actor repeated under its id: same answer, and no new actor', async () => {
    await note('one');
    await ask({ type: 'end' }, 'r1');
    await restart();
    expect(await ask({ type: 'end' }, 'r1')).to.equal(undefined);
    expect(await lab.data.load(address)).to.include({ gone: true, seq: 2 });
  });

  describe('when their time is over', () => {
    const marks = async (): Promise<object> => JSON.parse((await lab.data.load(address))?.text ?? '').received;

    it('time reached: the journal is dropped, once, and not before', async () => {
      await note('one');
      await end();
      await lab.clock.advance(goneMs - 1);
      expect(await history()).to.deep.equal(['event note', 'event end']);
      await lab.clock.advance(1 + slackMs);
      expect(await history()).to.deep.equal(['forgotten begin']);
      expect(life.engine.has(address)).to.equal(false);
      await restart();
      await lab.clock.advance(10 * goneMs);
      await restart();
      expect(await history()).to.deep.equal(['forgotten begin']);
      const record = await lab.data.load(address);
      expect(record).to.include({ seq: 3, gone: true }).and.not.have.property('wakeAtMs');
    });

    it('no runtime at that time: dropped at the next start', async () => {
      await note('one');
      await end();
      await lab.crash();
      await lab.clock.advance(3 * goneMs);
      await restart();
      expect(await history()).to.deep.equal(['forgotten begin']);
    });

    it('restarts and requests to the missing actor before: dropped in time', async () => {
      life = await lab.start([{ machine: fragileKind().machine, effects: {} }, deskKind]);
      await life.engine.ask('desk/b', tell({ to: address, input: {} }, { to: address, event: { type: 'end' } }));
      await lab.rest();
      for (let time = 0; time < 5; time += 1) {
        await lab.clock.advance(goneMs / 5 - 1_000);
        expect(await failureOf(note('nobody'))).to.include({ code: 'ACTOR_NOT_FOUND' });
      }
      expect(await history()).to.deep.equal(['event begin', 'event end']);
      await lab.clock.advance(5_000 + slackMs);
      expect(await history()).to.deep.equal(['forgotten begin']);
    });

    it('actor created again meanwhile: nothing is dropped', async () => {
      await note('one');
      await end();
      await lab.clock.advance(goneMs - 1_000);
      await note('two');
      await lab.clock.advance(5 * goneMs);
      await restart();
      expect(await history()).to.deep.equal(['event note', 'event end', 'event note']);
      await end();
      await lab.clock.advance(goneMs - 1);
      expect(await history()).to.have.length(4);
      await lab.clock.advance(1 + slackMs);
      expect(await history()).to.deep.equal(['forgotten begin']);
    });

    for (const held of ['load', 'trimJournal', 'commit'] as const) {
      for (const moment of ['before', 'after'] as const) {
        it(`created again during the drop, held ${moment} ${held}: lives, and no life counts twice`, async () => {
          await note('one');
          await end();
          await lab.crash();
          await lab.clock.advance(goneMs);
          const store = lab.store();
          const engine = lab.engine([fragileKind(), deskKind], store);
          await engine.open();
          const letGo = store.hold(held, moment);
          void engine.restore(['']);
          await lab.rest();
          void engine.ask(address, { type: 'note', text: 'anew' });
          await lab.rest();
          letGo();
          await lab.rest();
          const { seq, context } = engine.peek(address) ?? {};
          expect(context).to.deep.include({ notes: ['anew'] });
          await restart();
          expect(life.engine.peek(address)).to.deep.include({ seq, context });
          expect((await history()).at(-1)).to.equal('event note');
          expect((await life.engine.journals.replay(address)).snapshot?.context).to.deep.equal(context);
        });
      }
    }

    it('dropped, then created again: the seq rises, and old messages still count once', async () => {
      life.store.hold('settle');
      await life.engine.ask('desk/b', tell(noteTo(address, 'one'), { to: address, event: { type: 'end' } }));
      await lab.rest();
      const before = await marks();
      await lab.crash();
      await lab.clock.advance(2 * goneMs);
      await restart();
      expect(await history()).to.deep.equal(['forgotten begin']);
      expect(await marks()).to.deep.equal(before);
      await life.engine.ask('desk/b', tell(noteTo(address, 'two')));
      await lab.rest();
      expect(life.engine.peek(address)).to.deep.include({ seq: 4 });
      expect(notes()).to.deep.equal(['two']);
    });

    it('dropped and created again: each kept state can be replayed', async () => {
      await note('one');
      await end();
      await lab.crash();
      await lab.clock.advance(goneMs);
      await restart();
      expect(await life.engine.journals.replay(address)).to.deep.include({ seq: 3, snapshot: undefined });
      await note('two');
      const { snapshot } = await life.engine.journals.replay(address);
      expect(snapshot?.context).to.deep.include({ notes: ['two'] });
    });

    for (const moment of ['before', 'after'] as const) {
      for (const method of ['commit', 'trimJournal'] as const) {
        it(`runtime dies just ${moment} the ${method} of the drop: the next one drops, once`, async () => {
          await note('one');
          await end();
          await lab.crash();
          await lab.clock.advance(goneMs);
          const store = lab.store();
          const engine = lab.engine([fragileKind()], store);
          await engine.open();
          store.hold(method, moment);
          void engine.restore(['']).catch(() => {});
          await lab.rest();
          await restart();
          await lab.clock.advance(2 * goneMs);
          expect((await history()).at(-1)).to.equal('forgotten begin');
          expect(await history()).to.have.length(1);
        });
      }
    }

    it('store fails to drop the journal: dropped later', async () => {
      await note('one');
      await end();
      life.store.fail('trimJournal', 'before', 1);
      await lab.clock.advance(goneMs + slackMs);
      await restart();
      await lab.clock.advance(2 * goneMs);
      expect(await history()).to.deep.equal(['forgotten begin']);
    });

    it('hundreds due at once: all are dropped, and none stays in memory', async () => {
      for (let index = 0; index < 700; index += 1) void life.engine.ask(`fragile/${index}`, { type: 'end' });
      await lab.rest();
      await lab.crash();
      await lab.clock.advance(goneMs);
      await restart();
      await lab.rest();
      for (const index of [0, 511, 512, 699]) {
        expect(await historyOf(life.engine, `fragile/${index}`)).to.deep.equal(['forgotten begin']);
        expect(life.engine.has(`fragile/${index}`)).to.equal(false);
      }
      expect(await lab.data.due({ prefix: '', untilMs: Number.MAX_SAFE_INTEGER, limit: 9 })).to.deep.equal({
        rows: [],
      });
    });
  });
});
