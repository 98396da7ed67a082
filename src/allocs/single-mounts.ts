/**
 * Single mounts (`runtime.mounts.mount`): each is an alloc of one volume at an address of its own, and so has a claim.
 * Lists of allocs leave them out. Why: docs/decisions/0038-a-single-mount-is-an-alloc.md
 */
import { mountsOf, reasonsOf } from '../../machines/alloc/parts.js';
import type { AllocVolume } from '../../machines/alloc/types.js';
import type { AllocMount } from '../../machines/alloc/volume-steps.js';
import { mountAddress, singleMountAt } from '../../machines/kit/addresses.js';
import type { Failure } from '../../machines/kit/host.js';
import { isSameData } from '../../machines/kit/same-data.js';
import { volumeName } from '../../machines/volume/requests.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { Logger } from '../engine/logger.js';
import { asData } from '../engine/machine/data.js';
import { isRetryable, messageOf, StagecraftError } from '../errors.js';
import type { KnownMount } from '../mounts/mount-spec.js';
import type { Following, MountInfo, MountSteps } from '../mounts/mount-steps.js';
import type { AllocClient, AllocKey } from './alloc-client.js';
import { type AllocView, allocStateOf, failedWith } from './alloc-view.js';

interface SingleMountsOptions {
  client: AllocClient;
  logger: Logger;
  /** Id of the present boot of the host. */
  bootId: string;
  mounting: Pick<MountSteps, 'check'>;
  /** Compares these with the kernel. */
  compare(volumes: readonly VolumeKey[]): Promise<void>;
}

type Of = Pick<KnownMount, 'key' | 'allocId'>;

/** A caller of `mount`. */
interface Caller {
  /** Whether the volume was unmounted since: a request that is not sent yet is given up. */
  isGivenUp: boolean;
}

type Waiting = Following & { wait: boolean };

export class SingleMounts {
  readonly #options: SingleMountsOptions;
  readonly #client: AllocClient;
  /** Mounts that somebody waits for, by the address of their alloc. */
  readonly #callers = new Map<string, Set<Caller>>();
  /** Requests to prepare an alloc that are not known to be committed yet. */
  readonly #preparing = new Set<{ address: string; volumes: readonly AllocVolume[] }>();

  constructor(options: SingleMountsOptions) {
    this.#options = options;
    this.#client = options.client;
  }

