/**
 * Each id that a plugin gives has one owner here: two volumes with the same one know nothing of each other's publications,
 * would let two nodes write to it, and the deletion of the one would take the other's content. An id is looked up in an
 * index of what is committed, and reserved from the moment that it is known until its owner has committed it.
 */
import type { AnyStateMachine, ContextFrom } from 'xstate';
import { addressParts } from '../../machines/kit/addresses.js';
import { idTaken } from '../../machines/kit/call-states.js';
import type { CallFailure } from '../../machines/kit/csi-types.js';
import { groupSnapshotMachine } from '../../machines/snapshot/group.js';
import { snapshotName } from '../../machines/snapshot/refusals.js';
import { volumeSnapshotMachine } from '../../machines/snapshot/snapshot.js';
import { isMaking, isRemoving, publicState } from '../../machines/snapshot/states.js';
import type { MadeSnapshot, SnapshotContext, SnapshotKind } from '../../machines/snapshot/types.js';
import { nameOf } from '../../machines/volume/requests.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf, type ViewOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import { readBefore } from '../engine/storage/store-patience.js';
import { StagecraftError } from '../errors.js';
import { CommittedIndex } from './committed-index.js';
import { ExclusiveRequests } from './exclusive-requests.js';
import { stateOf } from './volume-view.js';

/** An id of a plugin, within what it is the id of. */
export interface PluginId {
  plugin: string;
  csiId: string;
  /** Of a group of snapshots; default: of a volume, or of one snapshot. */
  isGroup?: true;
  /** The node within which the plugin gives an id once; default: everywhere. */
  home?: string | null | undefined;
}

/** Sort of records that have ids: volumes, or snapshots and groups of them. */
export interface IdSort<M extends AnyStateMachine> {
  machines: readonly M[];
  /** All that a record has, or is to have. */
  idsIn(context: ContextFrom<M>): readonly PluginId[];
  /** In words. */
  nameOf(address: string): string;
  /** Whether a call is under way whose answer may give it ids. */
  isMaking(view: ViewOf<M>): boolean;
  /** Whether a call to delete it may have been made: its id may be given to another by now. */
  isGoing(view: ViewOf<M>): boolean;
  /** Whether it is deleted, and may be left behind. */
  isLeftBehind(view: ViewOf<M>): boolean;
}

const keyOf = ({ plugin, csiId, isGroup }: PluginId, home?: string): string =>
  JSON.stringify([plugin, csiId, isGroup ?? false, ...(home === undefined ? [] : [home])]);

/** No node has this name. */
const anyHome = '';

/** Under which keys an id is kept. */
const keysOf = (id: PluginId): string[] => (id.home ? [keyOf(id, id.home), keyOf(id, anyHome)] : [keyOf(id)]);

/** Under which keys others have it: an id without a home is the same as that of every home. */
const rivalKeysOf = (id: PluginId): string[] => [keyOf(id), keyOf(id, id.home ?? anyHome)];

export class IdOwners<M extends AnyStateMachine> {
  readonly #engine: ActorSystem;
  readonly #sort: IdSort<M>;
  readonly #actors: readonly ActorsOf<M>[];
  readonly #index: CommittedIndex<M>;
  readonly #holders: ExclusiveRequests;
  /** By address: ends the reservation of the ids that its plugin has answered with. */
  readonly #answered = new Map<string, () => void>();

