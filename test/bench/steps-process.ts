/** What steps.ts measures, each contender in a process of its own. */
import {
  type ActorScope,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  createMachine,
} from 'xstate';
import { systemClock } from '../../dist/src/engine/clock.js';
import type { Effect } from '../../dist/src/engine/effects/effects.js';
import { Engine } from '../../dist/src/engine/engine.js';
import { Feed } from '../../dist/src/engine/feed.js';
import { silentLogger } from '../../dist/src/engine/logger.js';
import { systemRandom } from '../../dist/src/engine/random.js';
import { shown } from '../../dist/src/host/shown.js';
import { FeedViewer } from '../../dist/src/inspector/feed-viewer.js';
import { memoryStore } from '../../dist/src/stores/memory/memory.js';
import { lendContenders } from './apart.js';
import { busy, plain } from './machines.js';
import type { Contender } from './measure.js';

const actors = 100;
const stepsEach = 1_000;

/** What the engine has it do once it is committed: nothing, until it is aborted. */
const work: Effect = {
  deadlineMs: 'loop',
  run: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined))),
};

/** Ends the run that an actor had before: by address. */
const endings = new Map<string, () => void>();

/** The same, but it never looks at its signal: it ends, too late, when the next one of its actor begins. */
const deafWork: Effect = {
  deadlineMs: 'loop',
  run: ({ address }) =>
    new Promise<void>((resolve) => {
      endings.get(address)?.();
      endings.set(address, resolve);
    }),
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
  name: `bare ${machine.id}`,
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

type Viewing = 'unwatched' | 'one viewer' | 'a stuck viewer';

/** Records after which a viewer that does not read has stopped listening. */
const untilStopped = 20_000;

/** Begins to view the feed. A stuck viewer never reads, and has lost much; the other one reads all that is there, in each turn. */
function view(feed: Feed, viewing: Viewing): FeedViewer | undefined {
  if (viewing === 'unwatched') return undefined;
  const viewer = new FeedViewer({ inspect: (listener) => feed.watch((record) => listener(shown(record))) });
  const read = async (): Promise<void> => {
    while (await viewer.read());
  };
  if (viewing === 'one viewer') void read();
  else for (let count = 0; count < untilStopped; count += 1) feed.actor('machine/none', 'loaded');
  return viewer;
}

const hosted = (machine: AnyStateMachine, effect = work, viewing: Viewing = 'unwatched'): Contender => ({
  name: `engine ${machine.id}${effect === deafWork ? ', signals unused' : ''}${viewing === 'unwatched' ? '' : `, ${viewing}`}`,
  async run() {
    const feed = new Feed(systemClock, silentLogger);
    const viewer = view(feed, viewing);
    const engine = new Engine({
      store: memoryStore(),
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      lease: { name: 'node/bench', holder: 'bench', ttlMs: 60_000 },
      feed,
    }).host([{ machine, effects: { work: effect }, begin: () => ({}) }]);
    await engine.open();
    const addresses = Array.from({ length: actors }, (_, index) => `${machine.id}/${index}`);
    // Every actor is asked for its next step as soon as the one before is answered.
    await Promise.all(
      addresses.map(async (address) => {
        for (let step = 0; step < stepsEach; step += 1) await engine.ask(address, { type: 'next' });
      }),
    );
    for (const end of endings.values()) end();
    endings.clear();
    await engine.stop();
    viewer?.close();
    return actors * stepsEach;
  },
});

lendContenders([
  ...[bare(plain), hosted(plain), bare(busy), hosted(busy), hosted(busy, deafWork)],
  ...[plain, busy].flatMap((machine) => [
    hosted(machine, machine === busy ? deafWork : work, 'one viewer'),
    hosted(machine, machine === busy ? deafWork : work, 'a stuck viewer'),
  ]),
]);
