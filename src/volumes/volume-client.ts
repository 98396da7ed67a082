/** Client of volumes: says who else may have a volume that is in the way, and waits until a volume is made. */
import { isDeleted } from '../../machines/volume/lifecycle.js';
import { volumeName } from '../../machines/volume/requests.js';
import { volumeStateOf } from '../../machines/volume/states.js';
import type { VolumeContext, VolumeRequest } from '../../machines/volume/types.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { ViewOf } from '../engine/actors-of.js';
import { StagecraftError } from '../errors.js';
import { ActorClient, type ActorClientPorts, type ActorGoal, type ActorSubject } from '../requests/actor-client.js';
import { type AwaitOptions, inTime, type WaitReporting } from '../requests/await-options.js';
import { volumeKeyOf } from '../requests/fields.js';
import type { FormerHolders } from './node-records.js';
import { addressOf, failedCreation, notFoundError } from './volume-checks.js';
import { shownFailure } from './volume-view.js';

/** Codes of refusals and waits that somebody who has the volume causes. */
const isInTheWay: ReadonlySet<string> = new Set(['VOLUME_IN_USE', 'CLAIM_CONFLICT']);

export type VolumeView = ViewOf<typeof volumeMachine>;

type VolumeGoal<T> = ActorGoal<typeof volumeMachine, VolumeKey, T> & WaitReporting;

const volumes: ActorSubject<typeof volumeMachine, VolumeKey> = {
  machine: volumeMachine,
  keyOf: (given) => volumeKeyOf(given),
  addressOf,
  nameOf: volumeName,
  describe: ({ state, context }) => {
    const trouble = shownFailure(context);
    return `${volumeStateOf(state, context)}${trouble ? `: ${trouble.message}` : ''}`;
  },
  notFound: (key) => notFoundError(key),
};

export class VolumeClient extends ActorClient<typeof volumeMachine, VolumeKey> {
  readonly #former: Pick<FormerHolders, 'of'> | undefined;

  /** @param ports `former`: whom a refusal names who may have the volume mounted still; default: nobody */
  constructor(ports: ActorClientPorts & { former?: Pick<FormerHolders, 'of'> }) {
    super(ports, volumes);
    this.#former = ports.former;
  }

  inTime<T>(waiting: AwaitOptions, work: (limit?: AbortSignal) => Promise<T>): Promise<T> {
    return inTime(this.clock, waiting, work);
  }

  override async ask(key: VolumeKey, request: VolumeRequest, limit?: AbortSignal): Promise<void> {
    try {
      await super.ask(key, request, limit);
    } catch (error) {
      throw await this.#withHolders(key, error, limit);
    }
  }

  /** Names those who may have the volume mounted at another place: without them nobody knows what the refusal waits for. */
  async #withHolders(key: VolumeKey, error: unknown, limit: AbortSignal | undefined): Promise<unknown> {
    if (!(error instanceof StagecraftError && isInTheWay.has(error.code))) return error;
    const whys = await this.#holders(this.peek(key)?.context, limit);
    if (whys.length === 0) return error;
    const address = addressOf(key);
    return new StagecraftError(error.code, [error.message, ...whys].join('; '), { address, cause: error });
  }

  /** Says where the volume may be mounted at another place. */
  async #holders(context: VolumeContext | undefined, limit?: AbortSignal): Promise<string[]> {
    if (!context || !this.#former) return [];
    return (await this.#former.of(context, limit)).map(({ why }) => why);
  }

  override until<T>({ onWait, ...goal }: VolumeGoal<T>): Promise<T> {
    if (!onWait) return super.until(goal);
    let last: VolumeContext | undefined;
    const tell = (context: VolumeContext, isWaiting: boolean): void => {
      last = isWaiting ? context : undefined;
      const trouble = isWaiting ? shownFailure(context) : undefined;
      onWait(trouble?.message ?? null);
      if (!trouble || !isInTheWay.has(trouble.code)) return;
      void this.#holders(context).then((whys) => {
        if (whys.length > 0 && last === context) onWait([trouble.message, ...whys].join('; '));
      });
    };
    const reached = (view: VolumeView): T | undefined => {
      const found = goal.reached(view);
      tell(view.context, found === undefined);
      return found;
    };
    return super.until({ ...goal, reached });
  }

  /** @throws StagecraftError VOLUME_NOT_FOUND */
  async present(key: VolumeKey, limit?: AbortSignal): Promise<VolumeView> {
    const view = await this.view(key, limit);
    if (!view) throw notFoundError(key);
    if (volumeStateOf(view.state, view.context) === 'deleted') throw notFoundError(key, view.context);
    return view;
  }

  /**
   * Waits until a volume is created or its deletion is asked for.
   * @throws StagecraftError failure of its creation; TIMEOUT, ABORTED
   */
  async made(key: VolumeKey, waiting: AwaitOptions & WaitReporting): Promise<VolumeContext> {
    const { context } = await this.present(key, waiting.signal);
    const reached = ({ context: now }: VolumeView): VolumeContext | undefined => {
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
    const message = `${volumeName(key)} was deleted before it was ${goal}`;
    throw new StagecraftError('ABORTED', message, { address: addressOf(key) });
  }
}
