/** Steps per second of the engine on the memory store, against XState's bare transition with a reused scope. */
import {
  type ActorScope,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  assign,
  createActor,
  createMachine,
  setup,
} from 'xstate';
import { type Stamped, unboundLoop } from '../../dist/machines/host.js';
import { systemClock } from '../../dist/src/engine/clock.js';
import type { Effect } from '../../dist/src/engine/effects.js';
import { Engine } from '../../dist/src/engine/engine.js';
import { silentLogger } from '../../dist/src/engine/logger.js';
import { systemRandom } from '../../dist/src/engine/random.js';
import { memoryStore } from '../../dist/src/stores/memory.js';
import type { Contender } from './measure.js';

const actors = 100;
const stepsEach = 1_000;

/** Two states, a guard and an assignment: the least that a machine does. */
const plain = setup({
  types: {} as { context: { count: number }; events: { type: 'next' } & Stamped },
  guards: { isBelow: ({ context }) => context.count < 1_000_000_000 },
  actions: { count: assign(({ context }) => ({ count: context.count + 1 })) },
}).createMachine({
  id: 'plain',
  version: '1',
  context: { count: 0 },
  initial: 'even',
  states: {
    even: { on: { next: { guard: 'isBelow', target: 'odd', actions: 'count' } } },
    odd: { on: { next: { guard: 'isBelow', target: 'even', actions: 'count' } } },
  },
});

/** The same with an effect and a timer in each state: every step starts one of each and ends the one before. */
const busy = setup({
  types: {} as { context: { count: number }; events: { type: 'next' } & Stamped },
  actors: { work: unboundLoop<{ type: 'next' }, { count: number }>() },
  guards: { isBelow: ({ context }) => context.count < 1_000_000_000 },
  actions: { count: assign(({ context }) => ({ count: context.count + 1 })) },
}).createMachine({
  id: 'busy',
  version: '1',
  context: { count: 0 },
  initial: 'even',
  states: {
    even: {
      invoke: { id: 'evenWork', src: 'work', input: ({ context }) => ({ count: context.count }) },
      after: { 3600000: 'odd' },
      on: { next: { guard: 'isBelow', target: 'odd', actions: 'count' } },
    },
    odd: {
      invoke: { id: 'oddWork', src: 'work', input: ({ context }) => ({ count: context.count }) },
      after: { 3600000: 'even' },
      on: { next: { guard: 'isBelow', target: 'even', actions: 'count' } },
    },
  },
});

/** What the engine has it do once it is committed: nothing, until it is aborted. */
const work: Effect = {
  deadlineMs: 'loop',
  run: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined))),
};

const ignore = (): void => {};

/** One scope for all, as the engine has it. */
function reusedScope(): ActorScope<AnyMachineSnapshot, AnyEventObject> {
  const self = createActor(createMachine({}));
  const silent = { logger: ignore, defer: ignore, emit: ignore, stopChild: ignore, actionExecutor: ignore };
  return { self, id: 'bench', sessionId: 'bench', system: self.system, ...silent };
}

/** XState alone. Without logic for its actors it makes no child, as under the engine. */
const bare = (machine: AnyStateMachine): Contender => ({
  name: `machine.transition, reused scope: ${machine.id} machine`,
  async run() {
    const unbound = Object.fromEntries(Object.keys(machine.implementations.actors).map((src) => [src, undefined]));
    const hosted = machine.provide({ actors: unbound });
    const scope = reusedScope();
    for (let actor = 0; actor < actors; actor += 1) {
      let snapshot = hosted.getInitialSnapshot(scope, undefined);
      for (let step = 0; step < stepsEach; step += 1) {
        snapshot = hosted.transition(snapshot, { type: 'next', at: Date.now(), random: Math.random() }, scope);
      }
    }
    return actors * stepsEach;
  },
});

const hosted = (machine: AnyStateMachine): Contender => ({
  name: 'engine on the memory store: committed, answered',
  async run() {
    const engine = new Engine({
      store: memoryStore(),
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      kinds: [{ machine, effects: { work }, begin: () => ({}) }],
      lease: { name: 'node/bench', holder: 'bench', ttlMs: 60_000 },
    });
    await engine.open();
    const addresses = Array.from({ length: actors }, (_, index) => `${machine.id}/${index}`);
    // Every actor is asked for its next step as soon as the one before is answered.
    await Promise.all(
      addresses.map(async (address) => {
        for (let step = 0; step < stepsEach; step += 1) await engine.ask(address, { type: 'next' });
      }),
    );
    await engine.stop();
    return actors * stepsEach;
  },
});

export const plainSteps = [bare(plain), hosted(plain)];
export const busySteps = [bare(busy), hosted(busy)];
