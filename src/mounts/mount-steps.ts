/** Steps of one volume for one alloc: mount, look, let go. Used by allocs/alloc-work.ts. */
import type { CallFailure, Capability } from '../../machines/kit/csi-types.js';
import { isIn } from '../../machines/kit/parts.js';
import { useRefusal } from '../../machines/mount/requests.js';
import { isBeingReplaced, isToUnpublish, isWanted } from '../../machines/mount/target.js';
import type { MountedVolume } from '../../machines/mount/types.js';
import { isReadOnly } from '../../machines/volume/claims.js';
import { volumeName } from '../../machines/volume/requests.js';
import type { Hold, VolumeKey } from '../../machines/volume/wishes.js';
import type { PluginAccess } from '../calls/plugin-access.js';
import type { Clock } from '../engine/clock.js';
import { type ErrorCode, StagecraftError } from '../errors.js';
import type { WaitReporting } from '../requests/await-options.js';
import { resolveSecrets, type SecretsProvider } from '../secrets/secrets.js';
import type { ClaimClient, KnownVolume, PublishedVolume } from './claim-client.js';
import type { FormerMounts } from './former-mounts.js';
import { type CommittedMount, heldOf, type MountClient, userOf } from './mount-client.js';
import { capabilityFor, type KnownMount } from './mount-spec.js';
import type { MountTables } from './mount-tables.js';
import { mountTrouble } from './mount-view.js';
import type { MountPaths } from './paths.js';

/** Mounted volume. */
export interface MountInfo {
  /** Name of the volume within its alloc. */
  name?: string;
  volume: VolumeKey;
  /** Directory on this host, or the file of a block device. */
  hostPath: string;
  /** Path where the workload is to have it. */
  taskPath?: string;
  readOnly: boolean;
  /** A block device: to be handed to the workload as a device. */
  isDevice: boolean;
  /** Propagation of mounts below it: `shared`, `slave` or `private`, as the kernel has it. */
  propagation?: string;
}

/** A mount request that nothing speaks against so far. */
interface CheckedMount extends KnownMount {
  known: KnownVolume;
  capability: Capability;
}

/** Options of a wait without a time limit: only `signal` ends it. */
export interface Following extends WaitReporting {
  signal: AbortSignal;
}

interface MountingOptions {
  client: MountClient;
  clock: Clock;
  claims: ClaimClient;
  secrets: SecretsProvider;
  paths: MountPaths;
  tables: MountTables;
  access: PluginAccess;
  former: Pick<FormerMounts, 'refuse'>;
  /**
   * Makes mounts here visible in other mount namespaces.
   * @throws StagecraftError HOST_UNFIT: this process can't
   */
  shared(): Promise<void>;
  /** Directory where a plugin sees its own paths of this host, if elsewhere. */
  baseDirOf(plugin: string): string | undefined;
}

type Of = Pick<KnownMount, 'key' | 'allocId'>;

export class MountSteps {
  readonly #options: MountingOptions;
  readonly #client: MountClient;

  constructor(options: MountingOptions) {
    this.#options = options;
    this.#client = options.client;
  }

