/**
 * The allocs of a history of mounts, in small: what each is to have is kept, as an alloc's actor keeps it, so that the next
 * runtime goes on with it. What a claim is for: machines/alloc/alloc.ts
 */
import type { Capability } from '../../machines/kit/csi-types.js';
import { isSameData } from '../../machines/kit/same-data.js';
import { pause } from '../../src/engine/clock.js';
import { StagecraftError } from '../../src/errors.js';
import type { KnownMount } from '../../src/mounts/mount-spec.js';
import type { SimulatedClaims } from './mounts-claims.js';
import type { MountsLife } from './mounts-life.js';

/** What an alloc is to have, as data. */
export interface AllocNow {
  volume: string;
  allocId: string;
  usage: Capability;
  readOnly: boolean;
  wish: 'mounted' | 'released';
  /** Of its claim; absent: it has none yet. */
  generation?: number;
}

interface KeptAlloc extends AllocNow {
  /** What is being done for it. */
  bringing: { life: MountsLife; end: AbortController; ended: Promise<void> }[];
}

const againMs = 1_000;

export class MountsAllocs {
  readonly #claims: SimulatedClaims;
  /** By volume and alloc. */
  readonly #kept = new Map<string, KeptAlloc>();

  constructor(claims: SimulatedClaims) {
    this.#claims = claims;
  }

  get now(): AllocNow[] {
    return [...this.#kept.values()].map(({ bringing: _, ...one }) => one);
  }

  /** They are as others were. */
  takeUp(allocs: readonly AllocNow[]): void {
    for (const one of allocs) this.#kept.set(`${one.volume} ${one.allocId}`, { ...one, bringing: [] });
  }

  has(volume: string, allocId: string): boolean {
    return this.#kept.has(`${volume} ${allocId}`);
  }

  /** Those that are to have a volume. */
  get mounted(): { volume: string; alloc: string }[] {
    return [...this.#kept.values()].map(({ volume, allocId }) => ({ volume, alloc: allocId }));
  }

  /** Claims the volume, then has it mounted. Rejects where that fails: then the alloc is released. */
  async prepare(life: MountsLife, { key, allocId, usage, readOnly }: KnownMount, signal: AbortSignal): Promise<void> {
    const name = `${key.id} ${allocId}`;
    const present = this.#kept.get(name);
    if (present) refuseReleased(life, present);
    if (present && (present.readOnly !== readOnly || !isSameData(present.usage, usage)))
      throw new StagecraftError('CLAIM_CONFLICT', `alloc ${allocId} has it otherwise`);
    const one = present ?? { volume: key.id, allocId, usage, readOnly, wish: 'mounted' as const, bringing: [] };
    this.#kept.set(name, one);
    const end = new AbortController();
    signal.addEventListener('abort', () => end.abort(signal.reason), { once: true });
    const done = this.#bring(life, one, end.signal);
    one.bringing = [
      ...one.bringing.filter((before) => before.life === life),
      { life, end, ended: done.catch(() => {}) },
    ];
    try {
      await done;
    } catch (error) {
      if (one.wish === 'mounted' && actsStill(life) && !present) void this.#undo(life, one);
      throw error;
    }
  }

  async release(life: MountsLife, volume: string, allocId: string, signal: AbortSignal): Promise<void> {
    const one = this.#kept.get(`${volume} ${allocId}`);
    if (one) await this.#release(life, one, signal);
  }

  /** Goes on with all of them, as a runtime starts. */
  async recover(life: MountsLife): Promise<void> {
    for (const one of this.#kept.values()) if (one.wish === 'released') void this.#undo(life, one);
    await Promise.race([this.look(life), pause(life.clock, againMs)]);
    void this.#insist(life);
  }

  /** Asks whether their claims are held still: what is claimed is mounted, all else is released. */
  async look(life: MountsLife): Promise<boolean> {
    const looks = [...this.#kept.values()].map((one) => this.#lookAt(life, one));
    return (await Promise.all(looks)).every((isAnswered) => isAnswered);
  }

  async #lookAt(life: MountsLife, one: KeptAlloc): Promise<boolean> {
    const { volume, allocId, generation, wish } = one;
    if (wish === 'released') return true;
    const key = keyOf(volume);
    const claims = this.#claims.client(life.clock);
    try {
      // One whose claim was never answered is not prepared: its runtime died over it.
      const isHeld =
        generation !== undefined && (await claims.holds(key, { allocId, generation }, { signal: neverAborted }));
      // Claimed again since it was asked: the answer is about the claim before.
      if (one.generation !== generation) return true;
      if (isHeld) await life.mounting.confirm({ key, allocId });
      else void this.#undo(life, one);
      return true;
    } catch {
      return false;
    }
  }

  async #insist(life: MountsLife): Promise<void> {
    while (actsStill(life) && !(await this.look(life))) await pause(life.clock, againMs);
  }

  async #bring(life: MountsLife, one: KeptAlloc, signal: AbortSignal): Promise<void> {
    const { volume, allocId, usage, readOnly } = one;
    const key = keyOf(volume);
    const claims = this.#claims.client(life.clock);
    const asked = { key, allocId, usage, readOnly };
    const mount = await life.mounting.check(asked, signal, { wait: true });
    const request = { allocId, nodeId: life.client.node, mode: readOnly ? 'read' : 'write', ...usage } as const;
    const { generation } = await claims.claim(key, request, { signal });
    refuseReleased(life, one);
    one.generation = generation;
    const publishing = { ...life.mounting.publishing(asked), claim: { allocId, generation } };
    const published = await claims.publish(key, publishing, { signal });
    refuseReleased(life, one);
    await life.mounting.bring(mount, published, { signal });
  }

  /** As often as it takes. */
  async #undo(life: MountsLife, one: KeptAlloc): Promise<void> {
    while (actsStill(life) && this.#kept.get(`${one.volume} ${one.allocId}`) === one) {
      try {
        await this.#release(life, one, neverAborted);
      } catch {
        await pause(life.clock, againMs);
      }
    }
  }

