/**
 * Reads volumes, sends them requests, and waits for a goal in their committed state. All requests to volumes use it.
 * A closed client refuses every call and ends all waits.
 */

import { isDeleted } from '../../machines/volume/lifecycle.js';
import { nameOf } from '../../machines/volume/requests.js';
import { volumeStateOf } from '../../machines/volume/states.js';
import type { VolumeContext, VolumeRequest } from '../../machines/volume/types.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf, type ViewOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import { StagecraftError } from '../errors.js';
import { type ActorGoal, ActorWaits } from '../requests/actor-waits.js';
import type { AwaitOptions, WaitReporting } from '../requests/await-options.js';
import { keyOf, type VolumeKeyInput } from '../requests/fields.js';
import { inTime } from '../requests/limited.js';
import type { FormerHolders } from './former-holders.js';
import { addressOf, failedCreation, notFound } from './volume-checks.js';
import { troubleOf } from './volume-view.js';

/** Codes of refusals and waits that somebody who has the volume causes. */
const isInTheWay: ReadonlySet<string> = new Set(['VOLUME_IN_USE', 'CLAIM_CONFLICT']);

type VolumeView = ViewOf<typeof volumeMachine>;

export interface Goal<T>
  extends Omit<ActorGoal<typeof volumeMachine, T>, 'address' | 'name' | 'reached'>,
    WaitReporting {
  key: VolumeKey;
  /** Returns the result once the goal is reached; undefined before. An error ends the wait. */
  reached(context: VolumeContext, state: VolumeView['state']): T | undefined;
}

export class VolumeClient {
  readonly clock: Clock;
  readonly #volumes: ActorsOf<typeof volumeMachine>;
  readonly #waits: ActorWaits<typeof volumeMachine>;
  readonly #former: Pick<FormerHolders, 'of'> | undefined;
  #closed: StagecraftError | undefined;

  /** @param options `former`: whom a refusal names who may have the volume mounted still; default: nobody */
  constructor({ engine, clock, former }: { engine: ActorSystem; clock: Clock; former?: Pick<FormerHolders, 'of'> }) {
    this.clock = clock;
    this.#former = former;
    this.#volumes = new ActorsOf(engine, volumeMachine);
    const describe = ({ state, context }: VolumeView): string => {
      const trouble = troubleOf(context);
      return `${volumeStateOf(state, context)}${trouble ? `: ${trouble.message}` : ''}`;
    };
    this.#waits = new ActorWaits({ actors: this.#volumes, clock, describe });
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  inTime<T>(waiting: AwaitOptions, work: (limit?: AbortSignal) => Promise<T>): Promise<T> {
    return inTime(this.clock, waiting, work);
  }

  /**
   * Resolves once the request is committed. A request that seems fulfilled is sent all the same: its opposite may not be
   * committed yet, or another runtime may lead, which only a commit shows.
   * @throws StagecraftError the reason of a refusal
   */
  async ask(key: VolumeKey, request: VolumeRequest, limit?: AbortSignal): Promise<void> {
    try {
      await this.#volumes.ask(addressOf(key), request, { signal: limit });
    } catch (error) {
      throw await this.#withHolders(key, error, limit);
    }
  }

  /** Names those who may have the volume mounted at another place: without them nobody knows what the refusal waits for. */
  async #withHolders(key: VolumeKey, error: unknown, limit: AbortSignal | undefined): Promise<unknown> {
    if (!(error instanceof StagecraftError && isInTheWay.has(error.code))) return error;
    const whys = await this.#holders(this.#volumes.peek(addressOf(key))?.context, limit);
    if (whys.length === 0) return error;
    const address = addressOf(key);
    return new StagecraftError(error.code, [error.message, ...whys].join('; '), { address, cause: error });
  }

