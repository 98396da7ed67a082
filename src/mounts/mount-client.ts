/** Client of the mounts of this node: finds those that need a plugin, and limits requests in time. */
import { mountAddress, nodeOwnedPrefix, singleMountAddress } from '../../machines/kit/addresses.js';
import { isIn } from '../../machines/kit/parts.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { mountStateOf } from '../../machines/mount/states.js';
import { isBeingReplaced, isWanted } from '../../machines/mount/target.js';
import type { MountContext, Target } from '../../machines/mount/types.js';
import { isStagingOwed } from '../../machines/mount/work.js';
import { volumeName } from '../../machines/volume/requests.js';
import type { Hold, VolumeKey } from '../../machines/volume/wishes.js';
import { abortedAs } from '../abort.js';
import type { ActorSystem } from '../engine/actor-system.js';
import type { ViewOf } from '../engine/actors-of.js';
import { answerWithin } from '../engine/deadline.js';
import { troubleMs } from '../engine/storage/store-patience.js';
import { type ErrorCode, StagecraftError } from '../errors.js';
import { ActorClient, type ActorClientPorts, type ActorSubject } from '../requests/actor-client.js';
import type { AwaitOptions } from '../requests/await-options.js';
import { volumeKeyOf } from '../requests/fields.js';
import { mountNotFound } from './mount-faults.js';
import { mountTrouble } from './mount-view.js';

/** A mount as committed. */
export type CommittedMount = ViewOf<typeof mountMachine>;

/** Mounts of a node. */
const mountsOf = (node: string): ActorSubject<typeof mountMachine, VolumeKey> => ({
  machine: mountMachine,
  keyOf: (given) => volumeKeyOf(given),
  addressOf: ({ namespace, id }) => mountAddress(node, namespace, id),
  nameOf: volumeName,
  describe: ({ state, context }) => {
    const trouble = mountTrouble(context);
    return `${mountStateOf(state, context)}${trouble ? `: ${trouble.message}` : ''}`;
  },
  notFound: (key) => mountNotFound(key, node),
});

export class MountClient extends ActorClient<typeof mountMachine, VolumeKey> {
  readonly node: string;
  readonly #engine: ActorSystem;

  constructor({ node, ...ports }: ActorClientPorts & { node: string }) {
    super(ports, mountsOf(node));
    this.node = node;
    this.#engine = ports.engine;
  }

  /** All mounts that are here, or these. */
  committed(volumes?: readonly VolumeKey[]): CommittedMount[] {
    return volumes
      ? volumes.flatMap((key) => this.peek(key) ?? [])
      : [...this.actors.views(nodeOwnedPrefix('mount', this.node))].map(([, view]) => view);
  }

  /** Volumes of a plugin that are here, or may be, each with its allocs: they need the plugin. */
  needing(plugin: string): string[] {
    return this.committed().flatMap(({ context }) => {
      const { volume, key, users } = context;
      const using = users.filter(isHere);
      if (volume?.plugin !== plugin || (using.length === 0 && !isStagingOwed(context))) return [];
      const allocs = using.map(({ allocId }) => allocId);
      return [
        `${volumeName(key)}${allocs.length > 0 ? ` (mounted for alloc ${allocs.join(', ')})` : ' (to be unstaged)'}`,
      ];
    });
  }

  /** Undefined if there is none. */
  contextAt(key: VolumeKey): MountContext | undefined {
    return this.peek(key)?.context;
  }

  /** Limits the work in time. The requests that it makes end with it. */
  async within<T>(
    { timeoutMs, signal }: AwaitOptions,
    { key, allocId, trouble }: { key: VolumeKey; allocId: string; trouble?: () => string | null },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const failed = (code: ErrorCode): StagecraftError => {
      const late = `${timeoutMs} ms have passed before ${volumeName(key)} was done with for alloc ${allocId}`;
      const why = code === 'TIMEOUT' ? late : 'the wait was given up';
      const message = `${why}${this.#troubleAt(key) || because(trouble?.())}; what was begun stands: see ${this.#placeOf(key, allocId)}`;
      const address = this.addressOf(key);
      const cause = code === 'TIMEOUT' ? this.#engine.storeTrouble(troubleMs(timeoutMs)) : undefined;
      return cause
        ? new StagecraftError('STORE_UNAVAILABLE', `${message}; ${cause.message}`, {
            address,
            outcome: 'unknown',
            cause,
          })
        : new StagecraftError(code, message, { address });
    };
    const ends = [signal && abortedAs(signal, () => failed('ABORTED')), this.closing.signal];
    return answerWithin({ clock: this.clock, timeoutMs, late: () => failed('TIMEOUT'), ends }, work);
  }

  /** Where the work is shown: no list has a single mount of which nothing is here yet. */
  #placeOf(key: VolumeKey, allocId: string): string {
    const address = singleMountAddress(this.node, allocId, key.namespace, key.id);
    const context = this.contextAt(key);
    const isListed = context && userOf(context, allocId);
    return isListed || !this.#engine.has(address) ? 'mounts.list()' : `actors.inspect('${address}')`;
  }

  #troubleAt(key: VolumeKey): string {
    const context = this.contextAt(key);
    const trouble = context && mountTrouble(context);
    return trouble ? ` (${trouble.message})` : '';
  }
}

const because = (reason: string | null | undefined): string => (reason ? ` (${reason})` : '');

/** Whether the alloc has the volume mounted, or may have. */
const isHere = (target: Target): boolean => !isIn(target, 'failed');

export const userOf = ({ users }: MountContext, allocId: string): Target | undefined =>
  users.find((user) => user.allocId === allocId);

/** Hold of a version up to 0.3.0 that keeps what the alloc has here, and its target. Undefined: there is none, or the alloc has let go. */
export function heldOf(context: MountContext, allocId: string): { hold: Hold; target: Target } | undefined {
  const hold = context.holds?.find((one) => one.allocId === allocId);
  const target = userOf(context, allocId);
  if (!hold || !target) return undefined;
  const isKept = isWanted(target) || isBeingReplaced(target) || isIn(target, 'published') || isIn(target, 'lost');
  return isKept ? { hold, target } : undefined;
}
