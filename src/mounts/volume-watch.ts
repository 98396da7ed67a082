/**
 * Asks the controller side about the volumes that this node has: about all at intervals and when a plugin is back, about one after
 * a notice. One question is asked for a volume; each concern takes from the answer what it needs.
 */
import { allocMachine } from '../../machines/alloc/alloc.js';
import type { AllocContext, AllocState } from '../../machines/alloc/types.js';
import { volumeAddress } from '../../machines/kit/addresses.js';
import type { CapacityRange } from '../../machines/kit/csi-types.js';
import { isSameData } from '../../machines/kit/same-data.js';
import { mountMachine } from '../../machines/mount/mount.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { onAbort } from '../abort.js';
import { claimLost } from '../allocs/alloc-faults.js';
import { type AllocView, allocStateOf } from '../allocs/alloc-view.js';
import { callFailureOf } from '../calls/call-failure.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import { type Clock, pause } from '../engine/clock.js';
import { answerWithin, Unanswered } from '../engine/deadline.js';
import type { TroubleLog } from '../engine/storage/trouble-log.js';
import { messageOf } from '../errors.js';
import { type ClaimClient, type ClaimId, holdsClaim, type KnownOnNode, lookUp } from './claim-client.js';
import { forEachLimited } from './for-each-limited.js';

export interface Question {
  volume: VolumeKey;
  /** Claims that the answer has to tell of. */
  claims?: readonly ClaimId[];
  /** Whether somebody waits for the answer: it is asked again within seconds. */
  isUrgent?: boolean;
  /** @param known undefined: there is no such volume */
  answered(known: KnownOnNode | undefined, signal: AbortSignal): Promise<void>;
}

export interface Concern {
  /** Returns what is to be asked now. What it is compared with is read before the question is asked. */
  questions(): Question[];
  /** Waits for those who are about to have something to ask about the volume. @returns whether there were any */
  settled?(volume: VolumeKey, signal: AbortSignal): Promise<boolean>;
}

export interface VolumeWatchOptions {
  nodeId: string;
  claims: Pick<ClaimClient, 'look' | 'holds'>;
  concerns: readonly Concern[];
  clock: Clock;
  troubles: Pick<TroubleLog, 'failed' | 'over' | 'abandon'>;
}

/** Time between two questions about a volume that cannot wait. */
const urgentMs = 5_000;
/** Urgent rounds to one round of all volumes: one minute. */
const urgentPerRound = 12;
/** Volumes asked about at the same time. */
const atOnce = 16;
/** Limit for one answer. */
const limitMs = 10_000;

export class VolumeWatch {
  readonly #options: VolumeWatchOptions;
  readonly #stop = new AbortController();
  /** The last notice about each volume that no answer has settled yet, by address. */
  readonly #noticed = new Map<string, symbol>();
  #round: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(options: VolumeWatchOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#loop();
  }

  stop(): void {
    this.#stop.abort(new Error('the runtime was closed'));
    this.#options.troubles.abandon(this);
  }

  /** Asks about all volumes. Calls during a round share the next round. Never rejects. */
  lookAtAll(): Promise<void> {
    if (!this.#round) return this.#begin();
    this.#next ??= this.#round.then(() => {
      this.#next = undefined;
      return this.#begin();
    });
    return this.#next;
  }

  /** Asks about a volume at once, and again until that is answered; for those who are late, too. */
  async noticed(volume: VolumeKey): Promise<void> {
    const late = this.#options.concerns.map((one) => one.settled?.(volume, this.#stop.signal));
    await this.#askAtOnce(volume);
    if ((await Promise.all(late)).includes(true)) await this.#askAtOnce(volume);
  }

  async #askAtOnce(volume: VolumeKey): Promise<void> {
    this.#noticed.set(addressOf(volume), Symbol('notice'));
    await this.#ask((one) => isSameData(one.volume, volume));
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stop;
    for (let round = 0; !signal.aborted; round += 1) {
      await (round % urgentPerRound === 0 ? this.lookAtAll() : this.#ask(isUrgent));
      await pause(this.#options.clock, urgentMs, signal);
    }
  }

  #begin(): Promise<void> {
    const { troubles } = this.#options;
    this.#round = this.#ask(() => true).then((failure) => {
      this.#round = undefined;
      if (failure === undefined) return troubles.over(this);
      if (this.#stop.signal.aborted) return;
      const message = `what the controller side knows of the volumes here can't be found out now: ${messageOf(failure)}; it is asked again`;
      troubles.failed(this, { subject: 'the controller side', message, cause: failure });
    });
    return this.#round;
  }

  /** @returns the last failure; undefined: all was answered */
  async #ask(isMeant: (about: AboutVolume) => boolean): Promise<unknown> {
    let failure: unknown;
    const ask = async (about: AboutVolume): Promise<void> => {
      try {
        await this.#askOf(about);
      } catch (error) {
        failure = error;
        // A controller side that does not answer one question will not answer the others.
        if (error instanceof Unanswered || this.#stop.signal.aborted) throw error;
      }
    };
    await forEachLimited(this.#all().filter(isMeant), atOnce, ask).catch(() => undefined);
    return failure;
  }

  #all(): AboutVolume[] {
    const volumes = new Map<string, AboutVolume>();
    for (const question of this.#options.concerns.flatMap((concern) => concern.questions())) {
      const { volume } = question;
      const about = volumes.get(addressOf(volume)) ?? { volume, questions: [] };
      about.questions.push(question);
      volumes.set(addressOf(volume), about);
    }
    for (const [address, notice] of this.#noticed) {
      const about = volumes.get(address);
      if (about) about.notice = notice;
      else this.#noticed.delete(address);
    }
    return [...volumes.values()];
  }

  async #askOf({ volume, questions, notice }: AboutVolume): Promise<void> {
    const { nodeId, claims, clock } = this.#options;
    const { signal: end } = this.#stop;
    const own = questions.flatMap((one) => one.claims ?? []);
    const known = await answerWithin({ clock, timeoutMs: limitMs, ends: [end] }, (signal) =>
      lookUp(claims, volume, { nodeId, claims: own }, { signal }),
    );
    await Promise.all(questions.map((one) => one.answered(known, end)));
    // A later notice may be about what this answer does not tell yet.
    if (this.#noticed.get(addressOf(volume)) === notice) this.#noticed.delete(addressOf(volume));
  }
}

