/**
 * Restore: stored actors run again, also if the listing is slow, long or outdated. Unreadable records:
 * quarantine.test.ts
 */
import { expect } from 'chai';
import type { Store } from '../../../src/engine/store.js';
import { faultyStore, type StoreMethod } from '../../support/faulty-store.js';
import { deskKind, note, noteTo, tell } from '../desk.js';
import { Lab, type Life } from '../lab.js';

/** Delays answers to one method by some turns after the store gave them. */
const slow =
  (slowMethod: StoreMethod) =>
  (store: Store): Store =>
    faultyStore(store, {
      at: slowMethod,
      how: async (_, proceed) => {
        const result = await proceed();
        for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
        return result;
      },
    });

describe('restore', () => {
  let lab: Lab;
  let life: Life;

  beforeEach(async () => {
    lab = new Lab();
    await start();
  });

  const start = async (): Promise<void> => {
    life = await lab.start([deskKind]);
  };

  it('empty store: restores nothing', () => {
    expect(life.report).to.deep.equal({ actors: 0, quarantined: [] });
  });

  it('actors and tombstones stored: only living actors are counted and in memory', async () => {
    for (const name of ['a', 'b', 'c']) await life.engine.ask(`desk/${name}`, note(name));
    await life.engine.ask('desk/b', { type: 'close' });
    await start();
    expect(life.report).to.deep.equal({ actors: 2, quarantined: [] });
    expect([...life.engine.views('')].map(([address]) => address)).to.deep.equal(['desk/a', 'desk/c']);
  });

  it('more actors and owed messages than a page: all are restored and delivered', async () => {
    const addresses = Array.from({ length: 1_100 }, (_, index) => `desk/${index}`);
    await Promise.all(addresses.map((address) => life.engine.ask(address, note('first'))));
    life.store.hold('settle');
    await Promise.all(addresses.map((address) => life.engine.ask(address, tell(noteTo(address, 'to myself')))));
    await start();
    expect(life.report).to.deep.equal({ actors: 1_100, quarantined: [] });
    expect([...life.engine.views('')].map(([, { seq }]) => seq)).to.deep.equal(addresses.map(() => 3));
    expect(await lab.data.unsettled({ prefix: '', limit: 9 })).to.deep.equal({ rows: [] });
  });

  it('with a prefix: actors outside it are loaded on request', async () => {
    await life.engine.ask('desk/a/1', note('x'));
    await life.engine.ask('desk/b/1', note('x'));
    life = await lab.start([deskKind], { prefixes: ['desk/a/'] });
    expect(life.report).to.deep.equal({ actors: 1, quarantined: [] });
    expect(life.engine.peek('desk/b/1')).to.equal(undefined);
    expect(await life.engine.ask('desk/b/1', { type: 'read' })).to.deep.equal(['x']);
  });

  it('actor ends during the listing: its old record does not bring it back', async () => {
    await life.engine.ask('desk/b', note('x'));
    life = await lab.start([deskKind], { prefixes: [] });
    await life.engine.ask('desk/a', note('x'));
    life.store.hold('load');
    await life.engine.ask('desk/a', tell({ to: 'desk/b', event: { type: 'close' } }));
    life = await lab.start([deskKind], { through: slow('list') });
    expect(life.report).to.deep.equal({ actors: 1, quarantined: [] });
    expect(life.engine.peek('desk/b')).to.equal(undefined);
    await life.engine.ask('desk/b', note('made anew'));
    expect(life.engine.peek('desk/b')).to.deep.include({ seq: 3, context: { name: 'desk/b', notes: ['made anew'] } });
  });

  it('actor continues during the listing: its old record does not set it back', async () => {
    await life.engine.ask('desk/b', note('one'));
    life = await lab.start([deskKind], { prefixes: [] });
    await life.engine.ask('desk/a', note('x'));
    life.store.hold('load');
    await life.engine.ask('desk/a', tell(noteTo('desk/b', 'two')));
    life = await lab.start([deskKind], { through: slow('list') });
    expect(life.report).to.deep.equal({ actors: 2, quarantined: [] });
    expect(life.engine.peek('desk/b')).to.deep.include({ seq: 2, context: { name: 'desk/b', notes: ['one', 'two'] } });
  });

  it('record being loaded when its listing comes: restored once', async () => {
    await life.engine.ask('desk/a', note('one'));
    life = await lab.start([deskKind], { prefixes: [] });
    const release = life.store.hold('load', 'after');
    const asked = life.engine.ask('desk/a', { type: 'read' });
    await lab.rest();
    expect(await life.engine.restore([''])).to.deep.equal({ actors: 1, quarantined: [] });
    expect(await asked).to.deep.equal(['one']);
    await life.engine.ask('desk/a', note('two'));
    release();
    await lab.rest();
    expect(await life.engine.ask('desk/a', { type: 'read' })).to.deep.equal(['one', 'two']);
  });

  it('called twice: the second call changes nothing', async () => {
    await life.engine.ask('desk/a', tell(noteTo('desk/b', 'once')));
    await lab.rest();
    expect(await life.engine.restore([''])).to.deep.equal({ actors: 2, quarantined: [] });
    await lab.rest();
    expect(life.engine.peek('desk/b')).to.deep.include({ seq: 1 });
  });

  it('runtime closed before: the error says so', async () => {
    await lab.stop(life.engine);
    const reason: unknown = await life.engine.restore(['']).catch((error: unknown) => error);
    expect(reason).to.include({ code: 'RUNTIME_CLOSED' });
  });
});
