/**
 * All that the run has made with the driver and not yet taken back, learned from the calls themselves: nothing that a
 * check does can be forgotten. Written down before the call, as a call without an answer may have made something too.
 * Who takes it back: clean-up.ts
 */
import type { AnswerClass } from '../csi/answers.js';
import type { Given } from '../csi/codec.js';
import type { Rpcs } from '../csi/generated/plain.js';
import type { UnaryRpc } from '../csi/server.js';
import type { Ask } from './ask.js';

export interface Made {
  readonly key: string;
  /** For people. */
  readonly what: string;
  /** The call that takes it back. */
  readonly undoneBy: UnaryRpc;
  /** Whether the driver has said that it is there. */
  readonly isCertain: boolean;
  undo(ask: Ask): Promise<void>;
}

/** What one call makes or takes back. */
interface Effect<Rpc extends UnaryRpc> {
  /** What may come to be. */
  makes?(request: Given<Rpcs[Rpc]['request']>): Made;
  /** What has come to be, instead of that. */
  made?(request: Given<Rpcs[Rpc]['request']>, response: Rpcs[Rpc]['response']): Made | undefined;
  /** The beginning of the keys of what is gone. */
  removes?(request: Given<Rpcs[Rpc]['request']>): string;
}

export const keyOf = (...parts: string[]): string => parts.join('\0');

/** Nothing has happened, as far as the driver tells. */
const isRefusal = (answerClass: AnswerClass): boolean => !['unknown', 'driver-bug', 'busy'].includes(answerClass);
const isGone = (answerClass: AnswerClass): boolean => answerClass.startsWith('already-so');

export class Resources {
  readonly #made = new Map<string, Made>();
  /** The keys of all that the driver said was made, also of what it said is gone. */
  readonly #everMade = new Set<string>();

