/** Callers of `runtime.volumes` who wait for what they asked for: woken by the commits of the volume concerned. */
import type { StateValue } from 'xstate';
import { volumesPrefix } from '../../machines/kit/addresses.js';
import { nameOf } from '../../machines/volume/requests.js';
import type { VolumeContext, VolumeKey } from '../../machines/volume/types.js';
import type { Clock } from '../engine/clock.js';
import type { ActorSystem } from '../engine/engine.js';
import type { StagecraftError } from '../errors.js';
import { type ActorGoal, ActorWaits } from '../requests/actor-waits.js';
import type { Telling } from '../requests/await-options.js';
import { addressOf } from './volume-checks.js';
import { stateOf, troubleOf } from './volume-view.js';

export interface Goal<T> extends Omit<ActorGoal<T>, 'address' | 'name' | 'reached'>, Telling {
  key: VolumeKey;
  /** What is waited for; absent while it is not there. What it throws ends the wait. */
  reached(context: VolumeContext, state: StateValue): T | undefined;
}

export class VolumeWaits {
  readonly #waits: ActorWaits;

  constructor(engine: ActorSystem, clock: Clock) {
    this.#waits = new ActorWaits({
      engine,
      clock,
      prefix: volumesPrefix,
      describe: ({ state, context }) => {
        const trouble = troubleOf(context as VolumeContext);
        return `${stateOf(state)}${trouble ? `: ${trouble.message}` : ''}`;
      },
    });
  }

  /**
   * Resolves once it is reached.
   * @throws StagecraftError what `reached` throws; TIMEOUT, ABORTED, RUNTIME_CLOSED: the work goes on, and how far it is
   */
  until<T>({ key, reached, tell, ...goal }: Goal<T>): Promise<T> {
    return this.#waits.until({
      ...goal,
      address: addressOf(key),
      name: nameOf(key),
      reached: ({ context, state }) => {
        // The engine keeps contexts as the machines made them, but does not know their types.
        const volume = context as VolumeContext;
        const found = reached(volume, state);
        tell?.((found === undefined && troubleOf(volume)?.message) || null);
        return found;
      },
    });
  }

  /** Another runtime leads from here on: who waits hears so, by what `peek` throws. */
  interrupt(): void {
    this.#waits.interrupt();
  }

  /** Ends all waiting. */
  close(reason: StagecraftError): void {
    this.#waits.close(reason);
  }
}
