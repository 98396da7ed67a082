/** View of a volume that callers get, made from its record; and its changes. */

import type { StateValue } from 'xstate';
import type {
  Bytes,
  CallFailure,
  Capability,
  CapacityRange,
  Segments,
  TopologyRequirement,
  Tries,
} from '../../machines/kit/csi-types.js';
import type { Failure } from '../../machines/kit/host.js';
import type { PartView } from '../../machines/kit/parts.js';
import { describeClaim } from '../../machines/volume/claims.js';
import { isLeaving } from '../../machines/volume/lifecycle.js';
import { holdersOf } from '../../machines/volume/modes.js';
import { publicStateOf } from '../../machines/volume/publication.js';
import { describeBlocker, publicationStepOf, volumeParts, volumeStateOf } from '../../machines/volume/states.js';
import type {
  Availability,
  Claim,
  ClaimRequest,
  Leftover,
  Publication,
  VolumeChanged,
  VolumeContext,
  VolumeOrigin,
  VolumeSource,
  VolumeState,
} from '../../machines/volume/types.js';
import type { AttachedBy, PublicationState, VolumeKey } from '../../machines/volume/wishes.js';
import { nameWithPlugin } from '../../machines/volume/words.js';
import { blockersOf, failureOf } from '../../machines/volume/work.js';
import { asData } from '../engine/machine/data.js';
import type { Change } from '../engine/topics/topics.js';
import { shellWord } from '../host/terminal-text.js';

export interface VolumePublication {
  state: PublicationState;
  /** Exact state in the chart of publications. Meaning of each: docs/machines/publication.md */
  step: string;
  /** CSI node id of the node when the publish was requested. */
  csiNodeId: string;
  capability: Capability;
  readOnly: boolean;
  /** Allocs without a claim for which the node may have mounted the volume. It stays published until they release it. */
  heldFor?: string[];
  /** How it came to be attached. Without a call it is detached without one. Absent: not known, or nothing is attached. */
  attachedBy?: AttachedBy;
  /** Publish context for the calls of the node; present once published. */
  publishContext?: Record<string, string>;
  message?: string;
}

export type VolumeEvent = Change<VolumeChanged>;

/** Sizes are numbers of bytes; above 2⁵³−1 a bigint. */
export interface Volume {
  key: VolumeKey;
  state: VolumeState;
  /** Unique id of this volume. A later volume of the same key has another. */
  uid: string;
  plugin: string;
  /** Name of the driver that created the volume (GetPluginInfo). Absent: not known yet. */
  driver?: string;
  /** Name sent with CreateVolume; absent for an external volume. */
  name?: string;
  /** CSI id of the volume, opaque. Absent: not created yet. */
  csiId?: string;
  context?: Record<string, string>;
  /** Node of the volume: only its agent makes controller calls for it. Absent: any agent may. */
  home?: string;
  /** Topology that its plugin was asked for: as its user named it, else where the nodes are that have the plugin. */
  topology?: TopologyRequirement;
  /** Topologies where the volume can be used, as its plugin says. Absent: everywhere, or not created yet. */
  accessibleTopology?: Segments[];
  capacityBytes?: number | bigint;
  /** Last requested size that was granted; absent if none was. */
  requested?: { requiredBytes?: number | bigint; limitBytes?: number | bigint };
  /** Volume or snapshot with its first content. Absent: it was empty. */
  source?: VolumeSource;
  /** Registered, not created: deleting it leaves it at the plugin. */
  external?: true;
  /** How it came to be. Deleting it deletes data only if a call has made it. Absent: nothing is known to be there yet. */
  origin?: VolumeOrigin;
  parameters: Record<string, string>;
  /** Parameters of the spec, with all successful changes since. */
  mutableParameters: Record<string, string>;
  /** Names of the secrets, without their references. */
  secrets: string[];
  capabilities: Capability[];
  publications: Record<string, VolumePublication>;
  /** Parts of the volume that are at work, each with its exact state and the reason. */
  parts: PartView[];
  claims: Claim[];
  /** Queued claims, in order. */
  waiting: ClaimRequest[];
  availability: Availability;
  /** Expansion that is under way or has failed. */
  expansion?: { capacity: CapacityRange; failed?: true; message?: string };
  /** Change of parameters that is under way or has failed. */
  modification?: { mutableParameters: Record<string, string>; failed?: true; message?: string };
  /** NodeExpandVolume is still due. */
  nodeExpansionRequired?: boolean;
  /** The plugin does not list the volume any more. */
  missing?: true;
  /** Machines that are not among the nodes, by their CSI node ids, where the plugin lists the volume as attached. */
  attachedElsewhere?: string[];
  /** Health as reported by the plugin; absent if not reported. */
  condition?: { abnormal: boolean; message: string };
  /** Deletion was requested, and follows after the current work. */
  deleting?: true;
  /** Leftovers whose removal the deletion could not confirm. */
  leftovers?: Leftover[];
  /** Reason why the volume makes no progress, or its failure. */
  error?: Failure;
}

