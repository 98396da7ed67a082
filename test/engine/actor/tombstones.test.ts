/** Tombstones: what an ended actor leaves, so that nothing counts twice when it is made anew; its journal goes in time. */
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import { deskKind, noteTo, tell } from '../desk.js';
import { fragileKind, nap } from '../fragile.js';
import { failureOf, historyOf, journalOf, type Life } from '../lab.js';
import { journalPolicy, PolicyLab } from '../policy-lab.js';

const address = 'fragile/a';
const goneMs = 3_600_000;
/** How long after its time a journal may still be there: what is due is looked for now and then. */
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

  it('it ends, then it leaves memory and no live record, and made anew it continues its seq', async () => {
    await note('one');
    await end();
    expect([life.engine.peek(address), life.engine.has(address)]).to.deep.equal([undefined, false]);
    expect(await lab.data.load(address)).to.include({ gone: true, seq: 2, wakeAtMs: lab.clock.now() + goneMs });
    await note('two');
    expect(life.engine.peek(address)).to.deep.include({ seq: 3, state: 'idle' });
    expect(notes()).to.deep.equal(['two']);
    expect(await lab.data.load(address)).to.not.have.property('wakeAtMs');
  });

  it('it ended while a timer was set, then that never fires, nor in its next life', async () => {
    await ask(nap(1_000));
    await end();
    await note('anew');
    await restart();
    await lab.clock.advance(10_000);
    expect(await history()).to.deep.equal(['event nap', 'event end', 'event note']);
  });

  it('many lives with restarts, then the seq only rises', async () => {
    for (let life_ = 0; life_ < 5; life_ += 1) {
      await note('x');
      await end();
      await restart();
    }
    expect((await journalOf(life.engine, address)).map(({ seq }) => seq)).to.deep.equal(
      [...Array(10).keys()].map((n) => n + 1),
    );
  });

  it('a message is repeated after the end, also after a restart, then it counts once', async () => {
    life.store.hold('settle');
    await life.engine.ask('desk/b', tell(noteTo(address, 'one'), { to: address, event: { type: 'end' } }));
    await lab.rest();
    await restart();
    expect(await history()).to.deep.equal(['event note', 'event end']);
    await life.engine.ask('desk/b', tell(noteTo(address, 'two')));
    await lab.rest();
    expect(notes()).to.deep.equal(['two']);
  });

  it('a request that ended it is repeated under its id, then its answer comes, and it is not made anew', async () => {
    await note('one');
    await ask({ type: 'end' }, 'r1');
    await restart();
    expect(await ask({ type: 'end' }, 'r1')).to.equal(undefined);
    expect(await lab.data.load(address)).to.include({ gone: true, seq: 2 });
  });

  describe('in time', () => {
    const marks = async (): Promise<object> => JSON.parse((await lab.data.load(address))?.text ?? '').received;

    it('the time has come, then its journal is forgotten, once, and not before', async () => {
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

    it('nothing ran at that time, then it is forgotten at the next start', async () => {
      await note('one');
      await end();
      await lab.crash();
      await lab.clock.advance(3 * goneMs);
      await restart();
      expect(await history()).to.deep.equal(['forgotten begin']);
    });

    it('restarts and requests to nobody before that time, then it comes in time all the same', async () => {
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

    it('it was made anew meanwhile, then nothing is forgotten', async () => {
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
        it(`it is made anew while it is forgotten, held up ${moment} ${held}, then it lives, and no life counts twice`, async () => {
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
          expect((await life.engine.replay(address)).snapshot?.context).to.deep.equal(context);
        });
      }
    }

    it('forgotten, then it is made anew with a rising seq, and messages of before still count once', async () => {
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

    it('forgotten and made anew, then each state that is kept can be replayed', async () => {
      await note('one');
      await end();
      await lab.crash();
      await lab.clock.advance(goneMs);
      await restart();
      expect(await life.engine.replay(address)).to.deep.equal({ seq: 3, snapshot: undefined });
      await note('two');
      const { snapshot } = await life.engine.replay(address);
      expect(snapshot?.context).to.deep.include({ notes: ['two'] });
    });

    for (const moment of ['before', 'after'] as const) {
      for (const method of ['commit', 'trimJournal'] as const) {
        it(`the runtime dies just ${moment} the ${method} that forgets, then the next one forgets, once`, async () => {
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

    it('the store fails to forget the journal, then that is done later', async () => {
      await note('one');
      await end();
      life.store.fail('trimJournal', 'before', 1);
      await lab.clock.advance(goneMs + slackMs);
      await restart();
      await lab.clock.advance(2 * goneMs);
      expect(await history()).to.deep.equal(['forgotten begin']);
    });

    it('hundreds fall due at once, then all are forgotten and none stays in memory', async () => {
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
