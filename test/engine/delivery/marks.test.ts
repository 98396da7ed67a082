/** Marks of messages: kept while a message can come again, and for a day; then the record lets go of them. */
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import type { Store } from '../../../src/engine/store.js';
import { deskKind, noteTo, tell } from '../desk.js';
import { Lab, type Life } from '../lab.js';

const dayMs = 86_400_000;
const address = 'desk/receiver';

describe('marks of messages', () => {
  let lab: Lab;
  let life: Life;

  beforeEach(async () => {
    lab = new Lab();
    await start();
  });

  const start = async (): Promise<void> => {
    life = await lab.start([deskKind]);
  };
  const ask = (at: string, event: AnyEventObject): Promise<unknown> => life.engine.ask(at, event);
  const send = async (sender: string, text = 'x'): Promise<void> => {
    await ask(`desk/${sender}`, tell(noteTo(address, text)));
    await lab.rest();
  };
  const record = async (): Promise<{ received: Record<string, number[]> }> =>
    JSON.parse((await lab.data.load(address))?.text ?? '');
  const senders = async (): Promise<string[]> => Object.keys((await record()).received);
  const notes = (): unknown => Object(life.engine.peek(address)?.context).notes;

  it('O19, 34.28b older than a day, and delivered for good: left out when another sender comes', async () => {
    await send('a');
    await lab.clock.advance(dayMs);
    await send('b');
    expect(await senders()).to.deep.equal(['desk/a', 'desk/b']);
    await lab.clock.advance(1);
    await send('c');
    expect(await senders()).to.deep.equal(['desk/b', 'desk/c']);
  });

  it('O19, 34.28b a living sender whose mark was left out: its next message counts', async () => {
    await send('a', 'one');
    await lab.clock.advance(2 * dayMs);
    await send('b', 'two');
    await send('a', 'three');
    await send('a', 'four');
    expect(notes()).to.deep.equal(['one', 'two', 'three', 'four']);
  });

  it('O19, 34.28b not settled, for days: kept, and the repeat after a kill counts once', async () => {
    life.store.hold('settle');
    await send('a', 'one');
    await lab.clock.advance(3 * dayMs);
    await send('b', 'two');
    expect(await senders()).to.deep.equal(['desk/a', 'desk/b']);
    await start();
    expect(notes()).to.deep.equal(['one', 'two']);
    await lab.clock.advance(3 * dayMs);
    await send('c', 'three');
    expect(await senders()).to.deep.equal(['desk/c']);
  });

  it('O19, 34.28b an outbox that can’t be read: the marks of its sender are kept', async () => {
    life.store.hold('settle');
    await send('a', 'one');
    const damaged = (store: Store): Store => ({
      ...store,
      unsettled: async (range) => {
        const { rows, ...page } = await store.unsettled(range);
        return { ...page, rows: rows.map((row) => (row.address === 'desk/a' ? { ...row, text: '{' } : row)) };
      },
    });
    life = await lab.start([deskKind], { through: damaged });
    await lab.clock.advance(3 * dayMs);
    await send('b', 'two');
    expect(await senders()).to.deep.equal(['desk/a', 'desk/b']);
  });

  it('O19, 34.28b marks of an older version, without a time: kept for another day', async () => {
    await send('a');
    const old = (store: Store): Store => ({
      ...store,
      list: async (range) => {
        const { rows, ...page } = await store.list(range);
        const withoutTimes = (text: string): string => text.replace(/("desk\/a":\[1,0),\d+\]/, '$1]');
        return { ...page, rows: rows.map((one) => ({ ...one, text: withoutTimes(one.text) })) };
      },
    });
    life = await lab.start([deskKind], { through: old });
    await lab.clock.advance(3 * dayMs);
    await send('b');
    expect(await senders()).to.deep.equal(['desk/a', 'desk/b']);
    await lab.clock.advance(dayMs + 1);
    await send('c');
    expect(await senders()).to.deep.equal(['desk/c']);
  });

  it('O19, 34.28b a thousand senders, a hundred a day: the record stays small', async () => {
    for (let day = 0; day < 10; day += 1) {
      for (let at = 0; at < 100; at += 1)
        await ask(`desk/${day}-${at}`, tell({ to: address, event: { type: 'none' } }));
      await lab.clock.advance(dayMs);
    }
    expect((await senders()).length).to.be.within(100, 200);
  });
});