export const bytesIn = (bytes: Bytes): number | bigint => (typeof bytes === 'string' ? BigInt(bytes) : bytes);

/** Makes the view of a volume. Callers may change it: it shares nothing with the record. */
export function volumeOf(value: StateValue, context: VolumeContext): Volume {
  const { key, uid, spec, csi, claims, waiting, availability, expansion, modification } = context;
  const { nodeExpansion, leftovers, sighting } = context;
  const error = shownFailure(context);
  const volume: Volume = {
    key,
    state: volumeStateOf(value, context),
    uid,
    plugin: spec?.plugin ?? '',
    parameters: spec?.parameters ?? {},
    mutableParameters: { ...spec?.mutableParameters, ...context.modifiedTo },
    secrets: Object.keys(spec?.secrets ?? {}),
    capabilities: spec?.capabilities ?? [],
    publications: Object.fromEntries(
      Object.entries(context.publications).map(([nodeId, publication]) => [
        nodeId,
        publicationOf(publication, publicationStepOf(context, nodeId, publication)),
      ]),
    ),
    parts: volumeParts(context),
    claims,
    waiting,
    availability,
  };
  if (spec?.external) volume.external = true;
  else if (spec) volume.name = nameWithPlugin(context);
  if (spec?.source) volume.source = spec.source;
  if (csi) {
    volume.csiId = csi.id;
    volume.context = csi.context;
    if (csi.accessibleTopology.length > 0) volume.accessibleTopology = csi.accessibleTopology;
  }
  if (context.origin) volume.origin = context.origin;
  const asked = context.topology ?? spec?.topology;
  if (asked && asked.requisite.length + asked.preferred.length > 0) volume.topology = asked;
  if (context.driver) volume.driver = context.driver;
  if (context.home) volume.home = context.home;
  if (expansion) volume.expansion = { capacity: expansion.wish, ...changeIn(expansion) };
  if (modification) volume.modification = { mutableParameters: modification.wish, ...changeIn(modification) };
  if (nodeExpansion) volume.nodeExpansionRequired = true;
  if (sighting?.isMissing) volume.missing = true;
  if (sighting?.attachedElsewhere) volume.attachedElsewhere = sighting.attachedElsewhere;
  if (sighting?.condition) volume.condition = sighting.condition;
  if (isLeaving(context.lifecycle) && volume.state !== 'deleted') volume.deleting = true;
  if (leftovers.length > 0) volume.leftovers = leftovers;
  if (error) volume.error = error;
  const own = asData(volume);
  // Sizes come last: `asData` does not take a bigint.
  const { requiredBytes, limitBytes } = context.expandedTo ?? spec?.capacity ?? {};
  if (requiredBytes !== undefined || limitBytes !== undefined)
    own.requested = {
      ...(requiredBytes !== undefined && { requiredBytes: bytesIn(requiredBytes) }),
      ...(limitBytes !== undefined && { limitBytes: bytesIn(limitBytes) }),
    };
  if (csi?.capacityBytes !== undefined) own.capacityBytes = bytesIn(csi.capacityBytes);
  return own;
}

