/**
 * Public surface for snapshots: `runtime.snapshots` and `runtime.groupSnapshots`. Checks each request, then sends it to the
 * snapshot's actor, which commits it before the work begins (machines/snapshot/snapshot.ts). Reads return committed state.
 */
import type { CallFailure } from '../../machines/kit/csi-types.js';
import { isSameData } from '../../machines/kit/same-data.js';
import type { SnapshotContext } from '../../machines/snapshot/phases.js';
import { snapshotOnlyLeftovers } from '../../machines/snapshot/refusals.js';
import { isBeingDeleted, snapshotStateOf } from '../../machines/snapshot/states.js';
import type { SnapshotSpec as KnownSpec, SnapshotChanged, SnapshotKey } from '../../machines/snapshot/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { Homes, Origin } from '../calls/homes.js';
import type { ActorSystem } from '../engine/actor-system.js';
import type { ViewOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import type { Random } from '../engine/random.js';
import type { FollowOptions } from '../engine/topics/topic-reader.js';
import { changeOf } from '../engine/topics/topics.js';
import { type ErrorCode, StagecraftError } from '../errors.js';
import { ActorClient } from '../requests/actor-client.js';
import { isMeant, type Page } from '../requests/actor-pages.js';
import {
  checkedOptions,
  checkedRetry,
  type DeleteOptions,
  deleteSchema,
  inTime,
  type RetryOptions,
  type WaitOptions,
  waitSchema,
} from '../requests/await-options.js';
import type { VolumeKeyInput } from '../requests/fields.js';
import { checkSecretRefs, refuseWithoutSecrets, type SecretsProvider } from '../secrets/secrets.js';
import type { CopySources } from '../volumes/copy-sources.js';
import { joinedSecrets, volumeSources } from './snapshot-sources.js';
import {
  type GroupSnapshotSpec,
  groupSnapshotVariant,
  type SnapshotFilter,
  type SnapshotMachine,
  type SnapshotSpec,
  type SnapshotVariant,
  volumeSnapshotVariant,
} from './snapshot-variants.js';
import type { GroupSnapshot, Snapshot, SnapshotEvent } from './snapshot-view.js';

interface SnapshotManagerOptions {
  engine: ActorSystem;
  clock: Clock;
  random: Random;
  /** Prefix of the names of snapshots at their plugins. */
  namePrefix: string;
  secrets: SecretsProvider;
  /** Homes of volumes; default: every agent may make the calls of every volume. */
  homes?: Homes;
  sources: Pick<CopySources, 'removalRefusal'>;
}

interface AskedSnapshot {
  key: SnapshotKey;
  volumes: VolumeKey[];
  rest: Omit<KnownSpec, 'plugin' | 'sources' | 'secrets'>;
  secrets: KnownSpec['secrets'] | undefined;
  wait: boolean;
}

type View = ViewOf<SnapshotMachine>;

export class SnapshotManager<TSpec, TView> {
  readonly #options: SnapshotManagerOptions;
  readonly #variant: SnapshotVariant<TSpec, TView>;
  readonly #client: ActorClient<SnapshotMachine, SnapshotKey>;

  constructor(options: SnapshotManagerOptions, variant: SnapshotVariant<TSpec, TView>) {
    this.#options = options;
    this.#variant = variant;
    this.#client = new ActorClient(options, variant);
  }

  /**
   * Creates a snapshot of a volume, or of several volumes of one plugin. Safe to repeat with the same spec. Resolves once the
   * snapshot is ready to use.
   * @throws StagecraftError INVALID_ARGUMENT with every fault; VOLUME_NOT_FOUND, VOLUME_DELETING, VOLUME_ELSEWHERE: its source;
   *   SNAPSHOT_EXISTS: this key has another spec; SNAPSHOT_DELETING; SECRETS_UNAVAILABLE, unless `wait`; CSI_ERROR,
   *   PLUGIN_LACKS, SNAPSHOT_UNPROVEN: the creation failed; TIMEOUT, ABORTED: the work goes on
   * @see CSI specification, CreateSnapshot, CreateVolumeGroupSnapshot
   */
  async create(spec: TSpec, options: WaitOptions = {}): Promise<TView> {
    this.#client.refuseIfClosed();
    const { namespace, id, volumes, secrets, ...rest } = this.#variant.asked(spec);
    const { wait, ...waiting } = checkedOptions(waitSchema, options);
    const asked = { key: { namespace, id }, volumes, secrets, rest, wait };
    return inTime(this.#options.clock, waiting, (limit) => this.#create(asked, limit));
  }

  async #create({ key, volumes, rest, wait, ...own }: AskedSnapshot, limit: AbortSignal | undefined): Promise<TView> {
    const { home, driver, secrets: inherited, ...sources } = await this.#sourcesOf(key, volumes, limit);
    const known: KnownSpec = { ...rest, ...sources, secrets: own.secrets ?? joinedSecrets(inherited) };
    const present = await this.#client.view(key, limit);
    const { secrets, clock, homes } = this.#options;
    checkSecretRefs(secrets, known.secrets, present?.context.spec?.secrets);
    const isChecked = wait || present?.context.csi || homes?.isFar({ plugin: known.plugin, home });
    if (!isChecked) await refuseWithoutSecrets(secrets, known.secrets, { clock, signal: limit });
    const uid = this.#options.random.id();
    const name = `${this.#options.namePrefix}-${uid}`;
    const origin = { ...(home !== undefined && { home }), ...(driver !== undefined && { driver }) };
    await this.#client.ask(key, { type: 'snapshot.create', spec: known, uid, name, ...origin }, limit);
    const reached = ({ context }: View): TView | undefined => {
      const { failure } = context;
      if (isBeingDeleted(context)) throw this.#error('ABORTED', key, 'is being deleted');
      if (snapshotStateOf(context) === 'ready') return structuredClone(this.#variant.view(context));
      if (snapshotStateOf(context) === 'failed' && failure) throw this.#failed(key, failure);
      return undefined;
    };
    return this.#client.until({ key, goal: 'ready', reached, signal: limit });
  }

  /**
   * Deletes a snapshot in any state. Volumes created from it stay; a plugin may require that they are deleted first. Resolves
   * once it is gone.
   * @param force gives up after a few failures; unconfirmed leftovers stay listed (`leftovers`) until acknowledged
   * @param uid deletes the snapshot with this uid only: if it is deleted, or another one has its id, does nothing
   * @throws StagecraftError SNAPSHOT_NOT_FOUND; CSI_ERROR; TIMEOUT, ABORTED: the work goes on
   * @see CSI specification, DeleteSnapshot, DeleteVolumeGroupSnapshot
   */
  async delete(key: VolumeKeyInput, options: DeleteOptions = {}): Promise<void> {
    const known = this.#client.accept(key);
    const { force, uid, ...waiting } = checkedOptions(deleteSchema, options);
    await inTime(this.#options.clock, waiting, (limit) => this.#delete(known, { force, uid }, limit));
  }

  async #delete(
    known: SnapshotKey,
    { force, uid }: { force: boolean; uid: string | undefined },
    limit: AbortSignal | undefined,
  ): Promise<void> {
    const meant = await this.#askToDelete(known, { force, uid }, limit);
    if (meant === undefined) return;
    const reached = ({ context }: View): true | undefined => {
      const { uid, failure } = context;
      if (uid !== meant || snapshotStateOf(context) === 'deleted') return true;
      if (snapshotStateOf(context) === 'failed' && failure) throw this.#failed(known, failure);
      return undefined;
    };
    await this.#client.until({ key: known, goal: 'deleted', reached, gone: true, signal: limit });
  }

  /** @throws StagecraftError VOLUME_IN_USE: a volume is being made from it */
  async #refuseIfCopied(
    key: SnapshotKey,
    { spec, csi, home }: SnapshotContext,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (!csi || !spec) return;
    const { plugin } = spec;
    const ids = new Set([csi.csiId, ...csi.members.map(({ csiId }) => csiId)]);
    const sources = [...ids].map((csiId) => ({ of: 'snapshot' as const, plugin, csiId, home }));
    const failure = await this.#options.sources.removalRefusal(sources, {
      address: this.#variant.addressOf(key),
      signal,
    });
    if (failure) throw this.#error('VOLUME_IN_USE', key, `can't be deleted: ${failure.message}`);
  }

  /** @returns uid of the snapshot that is being deleted; undefined: the one with the given uid is gone */
  async #askToDelete(
    known: SnapshotKey,
    { force, uid }: { force: boolean; uid: string | undefined },
    limit: AbortSignal | undefined,
  ): Promise<string | undefined> {
    try {
      const { context } = await this.#present(known, limit);
      if (uid !== undefined && context.uid !== uid) return undefined;
      if (!force) await this.#refuseIfCopied(known, context, limit);
      await this.#client.ask(known, { type: 'snapshot.delete', force, ...(uid !== undefined && { uid }) }, limit);
      return context.uid;
    } catch (error) {
      const isGone = error instanceof StagecraftError && error.code === 'SNAPSHOT_NOT_FOUND';
      if (uid !== undefined && isGone) return undefined;
      throw error;
    }
  }

  /**
   * Retries failed work and runs waiting work now. After a forced deletion, retries its leftovers.
   * @throws StagecraftError SNAPSHOT_NOT_FOUND, INVALID_ARGUMENT
   */
  async retry(key: VolumeKeyInput, options: RetryOptions = {}): Promise<void> {
    await this.#client.askExisting(key, { type: 'snapshot.retry', ...checkedRetry(options) });
  }

  /** Forgets a deleted snapshot whose leftovers the caller has cleaned up. @throws StagecraftError SNAPSHOT_NOT_FOUND */
  async acknowledge(key: VolumeKeyInput): Promise<void> {
    await this.#client.askExisting(key, { type: 'snapshot.acknowledge' });
  }

  /** Returns the committed state of a snapshot; undefined if there is none. */
  async get(key: VolumeKeyInput): Promise<TView | undefined> {
    const view = await this.#client.get(key);
    return view && structuredClone(this.#variant.view(view.context));
  }

  /**
   * Lists a page of snapshots in the order of their keys. Snapshots created or deleted meanwhile may be missing; all
   * others appear once.
   */
  list(filter: SnapshotFilter = {}): Promise<Page<TView>> {
    return this.#client.list(this.#variant.filter, filter, ({ context }, conditions) => {
      const isListed = isMeant({ plugin: context.spec?.plugin, state: snapshotStateOf(context) }, conditions);
      return isListed ? structuredClone(this.#variant.view(context)) : undefined;
    });
  }

  /**
   * Follows the changes of snapshots in order and without gaps, from now on or after the id of an event. Ends with its
   * signal, its iterator or the runtime.
   * @throws StagecraftError CURSOR_EXPIRED, EVENT_DAMAGED, INVALID_ARGUMENT
   */
  updates(options?: FollowOptions): AsyncIterable<SnapshotEvent> {
    return this.#client.updates(this.#variant.topic, options, changeOf<SnapshotChanged>);
  }

  /** Ends all waits with the error of `peek`, as another runtime leads now. */
  interrupt(): void {
    this.#client.interrupt();
  }

  /** Ends all waits and refuses every later request. */
  close(reason?: StagecraftError): void {
    this.#client.close(reason);
  }

  /**
   * Resolves the source volumes with their secrets. For an existing snapshot takes those on record, as the volumes may be
   * deleted by now.
   */
  async #sourcesOf(
    key: SnapshotKey,
    volumes: VolumeKey[],
    limit: AbortSignal | undefined,
  ): Promise<Pick<KnownSpec, 'plugin' | 'sources'> & { secrets: KnownSpec['secrets'][] } & Origin> {
    const view = await this.#client.view(key, limit);
    const { spec } = view?.context ?? {};
    const isSame =
      spec &&
      isSameData(
        spec.sources.map(({ volume }) => volume),
        volumes,
      );
    if (isSame && view && snapshotStateOf(view.context) !== 'deleted')
      return { plugin: spec.plugin, sources: spec.sources, secrets: [spec.secrets] };
    return volumeSources(this.#options, volumes, limit);
  }

  async #present(key: SnapshotKey, limit?: AbortSignal): Promise<View> {
    const view = await this.#client.view(key, limit);
    if (!view) throw this.#variant.notFound(key);
    if (snapshotStateOf(view.context) !== 'deleted') return view;
    const { code, message } = snapshotOnlyLeftovers(view.context);
    throw new StagecraftError(code, message, { address: this.#variant.addressOf(key) });
  }

  #failed(key: SnapshotKey, { code, message, ...details }: CallFailure): StagecraftError {
    const advice = `${this.#variant.nameOf(key)}: ${message}; it stays failed until it is deleted, or retry is called`;
    return new StagecraftError(code, advice, { ...details, address: this.#variant.addressOf(key) });
  }

  #error(code: ErrorCode, key: SnapshotKey, what: string): StagecraftError {
    return new StagecraftError(code, `${this.#variant.nameOf(key)} ${what}`, { address: this.#variant.addressOf(key) });
  }
}

/** Makes `runtime.snapshots`: snapshots of one volume each. */
export const snapshotManager = (options: SnapshotManagerOptions): SnapshotManager<SnapshotSpec, Snapshot> =>
  new SnapshotManager(options, volumeSnapshotVariant);

/** Makes `runtime.groupSnapshots`: snapshots of several volumes of one plugin at one moment. */
export const groupSnapshotManager = (
  options: SnapshotManagerOptions,
): SnapshotManager<GroupSnapshotSpec, GroupSnapshot> => new SnapshotManager(options, groupSnapshotVariant);
