/**
 * Holds that versions up to 0.3.0 have taken for single mounts, in place of claims. Each becomes a single mount with a
 * claim, and is released then; one that was lost is unmounted. Why: docs/decisions/0038-a-single-mount-is-an-alloc.md
 */
import type { Capability } from '../../machines/kit/csi-types.js';
import { isIn } from '../../machines/kit/parts.js';
import { isSameData } from '../../machines/kit/same-data.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { hasNoTarget, isBeingReplaced, isWanted } from '../../machines/mount/target.js';
import type { MountContext, Target } from '../../machines/mount/types.js';
import { isStagingOwed } from '../../machines/mount/work.js';
import { isOfModes } from '../../machines/volume/modes.js';
import type { Hold, VolumeKey } from '../../machines/volume/wishes.js';
import { onAbort } from '../abort.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import { isRetryable, StagecraftError } from '../errors.js';
import type { ClaimClient, KnownVolume } from '../mounts/claim-client.js';
import { type CommittedMount, type MountClient, userOf } from '../mounts/mount-client.js';
import type { Following, MountSteps } from '../mounts/mount-steps.js';
import { retrying } from '../mounts/retry.js';
import { limited } from '../requests/limited.js';
import type { SingleMounts } from './single-mounts.js';

export interface EarlierHoldsOptions {
  engine: ActorSystem;
  client: Pick<MountClient, 'node' | 'addressOf' | 'contextAt' | 'has' | 'ask' | 'until'>;
  mounting: Pick<MountSteps, 'take'>;
  singles: Pick<SingleMounts, 'has' | 'mount' | 'unmount'>;
  claims: Pick<ClaimClient, 'look' | 'holdReleased'>;
  clock: Clock;
  logger: Logger;
}

interface Of {
  key: VolumeKey;
  allocId: string;
}

/** Longest wait for a claim before it is asked again whether the hold is kept. */
const claimMs = 60_000;

export class EarlierHolds {
  readonly #options: EarlierHoldsOptions;
  readonly #stop = new AbortController();
  readonly #mounts: ActorsOf<typeof mountMachine>;
  /** Addresses of mounts whose holds are being replaced. */
  readonly #underWay = new Set<string>();

  constructor(options: EarlierHoldsOptions) {
    this.#options = options;
    this.#mounts = new ActorsOf(options.engine, mountMachine);
  }

  /** Replaces each hold that a mount here has, also of a record that is still to be migrated, for as long as it takes. */
  start(): void {
    const { signal } = this.#stop;
    onAbort(
      signal,
      this.#mounts.observe(({ view }) => this.#begin(view)),
    );
    for (const [, view] of this.#mounts.views()) this.#begin(view);
  }

  stop(): void {
    this.#stop.abort(new Error('the runtime was closed'));
  }

  /** Unmounts for an alloc that has no single mount. Resolves when no hold is left of it: also one that no record here has. */
  async unmount(of: Of, { signal, onWait = () => {} }: Following): Promise<void> {
    const { client, mounting, clock } = this.#options;
    const { key, allocId } = of;
    await mounting.take(of, { signal, onWait });
    const reached = ({ holds = [] }: MountContext): true | undefined =>
      holds.some((one) => one.allocId === allocId) ? undefined : true;
    await client.until(key, { goal: `released for alloc ${allocId}`, reached, gone: true, signal });
    await retrying({ clock, signal, onWait, mayRetry: isRetryable }, () => this.#release(of, signal));
  }

  #begin(view: CommittedMount | undefined): void {
    const { client, clock, logger } = this.#options;
    const { signal } = this.#stop;
    if (!view?.context.holds) return;
    const { key, holds } = view.context;
    const address = client.addressOf(key);
    if (this.#underWay.has(address)) return;
    this.#underWay.add(address);
    const onWait = (reason: string | null): void =>
      logger.debug({ address }, `a hold is not replaced by a claim yet: ${reason}`);
    const policy = { clock, signal, onWait, mayRetry: () => true };
    // Ends with the runtime only, or once all are replaced.
    void Promise.allSettled(holds.map((hold) => retrying(policy, () => this.#replace(key, hold))));
  }

  async #replace(key: VolumeKey, hold: Hold): Promise<void> {
    const { client, singles, mounting } = this.#options;
    const { signal } = this.#stop;
    const of = { key, allocId: hold.allocId };
    if (this.#kept(of)) await this.#claim(of, hold);
    else await mounting.take(of, { signal });
    const reached = (now: MountContext): true | undefined => (singles.has(of) || !isOwed(now) ? true : undefined);
    await client.until(key, { goal: 'unstaged', reached, gone: true, signal });
    await this.#release(of, signal);
    if (client.has(key)) await client.ask(key, { type: 'mount.hold-released', allocId: hold.allocId });
  }

  /** Has the alloc claim what it has mounted; unmounts it if the hold is lost. */
  async #claim(of: Of, { allocId, generation }: Hold): Promise<void> {
    const { singles, mounting, clock } = this.#options;
    const { signal } = this.#stop;
    const known = await this.#look(of.key, signal);
    const user = this.#kept(of);
    if (!user) return;
    // One without a generation was never known to whoever has the volumes.
    const isKept =
      generation === 0 || known?.holds?.some((one) => one.allocId === allocId && one.generation >= generation);
    if (!known || !isKept) {
      await singles.unmount(of, { signal });
      await mounting.take(of, { signal });
      return;
    }
    const asked = { ...of, usage: usageOf(user.capability, known), readOnly: user.readOnly };
    const failed = (): Error => new Error(`no claim within ${claimMs} ms`);
    await limited({ clock, timeoutMs: claimMs, failed, end: signal }, (given) =>
      singles.mount(asked, { signal: given, wait: true }),
    );
  }

  /** Target of an alloc that has not let go. */
  #kept({ key, allocId }: Of): Target | undefined {
    const context = this.#options.client.contextAt(key);
    const user = context && userOf(context, allocId);
    return user && (isWanted(user) || isBeingReplaced(user) || isIn(user, 'published') || isIn(user, 'lost'))
      ? user
      : undefined;
  }

  /** Releases the hold that is kept for the alloc: a mount that was killed may have taken a newer one than its record has. */
  async #release({ key, allocId }: Of, signal: AbortSignal): Promise<void> {
    const { claims, client } = this.#options;
    const hold = (await this.#look(key, signal))?.holds?.find((one) => one.allocId === allocId);
    if (hold) await claims.holdReleased?.(key, { nodeId: client.node, ...hold }, { signal });
  }

  /** Undefined if there is no such volume. */
  async #look(key: VolumeKey, signal: AbortSignal): Promise<KnownVolume | undefined> {
    const { claims, client } = this.#options;
    try {
      return await claims.look(key, { nodeId: client.node }, { signal });
    } catch (error) {
      if (error instanceof StagecraftError && error.code === 'VOLUME_NOT_FOUND') return undefined;
      throw error;
    }
  }
}

/** Whether the volume has to be unstaged, as nobody uses it here. */
const isOwed = (context: MountContext): boolean => context.users.every(hasNoTarget) && isStagingOwed(context);

/** How the alloc has asked: what the volume was made with is left out, as in most requests. */
function usageOf(capability: Capability, { capabilities }: KnownVolume): Capability {
  const { accessMode, attachmentMode, fsType, mountFlags } = capability;
  const made = capabilities.find((one) => isOfModes(one, capability));
  return {
    ...{ accessMode, attachmentMode },
    ...(fsType !== undefined && fsType !== made?.fsType && { fsType }),
    ...(mountFlags && !isSameData(mountFlags, made?.mountFlags) && { mountFlags }),
  };
}
