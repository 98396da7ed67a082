/** Callers of `runtime.volumes` who wait for what they asked for: woken by the commits of the volume concerned. */
import type { StateValue } from 'xstate';
import { volumesPrefix } from '../../machines/addresses.js';
import { nameOf } from '../../machines/volume-requests.js';
import type { VolumeContext, VolumeKey } from '../../machines/volume-types.js';
import type { ActorDoor } from '../engine/actor-door.js';
import type { Clock } from '../engine/clock.js';
import type { ActorView } from '../engine/engine.js';
import { Waiters } from '../engine/waiters.js';
import { StagecraftError } from '../errors.js';
import { addressOf } from './volume-checks.js';
import { stateOf, troubleOf } from './volume-view.js';

export interface Goal<T> {
  key: VolumeKey;
  /** In words, after `was`. */
  goal: string;
  /** What is waited for; absent while it is not there. What it throws ends the wait. */
  reached(context: VolumeContext, state: StateValue): T | undefined;
  /** The answer where the volume is not there any more; absent: that is an error. */
  gone?: T;
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** What becomes of the request where the wait ends in vain; default: it stands, and the work goes on. */
  standing?: string;
}

type Awaited = Pick<Goal<unknown>, 'key' | 'goal' | 'standing'>;

export class VolumeWaits {
  readonly #engine: ActorDoor;
  readonly #clock: Clock;
  /** By the address of a volume: it has committed, or all is over. */
  readonly #waiters = new Waiters();
  #closed: StagecraftError | undefined;

  constructor(engine: ActorDoor, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
    engine.observe(({ address }) => {
      if (address.startsWith(volumesPrefix)) this.#waiters.wake(address);
    });
  }

  /**
   * Resolves once it is reached.
   * @throws StagecraftError what `reached` throws; TIMEOUT, ABORTED, RUNTIME_CLOSED: the work goes on, and how far it is
   */
  async until<T>({ key, goal, reached, gone, timeoutMs, signal, standing }: Goal<T>): Promise<T> {
    const awaited: Awaited = { key, goal, ...(standing !== undefined && { standing }) };
    const address = addressOf(key);
    // At rest it may have left memory already.
    if (!this.#engine.has(address)) await this.#engine.read(address);
    const unfinished = (code: string, why: string): StagecraftError => this.#unfinished(code, why, awaited);
    const look = (): T | undefined => {
      const view = this.#seen(address, awaited);
      const found = view && reached(view.context as VolumeContext, view.state);
      if (found !== undefined) return found;
      if (this.#closed) throw unfinished(this.#closed.code, this.#closed.message);
      if (view || gone !== undefined) return view ? undefined : gone;
      throw new StagecraftError('ABORTED', `${nameOf(key)} was deleted before it was ${goal}`, { address });
    };
    return this.#waiters.until(address, look, {
      clock: this.#clock,
      ...(timeoutMs !== undefined && { timeoutMs }),
      signal,
      failed: unfinished,
    });
  }

  /** Another runtime leads from here on: who waits hears so, by what `peek` throws. */
  interrupt(): void {
    this.#waiters.wakeAll();
  }

  /** Ends all waiting. */
  close(reason: StagecraftError): void {
    this.#closed ??= reason;
    this.#waiters.wakeAll();
  }

  /** What is committed. @throws StagecraftError where another runtime leads: what was asked for is its work now */
  #seen(address: string, { key, goal, standing }: Awaited): ActorView | undefined {
    try {
      return this.#engine.peek(address);
    } catch (cause) {
      if (!(cause instanceof StagecraftError)) throw cause;
      const now = standing ?? 'the request stands, and the work goes on there';
      const message = `before ${nameOf(key)} was ${goal}: ${cause.message}; ${now}`;
      throw new StagecraftError(cause.code, message, { address, cause });
    }
  }

  #unfinished(code: string, why: string, awaited: Awaited): StagecraftError {
    const { key, goal, standing = 'the request stands, and the work goes on' } = awaited;
    const address = addressOf(key);
    const view = this.#seen(address, awaited);
    const trouble = view && troubleOf(view.context as VolumeContext);
    const now = view ? `it is ${stateOf(view.state)}${trouble ? `: ${trouble.message}` : ''}` : 'look at it again';
    const message = `${why} before ${nameOf(key)} was ${goal}; ${standing}: ${now}`;
    return new StagecraftError(code, message, { address });
  }
}