  /** The last that was made first. */
  entries(): Made[] {
    return [...this.#made.values()].reverse();
  }

  has(key: string): boolean {
    return this.#made.has(key);
  }

  /** Whether the driver has said of this run that it made it. */
  wasMade(key: string): boolean {
    return this.#everMade.has(key);
  }

  /** Adds a thing found at the driver, to be taken back too. */
  adopt(made: Made): void {
    this.#made.set(made.key, made);
  }

  drop(key: string): void {
    this.#made.delete(key);
  }

  /** Before the call. @returns what to tell of its answer */
  begin<Rpc extends UnaryRpc>(rpc: Rpc, request: Given<Rpcs[Rpc]['request']>): Begun<Rpc> {
    const effect: Effect<Rpc> | undefined = effects[rpc];
    const intended = effect?.makes?.(request);
    const isNew = intended !== undefined && !this.#made.has(intended.key);
    if (isNew) this.#made.set(intended.key, intended);
    return {
      succeeded: (response) => {
        if (intended) this.#made.delete(intended.key);
        const made = effect?.made ? effect.made(request, response) : intended && { ...intended, isCertain: true };
        if (made) this.#made.set(made.key, made);
        if (made) this.#everMade.add(made.key);
        this.#remove(effect?.removes?.(request));
      },
      failed: (answerClass) => {
        if (isGone(answerClass)) this.#remove(effect?.removes?.(request));
        if (isNew && isRefusal(answerClass) && this.#made.get(intended.key) === intended) this.drop(intended.key);
      },
    };
  }

  #remove(prefix: string | undefined): void {
    if (prefix === undefined) return;
    for (const key of this.#made.keys()) if (key.startsWith(prefix)) this.#made.delete(key);
  }
}

export interface Begun<Rpc extends UnaryRpc> {
  succeeded(response: Rpcs[Rpc]['response']): void;
  failed(answerClass: AnswerClass): void;
}

const effects: { readonly [Rpc in UnaryRpc]?: Effect<Rpc> } = {
  CreateVolume: {
    makes: (request) => ({
      key: keyOf('a volume', request.name ?? '', ''),
      what: `the volume named ${JSON.stringify(request.name)}, if CreateVolume made it`,
      undoneBy: 'CreateVolume',
      isCertain: false,
      undo: async (ask) => {
        // The specification's own way to learn what became of it: the same call again.
        const again = await ask('CreateVolume', request);
        const volumeId = again.value?.volume?.volumeId;
        if (volumeId) await ask('DeleteVolume', { volumeId });
      },
    }),
    made: (request, { volume }) =>
      volume && {
        key: keyOf('volume', volume.volumeId, ''),
        what: `the volume ${volume.volumeId} (named ${JSON.stringify(request.name)})`,
        undoneBy: 'DeleteVolume',
        isCertain: true,
        undo: async (ask) => {
          await ask('DeleteVolume', { volumeId: volume.volumeId });
        },
      },
  },
  DeleteVolume: { removes: ({ volumeId = '' }) => keyOf('volume', volumeId, '') },
  CreateSnapshot: {
    makes: (request) => ({
      key: keyOf('a snapshot', request.name ?? '', ''),
      what: `the snapshot named ${JSON.stringify(request.name)}, if CreateSnapshot made it`,
      undoneBy: 'CreateSnapshot',
      isCertain: false,
      undo: async (ask) => {
        const again = await ask('CreateSnapshot', request);
        const snapshotId = again.value?.snapshot?.snapshotId;
        if (snapshotId) await ask('DeleteSnapshot', { snapshotId });
      },
    }),
    made: (request, { snapshot }) =>
      snapshot && {
        key: keyOf('snapshot', snapshot.snapshotId, ''),
        what: `the snapshot ${snapshot.snapshotId} (named ${JSON.stringify(request.name)})`,
        undoneBy: 'DeleteSnapshot',
        isCertain: true,
        undo: async (ask) => {
          await ask('DeleteSnapshot', { snapshotId: snapshot.snapshotId });
        },
      },
  },
  DeleteSnapshot: { removes: ({ snapshotId = '' }) => keyOf('snapshot', snapshotId, '') },
  CreateVolumeGroupSnapshot: {
    makes: (request) => ({
      key: keyOf('a group', request.name ?? '', ''),
      what: `the group snapshot named ${JSON.stringify(request.name)}, if CreateVolumeGroupSnapshot made it`,
      undoneBy: 'CreateVolumeGroupSnapshot',
      isCertain: false,
      undo: async (ask) => {
        const again = await ask('CreateVolumeGroupSnapshot', request);
        const group = again.value?.groupSnapshot;
        if (group) await ask('DeleteVolumeGroupSnapshot', idsOf(group));
      },
    }),
    made: (request, { groupSnapshot }) =>
      groupSnapshot && {
        key: keyOf('group', groupSnapshot.groupSnapshotId, ''),
        what: `the group snapshot ${groupSnapshot.groupSnapshotId} (named ${JSON.stringify(request.name)})`,
        undoneBy: 'DeleteVolumeGroupSnapshot',
        isCertain: true,
        undo: async (ask) => {
          await ask('DeleteVolumeGroupSnapshot', idsOf(groupSnapshot));
        },
      },
  },
  DeleteVolumeGroupSnapshot: { removes: ({ groupSnapshotId = '' }) => keyOf('group', groupSnapshotId, '') },
  ControllerPublishVolume: {
    makes: ({ volumeId = '', nodeId = '' }) => ({
      key: keyOf('publication', volumeId, nodeId, ''),
      what: `the publication of ${volumeId} to node ${nodeId}`,
      undoneBy: 'ControllerUnpublishVolume',
      isCertain: false,
      undo: async (ask) => {
        await ask('ControllerUnpublishVolume', { volumeId, nodeId });
      },
    }),
  },
  ControllerUnpublishVolume: {
    removes: ({ volumeId = '', nodeId }) =>
      nodeId ? keyOf('publication', volumeId, nodeId, '') : keyOf('publication', volumeId, ''),
  },
  NodeStageVolume: {
    makes: ({ volumeId = '', stagingTargetPath = '' }) => ({
      key: keyOf('staging', stagingTargetPath, volumeId, ''),
      what: `the staging of ${volumeId} at ${stagingTargetPath}`,
      undoneBy: 'NodeUnstageVolume',
      isCertain: false,
      undo: async (ask) => {
        await ask('NodeUnstageVolume', { volumeId, stagingTargetPath });
      },
    }),
  },
  NodeUnstageVolume: {
    removes: ({ volumeId = '', stagingTargetPath = '' }) => keyOf('staging', stagingTargetPath, volumeId, ''),
  },
  NodePublishVolume: {
    makes: ({ volumeId = '', targetPath = '' }) => ({
      key: keyOf('target', targetPath, volumeId, ''),
      what: `the publication of ${volumeId} at ${targetPath}`,
      undoneBy: 'NodeUnpublishVolume',
      isCertain: false,
      undo: async (ask) => {
        await ask('NodeUnpublishVolume', { volumeId, targetPath });
      },
    }),
  },
  NodeUnpublishVolume: { removes: ({ volumeId = '', targetPath = '' }) => keyOf('target', targetPath, volumeId, '') },
};

const idsOf = (group: { groupSnapshotId: string; snapshots: { snapshotId: string }[] }) => ({
  groupSnapshotId: group.groupSnapshotId,
  snapshotIds: group.snapshots.map(({ snapshotId }) => snapshotId),
});
