/**
 * What all requests to volumes go through: looks at one, asks it, waits for what becomes of it. Once it is closed it refuses
 * all, and ends all waiting. What is asked of volumes, and what is waited for, say those who have it.
 */

import { creationFailure, isDeleted } from '../../machines/volume/lifecycle.js';
import { nameOf, refusalOf } from '../../machines/volume/requests.js';
import type { VolumeContext, VolumeRequest } from '../../machines/volume/types.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf, type ViewOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import { StagecraftError } from '../errors.js';
import { type ActorGoal, ActorWaits } from '../requests/actor-waits.js';
import type { AwaitOptions, Telling } from '../requests/await-options.js';
import { keyOf, type VolumeKeyInput } from '../requests/fields.js';
import { inTime } from '../requests/limited.js';
import { addressOf, deleted, failedCreation, notFound } from './volume-checks.js';
import { stateOf, troubleOf } from './volume-view.js';

type VolumeView = ViewOf<typeof volumeMachine>;

export interface Goal<T> extends Omit<ActorGoal<typeof volumeMachine, T>, 'address' | 'name' | 'reached'>, Telling {
  key: VolumeKey;
  /** What is waited for; absent while it is not there. What it throws ends the wait. */
  reached(context: VolumeContext, state: VolumeView['state']): T | undefined;
}

export class VolumeClient {
  readonly clock: Clock;
  readonly #volumes: ActorsOf<typeof volumeMachine>;
  readonly #waits: ActorWaits<typeof volumeMachine>;
  /** By address: how many requests are not answered yet. */
  readonly #underWay = new Map<string, number>();
  #closed: StagecraftError | undefined;

  constructor({ engine, clock }: { engine: ActorSystem; clock: Clock }) {
    this.clock = clock;
    this.#volumes = new ActorsOf(engine, volumeMachine);
    const describe = ({ state, context }: VolumeView): string => {
      const trouble = troubleOf(context);
      return `${stateOf(state)}${trouble ? `: ${trouble.message}` : ''}`;
    };
    this.#waits = new ActorWaits({ actors: this.#volumes, clock, describe });
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** Runs the work for a caller within the caller's time. */
  inTime<T>(waiting: AwaitOptions, work: (limit?: AbortSignal) => Promise<T>): Promise<T> {
    return inTime(this.clock, waiting, work);
  }

  /**
   * Resolves once the request is committed. The committed state may refuse it already: that is answered at once, without a commit,
   * unless the volume has other requests to answer first. A request that seems to be fulfilled is sent all the same: its opposite
   * may be on its way to the store, and another runtime may lead, which only a commit can tell.
   * @throws StagecraftError why it is refused
   */
  async ask(key: VolumeKey, request: VolumeRequest, limit?: AbortSignal): Promise<void> {
    const address = addressOf(key);
    const before = this.#underWay.get(address) ?? 0;
    if (before === 0) this.#refuse(address, request);
    this.#underWay.set(address, before + 1);
    try {
      await this.#volumes.ask(address, request, { signal: limit });
    } finally {
      const left = (this.#underWay.get(address) ?? 0) - 1;
      if (left > 0) this.#underWay.set(address, left);
      else this.#underWay.delete(address);
    }
  }

  /** @throws StagecraftError why the committed state refuses it */
  #refuse(address: string, request: VolumeRequest): void {
    const view = this.#volumes.peek(address);
    if (!view || stateOf(view.state) === 'deleted') return;
    const refusal = refusalOf(view.context, request);
    if (refusal) throw new StagecraftError(refusal.code, refusal.message, { address });
  }

  /** The same of one that is there. @throws StagecraftError VOLUME_NOT_FOUND, INVALID_ARGUMENT; why every call is refused */
  async tell(key: VolumeKeyInput, request: VolumeRequest): Promise<void> {
    this.refuseIfClosed();
    const known = keyOf(key);
    if (!(await this.view(known))) throw notFound(known);
    await this.ask(known, request);
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
        const found = reached(context, state);
        tell?.((found === undefined && troubleOf(context)?.message) || null);
        return found;
      },
    });
  }

  /** Undefined where there is none. */
  view(key: VolumeKey, limit?: AbortSignal): Promise<VolumeView | undefined> {
    return this.#volumes.read(addressOf(key), limit);
  }

  /** @throws StagecraftError VOLUME_NOT_FOUND */
  async present(key: VolumeKey, limit?: AbortSignal): Promise<VolumeView> {
    const view = await this.view(key, limit);
    if (!view) throw notFound(key);
    if (stateOf(view.state) === 'deleted') throw deleted(key, view.context);
    return view;
  }

  /** The volume once it is made, or goes. @throws StagecraftError why it can't be made; TIMEOUT, ABORTED */
  async made(key: VolumeKey, waiting: AwaitOptions & Telling): Promise<VolumeContext> {
    const { context } = await this.present(key, waiting.signal);
    const reached: Goal<VolumeContext>['reached'] = (now) => {
      if (now.csi || isDeleted(now.lifecycle)) return now;
      const failure = creationFailure(now.lifecycle);
      if (failure) throw failedCreation(key, failure);
      return undefined;
    };
    if (context.csi) return context;
    return this.until({ key, goal: 'created', reached, standing: 'nothing was asked of it', ...waiting });
  }

  /** What was asked of a volume is asked of no other, and of none that goes. */
  refuseIfGone(key: VolumeKey, { asked, now, goal }: { asked: VolumeContext; now: VolumeContext; goal: string }): void {
    const failure = creationFailure(now.lifecycle);
    if (failure) throw failedCreation(key, failure);
    if (now.uid === asked.uid && !isDeleted(now.lifecycle)) return;
    const message = `${nameOf(key)} was deleted before it was ${goal}`;
    throw new StagecraftError('ABORTED', message, { address: addressOf(key) });
  }

  /** @throws StagecraftError why every call is refused */
  refuseIfClosed(): void {
    if (this.#closed) throw this.#closed;
  }

  /** Another runtime leads from here on: who waits hears so, by what `peek` throws. */
  interrupt(): void {
    this.#waits.interrupt();
  }

  /** Ends all waiting; every later call is refused. */
  close(reason: StagecraftError): void {
    this.#closed ??= reason;
    this.#waits.close(this.#closed);
  }
}