function publicationOf(publication: Publication, step: string): VolumePublication {
  const { csiNodeId, capability, readOnly, attachedBy, publishContext } = publication;
  const heldFor = holdersOf(publication);
  return {
    state: publicStateOf(publication),
    step,
    csiNodeId,
    capability,
    readOnly,
    ...(heldFor.length > 0 && { heldFor }),
    ...(attachedBy && { attachedBy }),
    ...(publishContext && { publishContext }),
    ...messageIn(publication),
  };
}

const messageIn = ({
  failure,
  tries,
}: {
  failure?: Failure | undefined;
  tries?: Tries | undefined;
}): { message?: string } => {
  const message = failure?.message ?? tries?.failure.message;
  return message === undefined ? {} : { message };
};

const changeIn = (change: {
  failure?: Failure | undefined;
  tries?: Tries | undefined;
}): { failed?: true; message?: string } => ({
  ...(change.failure && { failed: true }),
  ...messageIn(change),
});

/** Returns the reason why the volume makes no progress. */
function errorOf(context: VolumeContext): Failure | undefined {
  const { lifecycle, work, publications, expansion, modification, awaiting } = context;
  if (awaiting) return { code: 'PLUGIN_UNAVAILABLE', message: awaiting.reason, final: false };
  const publication = work?.nodeId === undefined ? undefined : publications[work.nodeId];
  const change = work?.kind === 'expand' ? expansion : work?.kind === 'modify' ? modification : null;
  for (const piece of [lifecycle, publication, change]) {
    const failure = piece?.failure ?? piece?.tries?.failure;
    if (failure) return { ...failure, message: `${failure.message}${holdersIn(context, failure)}` };
  }
  return undefined;
}

/** Names the nodes and claims that have the volume and block the call, as far as the plugin lists them. */
function holdersIn({ key, claims, sighting }: VolumeContext, { answerClass }: CallFailure): string {
  const { heldOn = [], attachedElsewhere = [] } = sighting ?? {};
  if (answerClass !== 'repair') return '';
  return `${heldIn(claims, heldOn)}${attachedElsewhere.map((machine) => elsewhereText(key, machine)).join('')}`;
}

function elsewhereText({ namespace, id }: VolumeKey, machine: string): string {
  const words = ['stagecraft', 'volume', 'unpublish', id, machine];
  if (namespace !== 'default') words.push('--namespace', namespace);
  return (
    `; its plugin lists it on machine ${machine}, which is not among the nodes here, so it stays there: ` +
    `once nothing there uses it, run ${words.map(shellWord).join(' ')}`
  );
}

function heldIn(claims: Claim[], heldOn: string[]): string {
  if (heldOn.length === 0) return '';
  const holders = claims.filter(({ nodeId }) => heldOn.includes(nodeId)).map(describeClaim);
  const by = holders.length > 0 ? `, claimed by ${holders.join(', ')}: release that first` : '';
  return `; its plugin lists it on node ${heldOn.join(', ')}${by}`;
}

/** Explains why a publish can't go on: a publication that has to go first could not be unpublished. */
export function stuckOf(context: VolumeContext, nodeId: string): string | undefined {
  const publication = context.publications[nodeId];
  if (!publication || publicStateOf(publication) !== 'pending-publish') return undefined;
  const stuck = blockersOf(context, nodeId, publication).find(([, { failure }]) => failure);
  return stuck && describeBlocker(nodeId, stuck);
}

/** Returns the cause of a wait or a failure, also where no work is under way. */
export function shownFailure(context: VolumeContext): Failure | undefined {
  const error = errorOf(context);
  if (error || context.work) return error;
  const stuck = failureOf(context);
  if (stuck) return stuck;
  for (const [nodeId, publication] of Object.entries(context.publications)) {
    const [blocker] = publicStateOf(publication) === 'pending-publish' ? blockersOf(context, nodeId, publication) : [];
    if (!blocker) continue;
    return { code: 'VOLUME_IN_USE', message: describeBlocker(nodeId, blocker), final: false };
  }
  for (const [nodeId, { at, failure }] of Object.entries(context.publications)) {
    if (at !== 'failed.unpublish' || !failure) continue;
    return { ...failure, message: `to be gone from node ${nodeId}: ${failure.message}` };
  }
  return undefined;
}
