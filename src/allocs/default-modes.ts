/**
 * Fills in the modes that an alloc leaves out: those that it has already, else the first of each volume. Looked up
 * before anything is asked of the alloc; waits while the controller side is away.
 */
import type { AllocVolume } from '../../machines/alloc/types.js';
import { abortedAs } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import { answerWithin } from '../engine/deadline.js';
import type { Engine } from '../engine/engine.js';
import { troubleMs } from '../engine/storage/store-patience.js';
import { type ErrorCode, isRetryable, StagecraftError } from '../errors.js';
import type { ClaimClient, KnownVolume } from '../mounts/claim-client.js';
import { type AskedVolume, hasModes, withModes } from '../mounts/mount-spec.js';
import { retrying } from './alloc-faults.js';

interface OpenModesOptions {
  node: string;
  claims: Pick<ClaimClient, 'look'>;
  clock: Clock;
  engine: Pick<Engine, 'storeTrouble'>;
}

/** Alloc, and limits of the look. */
interface OpenModesOf {
  allocId: string;
  address: string;
  /** Volumes that the alloc has already. */
  had: readonly AllocVolume[];
  timeoutMs: number | undefined;
  signal: AbortSignal | undefined;
}

export class DefaultModes {
  readonly #options: OpenModesOptions;
  /** Looks under way, with the address of their alloc. */
  readonly #underWay = new Map<AbortController, string>();

  constructor(options: OpenModesOptions) {
    this.#options = options;
  }

  /**
   * @returns the volumes with their modes
   * @throws StagecraftError VOLUME_NOT_FOUND; the reason given to `end`; TIMEOUT, ABORTED, with what it waited for
   */
  async fill(asked: readonly AskedVolume[], of: OpenModesOf): Promise<AskedVolume[]> {
    const known = asked.map((one) =>
      withModes(
        one,
        of.had.filter((own) => isSameVolume(own, one)),
      ),
    );
    if (known.every(hasModes)) return known;
    const { claims, node, clock, engine } = this.#options;
    const { allocId, address, timeoutMs, signal } = of;
    const waits = new Map<string, string>();
    const failed = (code: ErrorCode): StagecraftError => {
      const why = code === 'TIMEOUT' ? 'its time was over' : 'the wait was given up';
      const reasons = [...waits].map(([name, reason]) => `${name}: ${reason}`).join('; ');
      const still = reasons === '' ? '' : ` (${reasons})`;
      const message = `${why} before the volumes of alloc ${allocId} were looked up${still}: nothing was begun`;
      const cause = code === 'TIMEOUT' ? engine.storeTrouble(troubleMs(timeoutMs)) : undefined;
      return cause
        ? new StagecraftError('STORE_UNAVAILABLE', `${message}; ${cause.message}`, {
            address,
            outcome: 'refused',
            cause,
          })
        : new StagecraftError(code, message, { address });
    };
    const filled = async (one: AskedVolume, given: AbortSignal): Promise<AskedVolume> => {
      const onWait = (reason: string | null): unknown =>
        reason === null ? waits.delete(one.name) : waits.set(one.name, reason);
      const look = (): Promise<KnownVolume> => claims.look(one.volume, { nodeId: node }, { signal: given });
      const { capabilities } = await retrying({ clock, signal: given, onWait, mayRetry }, look);
      return withModes(one, capabilities);
    };
    // Without the store nothing can be prepared.
    const mayRetry = (error: unknown): boolean => isRetryable(error) && !engine.storeTrouble();
    const end = new AbortController();
    this.#underWay.set(end, address);
    try {
      const ends = [signal && abortedAs(signal, () => failed('ABORTED')), end.signal];
      return await answerWithin({ clock, timeoutMs, late: () => failed('TIMEOUT'), ends }, (given) =>
        Promise.all(known.map((one) => (hasModes(one) ? one : filled(one, given)))),
      );
    } finally {
      this.#underWay.delete(end);
    }
  }

  /** Ends the looks for that alloc. */
  end(address: string, reason: StagecraftError): void {
    for (const [end, own] of this.#underWay) if (own === address) end.abort(reason);
  }

  /** Ends all looks. */
  close(reason: StagecraftError): void {
    for (const end of this.#underWay.keys()) end.abort(reason);
  }
}

const isSameVolume = (own: AllocVolume, { name, volume }: AskedVolume): boolean =>
  own.name === name && own.volume.namespace === volume.namespace && own.volume.id === volume.id;