  constructor(ports: { engine: ActorSystem; clock: Clock }, sort: IdSort<M>) {
    this.#engine = ports.engine;
    this.#sort = sort;
    this.#actors = sort.machines.map((machine) => new ActorsOf(ports.engine, machine));
    this.#holders = new ExclusiveRequests(ports);
    this.#index = new CommittedIndex({
      of: this.#actors,
      keysOf: (context) => [...new Set(sort.idsIn(context).flatMap(keysOf))],
    });
    for (const actors of this.#actors)
      actors.observe(({ address, view }) => {
        if (this.#answered.size > 0 && !(view && sort.isMaking(view))) this.#leave(address);
      });
  }

  /** Resolves once it is known who has which ids. @throws StagecraftError STORE_UNAVAILABLE; the next call tries again */
  async known(): Promise<void> {
    while (!this.#index.isKnown) await this.#index.known();
  }

  /** Another runtime leads, or led until now, and changes what was read. */
  forget(): void {
    this.#index.forget();
    for (const address of [...this.#answered.keys()]) this.#leave(address);
  }

  /**
   * Does what takes over something that exists.
   * @throws StagecraftError VOLUME_EXISTS naming who has it; what the work throws
   */
  async takingOver(address: string, id: PluginId, work: () => Promise<void>, limit?: AbortSignal): Promise<void> {
    await readBefore({ limit, address, engine: this.#engine }, () => this.known());
    const refusal = (_: string, holder: string): StagecraftError => {
      const { name, advice } = this.#describe(holder);
      const known = `plugin '${id.plugin}' knows ${name} as '${id.csiId}'`;
      const message = `${this.#sort.nameOf(address)}: ${known}: ${advice ?? 'use that one, or delete it first'}`;
      return new StagecraftError('VOLUME_EXISTS', message, { address });
    };
    // Between this look and the reservation nothing else runs.
    const holder = this.#holderOf(id, address);
    if (holder !== undefined) throw refusal(keyOf(id), holder);
    await this.#holders.within({ address, things: keysOf(id), refusal }, work);
  }

  /**
   * Reserves the ids that a plugin has answered with, until their owner has committed them.
   * @returns why it can't have one of them
   * @throws Error before `known`
   */
  reserve(address: string, ids: readonly PluginId[]): CallFailure | undefined {
    if (!this.#index.isKnown) throw new Error('it is not known who has which ids');
    for (const id of ids) {
      const holder = this.#holderOf(id, address);
      if (holder !== undefined) return this.#taken(id, holder);
    }
    const leave = this.#holders.enter(address, [...new Set(ids.flatMap(keysOf))]);
    this.#leave(address);
    this.#answered.set(address, leave);
    return undefined;
  }

  /** The address of another one that has it, or is about to. */
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
    const why = advice ?? (isGoing ? 'that is being deleted' : 'each needs an id of its own');
    const message =
      `plugin '${plugin}' answered with the id '${csiId}', which ${name} has: ${why}. ` +
      'The other one keeps it. To delete this one is safe: nothing is deleted at the plugin';
    return { code: idTaken, message, final: !isGoing };
  }

  #describe(holder: string): { name: string; advice?: string; isGoing: boolean } {
    const name = this.#sort.nameOf(holder);
    const view = this.#actors.find(({ prefix }) => holder.startsWith(prefix))?.peek(holder);
    if (view && this.#sort.isLeftBehind(view))
      return {
        name: `${name} (deleted)`,
        advice: 'it may be left behind: retry or acknowledge that first',
        isGoing: false,
      };
    return { name, isGoing: view !== undefined && this.#sort.isGoing(view) };
  }
}

/** Of volumes. */
export const volumeIds: IdSort<typeof volumeMachine> = {
  machines: [volumeMachine],
  idsIn: volumeIdsIn,
  nameOf: (address) => {
    const [, namespace = '', id = ''] = addressParts(address);
    return nameOf({ namespace, id });
  },
  isMaking: ({ context }) => isCalling(context.work, ['create']),
  isGoing: ({ context }) => context.work?.kind === 'delete',
  isLeftBehind: ({ state }) => stateOf(state) === 'deleted',
};

/** Also what it has made wrongly, and what its forced deletion may have left: that is deleted with it. */
function volumeIdsIn({ spec, csi, lifecycle, leftovers, home }: VolumeContext): PluginId[] {
  const plugin = spec?.plugin ?? '';
  const ids = [csi?.id, lifecycle.madeOtherwise?.id, spec?.external?.csiId, ...leftovers.map(({ csiId }) => csiId)];
  return ids.filter((csiId) => csiId !== undefined).map((csiId) => ({ plugin, csiId, home }));
}

/** Of snapshots, and of the members of groups, which are snapshots too. */
export const snapshotIds: IdSort<typeof volumeSnapshotMachine> = {
  machines: [volumeSnapshotMachine, groupSnapshotMachine],
  idsIn: (context) => snapshotIdsIn(context),
  nameOf: (address) => {
    const [kind = '', namespace = '', id = ''] = addressParts(address);
    return snapshotName({ kind: kind === 'group-snapshot' ? kind : 'volume-snapshot', namespace, id });
  },
  isMaking: ({ state }) => isMaking(state),
  isGoing: ({ state }) => isRemoving(state),
  isLeftBehind: ({ state }) => publicState(state) === 'deleted',
};

const snapshotIdsIn = ({ kind, spec, csi, discards, left, home }: SnapshotContext): PluginId[] =>
  [...(csi ? [csi] : []), ...discards, ...left.made].flatMap((made) =>
    idsOfSnapshot(kind, { plugin: spec?.plugin ?? '', home }, made),
  );

/** All ids that a plugin gives as it makes one. */
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
