/**
 * Holds that versions up to 0.3.0 have taken for single mounts, in place of claims. Each becomes a single mount with a
 * claim, and is released then; one that was lost is unmounted. Why: docs/decisions/0038-a-single-mount-is-an-alloc.md
 */
import type { Capability } from '../../machines/kit/csi-types.js';
import { isIn } from '../../machines/kit/parts.js';
import { isSameData } from '../../machines/kit/same-data.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { hasNoTarget } from '../../machines/mount/target.js';
import type { MountContext, Target } from '../../machines/mount/types.js';
import { isStagingOwed } from '../../machines/mount/work.js';
import { isOfModes } from '../../machines/volume/modes.js';
import type { Hold, VolumeKey } from '../../machines/volume/wishes.js';
import { onAbort } from '../abort.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import { isRetryable } from '../errors.js';
import { type ClaimClient, type KnownVolume, unlessGone } from '../mounts/claim-client.js';
import { type CommittedMount, heldOf, type MountClient } from '../mounts/mount-client.js';
import type { Following, MountSteps } from '../mounts/mount-steps.js';
import { retrying } from './alloc-faults.js';
import type { SingleMounts } from './single-mounts.js';

export interface EarlierHoldsOptions {
  engine: ActorSystem;
  client: Pick<MountClient, 'node' | 'addressOf' | 'contextAt' | 'has' | 'ask' | 'until'>;
  mounting: Pick<MountSteps, 'take'>;
  singles: Pick<SingleMounts, 'isLeaving' | 'mount'>;
  claims: Pick<ClaimClient, 'look' | 'holdReleased'>;
  clock: Clock;
  logger: Logger;
}

interface Of {
  key: VolumeKey;
  allocId: string;
}

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
    const reached = ({ context: { holds = [] } }: CommittedMount): true | undefined =>
      holds.some((one) => one.allocId === allocId) ? undefined : true;
    await client.until({ key, goal: `released for alloc ${allocId}`, reached, gone: true, signal });
    await retrying({ clock, signal, onWait, mayRetry: isRetryable }, () => this.#release(of, signal));
  }

  /**
   * Has the alloc claim what it has mounted under a hold, as it was asked for; it stays mounted meanwhile. Does nothing without
   * a hold. The alloc asks first whether the hold is kept, unless it has its claim already (alloc-work.ts).
   * @throws StagecraftError CLAIM_LOST, VOLUME_NOT_FOUND: nothing keeps the volume here, and it is unmounted
   */
  async claim({ key, allocId }: Of, following: Following): Promise<void> {
    const of = { key, allocId };
    if (!this.#held(of)) return;
    const known = await this.#look(key, following.signal);
    // The alloc may have been released meanwhile.
    const target = this.#held(of);
    if (!target) return;
    const asked = { ...of, usage: usageOf(target.capability, known), readOnly: target.readOnly };
    await this.#options.singles.mount(asked, { ...following, wait: true });
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

  async #replace(key: VolumeKey, { allocId }: Hold): Promise<void> {
    const { client, mounting } = this.#options;
    const { signal } = this.#stop;
    const of = { key, allocId };
    // A lost mount is mounted again for whoever asks.
    const reached = ({ context }: CommittedMount): true | undefined => (isLost(context, allocId) ? undefined : true);
    await client.until({ key, goal: `asked for by alloc ${allocId}`, reached, gone: true, signal });
    await this.claim(of, { signal });
    if (!this.#held(of)) {
      await mounting.take(of, { signal });
      const isFree = ({ context }: CommittedMount): true | undefined => (isOwed(context) ? undefined : true);
      await client.until({ key, goal: 'unstaged', reached: isFree, gone: true, signal });
    }
    await this.#release(of, signal);
    if (client.has(key)) await client.ask(key, { type: 'mount.hold-released', allocId });
  }

  /** Target of an alloc that has not let go, under its hold. */
  #held({ key, allocId }: Of): Target | undefined {
    const { client, singles } = this.#options;
    const context = singles.isLeaving({ key, allocId }) ? undefined : client.contextAt(key);
    return context && heldOf(context, allocId)?.target;
  }

  /** Releases the hold that is kept for the alloc: a mount that was killed may have taken a newer one than its record has. */
  async #release({ key, allocId }: Of, signal: AbortSignal): Promise<void> {
    const { claims, client } = this.#options;
    const hold = (await this.#look(key, signal))?.holds?.find((one) => one.allocId === allocId);
    if (hold) await claims.holdReleased?.(key, { nodeId: client.node, ...hold }, { signal });
  }

  /** Undefined if there is no such volume. */
  #look(key: VolumeKey, signal: AbortSignal): Promise<KnownVolume | undefined> {
    const { claims, client } = this.#options;
    return unlessGone(claims.look(key, { nodeId: client.node }, { signal }));
  }
}

const isLost = (context: MountContext, allocId: string): boolean => {
  const target = heldOf(context, allocId)?.target;
  return target !== undefined && isIn(target, 'lost');
};

/** Whether the volume has to be unstaged, as nobody uses it here. */
const isOwed = (context: MountContext): boolean => context.users.every(hasNoTarget) && isStagingOwed(context);

/** How the alloc has asked: what the volume was made with is left out, as in most requests. */
function usageOf(capability: Capability, known: KnownVolume | undefined): Capability {
  const { accessMode, attachmentMode, fsType, mountFlags } = capability;
  const made = known?.capabilities.find((one) => isOfModes(one, capability));
  return {
    ...{ accessMode, attachmentMode },
    ...(fsType !== undefined && fsType !== made?.fsType && { fsType }),
    ...(mountFlags && !isSameData(mountFlags, made?.mountFlags) && { mountFlags }),
  };
}
