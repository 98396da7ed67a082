/** What must hold at every commit of a history of volumes, and in its end. Knows what the modes allow by itself. */

import type { StateValue } from 'xstate';
import type { AccessMode } from '../../machines/kit/csi-types.js';
import type { NodeContext } from '../../machines/node/node.js';
import type { SnapshotContext } from '../../machines/snapshot/phases.js';
import { creationFailure, type Lifecycle } from '../../machines/volume/lifecycle.js';
import { publicStateOf } from '../../machines/volume/publication.js';
import { volumeStateOf } from '../../machines/volume/states.js';
import type { Leftover, Publication, VolumeContext } from '../../machines/volume/types.js';
import { decodeEntry, decodeRecord } from '../../src/engine/actor/actor-record.js';
import type { Commit } from '../../src/engine/store.js';
import type { FakePlugin } from '../volumes/fake-plugin.js';
import { fenceFaults, roomFaults, slotFaults } from './nodes-judgement.js';
import { needsVolume, type SeenSnapshot } from './snapshots-judgement.js';

export interface SeenVolume {
  state: StateValue;
  context: VolumeContext;
}

/** All claims, those that write, and the nodes that they may be on: -1 is any number. */
const allowed: Record<AccessMode, [claims: number, writers: number, nodes: number]> = {
  'single-node-writer': [1, 1, 1],
  'single-node-reader-only': [1, 0, 1],
  'single-node-single-writer': [1, 1, 1],
  'single-node-multi-writer': [-1, -1, 1],
  'multi-node-reader-only': [-1, 0, -1],
  'multi-node-single-writer': [-1, 1, -1],
  'multi-node-multi-writer': [-1, -1, -1],
};

const nameOf = ({ id }: VolumeContext['key'], uid: string): string => `${id} (${uid})`;

/** What of a volume's claims its modes don't allow. */
function claimFaults({ key, uid, claims }: VolumeContext): string[] {
  const [first] = claims;
  if (!first) return [];
  const faults: string[] = [];
  const fault = (what: string): void => void faults.push(`${nameOf(key, uid)} has ${what}: ${JSON.stringify(claims)}`);
  if (claims.some((one) => one.accessMode !== first.accessMode)) fault('claims of more than one mode');
  const [most, writers, nodes] = allowed[first.accessMode];
  const isOver = (count: number, limit: number): boolean => limit >= 0 && count > limit;
  if (isOver(claims.length, most)) fault('too many claims');
  if (isOver(claims.filter(({ mode }) => mode === 'write').length, writers)) fault('too many writers');
  if (isOver(new Set(claims.map(({ nodeId }) => nodeId)).size, nodes)) fault('claims on too many nodes');
  if (new Set(claims.map(({ allocId }) => allocId)).size < claims.length) fault('two claims of one alloc');
  if (new Set(claims.map(({ generation }) => generation)).size < claims.length) fault('two claims of one generation');
  return faults;
}

/** What says that a node has let go of a volume, or is not asked. */
const proofs = ['volume.unstaged', 'volume.fence', 'volume.delete', 'volume.observed'];

/** What a volume has taken; a proof with an `allocId` is one of that alloc's claim alone. */
interface StepResult {
  type?: string;
  allocId?: unknown;
}

/** Claims whose volume the node had, that moved on though nobody said that it has let go of it. */
function proofFaults(before: VolumeContext, after: VolumeContext, { type = '', allocId }: StepResult = {}): string[] {
  if (before.uid !== after.uid) return [];
  return before.claims
    .filter((one) => !proofs.includes(type) || (allocId !== undefined && allocId !== one.allocId))
    .filter(({ nodeId, state }) => {
      const publication = before.publications[nodeId];
      const known = publication && publicStateOf(publication);
      const wasThere = known === 'published' || known === 'pending-node-unpublish';
      return wasThere && (state === 'taken' || state === 'unpublishing');
    })
    .filter(({ generation }) => {
      const now = after.claims.find((one) => one.generation === generation)?.state;
      return now !== 'taken' && now !== 'unpublishing';
    })
    .map((one) => `${nameOf(after.key, after.uid)} let go of a claim by ${type}: ${JSON.stringify(one)}`);
}

/** Sees each commit that was written. */
export class CommitJudge {
  readonly faults: string[] = [];
  /** By the name that the plugin was given: what was said to be left behind. */
  readonly leftovers = new Map<string, Leftover[]>();
  readonly snapshotLeftovers = new Set<string>();
  readonly #last = new Map<string, VolumeContext>();
  readonly #snapshots = new Map<string, SeenSnapshot>();
  readonly #secrets: () => string[];
  readonly #changed: (volume: SeenVolume) => void;
  readonly #snapshotChanged: (snapshot: SeenSnapshot) => void;
  readonly #nodes = new Map<string, StateValue>();
  readonly #nodeContexts = new Map<string, NodeContext>();

