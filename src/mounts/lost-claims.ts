/**
 * Tells allocs which of their claims are lost: a node that was cut off may have been fenced, and its volumes be in use elsewhere.
 */
import { allocMachine } from '../../machines/alloc/alloc.js';
import type { AllocContext, AllocState } from '../../machines/alloc/types.js';
import { isSameData } from '../../machines/kit/same-data.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { onAbort } from '../abort.js';
import { claimLost } from '../allocs/alloc-faults.js';
import { type AllocView, allocStateOf } from '../allocs/alloc-view.js';
import { callFailureOf } from '../calls/call-failure.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import { holdsClaim } from './claim-client.js';
import type { Concern, Question } from './volume-watch.js';

/** States of an alloc whose claims are asked about. */
const holding: ReadonlySet<AllocState> = new Set(['preparing', 'prepared', 'recovering']);

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
    await new Promise<void>((resolve) => {
      const stop = this.#allocs.observe(() => {
        if (!this.#isClaiming(volume)) resolve(stop());
      });
      onAbort(signal, () => resolve(stop()));
    });
    return true;
  }

  #isClaiming(volume: VolumeKey): boolean {
    return this.#holding().some(
      ([
        ,
        {
          context: { volumes, parts },
        },
      ]) => volumes.some((one) => isSameData(one.volume, volume) && parts[one.name]?.generation === undefined),
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