interface AboutVolume {
  volume: VolumeKey;
  questions: Question[];
  /** The last notice about the volume. */
  notice?: symbol;
}

const isUrgent = ({ questions, notice }: AboutVolume): boolean =>
  notice !== undefined || questions.some((one) => one.isUrgent);

const addressOf = ({ namespace, id }: VolumeKey): string => volumeAddress(namespace, id);

/** States of an alloc whose claims are asked about. */
const holding: ReadonlySet<AllocState> = new Set(['preparing', 'prepared', 'recovering']);

/**
 * Tells allocs which of their claims are lost: a node that was cut off may have been fenced, and its volumes be in use elsewhere.
 */
export class LostClaims implements Concern {
  readonly #allocs: ActorsOf<typeof allocMachine>;

  constructor(engine: ActorSystem) {
    this.#allocs = new ActorsOf(engine, allocMachine);
  }

  questions(): Question[] {
    return this.#holding().flatMap(([address, { context }]) =>
      context.volumes.flatMap((one) => this.#questionOf(address, context, one) ?? []),
    );
  }

  /** Waits until the records of allocs that are taking a claim of the volume have it. @returns whether there were any */
  async settled(volume: VolumeKey, signal: AbortSignal): Promise<boolean> {
    if (!this.#isClaiming(volume)) return false;
    let forget = (): void => {};
    let stop = (): void => {};
    await new Promise<void>((resolve) => {
      stop = this.#allocs.observe(() => {
        if (!this.#isClaiming(volume)) resolve();
      });
      forget = onAbort(signal, () => resolve());
    });
    stop();
    forget();
    return true;
  }

  #isClaiming(volume: VolumeKey): boolean {
    return this.#holding().some(([, { context }]) =>
      context.volumes.some(
        (one) => isSameData(one.volume, volume) && context.parts[one.name]?.generation === undefined,
      ),
    );
  }

  #questionOf(
    address: string,
    { allocId, parts }: AllocContext,
    volume: AllocContext['volumes'][number],
  ): Question | undefined {
    const { name } = volume;
    const generation = parts[name]?.generation;
    if (generation === undefined) return undefined;
    const claim = { allocId, generation };
    const answered: Question['answered'] = async (known) => {
      if (holdsClaim(known, claim)) return;
      const failure = callFailureOf(claimLost(volume, allocId));
      await this.#allocs.report(address, { type: 'alloc.lost', name, generation, failure });
    };
    return { volume: volume.volume, claims: [claim], answered };
  }

  #holding(): [address: string, alloc: AllocView][] {
    return [...this.#allocs.views()].filter(([, { state }]) => holding.has(allocStateOf(state)));
  }
}

/**
 * Expands file systems of volumes that have grown while they were mounted here, or while this runtime was away. The controller
 * side knows whether that is due; the mount reports when it is done.
 */
export class Expansions implements Concern {
  readonly #mounts: ActorsOf<typeof mountMachine>;

  constructor(engine: ActorSystem) {
    this.#mounts = new ActorsOf(engine, mountMachine);
  }

  questions(): Question[] {
    return [...this.#mounts.views()].map(([address, { context }]) => ({
      volume: context.key,
      answered: async (known) => this.#expand(address, known?.expansion),
    }));
  }

  async #expand(address: string, capacity: CapacityRange | undefined): Promise<void> {
    const mount = this.#mounts.peek(address);
    if (!mount || !capacity) return;
    const { expansion } = mount.context;
    // The plugin has refused it for good: it is tried again once somebody asks.
    if (expansion?.failure !== undefined && isSameData(expansion.capacity, capacity)) return;
    await this.#mounts.report(address, { type: 'mount.expand', capacity });
  }
}
