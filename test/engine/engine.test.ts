import { expect } from 'chai';
import { assign, emit, setup } from 'xstate';
import { hostActions, type Stamped, unbound, unboundLoop } from '../../machines/host.js';
import type { ActorKind } from '../../src/engine/effects.js';
import { Engine } from '../../src/engine/engine.js';
import { silentLogger } from '../../src/engine/logger.js';
import { memoryStore } from '../../src/stores/memory.js';
import { seededRandom, simulatedClock } from '../../src/testing/index.js';

const m = setup({
  types: {} as {
    context: { n: number };
    events: ({ type: 'go' } | { type: 'add'; to?: string } | { type: 'boom' }) & Stamped;
    emitted: { type: 'moved' };
  },
  actors: { call: unbound<number, { n: number }>() },
  actions: {
    ...hostActions,
    inc: assign(({ context }) => ({ n: context.n + 1 })),
    boom: assign(() => {
      throw new Error('bang');
    }),
    moved: emit({ type: 'moved' }),
  },
}).createMachine({
  id: 'm',
  version: '1',
  context: { n: 0 },
  initial: 'idle',
  on: {
    boom: { actions: 'boom' },
    add: {
      actions: [
        'inc',
        { type: 'answer', params: ({ context }) => ({ value: context.n }) },
        { type: 'messages', params: ({ event }) => (event.to ? [{ to: event.to, event: { type: 'add' } }] : []) },
      ],
    },
  },
  states: {
    idle: { on: { go: 'busy' } },
    busy: {
      invoke: {
        id: 'call',
        src: 'call',
        input: ({ context }) => ({ n: context.n }),
        onDone: { target: 'waiting', actions: ['inc', 'moved'] },
      },
    },
    waiting: { after: { 1000: 'idle' } },
  },
});

describe('engine smoke', () => {
  it('runs', async () => {
    const clock = simulatedClock();
    const store = memoryStore();
    const kinds: ActorKind[] = [
      { machine: m, begin: () => ({}), topic: () => 't', effects: { call: { run: async () => 5 } } },
    ];
    const make = () =>
      new Engine({
        store,
        clock,
        random: seededRandom(1),
        logger: silentLogger,
        kinds,
        lease: { name: 'node/a', holder: 'me', ttlMs: 1000 },
      });
    const engine = make();
    await engine.open();
    expect(await engine.ask('m/1', { type: 'add', to: 'm/2' })).to.equal(1);
    await engine.ask('m/1', { type: 'go' });
    await clock.advance(0);
    expect(engine.peek('m/1')?.state).to.equal('waiting');
    await clock.advance(999);
    expect(engine.peek('m/1')?.state).to.equal('waiting');
    await clock.advance(1);
    expect(engine.peek('m/1')?.state).to.equal('idle');
    expect(engine.peek('m/2')?.context).to.deep.equal({ n: 1 });
    const error = await engine.ask('m/1', { type: 'boom' }).catch((e) => e);
    expect(error.code).to.equal('ACTOR_CRASHED');
    const r = await engine.replay('m/1');
    expect(r.snapshot?.context).to.deep.equal({ n: 2 });
    await engine.stop();
    const again = make();
    await again.open();
    expect(await again.restore(['m/'])).to.deep.equal({ actors: 2, quarantined: [] });
    expect(again.peek('m/1')?.context).to.deep.equal({ n: 2 });
    await again.stop();
  });
});
