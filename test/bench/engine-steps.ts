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
import type { Stamped } from '../../dist/machines/host.js';
import { systemClock } from '../../dist/src/engine/clock.js';
import { Engine } from '../../dist/src/engine/engine.js';
import { silentLogger } from '../../dist/src/engine/logger.js';
import { systemRandom } from '../../dist/src/engine/random.js';
import { memoryStore } from '../../dist/src/stores/memory.js';
import type { Contender } from './measure.js';

const actors = 1_000;
const stepsEach = 100;

const counter = setup({
  types: {} as { context: { count: number }; events: { type: 'next' } & Stamped },
  guards: { isBelow: ({ context }) => context.count < 1_000_000_000 },
  actions: { count: assign(({ context }) => ({ count: context.count + 1 })) },
}).createMachine({
  id: 'counter',
  version: '1',
  context: { count: 0 },
  initial: 'even',
  states: {
    even: { on: { next: { guard: 'isBelow', target: 'odd', actions: 'count' } } },
    odd: { on: { next: { guard: 'isBelow', target: 'even', actions: 'count' } } },
  },
});

const ignore = (): void => {};

/** One scope for all, as the engine has it. */
function reusedScope(): ActorScope<AnyMachineSnapshot, AnyEventObject> {
  const self = createActor(createMachine({}));
  const silent = { logger: ignore, defer: ignore, emit: ignore, stopChild: ignore, actionExecutor: ignore };
  return { self, id: 'bench', sessionId: 'bench', system: self.system, ...silent };
}

const bare: Contender = {
  name: 'machine.transition, reused scope',
  async run() {
    const machine: AnyStateMachine = counter;
    const scope = reusedScope();
    for (let actor = 0; actor < actors; actor += 1) {
      let snapshot = machine.getInitialSnapshot(scope, undefined);
      for (let step = 0; step < stepsEach; step += 1) {
        snapshot = machine.transition(snapshot, { type: 'next', at: Date.now(), random: Math.random() }, scope);
      }
    }
    return actors * stepsEach;
  },
};

const hosted: Contender = {
  name: 'engine, memory store: committed, journalled, answered',
  async run() {
    const engine = new Engine({
      store: memoryStore(),
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      kinds: [{ machine: counter, effects: {}, begin: () => ({}) }],
      lease: { name: 'node/bench', holder: 'bench', ttlMs: 60_000 },
    });
    await engine.open();
    const addresses = Array.from({ length: actors }, (_, index) => `counter/${index}`);
    // Every actor has its next event asked for as soon as the one before is answered.
    await Promise.all(
      addresses.map(async (address) => {
        for (let step = 0; step < stepsEach; step += 1) await engine.ask(address, { type: 'next' });
      }),
    );
    await engine.stop();
    return actors * stepsEach;
  },
};

export const engineSteps = [bare, hosted];
