/**
 * `runtime.mounts`: volumes on this node. Reads what is committed; every change goes through the mailbox of the mount
 * concerned (machines/mount.ts). For the volumes of an alloc all together: allocations.ts
 */
import { mountAddress, nodeOwnedPrefix } from '../../machines/addresses.js';
import type { CallFailure, Capability } from '../../machines/csi-types.js';
import type { Failure } from '../../machines/host.js';
import { mountRefusalOf } from '../../machines/mount-requests.js';
import type {
  MountRequest as MachineRequest,
  MountContext,
  MountedVolume,
  MountUser,
} from '../../machines/mount-types.js';
import { isStagingOwed, mayBeMounted } from '../../machines/mount-work.js';
import { isReadOnly } from '../../machines/volume-claims.js';
import { nameOf } from '../../machines/volume-requests.js';
import type { VolumeKey } from '../../machines/volume-types.js';
import { onAbort, unlessAborted } from '../abort.js';
import type { PluginAccess } from '../calls/plugin-access.js';
import { resolveSecrets, type SecretsProvider } from '../calls/secrets.js';
import type { Clock } from '../engine/clock.js';
import type { ActorView, Engine } from '../engine/engine.js';
import { cursorOf, type FollowOptions } from '../engine/topics.js';
import { StagecraftError } from '../errors.js';
import { ActorWaits } from '../requests/actor-waits.js';
import { type AwaitOptions, awaitSchema, checkedOptions } from '../requests/await-options.js';
import { keyOf, type VolumeKeyInput } from '../requests/fields.js';
import type { ClaimClient, KnownVolume, PublishedVolume } from './claim-client.js';
import { type MountEvent, mountEventOf } from './mount-events.js';
import { mountsTopic } from './mount-kind.js';
import { strangerAt } from './mount-seen.js';
import { allocIdOf, capabilityFor, type KnownMount, knownMount, type MountRequest } from './mount-spec.js';
import type { MountTables } from './mount-tables.js';
import { type MountStatus, mountStateOf, mountStatusOf, mountTrouble } from './mount-view.js';
import type { MountPaths } from './paths.js';
import type { Stray, Strays } from './strays.js';
import type { Stats, VolumeStats } from './volume-stats.js';

/** Where a volume is. */
export interface MountInfo {
  /** Of the volume among those of its alloc. */
  name?: string;
  volume: VolumeKey;
  /** On this host: a directory, or the file of a block device. */
  hostPath: string;
  /** Where the workload is to have it. */
  taskPath?: string;
  readOnly: boolean;
  /** It is a block device: to be handed to the workload as one. */
  isDevice: boolean;
  /** How mounts below it spread: `shared`, `slave` or `private`, as the kernel has it. */
  propagation?: string;
}

/** One that is looked into, and can be done as far as that shows. */
export interface CheckedMount extends KnownMount {
  known: KnownVolume;
  capability: Capability;
}

/** For work that takes as long as it takes. */
export interface Following {
  signal: AbortSignal;
  /** Told why it does not get on; null: it does. */
  tell?(reason: string | null): void;
}

export interface MounterOptions {
  node: string;
  engine: Engine;
  clock: Clock;
  claims: ClaimClient;
  secrets: SecretsProvider;
  paths: MountPaths;
  tables: MountTables;
  stats: Stats;
  strays: Strays;
  access: PluginAccess;
  /** Where a plugin sees what is its own on this host, if elsewhere. */
  baseDirOf(plugin: string): string | undefined;
}

export class Mounter {
  readonly #options: MounterOptions;
  readonly #waits: ActorWaits;
  readonly #end = new AbortController();
  #closed: StagecraftError | undefined;

