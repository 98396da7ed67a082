/** Messages between actors: sent after the commit, in order per pair; each counts once, whatever dies in between. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Engine } from '../../../src/engine/engine.js';
import type { Store } from '../../../src/engine/store.js';
import { faultyStore } from '../../support/faulty-store.js';
import { deskKind, note, noteTo, orderedDeskKind, tell } from '../desk.js';
import { historyOf, journalOf, Lab, type Life, watched } from '../lab.js';

const owed = (lab: Lab): ReturnType<Store['unsettled']> => lab.data.unsettled({ prefix: '', limit: 100 });

describe('messages', () => {
  let lab: Lab;
  let life: Life;
  let engine: Engine;

  beforeEach(async () => {
    lab = new Lab();
    await start();
  });

  const start = async (kind = deskKind): Promise<void> => {
    life = await lab.start([kind]);
    ({ engine } = life);
  };
  const notesOf = (address: string): unknown => {
    const context = engine.peek(address)?.context;
    return context && 'notes' in context ? context.notes : undefined;
  };
  const begin = (to: string, name = 'begun'): object => tell({ to, input: { name } });
  const ask = (address: string, event: object): Promise<unknown> => engine.ask(address, { type: '', ...event });

  it('many messages of one sender arrive in the order of sending', async () => {
    const texts = Array.from({ length: 30 }, (_, index) => `${index}`);
    for (let at = 0; at < 30; at += 3) {
      void ask('desk/a', tell(...texts.slice(at, at + 3).map((text) => noteTo('desk/b', text))));
    }
    await lab.rest();
    expect(notesOf('desk/b')).to.deep.equal(texts);
  });

  it('message arrives: the journal names its sender, commit and position', async () => {
    await ask('desk/a', note('x'));
    await ask('desk/a', tell(noteTo('desk/b', '1'), noteTo('desk/b', '2')));
    await lab.rest();
    expect((await journalOf(engine, 'desk/b')).map(({ source }) => source)).to.deep.equal([
      { kind: 'message', address: 'desk/a', seq: 2, index: 0 },
      { kind: 'message', address: 'desk/a', seq: 2, index: 1 },
    ]);
  });

  it('message to the sender itself arrives after the commit that sent it', async () => {
    await ask('desk/a', tell(noteTo('desk/a', 'to me')));
    await lab.rest();
    expect(await historyOf(engine, 'desk/a')).to.deep.equal(['event tell', 'event note']);
  });

  it('messages stay unread until the commit that applies them is done', async () => {
    await ask('desk/b', note('there'));
    const unread = (): unknown[] => engine.unread('desk/b').map(({ event }) => event?.text);
    const release = life.store.hold('commit');
    const sent = ask('desk/a', tell(noteTo('desk/b', '1'), noteTo('desk/b', '2')));
    await lab.rest();
    expect(unread(), 'not sent yet').to.deep.equal([]);
    release();
    const seen: unknown[][] = [];
    engine.observe(() => seen.push(unread()));
    await sent;
    await lab.rest();
    expect(seen).to.deep.equal([['1', '2'], ['2'], []]);
  });

  it('all delivered: nothing is owed any more', async () => {
    await ask('desk/a', tell(noteTo('desk/b', '1'), noteTo('desk/c', '2')));
    await lab.rest();
    expect(await owed(lab)).to.deep.equal({ rows: [] });
  });

  it('runtime dies before the receiver commits: delivered after the restart', async () => {
    await ask('desk/a', note('in memory'));
    life.store.hold('load');
    await ask('desk/a', tell(noteTo('desk/b', 'hello')));
    await lab.rest();
    expect(notesOf('desk/b')).to.equal(undefined);
    await start();
    expect(notesOf('desk/b')).to.deep.equal(['hello']);
    expect(await owed(lab)).to.deep.equal({ rows: [] });
  });

  it("runtime dies between the receiver's commit and settling: delivered again, counts once", async () => {
    life.store.hold('settle');
    await ask('desk/a', tell(noteTo('desk/b', 'hello')));
    await lab.rest();
    expect((await owed(lab)).rows).to.have.length(1);
    await start();
    expect(notesOf('desk/b')).to.deep.equal(['hello']);
    expect(await historyOf(engine, 'desk/b')).to.deep.equal(['event note']);
    expect(await owed(lab)).to.deep.equal({ rows: [] });
  });

  it('settling fails: retried until it succeeds', async () => {
    life.store.fail('settle', 'before', 3);
    await ask('desk/a', tell(noteTo('desk/b', 'hello')));
    await lab.clock.advance(1_000);
    expect(await owed(lab)).to.deep.equal({ rows: [] });
  });

  it('owed messages come before new ones that their delivery sets off', async () => {
    // The outbox of b owes c a note; the outbox of a owes b the order to send c another note.
    await ask('desk/a', note('in memory'));
    await ask('desk/b', note('in memory'));
    life.store.hold('load');
    await ask('desk/b', tell(noteTo('desk/c', 'old')));
    engine.observe(({ address }) => void (address === 'desk/a' && life.store.hold('commit')));
    await ask('desk/a', tell({ to: 'desk/b', event: tell(noteTo('desk/c', 'new')) }));
    await lab.rest();
    const slow = (store: Store): Store =>
      faultyStore(store, {
        at: 'unsettled',
        how: async (_, proceed) => {
          for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
          return proceed();
        },
      });
    life = await lab.start([deskKind], { prefixes: ['desk/a', 'desk/b', 'desk/c'], through: slow });
    ({ engine } = life);
    await lab.rest();
    expect(notesOf('desk/c')).to.deep.equal(['old', 'new']);
  });

  it('request to an actor during redelivery: its old message comes first', async () => {
    await ask('desk/a', note('in memory'));
    life.store.hold('load');
    await ask('desk/a', tell(noteTo('desk/b', 'old')));
    await lab.crash();
    const store = lab.store();
    engine = lab.engine([deskKind], store);
    await engine.open();
    const release = store.hold('unsettled');
    const restored = engine.restore(['']);
    const asked = ask('desk/a', tell(noteTo('desk/b', 'new')));
    await lab.rest();
    release();
    await Promise.all([restored, asked]);
    await lab.rest();
    expect(notesOf('desk/b')).to.deep.equal(['old', 'new']);
  });

  describe('that begin an actor', () => {
    beforeEach(async () => {
      // The one desk that begins by itself.
      await ask('desk/a', note('first'));
      await start(orderedDeskKind);
    });

    it('input begins the actor', async () => {
      await ask('desk/a', begin('desk/b', 'Bea'));
      await lab.rest();
      expect(engine.peek('desk/b')?.context).to.deep.equal({ name: 'Bea', notes: [] });
    });

    it('event in the same commit: finds the actor begun', async () => {
      await ask('desk/a', tell({ to: 'desk/b', input: { name: 'Bea' } }, noteTo('desk/b', 'hello')));
      await lab.rest();
      expect(engine.peek('desk/b')?.context).to.deep.equal({ name: 'Bea', notes: ['hello'] });
    });

    it('actor exists already: the begin is journalled as stale', async () => {
      await ask('desk/a', tell({ to: 'desk/b', input: { name: 'Bea' } }, { to: 'desk/b', input: { name: 'Bob' } }));
      await lab.rest();
      expect(engine.peek('desk/b')?.context).to.deep.equal({ name: 'Bea', notes: [] });
      expect(await historyOf(engine, 'desk/b')).to.deep.equal(['event begin', 'stale begin']);
    });

    it('event for a missing actor: acknowledged, and leaves no record', async () => {
      await ask('desk/a', tell(noteTo('desk/b', 'hello')));
      await lab.rest();
      expect(await owed(lab)).to.deep.equal({ rows: [] });
      expect(await lab.data.load('desk/b')).to.equal(undefined);
    });

    it('actor ended when its begin is delivered again: stays ended', async () => {
      life.store.hold('settle');
      await ask('desk/a', begin('desk/b'));
      await lab.rest();
      await ask('desk/b', { type: 'close' });
      await start(orderedDeskKind);
      expect(engine.peek('desk/b')).to.equal(undefined);
      expect(await lab.data.load('desk/b')).to.include({ gone: true, seq: 2 });
      expect(await owed(lab)).to.deep.equal({ rows: [] });
    });

    it('ended actor begun by a new message: its seq continues', async () => {
      await ask('desk/a', begin('desk/b', 'Bea'));
      await lab.rest();
      await ask('desk/b', { type: 'close' });
      await ask('desk/a', begin('desk/b', 'Bob'));
      await lab.rest();
      expect(engine.peek('desk/b')).to.deep.include({ seq: 3, context: { name: 'Bob', notes: [] } });
    });

    it('last messages of an ending actor arrive, also if the runtime dies at that moment', async () => {
      await ask('desk/a', begin('desk/b'));
      await lab.rest();
      life.store.hold('settle');
      await ask('desk/b', { type: 'close', tell: [noteTo('desk/a', 'farewell')] });
      await lab.rest();
      await start(orderedDeskKind);
      expect(notesOf('desk/a')).to.deep.equal(['first', 'farewell']);
      expect(await owed(lab)).to.deep.equal({ rows: [] });
    });
  });

  it('message to a machine that is not hosted here: stays owed, and others arrive', async () => {
    await ask('desk/a', tell(noteTo('stranger/x', 'hello'), noteTo('desk/b', 'hello')));
    await ask('desk/a', tell(noteTo('desk/b', 'again')));
    await lab.rest();
    expect(notesOf('desk/b')).to.deep.equal(['hello', 'again']);
    expect((await owed(lab)).rows.map(({ seq }) => seq)).to.deep.equal([1]);
    expect(lab.logged.map(({ fields }) => fields)).to.deep.include({
      address: 'stranger/x',
      from: { address: 'desk/a', seq: 1, index: 0 },
    });
  });

  it('message to an address that no store can keep: stays owed, and others are written', async () => {
    await ask('desk/a', tell(noteTo(`desk/${'x'.repeat(2_000)}`, 'hello'), noteTo('desk/b', 'hello')));
    await lab.rest();
    expect(notesOf('desk/b')).to.deep.equal(['hello']);
    expect((await owed(lab)).rows).to.have.length(1);
  });

  it('random messages and deaths: each acknowledged message counts once, in order', async () => {
    const names = ['desk/a', 'desk/b', 'desk/c'];
    const step = fc.record({
      from: fc.constantFrom(...names),
      to: fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
      turns: fc.nat(12),
      dies: fc.boolean(),
    });
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      lab = new Lab();
      await start();
      const sent: { from: string; to: string; text: string; asked: ReturnType<typeof watched> }[] = [];
      for (const [at, { from, to, turns, dies }] of steps.entries()) {
        const messages = to.map((address, index) => noteTo(address, `${from} ${at}.${index}`));
        const asked = watched(ask(from, tell(...messages)));
        to.forEach((address, index) => void sent.push({ from, to: address, text: `${from} ${at}.${index}`, asked }));
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
        if (dies) await start();
      }
      await start();
      await lab.rest();
      for (const from of names) {
        for (const to of names) {
          const of = sent.filter((one) => one.from === from && one.to === to);
          const notes = notesOf(to);
          const heard = Array.isArray(notes) ? notes.filter((text) => String(text).startsWith(`${from} `)) : [];
          const inOrder = of.map(({ text }) => text).filter((text) => heard.includes(text));
          expect(heard).to.deep.equal(inOrder);
          expect(heard).to.include.members(
            of.filter(({ asked }) => asked.state === 'answered').map(({ text }) => text),
          );
        }
      }
      expect(await owed(lab)).to.deep.equal({ rows: [] });
    });
    await fc.assert(property, { seed: 7, numRuns: 150 });
  });
});