  constructor(options: {
    secrets(): string[];
    changed(volume: SeenVolume): void;
    snapshotChanged(snapshot: SeenSnapshot): void;
  }) {
    this.#secrets = options.secrets;
    this.#changed = options.changed;
    this.#snapshotChanged = options.snapshotChanged;
  }

  /** Looks for secrets in what is kept or told. */
  scan(text: string, where: string): void {
    for (const secret of this.#secrets()) if (text.includes(secret)) this.faults.push(`${secret} is in ${where}`);
  }

  committed({ address, text, journal, outbox = '' }: Commit): void {
    this.scan(text, `the record of ${address}`);
    this.scan(journal, `the journal of ${address}`);
    this.scan(outbox, `the outbox of ${address}`);
    const { snapshot, quarantined, crashes } = decodeRecord(text);
    if (quarantined || crashes) this.faults.push(`${address} crashed: ${journal.slice(0, 2_000)}`);
    const [kind = '', id = ''] = address.split('/');
    if (kind === 'node') {
      const before = this.#nodes.get(id) ?? '';
      const event = decodeEntry(journal).event?.type;
      this.faults.push(...fenceFaults(id, { before, event }, this.#last.values()));
      this.#nodes.set(id, snapshot?.value ?? '');
      this.#judgeRoom(id, snapshot?.context as NodeContext | undefined, event);
    }
    if (kind.endsWith('snapshot')) this.#judgeSnapshot(address, snapshot);
    if (kind !== 'volume') return;
    const last = this.#last.get(address);
    if (!snapshot) {
      // A volume that is forgotten leaves its last node in the same commit.
      if (last) this.#last.set(address, { ...last, publications: {}, claims: [], waiting: [], slots: undefined });
      return;
    }
    // What is stored is what the machine made.
    const context = snapshot.context as VolumeContext;
    this.faults.push(...claimFaults(context));
    const event = decodeEntry(journal).event?.type ?? '';
    this.faults.push(...slotFaults(last, context, { event, nodes: this.#nodeContexts }));
    if (last) this.faults.push(...proofFaults(last, context, decodeEntry(journal).event));
    if (last && context.generation < last.generation)
      this.faults.push(`${address}: generation ${context.generation} after ${last.generation}`);
    this.sees(address, { state: snapshot.value, context });
  }

  #judgeRoom(id: string, context: NodeContext | undefined, event = ''): void {
    if (context)
      this.faults.push(...roomFaults(this.#nodeContexts.get(id), context, { event, volumes: this.#last.values() }));
    if (context) this.#nodeContexts.set(id, context);
    else this.#nodeContexts.delete(id);
  }

  /** Takes note of a volume as it is. */
  sees(address: string, { state, context }: SeenVolume): void {
    this.#last.set(address, context);
    if (context.leftovers.length > 0) this.leftovers.set(context.name, context.leftovers);
    this.#changed({ state, context });
  }

  /** Takes note of a snapshot as it is. */
  seesSnapshot(seen: SeenSnapshot): void {
    for (const text of seen.context.leftovers) this.snapshotLeftovers.add(text);
    this.#snapshots.set(seen.address, seen);
    this.#snapshotChanged(seen);
  }

  /** Lists the snapshots that need this volume, as they are committed. */
  needing(csiId: string): string[] {
    return [...this.#snapshots.values()].filter((one) => needsVolume(one, csiId)).map(({ address }) => address);
  }

  #judgeSnapshot(address: string, snapshot: { context: unknown } | undefined): void {
    const before = this.#snapshots.get(address);
    // A tombstone: it is gone.
    if (!snapshot && before) this.#snapshotChanged({ ...before, context: { ...before.context, at: 'absent' } });
    if (!snapshot) return;
    // What is stored is what the machine made.
    this.seesSnapshot({ address, context: snapshot.context as SnapshotContext });
  }
}

/** Whether there is nothing left to be done without anybody asking for it. */
export function isSettled({ state, context }: SeenVolume): boolean {
  const { publications, claims, awaiting } = context;
  if (awaiting || volumeStateOf(state, context).startsWith('pending')) return false;
  const isOnTheWay = (one: Publication): boolean => {
    const there = publicStateOf(one);
    return there.startsWith('pending') && there !== 'pending-publish';
  };
  // A claim stays where the plugin has refused for good to detach its volume: until a retry.
  const isHeld = (nodeId: string): boolean => publications[nodeId]?.at === 'failed.unpublish';
  return (
    !Object.values(publications).some(isOnTheWay) &&
    !claims.some(({ state, nodeId }) => state !== 'taken' && !isHeld(nodeId))
  );
}

/** What of a volume that has come to rest is not as it should be: with itself, and with what the plugin has. */
export function restFaults(volume: SeenVolume, plugin: FakePlugin, leftovers: Leftover[]): string[] {
  const { context, state } = volume;
  const { key, uid, name, csi, publications } = context;
  const faults: string[] = [];
  const fault = (what: string): void => void faults.push(`${nameOf(key, uid)}: ${what}`);
  if (!isSettled(volume)) fault(`is stuck: ${JSON.stringify({ state, ...context })}`);
  if (volumeStateOf(state, context) === 'deleted') return faults;
  for (const [nodeId, publication] of Object.entries(publications))
    if (
      publicStateOf(publication) === 'pending-publish' &&
      !creationFailure(context.lifecycle) &&
      csi &&
      !isHeldUp(context, nodeId)
    )
      fault(`is not published on ${nodeId}, nor failed: ${JSON.stringify(publication)}`);
  const real = csi ? plugin.volumes.get(csi.id) : plugin.made(name);
  // A deletion whose answer was lost may be refused when it is repeated: then it has failed, and the volume is gone.
  const isRefusedAfterwards = real === undefined && context.lifecycle.at === 'failed.delete';
  if (csi && real?.id !== csi.id && !isRefusedAfterwards) fault(`is believed to be ${csi.id}, and is ${real?.id}`);
  if (!csi && real && !isInDoubt(context.lifecycle) && leftovers.every(({ what }) => what !== 'created'))
    fault(`is believed not to be there, and is ${real.id}`);
  return [...faults, ...attachmentFaults(context, plugin, leftovers)];
}

/** Whether its plugin may have made it. */
const isInDoubt = ({ at }: Lifecycle): boolean =>
  /^(create-in-doubt|finding-out|failed\.(in-doubt|finding-out|not-as-asked))/.test(at);

/** It can't be on this node as long as it can't be detached from another: whoever waits is told so, until a retry. */
function isHeldUp({ publications }: VolumeContext, nodeId: string): boolean {
  const wanted = publications[nodeId];
  return Object.entries(publications).some(
    ([other, one]) => other !== nodeId && one.at === 'failed.unpublish' && wanted && !goTogether(one, wanted),
  );
}

function goTogether(one: Publication, other: Publication): boolean {
  const mode = one.capability.accessMode;
  const [, writers, nodes] = allowed[mode];
  const isOver = writers >= 0 && [one, other].filter(({ readOnly }) => !readOnly).length > writers;
  const isRead = mode === 'multi-node-reader-only';
  return mode === other.capability.accessMode && nodes < 0 && (isRead || !isOver);
}

function attachmentFaults(context: VolumeContext, plugin: FakePlugin, leftovers: Leftover[]): string[] {
  const { key, uid, csi, publications } = context;
  if (!plugin.capabilities?.includes('PUBLISH_UNPUBLISH_VOLUME')) return [];
  const faults: string[] = [];
  const attached = new Set(csi && plugin.volumes.get(csi.id)?.attached);
  for (const [nodeId, { csiNodeId, at, mayStillArrive, publishContext }] of Object.entries(publications)) {
    const isAttached = attached.delete(csiNodeId);
    const isBelieved = at === 'published';
    const isUncertain = at === 'failed.unpublish' || /^(in-doubt|cancelling)/.test(at) || mayStillArrive;
    if (isBelieved !== isAttached && !isUncertain)
      faults.push(`${nameOf(key, uid)} on ${nodeId} is ${at}, and ${isAttached ? '' : 'not '}attached`);
    if (isBelieved && publishContext?.device !== `${csi?.id}@${csiNodeId}`)
      faults.push(`${nameOf(key, uid)} on ${nodeId} has another publish context: ${JSON.stringify(publishContext)}`);
  }
  for (const { what, csiNodeId = '' } of leftovers) if (what === 'published') attached.delete(csiNodeId);
  if (attached.size > 0) faults.push(`${nameOf(key, uid)} is attached to ${[...attached].join(', ')}, unbelieved`);
  return faults;
}

/** Volumes that the plugin has and nobody knows of. */
export function leaks(volumes: SeenVolume[], plugin: FakePlugin, leftovers: Map<string, Leftover[]>): string[] {
  const known = new Set(
    volumes.flatMap(({ state, context }) => (volumeStateOf(state, context) === 'deleted' ? [] : [context.name])),
  );
  const isLeft = (name: string): boolean => leftovers.get(name)?.some(({ what }) => what === 'created') === true;
  return [...plugin.volumes.values()]
    .filter(({ name, isFound }) => !isFound && !known.has(name) && !isLeft(name))
    .map(({ id, name, attached }) => `${id} (${name}) is leaked, attached to [${[...attached].join(', ')}]`);
}