  /** Forgets those that have failed, from here on: nobody else asks for them. Logs a failure that no caller hears. */
  start(): void {
    const { logger } = this.#options;
    const { actors } = this.#client;
    const forget = (address: string, view: AllocView | undefined): void => {
      const key = singleMountAt(address);
      if (!key || !view || allocStateOf(view.state) !== 'failed') return;
      const { allocId, failure } = view.context;
      if (failure && !this.#callers.has(address))
        logger.warn({ address }, `${volumeName(key)} is not mounted for alloc ${allocId}: ${failure.message}`);
      actors.report(address, { type: 'alloc.forget' }).catch((error: unknown) => {
        logger.debug({ address }, `a mount that has failed can't be forgotten now: ${messageOf(error)}`);
      });
    };
    actors.observe(({ address, view }) => forget(address, view));
    for (const [address, view] of actors.views()) forget(address, view);
  }

  has(of: Of): boolean {
    return this.#client.has(singleOf(of));
  }

  /** Whether it is being unmounted or undone. */
  isLeaving(of: Of): boolean {
    return this.#client.stateAt(singleOf(of)) === 'releasing';
  }

  /**
   * Has the volume claimed, published and mounted; the same again is the same. One that is being unmounted is awaited.
   * A refusal is told at once, unless `wait`.
   * @throws StagecraftError CLAIM_CONFLICT: the alloc has it otherwise, or by `prepare`; why it can't be had
   */
  async mount(asked: KnownMount, waiting: Waiting): Promise<MountInfo> {
    const address = this.#client.addressOf(singleOf(asked));
    const caller: Caller = { isGivenUp: false };
    const callers = this.#callers.get(address) ?? new Set();
    this.#callers.set(address, callers.add(caller));
    try {
      const { name: _, taskPath: __, ...mount } = await this.#mountFor(caller, asked, waiting);
      return mount;
    } finally {
      callers.delete(caller);
      if (callers.size === 0) this.#callers.delete(address);
    }
  }

  /**
   * Has the volume unmounted and its claim released; mounts whose request is not sent yet are given up.
   * @returns whether there was a single mount; at once if there was none
   */
  async unmount(of: Of, { signal, onWait }: Following): Promise<boolean> {
    const key = singleOf(of);
    for (const caller of this.#callers.get(this.#client.addressOf(key)) ?? []) caller.isGivenUp = true;
    if (!this.#client.has(key)) return false;
    await this.#client.ask(key, { type: 'alloc.release' }, signal);
    const reached = (view: AllocView): true | undefined => {
      onWait?.(waitOf(view) ?? null);
      // Mounted again since.
      return allocStateOf(view.state) === 'releasing' ? undefined : true;
    };
    await this.#client.until({ key, goal: 'unmounted', reached, gone: true, signal });
    return true;
  }

  /** Mounts again what waits for that since the host was booted. */
  async retry(key: VolumeKey): Promise<void> {
    const { bootId } = this.#options;
    for (const [address, { state, context }] of this.#client.actors.views()) {
      if (!isSameData(singleMountAt(address), key) || allocStateOf(state) !== 'recovering') continue;
      const { volumes } = context;
      await this.#client.actors.ask(address, { type: 'alloc.prepare', volumes, untilMs: null, bootId });
    }
  }

  /**
   * Sends the request to prepare an alloc. Until it is committed, nobody else can mount one of the volumes for the alloc.
   * @throws StagecraftError CLAIM_CONFLICT: one of them is mounted singly for the alloc, and both would share a claim
   */
  async preparing(allocId: string, volumes: readonly AllocVolume[], ask: () => Promise<unknown>): Promise<void> {
    const address = this.#client.addressOf({ allocId });
    const single = volumes.find(({ volume }) => this.has({ key: volume, allocId }));
    if (single) {
      const message = `${volumeName(single.volume)} is mounted for alloc ${allocId} by mounts.mount: unmount it there first`;
      throw new StagecraftError('CLAIM_CONFLICT', message, { address, final: true });
    }
    const request = { address, volumes };
    this.#preparing.add(request);
    try {
      await ask();
      this.#preparing.delete(request);
    } catch (error) {
      // A request of unknown outcome may be committed still.
      if (!(error instanceof StagecraftError && error.outcome === 'unknown')) this.#preparing.delete(request);
      throw error;
    }
  }

  /**
   * Refuses a volume that the alloc has, or is to have, by `prepare`: both would share its claim.
   * @throws StagecraftError CLAIM_CONFLICT
   */
  refuseOfAlloc({ key, allocId }: Of): void {
    const address = this.#client.addressOf({ allocId });
    if (!this.#volumesOf(allocId).some(({ volume }) => isSameData(volume, key))) return;
    const message = `${volumeName(key)} belongs to what alloc ${allocId} was prepared with: prepare it again, or release it`;
    throw new StagecraftError('CLAIM_CONFLICT', message, { address, final: true });
  }

  /** Volumes that the alloc has, or is to have, by `prepare`. */
  #volumesOf(allocId: string): readonly AllocVolume[] {
    const own = this.#client.volumesAt({ allocId });
    if (own.length > 0) return own;
    const address = this.#client.addressOf({ allocId });
    const requests = [...this.#preparing].filter((one) => one.address === address);
    if (this.#client.has({ allocId })) return requests.flatMap(({ volumes }) => volumes);
    // No commit took place, and none is on its way to the store any more.
    for (const one of requests) this.#preparing.delete(one);
    return [];
  }

  /** Asks once nothing is being unmounted or undone. @throws StagecraftError ABORTED: unmounted meanwhile */
  async #mountFor(caller: Caller, asked: KnownMount, waiting: Waiting): Promise<AllocMount> {
    const { bootId, compare, mounting } = this.#options;
    const { signal, wait } = waiting;
    const key = singleOf(asked);
    if (this.#client.has(key)) await this.#client.settled(key, { signal });
    if (caller.isGivenUp) throw this.#unmounted(asked);
    this.refuseOfAlloc(asked);
    const hasBegun = this.#client.has(key);
    const volumes = [volumeOf(asked)];
    await this.#client.ask(key, { type: 'alloc.prepare', volumes, untilMs: null, bootId, wait }, signal);
    if (this.#client.stateAt(key) === 'prepared') await compare([asked.key]);
    const view = this.#client.peek(key);
    if (this.#client.hasLost(key)) await this.#client.ask(key, { type: 'alloc.recover', isNewBoot: false });
    // Other callers may wait for it already: this one does not.
    if (hasBegun && !wait && this.#client.stateAt(key) === 'preparing') await mounting.check(asked, signal, { wait });
    // Other callers may have begun it, and get each refusal at once: then this one asks again.
    const isBegunWithoutWait = wait && view?.context.wait === false;
    try {
      return await this.#mounted(asked, waiting);
    } catch (error) {
      if (!isBegunWithoutWait || signal.aborted || !mayComeYet(error)) throw error;
      return this.#mountFor(caller, asked, waiting);
    }
  }

  async #mounted({ key, allocId }: Of, { signal, onWait, wait }: Waiting): Promise<AllocMount> {
    const at = this.#mountAddressOf(key);
    let failure: Failure | null = null;
    const reached = (view: AllocView): AllocMount | undefined => {
      const { state, context } = view;
      failure = context.failure;
      const reason = waitOf(view);
      onWait?.(reason ?? null);
      if (allocStateOf(state) === 'prepared') return asData(mountsOf(context)?.[0]);
      if (!wait && reason !== undefined && isRefusedClaim(view))
        throw new StagecraftError('CLAIM_CONFLICT', reason, { address: at });
      if (!failure && allocStateOf(state) === 'releasing') throw this.#unmounted({ key, allocId });
      if (failure && allocStateOf(state) === 'failed') throw failedWith(at, failure);
      if (failure && reason !== undefined)
        throw failedWith(at, failure, `; what was begun is being undone still (${reason})`);
      return undefined;
    };
    const awaited = { key: singleOf({ key, allocId }), goal: `mounted for alloc ${allocId}`, reached, signal };
    const mount = await this.#client.until<AllocMount | null>({ ...awaited, gone: null });
    if (mount) return mount;
    throw failure ? failedWith(at, failure) : this.#unmounted({ key, allocId });
  }

  #unmounted({ key, allocId }: Of): StagecraftError {
    const message = `${volumeName(key)} was unmounted for alloc ${allocId} meanwhile`;
    return new StagecraftError('ABORTED', message, { address: this.#mountAddressOf(key) });
  }

  #mountAddressOf({ namespace, id }: VolumeKey): string {
    return mountAddress(this.#client.node, namespace, id);
  }
}

const singleOf = ({ key, allocId }: Of): AllocKey => ({ allocId, single: key });

/** Whether the same request may succeed later. Not if the volume was unmounted meanwhile. */
const mayComeYet = (error: unknown): boolean =>
  isRetryable(error) && !(error instanceof StagecraftError && error.code === 'ABORTED');

/** Whether others wait for the claim, which another alloc has. */
const isRefusedClaim = ({ context }: AllocView): boolean =>
  Object.values(context.parts).some(({ at }) => at === 'preparing.waiting-for-claim');

const waitOf = ({ context }: AllocView): string | undefined => Object.values(reasonsOf(context))[0];

/** The one volume of the alloc. Nobody has said where its workload has it. */
const volumeOf = ({ key, usage, readOnly }: KnownMount): AllocVolume => ({
  ...{ name: key.id, volume: key, mode: readOnly ? 'read' : 'write', readOnly, taskPath: '' },
  ...usage,
});
