/**
 * Checks, while the runtime runs, whether the claims of its allocs are still their own: a node that was cut off may
 * have been fenced, and its volumes be in use elsewhere. Checks at intervals and when a plugin is back. Tells an
 * alloc that has lost a claim; an unanswered check is repeated at the next interval.
 */

import { allocMachine } from '../../machines/alloc/alloc.js';
import type { AllocContext, AllocState } from '../../machines/alloc/types.js';
import { isSameData } from '../../machines/kit/same-data.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { unlessAborted } from '../abort.js';
import { claimLost } from '../allocs/alloc-faults.js';
import { type AllocView, allocStateOf } from '../allocs/alloc-view.js';
import { failureOf } from '../calls/call-failure.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import { type Clock, pause } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import { messageOf } from '../errors.js';
import { ActorWaits } from '../requests/actor-waits.js';
import { limited } from '../requests/limited.js';
import type { ClaimClient } from './claim-client.js';

export interface ClaimWatchOptions {
  nodeId: string;
  engine: ActorSystem;
  claims: Pick<ClaimClient, 'holds'>;
  clock: Clock;
  logger: Logger;
}

/** A claim that an alloc has by its record. */
interface Held {
  address: string;
  alloc: AllocContext;
  volume: AllocContext['volumes'][number];
  generation: number;
}

/** States of an alloc whose claims are checked. */
const holding: ReadonlySet<AllocState> = new Set(['preparing', 'prepared', 'recovering']);

/** Whether the alloc may have taken a claim of the volume that its record does not have yet. */
const isClaiming = (state: AllocView['state'], { volumes, parts }: AllocContext, volume: VolumeKey): boolean =>
  holding.has(allocStateOf(state)) &&
  volumes.some((one) => isSameData(one.volume, volume) && parts[one.name]?.generation === undefined);

const intervalMs = 60_000;
/** Checks at the same time. */
const atOnce = 16;
/** Limit for one answer. */
const limitMs = 10_000;

export class ClaimWatch {
  readonly #options: ClaimWatchOptions;
  readonly #allocs: ActorsOf<typeof allocMachine>;
  readonly #waits: ActorWaits<typeof allocMachine>;
  readonly #stop = new AbortController();
  #looking: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(options: ClaimWatchOptions) {
    this.#options = options;
    this.#allocs = new ActorsOf(options.engine, allocMachine);
    const { clock } = options;
    this.#waits = new ActorWaits({ actors: this.#allocs, clock, describe: ({ state }) => allocStateOf(state) });
  }

  start(): void {
    void this.#loop();
  }

  stop(): void {
    this.#stop.abort(new Error('the runtime was closed'));
  }

  /** Checks all claims. Calls during a round share the next round. Never rejects. */
  look(): Promise<void> {
    if (!this.#looking) return this.#begin();
    this.#next ??= this.#looking.then(() => {
      this.#next = undefined;
      return this.#begin();
    });
    return this.#next;
  }

  /** Checks at once, as a claim there was lost; one that is being taken is checked once the record of its alloc has it. */
  async lost(volume: VolumeKey): Promise<void> {
    const claiming = [...this.#allocs.views()].filter(([, { state, context }]) => isClaiming(state, context, volume));
    const later = claiming.map(async ([address, { context }]) => {
      const reached = (now: AllocView): true | undefined =>
        isClaiming(now.state, now.context, volume) ? undefined : true;
      const awaited = { address, name: `alloc ${context.allocId}`, goal: 'claimed', reached, gone: true } as const;
      await this.#waits.until({ ...awaited, signal: this.#stop.signal });
      await this.look();
    });
    await Promise.allSettled([this.look(), ...later]);
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await pause(this.#options.clock, intervalMs, signal);
      if (!signal.aborted) await this.look();
    }
  }

  #begin(): Promise<void> {
    const left = this.#all();
    const silent = (): void => {
      // A claims port that does not answer one check will not answer the others.
      left.length = 0;
    };
    const some = async (): Promise<void> => {
      for (let one = left.pop(); one && !this.#stop.signal.aborted; one = left.pop()) await this.#confirm(one, silent);
    };
    this.#looking = Promise.all(Array.from({ length: atOnce }, some)).then(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #confirm({ address, alloc: { allocId }, volume, generation }: Held, silent: () => void): Promise<void> {
    const { claims, clock, logger } = this.#options;
    // The claims port may not answer at all.
    const failed = (): Error => {
      silent();
      return new Error(`no answer within ${limitMs} ms`);
    };
    try {
      const isHeld = await limited({ clock, timeoutMs: limitMs, failed, end: this.#stop.signal }, (signal) =>
        unlessAborted(signal, () => claims.holds(volume.volume, { allocId, generation }, { signal })),
      );
      if (isHeld) return;
      const failure = failureOf(claimLost(volume, allocId));
      await this.#allocs.report(address, { type: 'alloc.lost', name: volume.name, generation, failure });
    } catch (error) {
      logger.debug({ address }, `whether its claim still is its own can't be known now: ${messageOf(error)}`);
    }
  }

  #all(): Held[] {
    return [...this.#allocs.views()].flatMap(([address, { state, context: alloc }]) => {
      if (!holding.has(allocStateOf(state))) return [];
      return alloc.volumes.flatMap((volume) => {
        const generation = alloc.parts[volume.name]?.generation;
        return generation === undefined ? [] : { address, alloc, volume, generation };
      });
    });
  }
}
