/**
 * Ensures that each CSI id has one owner. Two volumes with one id would let two nodes write to it, as neither knows the other's
 * publications; and deleting one would delete the other's content.
 * Looks ids up in an index of the records, and reserves a new id from the plugin's answer until its owner has committed it.
 * The index also has the sources of records that are being made: copy-sources.ts
 */
import type { AnyStateMachine, ContextFrom } from 'xstate';
import { addressParts } from '../../machines/kit/addresses.js';
import { idTaken } from '../../machines/kit/call.js';
import type { CallFailure } from '../../machines/kit/csi-types.js';
import { isIn } from '../../machines/kit/parts.js';
import type { SnapshotContext } from '../../machines/snapshot/phases.js';
import { snapshotName } from '../../machines/snapshot/refusals.js';
import { groupSnapshotMachine, volumeSnapshotMachine } from '../../machines/snapshot/snapshot.js';
import {
  isBeingDeleted,
  isMaking,
  isNew,
  isRemoving,
  mayBeCutting,
  needsSources,
  snapshotStateOf,
} from '../../machines/snapshot/states.js';
import type { MadeSnapshot, SnapshotKind } from '../../machines/snapshot/types.js';
import { isDeleted } from '../../machines/volume/lifecycle.js';
import { volumeName } from '../../machines/volume/requests.js';
import { mayBeCreating, needsSource, volumeStateOf } from '../../machines/volume/states.js';
import type { VolumeContext, VolumeSource } from '../../machines/volume/types.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf, type ViewOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import { readBefore, type StoreWait } from '../engine/storage/store-patience.js';
import { StagecraftError } from '../errors.js';
import { CommittedIndex } from './committed-index.js';
import { ExclusiveRequests } from './exclusive-requests.js';

/** CSI id with the scope in which it is unique. */
interface PluginId {
  plugin: string;
  csiId: string;
  /** Marks the id of a group snapshot. */
  isGroup?: true;
  /** Node on which the plugin's ids are unique; default: unique on all nodes. */
  home?: string | null | undefined;
}

/** Kind of a volume's source. */
export const sourceKind = (source: VolumeSource): CopySource['of'] => ('volume' in source ? 'volume' : 'snapshot');

/** Volume or snapshot whose content is copied. */
export interface CopySource extends Pick<PluginId, 'plugin' | 'csiId' | 'home'> {
  of: 'volume' | 'snapshot';
  /** The call that copies may be under way. */
  isBeingCopied?: boolean;
}

/** Records that have ids from one space: volumes; or snapshots together with group snapshots. */
interface IdSort<M extends AnyStateMachine> {
  machines: readonly M[];
  /** Extracts all ids that a record has or is about to get. */
  idsIn(context: ContextFrom<M>): readonly PluginId[];
  /** Returns the plugin that a call has made the content of a record at; undefined if none has. */
  makerIn?(context: ContextFrom<M>): string | undefined;
  /** Extracts the sources that have to stay while the record is being made from them. */
  sourcesIn(view: ViewOf<M>): readonly CopySource[];
  nameOf(address: string): string;
  /** Whether a create call is under way, whose answer may bring ids. */
  isMaking(view: ViewOf<M>): boolean;
  /** Whether no call was sent that may have made it, but for the present one. */
  isNew(view: ViewOf<M>): boolean;
  /** Whether the deletion was asked for. */
  isLeaving(view: ViewOf<M>): boolean;
  /** Whether a delete call may have been sent: the plugin may already give the id to another volume. */
  isGoing(view: ViewOf<M>): boolean;
  /** Whether the record is deleted, but may still exist at the plugin. */
  isLeftBehind(view: ViewOf<M>): boolean;
}

/** Makes a unique key: names of plugins and nodes have no control characters, and the id comes last. */
const keyOf = ({ plugin, csiId, isGroup }: PluginId, home?: string): string =>
  `${plugin}\n${home === undefined ? 'anywhere' : `on ${home}`}\n${isGroup ? 'group' : 'one'}\n${csiId}`;

/** Key of all records that a plugin has made by a call. */
const makerKeyOf = (plugin: string): string => `\nmade by\n${plugin}`;

/** Stands for all homes in keys: no node has an empty name. */
const anyHome = '';

const keysOf = (id: PluginId): string[] => (id.home ? [keyOf(id, id.home), keyOf(id, anyHome)] : [keyOf(id)]);

