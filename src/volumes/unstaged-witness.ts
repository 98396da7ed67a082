/**
 * Compares a report that a node let go of a volume with what is known of that node here. Of this agent's own node that is the
 * kernel's mount table, and what that can't show: calls under way, and what a plugin has staged without a mount. Of a node of
 * another agent on the same store it is what that agent has committed. Without an agent, a node's report is all there is.
 */
import { mountAddress } from '../../machines/kit/addresses.js';
import { isIn } from '../../machines/kit/parts.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { isInDoubt, isStaged } from '../../machines/mount/staging.js';
import type { MountContext, Target } from '../../machines/mount/types.js';
import { isBeingPublished, isBeingStaged, isStagingOwed, isToPublish } from '../../machines/mount/work.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { viewOf } from '../engine/actors-of.js';

/** Volume that is said to be gone from a node: all of it, or the part of one alloc. */
export interface SaidGone {
  nodeId: string;
  key: VolumeKey;
  allocId?: string | undefined;
}

export interface UnstagedWitnessOptions {
  nodeId: string;
  /** Of this boot of the host: nothing is staged any more of one before. */
  bootId: string;
  /** Paths where the kernel of this host shows the volume. @throws StagecraftError HOST_UNFIT: that can't be read */
  shownHere(key: VolumeKey, allocId?: string): Promise<string[]>;
  /** Reads what is committed of any actor. */
  stored: Pick<ActorSystem, 'read'>;
}

export class UnstagedWitness {
  readonly #options: UnstagedWitnessOptions;

  constructor(options: UnstagedWitnessOptions) {
    this.#options = options;
  }

  /** Why it can't be gone, and what to do; undefined: nothing here says otherwise. */
  async contradicts({ nodeId, key, allocId }: SaidGone): Promise<string | undefined> {
    const address = mountAddress(nodeId, key.namespace, key.id);
    const mount = viewOf(mountMachine, address, await this.#options.stored.read(address))?.context;
    if (nodeId === this.#options.nodeId) return this.#contradictsHere({ nodeId, key, allocId }, mount);
    const users = mount && usersIn(mount, allocId);
    if (!users) return undefined;
    const advice = `that agent reports it by itself once it is unmounted there; if node ${nodeId} is lost, fence it`;
    return `the agent of node ${nodeId} has it ${users}; ${advice}`;
  }

  /** The record comes first: a call that is over by then has left a mount that the kernel shows. */
  async #contradictsHere(
    { nodeId, key, allocId }: SaidGone,
    mount: MountContext | undefined,
  ): Promise<string | undefined> {
    const own = `node ${nodeId} is this agent's own`;
    const reports = 'the agent reports it by itself once that is unmounted';
    const unshown = mount && unshownIn(mount, { allocId, bootId: this.#options.bootId });
    if (unshown) {
      const advice = `${reports}; if its plugin can never unmount it, fence the node`;
      return `${own}, and the volume may be ${unshown} there, which its kernel does not show; ${advice}`;
    }
    const paths = await this.#options.shownHere(key, allocId);
    if (paths.length === 0) return undefined;
    const advice = `${reports}: release its allocs, or see mount list`;
    return `${own}, and its kernel still shows the volume at ${paths.join(', ')}; ${advice}`;
  }
}

/** In words: what may be there though the kernel shows nothing. */
function unshownIn(
  mount: MountContext,
  { allocId, bootId }: { allocId: string | undefined; bootId: string },
): string | undefined {
  const users = mount.users.filter((user) => !isIn(user, 'failed'));
  const isMeant = (user: Target): boolean => allocId === undefined || user.allocId === allocId;
  const mayCome = (user: Target): boolean =>
    isIn(user, 'publish-in-doubt') ||
    user.mayStillArrive === true ||
    isBeingPublished(mount, user) ||
    isToPublish(mount, user);
  const coming = users.filter((user) => isMeant(user) && mayCome(user)).map((user) => user.allocId);
  const staging = isStagedUnshown(mount, bootId) ? 'staged' : undefined;
  if (coming.length > 0) return [staging, `mounted for alloc ${coming.join(', ')}`].filter(Boolean).join(', or ');
  return users.every(isMeant) ? staging : undefined;
}

/** Staging that the kernel may not show: by a call in doubt, still to come, or by a plugin without a mount. */
const isStagedUnshown = (mount: MountContext, bootId: string): boolean => {
  const { staging } = mount;
  const isOfThisBoot = mount.bootId === bootId;
  return isBeingStaged(mount) || isInDoubt(staging) || (isStaged(staging) && !staging.found && isOfThisBoot);
};

/** In words. @returns undefined where the agent has nothing of it */
function usersIn(mount: MountContext, allocId: string | undefined): string | undefined {
  const users = mount.users.filter((user) => !isIn(user, 'failed')).map((user) => user.allocId);
  const meant = users.filter((one) => allocId === undefined || one === allocId);
  if (meant.length > 0) return `mounted for alloc ${meant.join(', ')}, or is at it`;
  return users.length === 0 && isStagingOwed(mount) ? 'staged, perhaps' : undefined;
}