  /** Unmounts it, then gives up its claim. */
  async #release(life: MountsLife, one: KeptAlloc, signal: AbortSignal): Promise<void> {
    const { volume, allocId } = one;
    const key = keyOf(volume);
    one.wish = 'released';
    const bringing = one.bringing.filter((before) => before.life === life);
    for (const { end } of bringing) end.abort(new StagecraftError('ABORTED', `alloc ${allocId} is being released`));
    await Promise.all(bringing.map(({ ended }) => ended));
    await life.mounting.take({ key, allocId }, { signal });
    if (!actsStill(life)) throw new StagecraftError('NOT_LEADER', `${life.name} was replaced`);
    const claims = this.#claims.client(life.clock);
    const { generation } = await claims.release(key, { allocId, nodeId: life.client.node }, { signal });
    if (generation !== undefined)
      await claims.unstaged(key, { nodeId: life.client.node, allocId, generation }, { signal });
    if (actsStill(life) && this.#kept.get(`${volume} ${allocId}`) === one) this.#kept.delete(`${volume} ${allocId}`);
  }
}

/** A runtime that was replaced changes nothing that is kept. */
const actsStill = (life: MountsLife): boolean => life.isAlive && !life.isReplaced;

function refuseReleased(life: MountsLife, { allocId, wish }: KeptAlloc): void {
  if (!actsStill(life)) throw new StagecraftError('NOT_LEADER', `${life.name} was replaced`);
  if (wish === 'released') throw new StagecraftError('ABORTED', `alloc ${allocId} is being released`);
}

const neverAborted = new AbortController().signal;

export const keyOf = (id: string): { namespace: string; id: string } => ({ namespace: 'default', id });
