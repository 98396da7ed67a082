/** Those who use mounts in a history: they ask, and remember what they were answered. */
import { mountAddress } from '../../machines/kit/addresses.js';
import { StagecraftError } from '../../src/errors.js';
import { keyOf, type MountsAllocs } from './mounts-allocs.js';
import type { SimulatedClaims } from './mounts-claims.js';
import { type MountsLife, nodeId } from './mounts-life.js';
import { allocIds, type MountsStep, type MountsTraits } from './mounts-plan.js';
import type { Timeline } from './timeline.js';

type StepOf<Do extends MountsStep['do']> = Extract<MountsStep, { do: Do }>;
type MountUserStep = StepOf<'mount' | 'unmount' | 'retry' | 'expand' | 'condition' | 'hasten' | 'compare'>;

interface MountUsersOptions {
  timeline: Timeline;
  traits: MountsTraits;
  claims: SimulatedClaims;
  allocs: MountsAllocs;
  /** The runtime that can be asked now. */
  life(): MountsLife | undefined;
  tell(line: string): void;
}

/** What an alloc was answered last about a volume. */
type Answered = { is: 'mounted'; readOnly: boolean } | { is: 'unmounted' };

export class MountUsers {
  readonly faults: string[] = [];
  /** By volume and alloc. Absent: not known. */
  readonly answered = new Map<string, Answered>();
  /** Requests without an answer yet, in words. */
  readonly open = new Map<number, string>();
  readonly #options: MountUsersOptions;
  /** By volume and alloc: counts what was asked. */
  readonly #turns = new Map<string, number>();
  /** The same: unmounts without an answer yet, which may come after a mount that was asked for since. */
  readonly #unmounts = new Map<string, number>();
  #asked = 0;

  constructor(options: MountUsersOptions) {
    this.#options = options;
  }

  /** Nobody gets an answer to what was asked of a runtime that is dead. */
  forget(): void {
    this.open.clear();
    this.#unmounts.clear();
  }

