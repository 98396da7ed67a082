/** A request that the committed state refuses is answered without a commit, in its turn. */
import { expect } from 'chai';
import { type AnyEventObject, assign, setup } from 'xstate';
import { type Failure, hostActions } from '../../../machines/kit/host.js';
import { refusalBy, refusing } from '../../../machines/kit/requests.js';
import type { ActorKind } from '../../../src/engine/effects/effects.js';
import { journalOf, Lab, type Life, leaseTtlMs, watched } from '../lab.js';

interface Shelf {
  name: string;
  book: string | null;
}

type ShelfEvent = { type: 'put'; book: string } | { type: 'clear' };

const no = refusalBy(({ name }: Shelf) => `shelf ${name}`);

function refusalOf(shelf: Shelf, request: ShelfEvent): Failure | undefined {
  if (request.type !== 'put' || shelf.book === null) return undefined;
  if (shelf.book === 'broken') throw new Error('the shelf broke');
  return no('VOLUME_IN_USE', shelf, `it has '${shelf.book}': clear it first`);
}

const { isRefused, refused } = refusing(refusalOf);

const shelfMachine = setup({
  types: {} as { context: Shelf; events: ShelfEvent; input: { name: string } },
  guards: { isRefused },
  actions: { ...hostActions, put: assign((_, book: string | null) => ({ book })) },
}).createMachine({
  id: 'shelf',
  version: '1',
  context: ({ input }) => ({ name: input.name, book: null }),
  on: {
    put: [refused, { actions: { type: 'put', params: ({ event }) => event.book } }],
    clear: { actions: { type: 'put', params: null } },
  },
});

const shelfKind: ActorKind = {
  machine: shelfMachine,
  begin: (address) => ({ name: address.slice('shelf/'.length) }),
  effects: {},
  refusalOf,
};

const put = (book: string): AnyEventObject => ({ type: 'put', book });

describe('a request that is refused', () => {
  let lab: Lab;
  let life: Life;
  let before: number;

  beforeEach(async () => {
    lab = new Lab();
    life = await lab.start([shelfKind]);
    await life.engine.ask('shelf/a', put('first'), { requestId: 'r1' });
    before = life.store.commits.length;
  });

  const commits = (): number => life.store.commits.length - before;
  const full = "shelf a: it has 'first': clear it first";

  it('35.8 by the committed state: answered with the reason, and no commit', async () => {
    const asked = watched(life.engine.ask('shelf/a', put('second')));
    await lab.rest();
    expect(asked.error).to.include({ code: 'VOLUME_IN_USE', message: full, address: 'shelf/a' });
    expect(commits()).to.equal(0);
    expect(await journalOf(life.engine, 'shelf/a')).to.have.length(1);
  });

  it('35.8 unless the request before it, on its way to the store, makes room: taken', async () => {
    const release = life.store.hold('commit');
    const asked = [{ type: 'clear' }, put('second')].map((event) => watched(life.engine.ask('shelf/a', event)));
    await lab.rest();
    release();
    await lab.rest();
    expect(asked.map(({ state }) => state)).to.deep.equal(['answered', 'answered']);
    expect(life.engine.peek('shelf/a')?.context).to.include({ book: 'second' });
  });

  it('35.8 by a request that shares a commit with it: answered after that commit', async () => {
    await life.engine.ask('shelf/a', { type: 'clear' });
    const release = life.store.hold('commit');
    const asked = [{ type: 'clear' }, put('second'), put('third')].map((event) =>
      watched(life.engine.ask('shelf/a', event)),
    );
    await lab.rest();
    release();
    await lab.rest();
    expect(asked.map(({ state }) => state)).to.deep.equal(['answered', 'answered', 'rejected']);
    expect(life.engine.peek('shelf/a')?.context).to.include({ book: 'second' });
  });

  it('35.8 that repeats one by its id: has the answer of that one', async () => {
    await life.engine.ask('shelf/a', put('first'), { requestId: 'r1' });
    expect(commits()).to.equal(0);
  });

  it('35.8 after the lease has lapsed: a commit, as another runtime may have changed the actor', async () => {
    life.store.hold('acquireLease');
    life.store.hold('renewLease');
    await lab.clock.advance(leaseTtlMs);
    const asked = watched(life.engine.ask('shelf/a', put('second')));
    await lab.rest();
    expect(asked.error).to.include({ code: 'VOLUME_IN_USE', message: full });
    expect(commits()).to.equal(1);
  });

  it('35.8 by a machine that throws over it: counts as one crash', async () => {
    await life.engine.ask('shelf/a', { type: 'clear' });
    await life.engine.ask('shelf/a', put('broken'));
    const asked = watched(life.engine.ask('shelf/a', put('second')));
    await lab.rest();
    expect(asked.error).to.include({ code: 'ACTOR_CRASHED' });
    const entries = await journalOf(life.engine, 'shelf/a');
    expect(entries.filter(({ kind }) => kind === 'crash')).to.have.length(1);
  });
});
