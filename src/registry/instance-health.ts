/** Reports the health of a task's instances together, from the records of their machines. */
import { isDeepStrictEqual } from 'node:util';
import { pluginAddress } from '../../machines/kit/addresses.js';
import { pluginMachine } from '../../machines/plugin/plugin.js';
import type { PluginKey, TaskHealth } from '../../machines/task/task-types.js';
import { onAbort } from '../abort.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf, type ViewOf } from '../engine/actors-of.js';
import { Waiters } from '../engine/waiters.js';

export class InstanceHealth {
  readonly #node: string;
  readonly #plugins: ActorsOf<typeof pluginMachine>;
  /** Watchers by the address of an instance: woken by its commits. */
  readonly #watchers = new Waiters();

  constructor({ node, engine }: { node: string; engine: ActorSystem }) {
    this.#node = node;
    this.#plugins = new ActorsOf(engine, pluginMachine);
    this.#plugins.observe(({ address }) => this.#watchers.wake(address));
  }

  /**
   * Tells the health once every instance was looked at, and whenever it changes, until the signal is aborted.
   * It is healthy if all are; else the description is that of the first which is not.
   * @param wereThere whether they are known to have been there: one that is not was deregistered by somebody else
   */
  watch(
    instances: PluginKey[],
    { signal, wereThere }: { signal: AbortSignal; wereThere: boolean },
    tell: (health: TaskHealth) => void,
  ): void {
    if (signal.aborted) return;
    const addresses = instances.map(({ type, name, allocId }) => pluginAddress(this.#node, type, name, allocId));
    let last: TaskHealth | undefined;
    const look = (): void => {
      const health = healthOf(
        addresses.map((address) => this.#plugins.peek(address)),
        wereThere || last !== undefined,
      );
      if (!health || isDeepStrictEqual(health, last)) return;
      last = health;
      tell(health);
    };
    const stops = addresses.map((address) => this.#watchers.add(address, look));
    onAbort(signal, () => {
      for (const stop of stops) stop();
    });
    look();
  }
}

/** Undefined while it is not known. An instance that is gone was deregistered by somebody else. */
function healthOf(views: (ViewOf<typeof pluginMachine> | undefined)[], wereThere: boolean): TaskHealth | undefined {
  if (views.includes(undefined)) {
    return wereThere ? { healthy: false, description: 'its plugin is not registered any more' } : undefined;
  }
  const known = views.filter((view) => view !== undefined);
  const unhealthy = known.find(({ state }) => state === 'unhealthy');
  if (!unhealthy && known.some(({ state }) => state !== 'healthy')) return undefined;
  const told = unhealthy ?? known[0];
  return { healthy: !unhealthy, description: told?.context.fingerprint.description ?? '' };
}
