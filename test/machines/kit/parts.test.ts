/** Charts as values, on a small one: a door with a lock. */
import { expect } from 'chai';
import { assign, emit, setup } from 'xstate';
import { Chart, isIn, topState } from '../../../machines/kit/parts.js';

interface Door {
  opened: number;
  note?: string | undefined;
}

type DoorEvent =
  | { type: 'open' }
  | { type: 'close' }
  | { type: 'lock'; note: string }
  | { type: 'ring' }
  | { type: 'burn' };

const doorMachine = setup({
  types: {} as { context: Door; events: DoorEvent; input: { opened: number }; tags: 'shut'; emitted: { type: 'rang' } },
  guards: { isNew: ({ context }) => context.opened < 3 },
  actions: {
    count: assign(({ context }) => ({ opened: context.opened + 1 })),
    note: assign(({ event }) => ({ note: event.type === 'lock' ? event.note : undefined })),
    forget: assign({ note: undefined }),
    ring: emit({ type: 'rang' }),
  },
}).createMachine({
  id: 'door',
  context: ({ input }) => ({ opened: input.opened }),
  initial: 'closed',
  on: { burn: '.gone' },
  states: {
    closed: {
      tags: 'shut',
      initial: 'unlocked',
      states: {
        unlocked: {
          on: {
            open: { guard: 'isNew', target: '#door.open', actions: 'count' },
            lock: { target: 'locked', actions: 'note' },
          },
        },
        locked: { on: { open: { target: 'unlocked', actions: 'forget' }, ring: { actions: 'ring' } } },
      },
    },
    open: { on: { close: 'closed' } },
    gone: { type: 'final' },
  },
});

const door = new Chart(doorMachine);

describe('a chart as a value', () => {
  it('a part is plain data: its context, and the path of its state', () => {
    const begun = door.begin({ opened: 0 });
    expect(begun).to.deep.equal({ opened: 0, at: 'closed.unlocked' });
    const open = door.step(begun, { type: 'open' });
    expect(open).to.deep.equal({ opened: 1, at: 'open' });
    expect(begun).to.deep.equal({ opened: 0, at: 'closed.unlocked' });
    expect(door.step(JSON.parse(JSON.stringify(open)), { type: 'close' })).to.deep.equal({
      opened: 1,
      at: 'closed.unlocked',
    });
  });

  it('a datum that is undefined is left out', () => {
    const locked = door.step(door.begin({ opened: 0 }), { type: 'lock', note: 'night' });
    expect(locked).to.deep.equal({ opened: 0, note: 'night', at: 'closed.locked' });
    expect(door.step(locked, { type: 'open' })).to.have.all.keys('opened', 'at');
  });

  it('the same part comes back where a guard refuses the event', () => {
    const worn = door.begin({ opened: 3 });
    expect(door.step(worn, { type: 'open' })).to.equal(worn);
  });

  it('an event that no state on the way to the root knows throws, and names chart, event and state', () => {
    expect(() => door.step(door.begin({ opened: 0 }), { type: 'close' })).to.throw(
      "door does not expect 'close' while it is closed.unlocked",
    );
  });

  it('an action that only an actor can do throws', () => {
    const locked = door.step(door.begin({ opened: 0 }), { type: 'lock', note: 'night' });
    expect(() => door.step(locked, { type: 'ring' })).to.throw("door is a part, and asks for 'xstate.emit'");
  });

  it('a state that the chart does not have throws', () => {
    const broken = JSON.parse('{"opened":0,"at":"ajar"}');
    expect(() => door.step(broken, { type: 'open' })).to.throw('ajar');
  });

  it('a final state is reached like any other, and takes no event any more', () => {
    const gone = door.step(door.begin({ opened: 0 }), { type: 'burn' });
    expect(gone.at).to.equal('gone');
    expect(() => door.step(gone, { type: 'burn' })).to.throw("door does not expect 'burn' while it is gone");
  });

  it('a state is asked for by its path, and by its outermost one', () => {
    const begun = door.begin({ opened: 0 });
    expect([isIn(begun, 'closed'), isIn(begun, 'closed.unlocked'), isIn(begun, 'open')]).to.deep.equal([
      true,
      true,
      false,
    ]);
    expect(isIn({ at: 'closed.locked' }, 'closed.locked')).to.equal(true);
    expect(isIn<string>({ at: 'closed.locked' }, 'close')).to.equal(false);
    expect(topState(begun)).to.equal('closed');
  });
});