function allKeysOf(ids: readonly PluginId[]): string[] {
  const [first, ...others] = ids;
  if (first && others.length === 0) return keysOf(first);
  return [...new Set(ids.flatMap(keysOf))];
}

/** Keys under which another owner of the id is found. An id without a home equals the same id on every home. */
const rivalKeysOf = (id: PluginId): string[] => [keyOf(id), keyOf(id, id.home ?? anyHome)];

/** Key under which copies of a source are found. Names of plugins, with which other keys begin, have no control characters. */
const copyKeyOf = ({ of }: CopySource, key: string, stage: 'wanted' | 'begun'): string => `\n${of} ${stage}\n${key}`;

const copyKeysOf = (source: CopySource): string[] =>
  keysOf(source).flatMap((key) => [
    copyKeyOf(source, key, 'wanted'),
    ...(source.isBeingCopied ? [copyKeyOf(source, key, 'begun')] : []),
  ]);

export class IdOwners<M extends AnyStateMachine> {
  readonly #ports: { engine: ActorSystem; clock: Clock };
  readonly #sort: IdSort<M>;
  readonly #actors: readonly ActorsOf<M>[];
  readonly #index: CommittedIndex<M>;
  readonly #holders: ExclusiveRequests;
  /** Functions that end the reservation of an answer's ids, by the address of the actor. */
  readonly #answered = new Map<string, () => void>();