  /**
   * Checks a mount before any request is sent for it.
   * @param wait leaves out what the calls can wait for: secrets, the right to mount
   * @throws StagecraftError the known fault
   */
  async check(asked: KnownMount, signal: AbortSignal, { wait }: { wait: boolean }): Promise<CheckedMount> {
    const { claims, secrets, clock, paths, shared, baseDirOf, former } = this.#options;
    const { key, allocId, readOnly, usage } = asked;
    former.refuse(key);
    const known = await claims.look(key, { nodeId: this.#client.node }, { signal });
    const capability = capabilityFor(key, known, usage);
    for (const { path } of [paths.staging(known.plugin, key), paths.target(known.plugin, key, allocId)])
      paths.toPlugin(known.plugin, path, baseDirOf(known.plugin));
    const context = this.#client.contextAt(key);
    const refusal = context && useRefusal(context, { volume: { uid: known.uid }, capability, allocId, readOnly });
    if (refusal) throw new StagecraftError(refusal.code, refusal.message, { address: this.#client.addressOf(key) });
    if (wait) return { ...asked, known, capability };
    await shared();
    await resolveSecrets(secrets, known.secrets, { clock, signal });
    return { ...asked, known, capability };
  }

  /** Hold of a version up to 0.3.0 under which the alloc has the volume mounted. */
  held({ key, allocId }: Of): Hold | undefined {
    const context = this.#client.contextAt(key);
    return context && heldOf(context, allocId)?.hold;
  }

  /** Request for the controller side to publish it. */
  publishing({ usage, readOnly }: KnownMount): Parameters<ClaimClient['publish']>[1] {
    const { accessMode, attachmentMode } = usage;
    // Other allocs may write through the same node: only a mode with one writer among many has to name the writer.
    const isReader = isReadOnly(accessMode) || (accessMode === 'multi-node-single-writer' && readOnly);
    return { nodeId: this.#client.node, accessMode, attachmentMode, readOnly: isReader };
  }

  /**
   * Mounts a published volume.
   * @throws StagecraftError reason of the refusal or the failure; ABORTED: unmounted meanwhile
   */
  async bring(
    { key, allocId, capability, readOnly }: Omit<CheckedMount, 'known'>,
    published: PublishedVolume,
    { signal, onWait }: Following,
  ): Promise<MountInfo> {
    const use = { volume: mountedVolume(published), capability, allocId, readOnly };
    await this.#client.ask(key, { type: 'mount.use', ...use });
    if (published.expansion) await this.#client.ask(key, { type: 'mount.expand', capacity: published.expansion });
    const reached = ({ context: now }: CommittedMount): true | undefined => {
      const user = userOf(now, allocId);
      onWait?.(mountTrouble(now)?.message ?? null);
      if (user?.at === 'published') return true;
      if (user?.at === 'failed' && user.failure) throw this.#failed(key, user.failure);
      if (user && (isWanted(user) || isBeingReplaced(user) || isIn(user, 'undoing'))) return undefined;
      throw this.#error('ABORTED', key, `was unmounted for alloc ${allocId} meanwhile`);
    };
    await this.#client.until({ key, goal: `mounted for alloc ${allocId}`, reached, signal });
    return this.#infoOf({ key, allocId, plugin: published.plugin, capability, readOnly });
  }

  /** Resolves once the plugin of a mounted volume accepts calls. */
  async reachable(key: VolumeKey, { signal, onWait }: Following): Promise<void> {
    const { volume } = this.#client.contextAt(key) ?? {};
    if (!volume) return;
    (
      await this.#options.access.enter({ plugin: volume.plugin }, { signal, waits: (reason) => onWait?.(reason) })
    ).leave();
    onWait?.(null);
  }

  /** Mount of an alloc; undefined if the volume is not mounted. */
  async standing({ key, allocId }: Of): Promise<MountInfo | undefined> {
    const context = this.#client.contextAt(key);
    const user = context && userOf(context, allocId);
    const { volume, capability } = context ?? {};
    if (!volume || !capability || !user || !isIn(user, 'published')) return undefined;
    return this.#infoOf({
      key,
      allocId,
      plugin: volume.plugin,
      capability,
      readOnly: user.readOnly,
    });
  }

  /**
   * Confirms the claim of an alloc: its targets are mounted from here on.
   * @throws StagecraftError MOUNT_ELSEWHERE
   */
  async confirm({ key, allocId }: Of): Promise<void> {
    this.#options.former.refuse(key);
    if (this.#client.contextAt(key)) await this.#client.ask(key, { type: 'mount.confirm', allocId });
  }

  /**
   * Unmounts for an alloc. Resolves when nothing of it is here any more.
   * @throws StagecraftError ABORTED
   */
  async take({ key, allocId }: Of, { signal, onWait }: Following): Promise<void> {
    // A request whose commit was not answered may still be written: the leave comes after it.
    if (!this.#client.has(key)) return;
    await this.#client.ask(key, { type: 'mount.leave', allocId });
    const reached = ({ context: now }: CommittedMount): true | undefined => {
      const user = userOf(now, allocId);
      onWait?.(mountTrouble(now)?.message ?? null);
      // Asked for again while it leaves, or since.
      if (user && (isWanted(user) || isBeingReplaced(user) || isIn(user, 'published')))
        throw this.#error('ABORTED', key, `is to be mounted for alloc ${allocId} again`);
      return user ? undefined : true;
    };
    await this.#client.until({ key, goal: `unmounted for alloc ${allocId}`, reached, gone: true, signal });
  }

  /** Retries all waiting undo work now. */
  async hasten(): Promise<void> {
    const waiting = this.#client
      .committed()
      .filter(({ context: { users, staging } }) => staging.unstageTries || users.some(isToUnpublish));
    await Promise.allSettled(waiting.map(({ context: { key } }) => this.#client.ask(key, { type: 'mount.hasten' })));
  }

  #failed(key: VolumeKey, { code, message, ...details }: CallFailure): StagecraftError {
    return new StagecraftError(code, `${volumeName(key)}: ${message}`, {
      ...details,
      address: this.#client.addressOf(key),
    });
  }

  #error(code: ErrorCode, key: VolumeKey, what: string): StagecraftError {
    return new StagecraftError(code, `${volumeName(key)} ${what}`, { address: this.#client.addressOf(key) });
  }

  async #infoOf({
    key,
    allocId,
    plugin,
    capability,
    readOnly,
  }: Omit<CheckedMount, 'known' | 'usage'> & { plugin: string }): Promise<MountInfo> {
    const { paths, tables } = this.#options;
    const { path } = paths.target(plugin, key, allocId);
    const propagation = (await tables.known(path))?.propagation;
    return {
      volume: key,
      hostPath: path,
      readOnly,
      isDevice: capability.attachmentMode === 'block-device',
      ...(propagation && { propagation }),
    };
  }
}

const mountedVolume = ({
  uid,
  plugin,
  driver,
  csiId,
  volumeContext,
  publishContext,
  secrets,
}: PublishedVolume): MountedVolume => ({
  ...{ uid, plugin, csiId, volumeContext, publishContext, secrets },
  ...(driver !== undefined && { driver }),
});
