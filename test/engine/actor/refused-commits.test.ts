/** Refused commits: nothing was written for certain. Requests are refused; all other messages are retried. */
import { expect } from 'chai';
import type { CommitResult, Store } from '../../../src/engine/store.js';
import { seededRandom } from '../../../src/testing/index.js';
import { deskKind, deskTopic, note, noteTo, say, tell } from '../desk.js';
import { historyOf, Lab, type Life, type Outcome, textsOf, topicOf, watched } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { napMs, workerKind } from '../worker.js';

describe('refused commits', () => {
  let lab: Lab;
  let life: Life;
  let work: ManualEffect;
  /** Tells whether the store refuses a commit to this address. */
  let refuses: (address: string) => boolean;

  beforeEach(async () => {
    lab = new Lab();
    work = manualEffect();
    refuses = () => false;
    await start();
  });

  const start = async (): Promise<void> => {
    life = await lab.start([deskKind, workerKind({ work })], { through });
  };
  const through = (store: Store): Store => ({ ...store, commit: (items) => commitUnlessRefused(store, items) });
  const commitUnlessRefused: (store: Store, items: Parameters<Store['commit']>[0]) => Promise<CommitResult[]> = async (
    store,
    items,
  ) => {
    const refused = new Set(items.filter(({ address }) => refuses(address)));
    const written = await store.commit(items.filter((item) => !refused.has(item)));
    return items.map((item) =>
      refused.has(item) ? { status: 'refused', reason: 'no room' } : (written.shift() ?? { status: 'conflict' }),
    );
  };
  const ask = (text: string, address = 'desk/a', requestId?: string): Outcome =>
    watched(life.engine.ask(address, note(text), requestId ? { requestId } : {}));
  const notes = (address = 'desk/a'): Promise<unknown> => life.engine.ask(address, { type: 'read' });
  const worker = (): object | undefined => life.engine.peek('worker/a')?.context;
  const refusal = { code: 'STORE_UNAVAILABLE', outcome: 'refused' };

  it('request refused: the caller learns that nothing has changed, and the next request works', async () => {
    await life.engine.ask('desk/a', note('one'));
    const before = await lab.data.load('desk/a');
    refuses = () => true;
    const asked = [ask('two'), ask('three')];
    await lab.rest();
    for (const { error } of asked) expect(error).to.include({ ...refusal, address: 'desk/a' });
    expect(asked[0]?.error?.message).to.include('no room');
    expect(await lab.data.load('desk/a')).to.deep.equal(before);
    expect(life.engine.peek('desk/a')).to.deep.include({ seq: 1, context: { name: 'desk/a', notes: ['one'] } });
    refuses = () => false;
    await life.engine.ask('desk/a', note('four'));
    expect(await notes()).to.deep.equal(['one', 'four']);
    expect(await historyOf(life.engine, 'desk/a')).to.deep.equal(['event note', 'event note', 'event read']);
  });

  it('first request of an actor refused: no actor exists, and the next request begins it', async () => {
    refuses = () => true;
    const asked = ask('one');
    await lab.rest();
    expect(asked.error).to.include(refusal);
    expect(life.engine.peek('desk/a')).to.equal(undefined);
    refuses = () => false;
    await life.engine.ask('desk/a', note('two'));
    expect(await notes()).to.deep.equal(['two']);
  });

  it('request refused: its id was not used up', async () => {
    refuses = () => true;
    const asked = ask('one', 'desk/a', 'r1');
    await lab.rest();
    expect(asked.error).to.include(refusal);
    refuses = () => false;
    await life.engine.ask('desk/a', note('one'), { requestId: 'r1' });
    await life.engine.ask('desk/a', note('one'), { requestId: 'r1' });
    expect(await notes()).to.deep.equal(['one']);
  });

  it('effects and messages of a refused request never happen', async () => {
    refuses = () => true;
    void watched(life.engine.ask('worker/a', { type: 'work', job: 'dig' }));
    void watched(life.engine.ask('desk/a', tell(noteTo('desk/b', 'x'))));
    void watched(life.engine.ask('desk/a', say('x')));
    await lab.rest();
    refuses = () => false;
    await lab.clock.advance(60_000);
    expect(work.calls).to.have.length(0);
    expect(await lab.data.load('desk/b')).to.equal(undefined);
    expect(await topicOf(lab, deskTopic)).to.deep.equal([]);
  });

  it('one actor refused: another actor in the same store call goes on', async () => {
    refuses = (address) => address === 'desk/a';
    const asked = [ask('one', 'desk/a'), ask('one', 'desk/b')];
    await lab.rest();
    expect(asked.map(({ state }) => state)).to.deep.equal(['rejected', 'answered']);
  });

  it('answer lost and repeat refused: in doubt until accepted, and counts once', async () => {
    life.store.fail('commit', 'before', 1);
    const asked = ask('one', 'desk/a', 'r1');
    await lab.rest();
    refuses = () => true;
    await lab.clock.advance(20_000);
    expect(asked.error).to.include({ code: 'STORE_UNAVAILABLE', outcome: 'unknown' });
    const later = [ask('again', 'desk/a', 'r1'), ask('other', 'desk/a', 'r2'), ask('other')];
    await lab.rest();
    expect(later.map(({ error }) => error?.outcome)).to.deep.equal(['unknown', 'refused', 'refused']);
    expect(new Set(life.store.commits.flat().map(({ commitId }) => commitId)).size).to.equal(1);
    refuses = () => false;
    await lab.clock.advance(5_000);
    expect(await notes()).to.deep.equal(['one']);
  });

  it('requests behind a commit in doubt: refused after five seconds; later ones at once', async () => {
    life.store.fail('commit', 'before', 1_000);
    void ask('one', 'desk/a', 'r1');
    await lab.rest();
    const waiting = [ask('two'), ask('one', 'desk/a', 'r1')];
    await lab.clock.advance(4_999);
    expect(waiting.map(({ state }) => state)).to.deep.equal(['open', 'open']);
    await lab.clock.advance(1);
    expect(waiting.map(({ error }) => error?.outcome)).to.deep.equal(['refused', 'unknown']);
    const late = ask('three');
    await lab.rest();
    expect(late.error).to.include(refusal);
    life.store.fail('commit', 'before', 0);
    await lab.clock.advance(5_000);
    expect(await notes()).to.deep.equal(['one']);
  });

  describe('of messages that no caller repeats', () => {
    const cases: [string, () => Promise<void>, () => void][] = [
      [
        'a message',
        async () => {
          await life.engine.ask('desk/a', tell(noteTo('desk/b', 'one'), noteTo('desk/b', 'two')));
        },
        () => expect(life.engine.peek('desk/b')?.context).to.deep.include({ notes: ['one', 'two'] }),
      ],
      [
        'the result of an effect',
        async () => work.last.finish('gold'),
        () => expect(worker()).to.deep.equal({ results: ['gold'], naps: 0 }),
      ],
      [
        'a timer',
        () => lab.clock.advance(napMs),
        () => expect(life.engine.peek('worker/b')?.context).to.deep.include({ naps: 1 }),
      ],
    ];
    beforeEach(async () => {
      await life.engine.ask('worker/a', { type: 'work', job: 'dig' });
      await life.engine.ask('worker/b', { type: 'nap' });
    });

    for (const [what, happen, check] of cases) {
      for (const [end, go] of [
        ['it is accepted', async () => {}],
        ['the runtime is killed and the next one writes it', () => start()],
      ] as const) {
        it(`${what} refused for long: retried until ${end}, once, without help`, async () => {
          refuses = (address) => address !== 'desk/a';
          await happen();
          await lab.clock.advance(70_000);
          refuses = () => false;
          await go();
          if (what.includes('result') && end !== 'it is accepted') {
            await lab.clock.advance(1_000);
            work.last.finish('gold');
          }
          await lab.clock.advance(1_000);
          check();
          const { rows } = await lab.data.unsettled({ prefix: '', limit: 9 });
          expect(rows).to.deep.equal([]);
        });
      }
    }

    it('requests share the refused commit: they are refused, and the messages are retried', async () => {
      await life.engine.ask('desk/b', note('begin'));
      const release = life.store.hold('commit', 'before', 1);
      const asked = [ask('first', 'desk/b')];
      await lab.rest();
      await life.engine.ask('desk/a', tell(noteTo('desk/b', 'sent')));
      asked.push(ask('second', 'desk/b'));
      await lab.rest();
      let accepted = 1;
      refuses = (address) => {
        accepted -= address === 'desk/b' ? 1 : 0;
        return accepted < 0;
      };
      release();
      await lab.rest();
      expect(life.store.commits.flat().filter(({ journalBefore }) => journalBefore)).to.have.length(1);
      expect(asked.map(({ state }) => state)).to.deep.equal(['answered', 'rejected']);
      expect(asked[1]?.error).to.include(refusal);
      await lab.clock.advance(60_000);
      refuses = () => false;
      await lab.clock.advance(1_000);
      expect(await notes('desk/b')).to.deep.equal(['begin', 'first', 'sent']);
      const { rows } = await lab.data.unsettled({ prefix: '', limit: 9 });
      expect(rows).to.deep.equal([]);
    });

    it('messages refused: requests behind them are refused after five seconds; then all goes on', async () => {
      refuses = (address) => address === 'desk/b';
      await life.engine.ask('desk/a', tell(noteTo('desk/b', 'one'), noteTo('desk/b', 'two')));
      await lab.rest();
      const asked = ask('three', 'desk/b');
      await lab.clock.advance(4_900);
      expect(asked.state).to.equal('open');
      await lab.clock.advance(200);
      expect(asked.error).to.include(refusal);
      await life.engine.ask('desk/a', tell(noteTo('desk/b', 'four')));
      await lab.clock.advance(60_000);
      refuses = () => false;
      await lab.clock.advance(1_000);
      expect(await notes('desk/b')).to.deep.equal(['one', 'two', 'four']);
    });
  });

  it('commits fail or are refused at random: each message counts once, in order, and callers know', async () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = seededRandom(seed);
      lab = new Lab();
      await start();
      refuses = () => random.next() < 0.4;
      const asked: [string, Outcome][] = [];
      for (let step = 0; step < 30; step += 1) {
        if (random.next() < 0.3) life.store.fail('commit', random.next() < 0.5 ? 'before' : 'after', 1);
        const text = `${seed}.${step}`;
        asked.push([text, watched(life.engine.ask('desk/a', tell(noteTo('desk/b', text))))]);
        await lab.clock.advance(Math.floor(random.next() * 300));
        if (random.next() < 0.1) await start();
      }
      refuses = () => false;
      await lab.clock.advance(20_000);
      const heard = await notes('desk/b');
      const known = asked.filter(([, { state }]) => state === 'answered').map(([text]) => text);
      const doubtful = asked.filter(([, { state, error }]) => state === 'open' || error?.outcome === 'unknown');
      expect(heard, `seed ${seed}`).to.include.members(known);
      const possible = new Set([...known, ...doubtful.map(([text]) => text)]);
      const expected = asked.map(([text]) => text).filter((text) => Array.isArray(heard) && heard.includes(text));
      expect(heard, `seed ${seed}`).to.deep.equal(expected);
      expect(
        expected.filter((text) => !possible.has(text)),
        `seed ${seed}`,
      ).to.deep.equal([]);
      await lab.stop(life.engine);
    }
  });

  it('broadcast committed after a refusal: in the topic once', async () => {
    refuses = () => true;
    void watched(life.engine.ask('desk/a', say('one')));
    await lab.rest();
    refuses = () => false;
    await life.engine.ask('desk/a', say('two'));
    await lab.rest();
    expect(textsOf(await topicOf(lab, deskTopic)).map(({ text }) => text)).to.deep.equal(['two']);
  });

  it('runtime stops while a message is refused: no timer remains, and the next runtime gets the message', async () => {
    refuses = (address) => address === 'desk/b';
    await life.engine.ask('desk/a', tell(noteTo('desk/b', 'one')));
    await lab.clock.advance(1_000);
    await lab.stop(life.engine);
    expect(lab.clock.pending).to.equal(0);
    refuses = () => false;
    await start();
    expect(await notes('desk/b')).to.deep.equal(['one']);
  });
});
