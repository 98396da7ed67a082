/** Reads in the records of nodes whether they have a volume mounted: before a report is believed, and for those who wait. */
import { mountAddress, registryAddress } from '../../machines/kit/addresses.js';
import { isIn } from '../../machines/kit/parts.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { isStaged, isStagingInDoubt } from '../../machines/mount/staging.js';
import type { MountContext, Target } from '../../machines/mount/types.js';
import { isStagingOwed, isToPublish, underWay } from '../../machines/mount/work.js';
import { describeFormer, registryMachine } from '../../machines/registry/registry.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { viewOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import { answerWithin } from '../engine/deadline.js';

/** Report that a volume is gone from a node, for all allocs or for one. */
interface SaidGone {
  nodeId: string;
  key: VolumeKey;
  allocId?: string | undefined;
}

export interface UnstagedWitnessOptions {
  nodeId: string;
  /** Current boot of the host: stagings of an earlier boot are gone. */
  bootId: string;
  /**
   * Paths where the kernel of this host shows the volume.
   * @throws StagecraftError HOST_UNFIT: cannot read the mount table
   */
  shownHere(key: VolumeKey, allocId?: string): Promise<string[]>;
  stored: Pick<ActorSystem, 'read'>;
  former: Pick<FormerHolders, 'on'>;
}

/**
 * Checks a report that a node has unmounted a volume. For this agent's own node: against the kernel's mount table, calls under
 * way, and stagings without a mount. For the node of another agent: against the records of that agent.
 * Believes the report of a node without an agent.
 */
export class UnstagedWitness {
  readonly #options: UnstagedWitnessOptions;

  constructor(options: UnstagedWitnessOptions) {
    this.#options = options;
  }

  /** Explains why the volume can't be gone, and what to do; undefined if nothing contradicts the report. */
  async contradicts({ nodeId, key, allocId }: SaidGone): Promise<string | undefined> {
    const former = await this.#options.former.on(nodeId, key);
    if (former !== undefined) return former;
    const address = mountAddress(nodeId, key.namespace, key.id);
    const mount = viewOf(mountMachine, address, await this.#options.stored.read(address))?.context;
    if (nodeId === this.#options.nodeId) return this.#contradictsHere({ nodeId, key, allocId }, mount);
    const users = mount && usersIn(mount, allocId);
    if (!users) return undefined;
    const advice = `that agent reports it by itself once it is unmounted there; if node ${nodeId} is lost, fence it`;
    return `the agent of node ${nodeId} has it ${users}; ${advice}`;
  }

  /** Reads the record before the mount table: the mount of a call that ends meanwhile is then in the table. */
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
    const advice = mount
      ? `${reports}: release its allocs, or see mount list`
      : `no record has that mount: see what it is, then 'stagecraft mount clean ${paths[0]}'`;
    return `${own}, and its kernel still shows the volume at ${paths.join(', ')}; ${advice}`;
  }
}

/** Describes stagings and mounts that may exist though the kernel does not show them. */
function unshownIn(
  mount: MountContext,
  { allocId, bootId }: { allocId: string | undefined; bootId: string },
): string | undefined {
  const users = mount.users.filter((user) => !isIn(user, 'failed'));
  const isMeant = (user: Target): boolean => allocId === undefined || user.allocId === allocId;
  const mayCome = (user: Target): boolean =>
    isIn(user, 'publish-in-doubt') ||
    user.mayStillArrive === true ||
    underWay(mount, user.allocId) === 'publish' ||
    isToPublish(mount, user);
  const coming = users.filter((user) => isMeant(user) && mayCome(user)).map((user) => user.allocId);
  const staging = isStagedUnshown(mount, bootId) ? 'staged' : undefined;
  if (coming.length > 0) return [staging, `mounted for alloc ${coming.join(', ')}`].filter(Boolean).join(', or ');
  return users.every(isMeant) ? staging : undefined;
}

/**
 * Whether the volume may be staged though the kernel shows no mount: the call is in doubt or under way, or its plugin
 * stages without one.
 */
const isStagedUnshown = (mount: MountContext, bootId: string): boolean => {
  const { staging } = mount;
  const isOfThisBoot = mount.bootId === bootId;
  return (
    underWay(mount) === 'stage' || isStagingInDoubt(staging) || (isStaged(staging) && !staging.found && isOfThisBoot)
  );
};

function usersIn(mount: MountContext, allocId: string | undefined): string | undefined {
  const users = mount.users.filter((user) => !isIn(user, 'failed')).map((user) => user.allocId);
  const meant = users.filter((one) => allocId === undefined || one === allocId);
  if (meant.length > 0) return `mounted for alloc ${meant.join(', ')}, or is mounting or unmounting it`;
  return users.length === 0 && isStagingOwed(mount) ? 'staged, or may have' : undefined;
}

/** Holder of a volume at another place. */
export interface FormerHolder {
  nodeId: string;
  /** Names the agent, and says what to do. */
  why: string;
}

interface FormerHoldersOptions {
  stored: Pick<ActorSystem, 'read'>;
  clock: Clock;
  /** Trouble with the store; undefined: none is known. */
  trouble(): Error | undefined;
}

/** Limit for the names: whoever waits is told of the rest. */
const namesMs = 1_000;

/**
 * Says which nodes may still have a volume mounted by an agent at another place, which the present agent of that node has
 * replaced: whoever waits for the volume needs to know.
 */
export class FormerHolders {
  readonly #options: FormerHoldersOptions;

  constructor(options: FormerHoldersOptions) {
    this.#options = options;
  }

  /** Names them, as far as the records of the nodes can be read soon. Never rejects. */
  async of(
    { key, claims, publications }: Pick<VolumeContext, 'key' | 'claims' | 'publications'>,
    signal?: AbortSignal,
  ): Promise<FormerHolder[]> {
    const { clock, trouble } = this.#options;
    if (trouble()) return [];
    const nodes = [...new Set([...claims.map(({ nodeId }) => nodeId), ...Object.keys(publications)])];
    const limits = { clock, timeoutMs: namesMs, ends: [signal] };
    const find = async (nodeId: string): Promise<FormerHolder[]> => {
      const why = await answerWithin(limits, () => this.on(nodeId, key));
      return why === undefined ? [] : [{ nodeId, why }];
    };
    return (await Promise.all(nodes.map((nodeId) => find(nodeId).catch(() => [])))).flat();
  }

  /**
   * Says who has it on this node; undefined: nobody at another place.
   * @throws StagecraftError STORE_UNAVAILABLE, VOLUME_IN_USE: the record of the node can't be read
   */
  async on(nodeId: string, { namespace, id }: VolumeKey): Promise<string | undefined> {
    const address = registryAddress(nodeId);
    const view = viewOf(registryMachine, address, await this.#options.stored.read(address));
    const mount = view?.context.former?.[mountAddress(nodeId, namespace, id)];
    return mount && describeFormer(nodeId, mount);
  }
}
