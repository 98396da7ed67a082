/** Binds the root actor of a node (machines/registry/registry.ts) to its effects, and starts and stops it. */
import { nodeOf, nodeOwnedPrefix } from '../../machines/kit/addresses.js';
import { type RegistryContext, registryMachine } from '../../machines/registry/registry.js';
import { untilAborted } from '../abort.js';
import { ActorsOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import type { ActorKind, Effect, EffectCall } from '../engine/effects/effects.js';
import type { Engine } from '../engine/engine.js';
import { type ErrorCode, StagecraftError } from '../errors.js';
import type { DataDir } from '../host/data-dir.js';
import type { TaskStatus } from '../tasks/task-supervisor.js';

/** Longer than the deadlines of the root's effects. */
const startLimitMs = 150_000;
const drainLimitMs = 150_000;

interface RegistryKindOptions {
  dataDir: DataDir;
  engine: Engine;
  /** Kinds of all other actors of the node. Their actors are restored in this order, kind by kind. */
  restored: readonly ActorKind[];
  /** @param release whether plugin processes are stopped, too */
  drain(release: boolean): Promise<void>;
}

/** The root actor: prepares, restores and drains this node. */
export function registryKind({ dataDir, engine, restored, drain }: RegistryKindOptions): ActorKind {
  return {
    machine: registryMachine,
    begin: () => ({}),
    effects: {
      prepareHost: anew(async () => dataDir.prepare()),
      restoreActors: anew(({ address }) =>
        engine.restore(restored.map(({ machine }) => nodeOwnedPrefix(machine.id, nodeOf(address)))),
      ),
      drainActors: anew(({ input }: EffectCall<{ release: boolean }>) => drain(input.release)),
    },
  };
}

/**
 * Runs no effect that an earlier runtime had begun, not even a drain: `registry.start` follows, and starts over. Allocs and
 * tasks that were leaving go on by themselves.
 */
const anew = (run: Effect['run']): Effect => ({
  run: (call) => (call.recovered ? untilAborted(call.signal) : run(call)),
});

/** Advice after a drain that left something: the agent has ended all the same. */
export const drainAgain = 'start the agent again, and drain again';

/** Starts and stops the root actor, and waits until it has settled. */
export class RegistryActor {
  readonly #engine: Engine;
  readonly #registry: ActorsOf<typeof registryMachine>;
  readonly #address: string;
  readonly #clock: Clock;

  constructor(engine: Engine, address: string, clock: Clock) {
    this.#engine = engine;
    this.#registry = new ActorsOf(engine, registryMachine);
    this.#address = address;
    this.#clock = clock;
  }

  async start(): Promise<void> {
    await this.#registry.ask(this.#address, { type: 'registry.start' });
    const context = await this.#settled(startLimitMs);
    if (context?.error === null) return;
    throw this.#failure('START_FAILED', `the runtime could not start: ${context?.error ?? 'it took too long'}`);
  }

  async stop(release: boolean, tasks: () => TaskStatus[]): Promise<void> {
    await this.#registry.ask(this.#address, { type: 'registry.stop', release });
    const context = await this.#settled(drainLimitMs);
    if (context?.error === null) return;
    const why = context
      ? `${context.error}${release ? `; ${drainAgain}` : ''}`
      : this.#unsettled(tasks().filter(({ state }) => state !== 'stopped'));
    throw this.#failure('DRAIN_FAILED', `not all could be released: ${why}`);
  }

  #unsettled(tasks: TaskStatus[]): string {
    const why = this.#engine.silentSince === undefined ? 'it took too long' : 'the store does not answer';
    return `${why}; not known to be stopped: ${tasks.map(({ id }) => id).join(', ') || 'no task'}`;
  }

  /** Absent if it takes longer than the limit: the store may be gone, and the answer with it. */
  #settled(limitMs: number): Promise<RegistryContext | undefined> {
    return new Promise((resolve) => {
      const end = (context?: RegistryContext): void => {
        stopObserving();
        cancel();
        resolve(context);
      };
      const look = (): void => {
        const view = this.#registry.peek(this.#address);
        if (view?.state === 'running' || view?.state === 'stopped') end(view.context);
      };
      const cancel = this.#clock.after(limitMs, () => end());
      void this.#engine.lost.then(() => end());
      const stopObserving = this.#registry.observe(look);
      look();
    });
  }

  #failure(code: ErrorCode, message: string): StagecraftError {
    return new StagecraftError(code, message, { address: this.#address });
  }
}