  /** Whatever was mounted may have been unmounted since. */
  fenced(): void {
    for (const name of [...this.#turns.keys()]) this.#turn(name);
  }

  do(step: MountUserStep): void {
    const life = this.#options.life();
    if (!life) return;
    switch (step.do) {
      case 'mount':
        this.#mount(life, step);
        break;
      case 'unmount':
        this.#unmount(life, step);
        break;
      case 'retry':
        void this.#ask(step, () => life.mounter.retry({ id: step.volume }));
        break;
      case 'expand':
        this.#expand(life, step.volume);
        break;
      case 'condition':
        void this.#ask(step, () =>
          life.engine.ask(mountAddress(nodeId, 'default', step.volume), {
            type: 'mount.condition',
            condition: { abnormal: step.abnormal, message: step.abnormal ? 'it is slow' : 'well' },
          }),
        );
        break;
      case 'hasten':
        void this.#ask(step, () => life.mounting.hasten());
        break;
      case 'compare':
        void this.#ask(step, () => life.watch.look());
        break;
    }
  }

  /** Everybody lets go of everything. */
  unmountAll(): void {
    this.#options.tell('all are unmounted');
    for (const volume of Object.keys(this.#options.traits.capabilities))
      for (const alloc of allocIds) this.do({ atMs: 0, do: 'unmount', volume, alloc });
  }

  /** Unmounts what the plugin was to unmount, and has not. @returns whether there was any */
  async clean(): Promise<boolean> {
    const life = this.#options.life();
    if (!life) return false;
    const orphans = (await life.mounter.orphans()).filter(({ plugin }) => plugin !== undefined);
    for (const { path } of orphans) void this.#ask({ do: 'clean', path }, () => life.mounter.cleanOrphan(path));
    return orphans.length > 0;
  }

  #mount(life: MountsLife, step: StepOf<'mount'>): void {
    const { volume, alloc, readOnly, timeoutMs } = step;
    const usage = this.#options.traits.capabilities[volume]?.[step.usage];
    if (!usage) throw new Error(`nobody knows how ${volume} is used`);
    const isBlock = usage.attachmentMode === 'block-device';
    const isReadOnly = (readOnly && !isBlock) || usage.accessMode.endsWith('reader-only');
    const isLast = this.#turn(`${volume} ${alloc}`);
    void this.#ask(step, async () => {
      const request = { allocId: alloc, usage: { ...usage, readOnly: isReadOnly } };
      if (this.#isClaiming(alloc)) {
        const asked = { key: keyOf(volume), allocId: alloc, usage, readOnly: isReadOnly };
        const prepare = (signal: AbortSignal): Promise<void> => this.#options.allocs.prepare(life, asked, signal);
        // One that fails is released.
        await limited(life, timeoutMs, prepare).catch((error: unknown) => {
          this.#turn(`${volume} ${alloc}`);
          throw error;
        });
      } else {
        await life.mounter.mount({ volume: { id: volume }, ...request }, limitOf(step));
      }
      const name = `${volume} ${alloc}`;
      if (isLast() && !this.#unmounts.get(name)) this.answered.set(name, { is: 'mounted', readOnly: isReadOnly });
    });
  }

  #unmount(life: MountsLife, step: StepOf<'unmount'>): void {
    const { volume, alloc, timeoutMs } = step;
    const name = `${volume} ${alloc}`;
    const isLast = this.#turn(name);
    const { allocs } = this.#options;
    const count = (by: number): void =>
      void this.#unmounts.set(name, Math.max(0, (this.#unmounts.get(name) ?? 0) + by));
    count(1);
    void this.#ask(step, async () => {
      if (this.#isClaiming(alloc))
        await limited(life, timeoutMs, (signal) => allocs.release(life, volume, alloc, signal));
      else await life.mounter.unmount({ volume: { id: volume }, allocId: alloc }, limitOf(step));
      if (isLast()) this.answered.set(name, { is: 'unmounted' });
    }).finally(() => count(-1));
  }

  #isClaiming(alloc: string): boolean {
    return this.#options.traits.claiming.includes(alloc);
  }

  #expand(life: MountsLife, id: string): void {
    const { claims, tell } = this.#options;
    const volume = claims.volumes.get(id);
    if (!volume) return;
    tell(`${id} is expanded`);
    volume.generation += 1;
    volume.expansion = { requiredBytes: volume.generation };
    life.grown(keyOf(id));
  }

  /** @returns whether nothing else was asked for since */
  #turn(name: string): () => boolean {
    const turn = (this.#turns.get(name) ?? 0) + 1;
    this.#turns.set(name, turn);
    this.answered.delete(name);
    return () => this.#turns.get(name) === turn;
  }

  async #ask(step: object, work: () => Promise<unknown>): Promise<void> {
    this.#asked += 1;
    const n = this.#asked;
    const { tell, life } = this.#options;
    const asked = life();
    const isHeard = (): boolean => asked?.isAlive === true;
    tell(`r${n} ${JSON.stringify(step)}`);
    this.open.set(n, JSON.stringify(step));
    try {
      await work();
      if (isHeard()) tell(`r${n} is done`);
    } catch (error) {
      if (!isHeard()) return;
      tell(`r${n} gets ${error}`);
      const isOfHost =
        error instanceof Error && /no connection|answer was lost|given up|mount table/.test(error.message);
      if (!(error instanceof StagecraftError) && !isOfHost)
        this.faults.push(`a user got ${error instanceof Error ? error.stack : error}`);
    } finally {
      if (isHeard()) this.open.delete(n);
    }
  }
}

const limitOf = ({ timeoutMs }: { timeoutMs?: number }): { timeoutMs?: number } =>
  timeoutMs === undefined ? {} : { timeoutMs };

/** Gives the work up after a time. */
async function limited(
  life: MountsLife,
  timeoutMs: number | undefined,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const end = new AbortController();
  const late = new StagecraftError('TIMEOUT', `${timeoutMs} ms have passed`);
  const cancel = timeoutMs === undefined ? undefined : life.clock.after(timeoutMs, () => end.abort(late));
  try {
    await work(end.signal);
  } finally {
    cancel?.();
  }
}
