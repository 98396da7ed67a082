/**
 * Objects that the run has created with the driver and not yet taken back. Learns them from the calls themselves, so
 * that no check can forget one. Records them before the call: a call without an answer may also have created
 * something. They are taken back by clean-up.ts
 */
import type { AnswerClass } from '../../csi/answers.js';
import type { Given } from '../../csi/codec.js';
import type { Rpcs } from '../../csi/generated/plain.js';
import type { UnaryRpc } from '../../csi/server.js';
import type { Ask } from './ask.js';

export interface Made {
  readonly key: string;
  /** Text for people. */
  readonly what: string;
  /** Call that takes the object back. */
  readonly undoneBy: UnaryRpc;
  /** Whether the driver has confirmed that the object exists. */
  readonly isCertain: boolean;
  undo(ask: Ask): Promise<void>;
}

interface MountedAt {
  volumeId?: string;
  path?: string;
}

/** Objects that one call creates or removes. */
interface Effect<Rpc extends UnaryRpc> {
  /** Objects that the call may create. */
  makes?(request: Given<Rpcs[Rpc]['request']>): Made;
  /** Objects that the call has created, according to its answer. */
  made?(request: Given<Rpcs[Rpc]['request']>, response: Rpcs[Rpc]['response']): Made | undefined;
  /** Path of this host at which the call mounts a volume. */
  mountsAt?(request: Given<Rpcs[Rpc]['request']>): MountedAt;
  /** Beginnings of the keys of removed objects. */
  removes?(request: Given<Rpcs[Rpc]['request']>): string;
}

export const keyOf = (...parts: string[]): string => parts.join('\0');

/** True if nothing has happened, as far as the driver reports. */
const isRefusal = (answerClass: AnswerClass): boolean => !['unknown', 'driver-bug', 'busy'].includes(answerClass);
const isGone = (answerClass: AnswerClass): boolean => answerClass.startsWith('already-so');

export class Resources {
  readonly #made = new Map<string, Made>();
  /** Paths of this host at which each volume was to be staged or published, by volume id. */
  readonly #paths = new Map<string, Set<string>>();
  /** Keys of all objects that the driver has confirmed, including removed ones. */
  readonly #everMade = new Set<string>();

  /** Lists the objects, the newest first. */
  entries(): Made[] {
    return [...this.#made.values()].reverse();
  }

  has(key: string): boolean {
    return this.#made.has(key);
  }

  /** Tells whether the driver has confirmed the object in this run. */
  wasMade(key: string): boolean {
    return this.#everMade.has(key);
  }

  /** Paths of this host at which the volume may still be mounted, also after an OK to its unmounting. */
  pathsOf(volumeId: string): string[] {
    return [...(this.#paths.get(volumeId) ?? [])];
  }

  /** Adds an object found in the driver's lists, to be taken back, too. */
  adopt(made: Made): void {
    this.#made.set(made.key, made);
  }

  drop(key: string): void {
    this.#made.delete(key);
  }

  /**
   * Call it before a call.
   * @returns a function for its answer
   */
  begin<Rpc extends UnaryRpc>(rpc: Rpc, request: Given<Rpcs[Rpc]['request']>): Begun<Rpc> {
    const effect: Effect<Rpc> | undefined = effects[rpc];
    this.#keepPath(effect?.mountsAt?.(request));
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

  #keepPath({ volumeId = '', path = '' }: MountedAt = {}): void {
    if (path === '') return;
    this.#paths.set(volumeId, (this.#paths.get(volumeId) ?? new Set()).add(path));
  }

  #remove(prefix: string | undefined): void {
    if (prefix === undefined) return;
    for (const key of this.#made.keys()) if (key.startsWith(prefix)) this.#made.delete(key);
  }
}

interface Begun<Rpc extends UnaryRpc> {
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
        // The specification's own way to learn the outcome: the same call again.
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
    mountsAt: ({ volumeId = '', stagingTargetPath = '' }) => ({ volumeId, path: stagingTargetPath }),
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
    mountsAt: ({ volumeId = '', targetPath = '' }) => ({ volumeId, path: targetPath }),
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
