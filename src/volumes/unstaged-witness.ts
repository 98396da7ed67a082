/**
 * Holds a report that a node let go of a volume against what can be known of that node here: of this agent's own node the
 * kernel's mount table, of another agent's on the same store what that agent has committed of its mounts. A node that no agent
 * runs on has no witness but its reports.
 */
import { mountAddress } from '../../machines/addresses.js';
import type { MountContext } from '../../machines/mount-types.js';
import { isStagingOwed } from '../../machines/mount-work.js';
import type { VolumeKey } from '../../machines/volume-types.js';
import type { ActorView } from '../engine/engine.js';

/** What is said to be gone from a node: all of a volume, or what one alloc has of it. */
export interface SaidGone {
  nodeId: string;
  key: VolumeKey;
  allocId?: string | undefined;
}

export interface UnstagedWitnessOptions {
  nodeId: string;
  /** Paths where the kernel of this host shows the volume. @throws StagecraftError HOST_UNFIT: that can't be read */
  shownHere(key: VolumeKey, allocId?: string): Promise<string[]>;
  /** Reads what is committed of any actor. */
  stored: { read(address: string): Promise<ActorView | undefined> };
}

export class UnstagedWitness {
  readonly #options: UnstagedWitnessOptions;

  constructor(options: UnstagedWitnessOptions) {
    this.#options = options;
  }

  /** Why it can't be gone, and what to do; undefined: nothing here says otherwise. */
  async contradicts({ nodeId, key, allocId }: SaidGone): Promise<string | undefined> {
    if (nodeId === this.#options.nodeId) {
      const paths = await this.#options.shownHere(key, allocId);
      if (paths.length === 0) return undefined;
      const advice = 'the agent reports it by itself once that is unmounted: release its allocs, or see mount list';
      return `node ${nodeId} is this agent's own, and its kernel still shows the volume at ${paths.join(', ')}; ${advice}`;
    }
    const view = await this.#options.stored.read(mountAddress(nodeId, key.namespace, key.id));
    // The engine keeps contexts as the machines made them, but does not know their types.
    const users = view && usersIn(view.context as MountContext, allocId);
    if (!users) return undefined;
    const advice = `that agent reports it by itself once it is unmounted there; if node ${nodeId} is lost, fence it`;
    return `the agent of node ${nodeId} has it ${users}; ${advice}`;
  }
}

/** In words. @returns undefined where the agent has nothing of it */
function usersIn(mount: MountContext, allocId: string | undefined): string | undefined {
  const users = mount.users.filter(({ state }) => state !== 'failed').map((user) => user.allocId);
  const meant = users.filter((one) => allocId === undefined || one === allocId);
  if (meant.length > 0) return `mounted for alloc ${meant.join(', ')}, or is at it`;
  return users.length === 0 && isStagingOwed(mount) ? 'staged, perhaps' : undefined;
}