  constructor(options: MounterOptions) {
    this.#options = options;
    const { engine, clock, node } = options;
    this.#waits = new ActorWaits({
      engine,
      clock,
      prefix: nodeOwnedPrefix('mount', node),
      describe: ({ state, context }) => {
        const trouble = mountTrouble(contextOf(context));
        return `${mountStateOf(state)}${trouble ? `: ${trouble.message}` : ''}`;
      },
    });
  }

  /**
   * Mounts a volume for an alloc, at a path of its own; the same again is the same. One that is not published to this node
   * yet is published first, and stays so when it is unmounted: who wants that to follow claims prepares an alloc.
   * Resolves when the kernel shows it.
   * @throws StagecraftError INVALID_ARGUMENT, CLAIM_CONFLICT naming who has it otherwise, SECRETS_UNAVAILABLE: nothing was
   *   called; VOLUME_NOT_FOUND, VOLUME_IN_USE, NOT_LEADER, as `volumes.publish`; CSI_ERROR, MOUNT_NOT_AS_ASKED, PLUGIN_LACKS;
   *   TIMEOUT, ABORTED: the work goes on
   * @see CSI specification, NodeStageVolume and NodePublishVolume
   */
  async mount(request: MountRequest, options: AwaitOptions = {}): Promise<MountInfo> {
    this.#refuseIfClosed();
    const asked = knownMount(request);
    const { timeoutMs, signal } = checkedOptions(awaitSchema, options);
    return this.#within({ timeoutMs, signal }, asked, async (given) => {
      const mount = await this.check(asked, given);
      const published = await this.#options.claims.publish(mount.key, this.publishing(mount), { signal: given });
      return this.bring({ ...mount, isClaimed: false }, published, { signal: given });
    });
  }

  /**
   * Unmounts a volume of an alloc, and unstages it after the last; where it has none, nothing happens. Resolves when the
   * kernel shows it no more.
   * @throws StagecraftError INVALID_ARGUMENT; TIMEOUT, ABORTED: the work goes on, again and again until it is done
   * @see CSI specification, NodeUnpublishVolume and NodeUnstageVolume
   */
  async unmount(request: Omit<MountRequest, 'usage'> & { usage?: unknown }, options: AwaitOptions = {}): Promise<void> {
    this.#refuseIfClosed();
    const { volume, allocId } = request;
    const { timeoutMs, signal } = checkedOptions(awaitSchema, options);
    const asked = { key: keyOf(volume), allocId: allocIdOf(allocId) };
    await this.#within({ timeoutMs, signal }, asked, (given) => this.take(asked, { signal: given }));
  }

  /** Whether the alloc has the volume in this way, and the kernel shows it. @throws StagecraftError INVALID_ARGUMENT */
  async has(request: MountRequest): Promise<boolean> {
    this.#refuseIfClosed();
    const { key, allocId, usage, readOnly } = knownMount(request);
    const context = this.#contextAt(key);
    const user = context && userOf(context, allocId);
    if (!context?.volume || user?.state !== 'published' || user.readOnly !== readOnly) return false;
    const { accessMode, attachmentMode } = context.capability ?? {};
    if (accessMode !== usage.accessMode || attachmentMode !== usage.attachmentMode) return false;
    const { path } = this.#options.paths.target(context.volume.plugin, key, allocId);
    const table = await this.#options.tables.table();
    return table.at(path).length > 0 && !strangerAt(table, path, user.found);
  }

  /** All that is here of volumes, or is to go. */
  async list(): Promise<MountStatus[]> {
    this.#refuseIfClosed();
    const { engine, node, paths, tables } = this.#options;
    // Without it all is told but what covers a mount.
    const table = await tables.table().catch(() => undefined);
    return [...engine.views(nodeOwnedPrefix('mount', node))].flatMap(([, { state, context }]) => {
      const mount = contextOf(context);
      const status = mountStatusOf(state, mount, paths, table);
      if (!status) return [];
      const trouble = status.error ? undefined : this.#silence(mount);
      return trouble ? { ...status, error: trouble } : status;
    });
  }

  /**
   * What its plugin says of how much is used, and of its health, now.
   * @throws StagecraftError MOUNT_NOT_FOUND; PLUGIN_LACKS, PLUGIN_UNAVAILABLE, CSI_ERROR, TIMEOUT
   * @see CSI specification, NodeGetVolumeStats
   */
  async stats(key: VolumeKeyInput): Promise<VolumeStats> {
    this.#refuseIfClosed();
    return this.#options.stats.of(keyOf(key));
  }

  /** What failed is tried again, and what waits for its time is tried now. @throws StagecraftError MOUNT_NOT_FOUND */
  async retry(key: VolumeKeyInput): Promise<void> {
    this.#refuseIfClosed();
    const known = keyOf(key);
    if (!this.#contextAt(known)?.volume) throw mountNotFound(known, this.#options.node);
    await this.#ask(known, { type: 'mount.retry' });
  }

  /** What is mounted where only our own should be, and nobody here knows of: a driver that died may have been late. */
  async strays(): Promise<Stray[]> {
    this.#refuseIfClosed();
    return this.#options.strays.list();
  }

  /**
   * Unmounts one of the strays; what it was mounted on stays.
   * @throws StagecraftError INVALID_ARGUMENT: it is none; MOUNT_STAYS: it is in use
   */
  async cleanStray(path: string): Promise<void> {
    this.#refuseIfClosed();
    await this.#options.strays.clean(path);
  }

  /**
   * Follows what happens to mounts here, in one order, none left out, from now or from after an event's id.
   * @throws StagecraftError CURSOR_EXPIRED, EVENT_DAMAGED, INVALID_ARGUMENT
   */
  updates({ from = 'now', signal }: FollowOptions = {}): AsyncIterable<MountEvent> {
    this.#refuseIfClosed();
    const { engine, node } = this.#options;
    return engine.follow(mountsTopic(node), cursorOf(from), signal).reading(mountEventOf);
  }

  /**
   * Looks into a mount before anything is asked of anybody for it.
   * @throws StagecraftError what is known to be wrong with it
   */
  async check(asked: KnownMount, signal: AbortSignal): Promise<CheckedMount> {
    const { claims, secrets, clock, paths, baseDirOf, node } = this.#options;
    const { key, allocId, readOnly, usage } = asked;
    const known = await claims.look(key, { nodeId: node }, { signal });
    const capability = capabilityFor(key, known, usage);
    for (const { path } of [paths.staging(known.plugin, key), paths.target(known.plugin, key, allocId)])
      paths.toPlugin(known.plugin, path, baseDirOf(known.plugin));
    const context = this.#contextAt(key);
    if (context) {
      const volume = { ...nobodys, uid: known.uid, csiId: context.volume?.csiId ?? '' };
      const refusal = mountRefusalOf(context, {
        ...{ type: 'mount.use', volume, capability, allocId, readOnly },
        isClaimed: false,
      });
      if (refusal) throw new StagecraftError(refusal.code, refusal.message, { address: addressOf(node, key) });
    }
    await resolveSecrets(secrets, known.secrets, { clock, signal });
    return { ...asked, known, capability };
  }

  /** How its controller side is to publish it. */
  publishing({ usage, readOnly }: KnownMount): Parameters<ClaimClient['publish']>[1] {
    const { accessMode, attachmentMode } = usage;
    // Others may write through the same node: only a mode with one writer of many has to know who that is.
    const isReader = isReadOnly(accessMode) || (accessMode === 'multi-node-single-writer' && readOnly);
    return { nodeId: this.#options.node, accessMode, attachmentMode, readOnly: isReader };
  }

  /** Mounts what is published. @throws StagecraftError as `mount` */
  async bring(
    mount: CheckedMount & { isClaimed: boolean },
    published: PublishedVolume,
    { signal, tell }: Following,
  ): Promise<MountInfo> {
    const { key, allocId, capability, readOnly, isClaimed } = mount;
    const volume = mountedVolume(published);
    await this.#ask(key, { type: 'mount.use', volume, capability, allocId, readOnly, isClaimed });
    if (published.expansion) await this.#ask(key, { type: 'mount.expand', capacity: published.expansion });
    const reached = ({ context }: ActorView): true | undefined => {
      const user = userOf(contextOf(context), allocId);
      tell?.(mountTrouble(contextOf(context))?.message ?? null);
      if (user?.state === 'published') return true;
      if (user?.state === 'failed' && user.failure) throw failedWith(this.#options.node, key, user.failure);
      if (user && (user.state === 'wanted' || user.again || user.failure)) return undefined;
      throw new StagecraftError('ABORTED', `${nameOf(key)} was unmounted for alloc ${allocId} meanwhile`, {
        address: addressOf(this.#options.node, key),
      });
    };
    await this.#until(key, { goal: `mounted for alloc ${allocId}`, reached, signal });
    return this.#infoOf({ key, allocId, plugin: published.plugin, capability, readOnly });
  }

  /** What an alloc has mounted, once its plugin is back; undefined where it is not mounted. */
  async standing(
    { key, allocId }: Pick<KnownMount, 'key' | 'allocId'>,
    { signal, tell }: Following,
  ): Promise<MountInfo | undefined> {
    const { volume } = this.#contextAt(key) ?? {};
    if (!volume) return undefined;
    (await this.#options.access.enter(volume.plugin, { signal, waits: (reason) => tell?.(reason) })).leave();
    tell?.(null);
    const context = this.#contextAt(key);
    const user = context && userOf(context, allocId);
    if (!context?.capability || user?.state !== 'published') return undefined;
    return this.#infoOf({
      key,
      allocId,
      plugin: volume.plugin,
      capability: context.capability,
      readOnly: user.readOnly,
    });
  }

  /** The claim of an alloc is held still: what is to be mounted for it is mounted. */
  async confirm({ key, allocId }: Pick<KnownMount, 'key' | 'allocId'>): Promise<void> {
    if (this.#contextAt(key)) await this.#ask(key, { type: 'mount.confirm', allocId });
  }

  /**
   * Why the slot of an alloc can't be given up, though it has let go: something of the volume is here, or may be, for
   * somebody without one, who would lose it.
   * @throws StagecraftError VOLUME_IN_USE naming those
   */
  refuseUnclaimed(key: VolumeKey): void {
    const context = this.#contextAt(key);
    if (!context) return;
    const isHere = (user: MountUser): boolean => user.state !== 'failed' || mayBeMounted(user);
    const users = context.users.filter(isHere);
    const unclaimed = users.filter(({ isClaimed }) => !isClaimed);
    const names = unclaimed.map(({ allocId }) => allocId).join(', ');
    const refuse = (why: string): never => {
      throw new StagecraftError('VOLUME_IN_USE', `${nameOf(key)} ${why}`, {
        address: addressOf(this.#options.node, key),
      });
    };
    if (unclaimed.length > 0)
      refuse(`is mounted without a claim for ${names}, and would be taken from there: unmount that first`);
    // Who has a claim still gives it up in its turn.
    if (users.length === 0 && isStagingOwed(context))
      refuse('is staged here, or may be, for nobody who has a claim: it is unstaged first');
  }

  /** Unmounts for an alloc. Resolves when nothing of it is here any more. @throws StagecraftError ABORTED */
  async take({ key, allocId }: Pick<KnownMount, 'key' | 'allocId'>, { signal, tell }: Following): Promise<void> {
    if (!this.#contextAt(key)) return;
    await this.#ask(key, { type: 'mount.leave', allocId });
    const reached = ({ context }: ActorView): true | undefined => {
      const user = userOf(contextOf(context), allocId);
      tell?.(mountTrouble(contextOf(context))?.message ?? null);
      // Asked for again as it leaves, or since it has left.
      if (user?.again || user?.state === 'wanted' || user?.state === 'published')
        throw new StagecraftError('ABORTED', `${nameOf(key)} is to be mounted for alloc ${allocId} again`, {
          address: addressOf(this.#options.node, key),
        });
      return user ? undefined : true;
    };
    await this.#until(key, { goal: `unmounted for alloc ${allocId}`, reached, gone: true, signal });
  }

  /** Whatever is on its way out is tried now. */
  async hasten(): Promise<void> {
    const { engine, node } = this.#options;
    const leaving = [...engine.views(nodeOwnedPrefix('mount', node))].flatMap(([, { context }]) => {
      const { key, users } = contextOf(context);
      return users
        .filter(({ state }) => state === 'leaving' || state === 'detached')
        .map(({ allocId }) => this.#ask(key, { type: 'mount.leave', allocId }));
    });
    await Promise.allSettled(leaving);
  }

  /** The volumes of a plugin that are here, or may be, each with who uses it: they need the plugin. */
  needing(plugin: string): string[] {
    const { engine, node } = this.#options;
    return [...engine.views(nodeOwnedPrefix('mount', node))].flatMap(([, view]) => {
      const context = contextOf(view.context);
      const { volume, key, users } = context;
      const using = users.filter((user) => user.state !== 'failed' || mayBeMounted(user));
      if (volume?.plugin !== plugin || (using.length === 0 && !isStagingOwed(context))) return [];
      const allocs = using.map(({ allocId }) => allocId);
      return [`${nameOf(key)}${allocs.length > 0 ? ` (mounted for alloc ${allocs.join(', ')})` : ' (to be unstaged)'}`];
    });
  }

  /** Ends all waiting; every later call is refused. */
  close(reason = new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed')): void {
    this.#closed ??= reason;
    this.#end.abort(this.#closed);
    this.#waits.close(this.#closed);
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

  /** What is asked of others along the way ends with the wait. */
  async #within<T>(
    { timeoutMs, signal }: AwaitOptions,
    { key, allocId }: Pick<KnownMount, 'key' | 'allocId'>,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { clock, node } = this.#options;
    const limit = new AbortController();
    const still = '; what was begun stands: see mounts.list()';
    const late = (): void => {
      const trouble = this.#troubleAt(key);
      const message = `${timeoutMs} ms have passed before ${nameOf(key)} was done with for alloc ${allocId}${trouble}${still}`;
      limit.abort(new StagecraftError('TIMEOUT', message, { address: addressOf(node, key) }));
    };
    const cancel = timeoutMs === undefined ? undefined : clock.after(timeoutMs, late);
    const given = (): void => {
      const message = `the wait was given up${this.#troubleAt(key)}${still}`;
      limit.abort(new StagecraftError('ABORTED', message, { address: addressOf(node, key) }));
    };
    const ends = [
      ...(signal ? [onAbort(signal, given)] : []),
      onAbort(this.#end.signal, () => limit.abort(this.#closed)),
    ];
    try {
      return await unlessAborted(limit.signal, () => work(limit.signal));
    } finally {
      cancel?.();
      for (const end of ends) end();
    }
  }

  #troubleAt(key: VolumeKey): string {
    const context = this.#contextAt(key);
    const trouble = context && mountTrouble(context);
    return trouble ? ` (${trouble.message})` : '';
  }

  /** A call that its plugin does not answer goes on until its deadline: that the plugin is not well is known before. */
  #silence({ volume, work }: MountContext): Failure | undefined {
    const trouble = volume && work?.isCalling ? this.#options.access.obstacle(volume.plugin) : undefined;
    if (trouble === undefined) return undefined;
    return { code: 'PLUGIN_UNAVAILABLE', message: `a call is under way (${work?.kind}); ${trouble}`, final: false };
  }

  #until<T>(
    key: VolumeKey,
    goal: { goal: string; reached(view: ActorView): T | undefined; gone?: T; signal: AbortSignal },
  ): Promise<T> {
    const { node } = this.#options;
    return this.#waits.until({ ...goal, address: addressOf(node, key), name: nameOf(key) });
  }

  async #ask(key: VolumeKey, request: MachineRequest): Promise<void> {
    await this.#options.engine.ask(addressOf(this.#options.node, key), request);
  }

  #contextAt(key: VolumeKey): MountContext | undefined {
    const view = this.#options.engine.peek(addressOf(this.#options.node, key));
    return view && contextOf(view.context);
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw this.#closed;
  }
}

const addressOf = (node: string, { namespace, id }: VolumeKey): string => mountAddress(node, namespace, id);

/** The engine keeps contexts as the machines made them, but does not know their types. */
const contextOf = (context: object): MountContext => context as MountContext;

const userOf = ({ users }: MountContext, allocId: string): MountUser | undefined =>
  users.find((user) => user.allocId === allocId);

/** For looking whether a request would be refused: what it is made with does not matter then. */
const nobodys: Omit<MountedVolume, 'uid' | 'csiId'> = {
  plugin: '',
  volumeContext: {},
  publishContext: {},
  secrets: {},
};

const mountedVolume = ({
  uid,
  plugin,
  csiId,
  volumeContext,
  publishContext,
  secrets,
}: PublishedVolume): MountedVolume => ({ uid, plugin, csiId, volumeContext, publishContext, secrets });

const failedWith = (node: string, key: VolumeKey, { code, message, ...details }: CallFailure): StagecraftError =>
  new StagecraftError(code, `${nameOf(key)}: ${message}`, { ...details, address: addressOf(node, key) });

export const mountNotFound = (key: VolumeKey, node: string): StagecraftError =>
  new StagecraftError('MOUNT_NOT_FOUND', `${nameOf(key)} is not mounted on node ${node}: list what is`, {
    address: addressOf(node, key),
  });
