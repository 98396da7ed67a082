/**
 * Modes that an alloc leaves open of how it uses its volumes: as it has them already, else as each volume was made first.
 * That is looked up before anything is asked of the alloc, and waited for where whoever has the volumes is away.
 */
import type { AllocVolume } from '../../machines/alloc-types.js';
import { heed, unlessAborted } from '../abort.js';
import { type Clock, pause } from '../engine/clock.js';
import { messageOf, StagecraftError } from '../errors.js';
import { firstPauseMs, longestPauseMs } from './alloc-work.js';
import { type ClaimClient, isRetryable, type KnownVolume } from './claim-client.js';
import { type AskedVolume, hasModes, withModes } from './mount-spec.js';

export interface OpenModesOptions {
  node: string;
  claims: Pick<ClaimClient, 'look'>;
  clock: Clock;
}

/** For whom it is, and how long. */
export interface OpenModesOf {
  allocId: string;
  address: string;
  /** What it has already. */
  had: readonly AllocVolume[];
  timeoutMs: number | undefined;
  signal: AbortSignal | undefined;
}

type Tell = (reason: string) => void;

export class OpenModes {
  readonly #options: OpenModesOptions;
  /** By the address of an alloc: what ends the looks that are made for it. */
  readonly #underWay = new Map<string, Set<AbortController>>();

  constructor(options: OpenModesOptions) {
    this.#options = options;
  }

  /**
   * @returns the same, with their modes
   * @throws StagecraftError VOLUME_NOT_FOUND; what ends it by `end`; TIMEOUT, ABORTED, with what it waited for
   */
  async fill(asked: readonly AskedVolume[], of: OpenModesOf): Promise<AskedVolume[]> {
    const known = asked.map((one) =>
      withModes(
        one,
        of.had.filter((own) => isSameVolume(own, one)),
      ),
    );
    if (known.every(hasModes)) return known;
    const end = new AbortController();
    const waits = new Map<string, string>();
    const leave = this.#enter(end, waits, of);
    const filled = async (one: AskedVolume): Promise<AskedVolume> => {
      const tell: Tell = (reason) => waits.set(one.name, reason);
      return withModes(one, (await this.#look(one, end.signal, tell)).capabilities);
    };
    try {
      return await Promise.all(known.map((one) => (hasModes(one) ? one : filled(one))));
    } finally {
      leave();
      end.abort();
    }
  }

  /** Nothing is looked up for that alloc any more. */
  end(address: string, reason: StagecraftError): void {
    for (const one of this.#underWay.get(address) ?? []) one.abort(reason);
  }

  /** The same for all. */
  close(reason: StagecraftError): void {
    for (const address of [...this.#underWay.keys()]) this.end(address, reason);
  }

  /** Ends it in time, by its signal, and where somebody else does. @returns it has ended */
  #enter(
    end: AbortController,
    waits: ReadonlyMap<string, string>,
    { allocId, address, timeoutMs, signal }: OpenModesOf,
  ): () => void {
    const give = (code: string, why: string): void => {
      const reasons = [...waits].map(([name, reason]) => `${name}: ${reason}`).join('; ');
      const still = reasons === '' ? '' : ` (${reasons})`;
      const message = `${why} before the volumes of alloc ${allocId} were looked up${still}: nothing was begun`;
      end.abort(new StagecraftError(code, message, { address }));
    };
    const cancel =
      timeoutMs === undefined
        ? undefined
        : this.#options.clock.after(timeoutMs, () => give('TIMEOUT', 'its time was over'));
    const hearNoMore = signal && heed(signal, () => give('ABORTED', 'the wait was given up'));
    const own = this.#underWay.get(address) ?? new Set();
    this.#underWay.set(address, own.add(end));
    return () => {
      cancel?.();
      hearNoMore?.();
      if (own.delete(end) && own.size === 0) this.#underWay.delete(address);
    };
  }

  async #look({ volume }: AskedVolume, signal: AbortSignal, tell: Tell): Promise<KnownVolume> {
    const { claims, node, clock } = this.#options;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        return await unlessAborted(signal, () => claims.look(volume, { nodeId: node }, { signal }));
      } catch (error) {
        if (signal.aborted || !isRetryable(error)) throw error;
        tell(messageOf(error));
      }
      await pause(clock, pauseMs, signal);
    }
  }
}

const isSameVolume = (own: AllocVolume, { name, volume }: AskedVolume): boolean =>
  own.name === name && own.volume.namespace === volume.namespace && own.volume.id === volume.id;