  /** Says where the volume may be mounted at another place. */
  async #holders(context: VolumeContext | undefined, limit?: AbortSignal): Promise<string[]> {
    if (!context || !this.#former) return [];
    return (await this.#former.of(context, limit)).map(({ why }) => why);
  }

  /**
   * Sends a request, as `ask` does, to a volume that must exist.
   * @throws StagecraftError VOLUME_NOT_FOUND, INVALID_ARGUMENT, RUNTIME_CLOSED
   */
  async askExisting(key: VolumeKeyInput, request: VolumeRequest): Promise<void> {
    this.refuseIfClosed();
    const known = keyOf(key);
    if (!(await this.view(known))) throw notFound(known);
    await this.ask(known, request);
  }

  /**
   * Resolves once the goal is reached.
   * @throws StagecraftError error of `reached`; TIMEOUT, ABORTED, RUNTIME_CLOSED: the work goes on, the message names its state
   */
  until<T>({ key, goal, reached, onWait, standing, gone, timeoutMs, signal }: Goal<T>): Promise<T> {
    let last: VolumeContext | undefined;
    const tell = (context: VolumeContext, isWaiting: boolean): void => {
      last = isWaiting ? context : undefined;
      const trouble = isWaiting ? troubleOf(context) : undefined;
      onWait?.(trouble?.message ?? null);
      if (!trouble || !isInTheWay.has(trouble.code)) return;
      void this.#holders(context).then((whys) => {
        if (whys.length > 0 && last === context) onWait?.([trouble.message, ...whys].join('; '));
      });
    };
    return this.#waits.until({
      goal,
      standing,
      gone,
      timeoutMs,
      signal,
      address: addressOf(key),
      name: nameOf(key),
      reached: ({ context, state }) => {
        const found = reached(context, state);
        if (onWait) tell(context, found === undefined);
        return found;
      },
    });
  }

  view(key: VolumeKey, limit?: AbortSignal): Promise<VolumeView | undefined> {
    return this.#volumes.read(addressOf(key), limit);
  }

  /** @throws StagecraftError VOLUME_NOT_FOUND */
  async present(key: VolumeKey, limit?: AbortSignal): Promise<VolumeView> {
    const view = await this.view(key, limit);
    if (!view) throw notFound(key);
    if (volumeStateOf(view.state, view.context) === 'deleted') throw notFound(key, view.context);
    return view;
  }

  /**
   * Waits until a volume is created or its deletion is asked for.
   * @throws StagecraftError failure of its creation; TIMEOUT, ABORTED
   */
  async made(key: VolumeKey, waiting: AwaitOptions & WaitReporting): Promise<VolumeContext> {
    const { context } = await this.present(key, waiting.signal);
    const reached: Goal<VolumeContext>['reached'] = (now) => {
      if (now.csi || isDeleted(now.lifecycle)) return now;
      const failure = failedCreation(key, now.lifecycle);
      if (failure) throw failure;
      return undefined;
    };
    if (context.csi) return context;
    return this.until({ key, goal: 'created', reached, standing: 'nothing was asked of it', ...waiting });
  }

  /** Ends a request whose volume is being deleted, was replaced by a new one of the same key, or can't be created. */
  refuseIfGone(key: VolumeKey, { asked, now, goal }: { asked: VolumeContext; now: VolumeContext; goal: string }): void {
    const failure = failedCreation(key, now.lifecycle);
    if (failure) throw failure;
    if (now.uid === asked.uid && !isDeleted(now.lifecycle)) return;
    const message = `${nameOf(key)} was deleted before it was ${goal}`;
    throw new StagecraftError('ABORTED', message, { address: addressOf(key) });
  }

  /** @throws StagecraftError the reason given to `close` */
  refuseIfClosed(): void {
    if (this.#closed) throw this.#closed;
  }

  /** Ends all waits with the error of `peek`, as another runtime leads now. */
  interrupt(): void {
    this.#waits.interrupt();
  }

  /** Ends all waits and refuses every later call. */
  close(reason: StagecraftError): void {
    this.#closed ??= reason;
    this.#waits.close(this.#closed);
  }
}