  constructor(ports: { engine: ActorSystem; clock: Clock }, sort: IdSort<M>) {
    this.#ports = ports;
    this.#sort = sort;
    this.#actors = sort.machines.map((machine) => new ActorsOf(ports.engine, machine));
    this.#holders = new ExclusiveRequests(ports);
    this.#index = new CommittedIndex({
      of: this.#actors,
      keysOf: (view) => {
        const keys = allKeysOf(sort.idsIn(view.context));
        const sources = sort.sourcesIn(view);
        const maker = sort.makerIn?.(view.context);
        if (sources.length === 0 && maker === undefined) return keys;
        return [...keys, ...(maker === undefined ? [] : [makerKeyOf(maker)]), ...new Set(sources.flatMap(copyKeysOf))];
      },
    });
    for (const actors of this.#actors)
      actors.observe(({ address, view }) => {
        if (this.#answered.size > 0 && !(view && sort.isMaking(view))) this.#leave(address);
      });
  }

  /** Whether the owners of all ids are known. */
  get isKnown(): boolean {
    return this.#index.isKnown;
  }

  /**
   * Resolves once the owners of all ids are known.
   * @param wait of the caller's request, which ends the wait; the read goes on for other callers
   * @throws StagecraftError STORE_UNAVAILABLE; the next call tries again. TIMEOUT, ABORTED
   */
  async known(wait?: StoreWait): Promise<void> {
    const read = async (): Promise<void> => {
      while (!this.#index.isKnown) await this.#index.known();
    };
    await (wait ? readBefore({ ...this.#ports, limit: wait.signal, address: wait.address }, read) : read());
  }

  /** Names a record whose content the plugin has made by a call; undefined if there is none. Call after `known`. */
  madeByCall(plugin: string): string | undefined {
    for (const address of this.#index.at(makerKeyOf(plugin))) return this.#sort.nameOf(address);
    return undefined;
  }

  /** Drops the index and all reservations, as another runtime leads or led and changes the records. */
  forget(): void {
    this.#index.forget();
    for (const address of [...this.#answered.keys()]) this.#leave(address);
  }

  /**
   * Runs a request to register an existing volume (`external`) under its CSI id.
   * @throws StagecraftError VOLUME_EXISTS names the owner of the id; VOLUME_IN_USE names records that can't be read, any of
   * which may own it; errors of `work`
   */
  async takingOver(address: string, id: PluginId, work: () => Promise<void>, limit?: AbortSignal): Promise<void> {
    const unread = await this.#unread({ address, signal: limit });
    const refusal = (_: string, holder: string): StagecraftError => {
      const { name, advice } = this.#describe(holder);
      const known = `plugin '${id.plugin}' knows ${name} as '${id.csiId}'`;
      const message = `${this.#sort.nameOf(address)}: ${known}: ${advice ?? 'use that one, or delete it first'}`;
      return new StagecraftError('VOLUME_EXISTS', message, { address });
    };
    // Must run without `await` up to the reservation, or another request could come between.
    const holder = this.#holderOf(id, address);
    if (holder !== undefined) throw refusal(keyOf(id), holder);
    if (unread.length > 0) throw this.#unknownOwner(address, id, unread);
    await this.#holders.within({ address, things: keysOf(id), refusal }, work);
  }

  /**
   * Reserves the ids of a plugin's answer until their owner has committed them.
   * @returns failure if another record owns one of the ids
   * @throws Error if called before `known` has resolved
   */
  reserve(address: string, ids: readonly PluginId[]): CallFailure | undefined {
    if (!this.#index.isKnown) throw new Error('the owners of ids are not read yet');
    for (const id of ids) {
      const holder = this.#holderOf(id, address);
      if (holder !== undefined) return this.#taken(id, holder);
    }
    const leave = this.#holders.enter(address, allKeysOf(ids));
    this.#leave(address);
    this.#answered.set(address, leave);
    return undefined;
  }

  /**
   * Names the records that are being made from the source.
   * @param isBegun only those whose call may be under way
   * @throws Error if called before `known` has resolved
   */
  copiesOf(source: CopySource, { isBegun = false } = {}): string[] {
    if (!this.#index.isKnown) throw new Error('the owners of ids are not read yet');
    const keys = rivalKeysOf(source).map((key) => copyKeyOf(source, key, isBegun ? 'begun' : 'wanted'));
    const copies = new Set(keys.flatMap((key) => [...this.#index.at(key)]));
    return [...copies].sort().map((address) => this.#sort.nameOf(address));
  }

  /** Whether the committed record has sent no call that may have made it, but for the present one. */
  isNew(address: string): boolean {
    const view = this.#actorsAt(address)?.peek(address);
    return view !== undefined && this.#sort.isNew(view);
  }

  /** Returns the name of the record that owns the id, if its deletion was asked for. */
  async leavingOwnerOf(id: PluginId, wait?: StoreWait): Promise<string | undefined> {
    await this.known(wait);
    for (const key of rivalKeysOf(id)) {
      for (const address of this.#index.at(key)) {
        const view = await this.#actorsAt(address)?.read(address, wait?.signal);
        if (view && this.#sort.isLeaving(view)) return this.#sort.nameOf(address);
      }
    }
    return undefined;
  }

  #actorsAt(address: string): ActorsOf<M> | undefined {
    return this.#actors.find(({ prefix }) => address.startsWith(prefix));
  }

  /** Returns the records that can't be read, once the ids of all others are known. */
  async #unread(wait: StoreWait): Promise<string[]> {
    for (;;) {
      await this.known(wait);
      const unread = await this.#index.unread(wait.signal);
      if (this.#index.isKnown) return unread;
    }
  }

  #unknownOwner(address: string, { csiId }: PluginId, unread: readonly string[]): StagecraftError {
    const named = unread.slice(0, 5).map((other) => this.#sort.nameOf(other));
    const more = unread.length > named.length ? ` and ${unread.length - named.length} more` : '';
    const why = `any of these may have the id '${csiId}', as their records can't be read: ${named.join(', ')}${more}`;
    const todo = "repair them and take them back into service ('stagecraft actor release'), then register it";
    return new StagecraftError('VOLUME_IN_USE', `${this.#sort.nameOf(address)}: ${why}; ${todo}`, { address });
  }

  #holderOf(id: PluginId, address: string): string | undefined {
    for (const key of rivalKeysOf(id)) {
      for (const holder of this.#index.at(key)) if (holder !== address) return holder;
      const coming = this.#holders.comingTo(key, address);
      if (coming !== undefined) return coming;
    }
    return undefined;
  }

  #leave(address: string): void {
    this.#answered.get(address)?.();
    this.#answered.delete(address);
  }

  #taken({ plugin, csiId }: PluginId, holder: string): CallFailure {
    const { name, advice, isGoing } = this.#describe(holder);
    const why = advice ?? (isGoing ? 'that one is being deleted' : 'each needs an id of its own');
    const message =
      `plugin '${plugin}' answered with the id '${csiId}', which is the id of ${name}: ${why}. ` +
      'That one keeps the id. Deleting this one is safe: nothing is deleted at the plugin';
    return { code: idTaken, message, final: !isGoing };
  }

  #describe(holder: string): { name: string; advice?: string; isGoing: boolean } {
    const name = this.#sort.nameOf(holder);
    const view = this.#actorsAt(holder)?.peek(holder);
    if (view && this.#sort.isLeftBehind(view))
      return {
        name: `${name} (deleted)`,
        advice: 'it may be left behind: retry or acknowledge that first',
        isGoing: false,
      };
    return { name, isGoing: view !== undefined && this.#sort.isGoing(view) };
  }
}

export const volumeIds: IdSort<typeof volumeMachine> = {
  machines: [volumeMachine],
  idsIn: volumeIdsIn,
  makerIn: ({ spec, origin }) => (origin === 'call' ? spec?.plugin : undefined),
  nameOf: (address) => {
    const [, namespace = '', id = ''] = addressParts(address);
    return volumeName({ namespace, id });
  },
  sourcesIn: ({ context }) => sourcesOfVolume(context),
  isMaking: ({ context }) => isCalling(context.work, ['create']),
  isNew: ({ context }) => isIn(context.lifecycle, 'pending-create'),
  isLeaving: ({ context }) => isDeleted(context.lifecycle),
  isGoing: ({ context }) => context.work?.kind === 'delete',
  isLeftBehind: ({ state, context }) => volumeStateOf(state, context) === 'deleted',
};

/** Includes a volume created not as asked, and leftovers of a forced deletion: the record still has to delete both. */
function volumeIdsIn({ spec, csi, lifecycle, leftovers, home }: VolumeContext): PluginId[] {
  const plugin = spec?.plugin ?? '';
  const ids: PluginId[] = [];
  const add = (csiId: string | undefined): void => {
    if (csiId !== undefined) ids.push({ plugin, csiId, home });
  };
  add(csi?.id);
  add(lifecycle.madeOtherwise?.id);
  add(spec?.external?.csiId);
  for (const { csiId } of leftovers) add(csiId);
  return ids;
}

const nothing: readonly never[] = Object.freeze([]);

function sourcesOfVolume(context: VolumeContext): readonly CopySource[] {
  const { spec, home } = context;
  const { source, plugin = '' } = spec ?? {};
  if (!source || !needsSource(context)) return nothing;
  return [{ of: sourceKind(source), plugin, csiId: source.csiId, home, isBeingCopied: mayBeCreating(context) }];
}

/** Ids of snapshots. The members of group snapshots are snapshots, too. */
export const snapshotIds: IdSort<typeof volumeSnapshotMachine> = {
  machines: [volumeSnapshotMachine, groupSnapshotMachine],
  idsIn: (context) => snapshotIdsIn(context),
  nameOf: (address) => {
    const [kind = '', namespace = '', id = ''] = addressParts(address);
    return snapshotName({ kind: kind === 'group-snapshot' ? kind : 'volume-snapshot', namespace, id });
  },
  sourcesIn: ({ context }) => sourcesOfSnapshot(context),
  isMaking: ({ context }) => isMaking(context),
  isNew: ({ context }) => isNew(context),
  isLeaving: ({ context }) => isBeingDeleted(context),
  isGoing: ({ context }) => isRemoving(context),
  isLeftBehind: ({ context }) => snapshotStateOf(context) === 'deleted',
};

function sourcesOfSnapshot(context: SnapshotContext): readonly CopySource[] {
  const { spec, home } = context;
  if (!spec || !needsSources(context)) return nothing;
  const { plugin, sources } = spec;
  const isBeingCopied = mayBeCutting(context);
  return sources.map(({ csiId }) => ({ of: 'volume', plugin, csiId, home, isBeingCopied }));
}

const snapshotIdsIn = ({ kind, spec, csi, discards, left, home }: SnapshotContext): PluginId[] =>
  [...(csi ? [csi] : []), ...discards, ...left.made].flatMap((made) =>
    idsOfSnapshot(kind, { plugin: spec?.plugin ?? '', home }, made),
  );

/** Lists all ids that a plugin gives when it creates a snapshot or a group snapshot. */
export const idsOfSnapshot = (
  kind: SnapshotKind,
  at: Pick<PluginId, 'plugin' | 'home'>,
  { csiId, members }: MadeSnapshot,
): PluginId[] => [
  kind === 'group-snapshot' ? { ...at, csiId, isGroup: true } : { ...at, csiId },
  ...members.map((member) => ({ ...at, csiId: member.csiId })),
];

const isCalling = <TKind extends string>(work: { kind: TKind; isCalling: boolean } | null, kinds: TKind[]): boolean =>
  work?.isCalling === true && kinds.includes(work.kind);
