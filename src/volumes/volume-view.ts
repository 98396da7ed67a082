/** A volume as callers see it, made of what is committed. */

import type { StateValue } from 'xstate';
import type { Bytes, CallFailure, Capability, CapacityRange, Tries } from '../../machines/kit/csi-types.js';
import type { Failure } from '../../machines/kit/host.js';
import type { PartView } from '../../machines/kit/parts.js';
import { describeClaim } from '../../machines/volume/claims.js';
import { isLeaving } from '../../machines/volume/lifecycle.js';
import { holdersOf } from '../../machines/volume/modes.js';
import { describeBlocker, volumeParts } from '../../machines/volume/parts.js';
import { publicStateOf } from '../../machines/volume/publication.js';
import type {
  Availability,
  Claim,
  ClaimRequest,
  Leftover,
  Publication,
  VolumeContext,
  VolumeSource,
  VolumeState,
} from '../../machines/volume/types.js';
import type { PublicationState, VolumeKey } from '../../machines/volume/wishes.js';
import { blockersOf, failureOf } from '../../machines/volume/work.js';
import { asData } from '../engine/machine/data.js';
import { stateName } from '../requests/state-name.js';

export interface VolumePublication {
  state: PublicationState;
  /** The exact state within `state`, as the chart of publications names it. What each means: docs/machines/publication.md */
  step: Publication['at'];
  /** The plugin's own name for the node, as it was when this was asked for. */
  csiNodeId: string;
  capability: Capability;
  readOnly: boolean;
  /** Allocs that its node may have it mounted for without a claim: it is not unpublished from there before they let go. */
  heldFor?: string[];
  /** Once it is published: to be handed to the node's calls as it is. */
  publishContext?: Record<string, string>;
  /** Why it is as it is, where that is of interest: the last failure. */
  message?: string;
}

/** Sizes are numbers of bytes; above 2⁵³−1 a bigint. */
export interface Volume {
  key: VolumeKey;
  state: VolumeState;
  /** Of this very volume: one that is made anew under its key has another. */
  uid: string;
  plugin: string;
  /** The own name of the driver that made it, as GetPluginInfo has it. Absent: not known yet. */
  driver?: string;
  /** What the plugin was to call it; absent for one that it had already. */
  name?: string;
  /** The plugin's id of it, opaque. Absent: not created yet. */
  csiId?: string;
  context?: Record<string, string>;
  /** The node that it is on, whose agent alone makes its controller calls. Absent: any agent may. */
  home?: string;
  /** Absent: unknown. */
  capacityBytes?: number | bigint;
  /** The size that was asked for last, of those that were granted; absent: none. */
  requested?: { requiredBytes?: number | bigint; limitBytes?: number | bigint };
  /** What was in it at first. Absent: nothing. */
  source?: VolumeSource;
  /** It was there before, and was taken over: deleting it lets go of it. */
  external?: true;
  parameters: Record<string, string>;
  /** As they were asked for, with what they have been changed to since. */
  mutableParameters: Record<string, string>;
  /** What its secrets are called; what they refer to is not told. */
  secrets: string[];
  capabilities: Capability[];
  /** By node. */
  publications: Record<string, VolumePublication>;
  /** The parts that are at work for it, each with its exact state, and why it is there. */
  parts: PartView[];
  claims: Claim[];
  /** Claims that wait for a slot, in order. */
  waiting: ClaimRequest[];
  availability: Availability;
  /** An expansion that is under way, or has failed. */
  expansion?: { capacity: CapacityRange; failed?: true; message?: string };
  /** A change of its parameters that is under way, or has failed. */
  modification?: { mutableParameters: Record<string, string>; failed?: true; message?: string };
  /** The node's part of an expansion is still to be done. */
  nodeExpansionRequired?: boolean;
  /** Its plugin does not list it any more. */
  missing?: true;
  /** What its plugin says of its health; absent: nothing. */
  condition?: { abnormal: boolean; message: string };
  /** Its deletion was asked for: whatever it is at now, that comes next. */
  deleting?: true;
  /** What could not be confirmed as it was deleted. */
  leftovers?: Leftover[];
  /** Why it does not get on, or what it failed with. */
  error?: Failure;
}

/** The name of a state as it is told: without what is inside it. */
export const stateOf = stateName<VolumeState>;

export const bytesIn = (bytes: Bytes): number | bigint => (typeof bytes === 'string' ? BigInt(bytes) : bytes);

/** Whoever gets it may change it: it has nothing in common with what is committed. */
export function volumeOf(value: StateValue, context: VolumeContext): Volume {
  const { key, uid, spec, csi, claims, waiting, availability, expansion, modification } = context;
  const { nodeExpansion, leftovers, sighting } = context;
  const error = troubleOf(context);
  const volume: Volume = {
    key,
    state: stateOf(value),
    uid,
    plugin: spec?.plugin ?? '',
    parameters: spec?.parameters ?? {},
    mutableParameters: { ...spec?.mutableParameters, ...context.modifiedTo },
    secrets: Object.keys(spec?.secrets ?? {}),
    capabilities: spec?.capabilities ?? [],
    publications: Object.fromEntries(
      Object.entries(context.publications).map(([nodeId, publication]) => [nodeId, publicationOf(publication)]),
    ),
    parts: volumeParts(context),
    claims,
    waiting,
    availability,
  };
  if (spec?.external) volume.external = true;
  else if (spec) volume.name = context.name;
  if (spec?.source) volume.source = spec.source;
  if (csi) {
    volume.csiId = csi.id;
    volume.context = csi.context;
  }
  if (context.driver) volume.driver = context.driver;
  if (context.home) volume.home = context.home;
  if (expansion) volume.expansion = { capacity: expansion.wish, ...changeIn(expansion) };
  if (modification) volume.modification = { mutableParameters: modification.wish, ...changeIn(modification) };
  if (nodeExpansion) volume.nodeExpansionRequired = true;
  if (sighting?.isMissing) volume.missing = true;
  if (sighting?.condition) volume.condition = sighting.condition;
  if (isLeaving(context.lifecycle) && volume.state !== 'deleted') volume.deleting = true;
  if (leftovers.length > 0) volume.leftovers = leftovers;
  if (error) volume.error = error;
  const own = asData(volume);
  // A bigint is no data of the engine's.
  const { requiredBytes, limitBytes } = context.expandedTo ?? spec?.capacity ?? {};
  if (requiredBytes !== undefined || limitBytes !== undefined)
    own.requested = {
      ...(requiredBytes !== undefined && { requiredBytes: bytesIn(requiredBytes) }),
      ...(limitBytes !== undefined && { limitBytes: bytesIn(limitBytes) }),
    };
  if (csi?.capacityBytes !== undefined) own.capacityBytes = bytesIn(csi.capacityBytes);
  return own;
}

function publicationOf(publication: Publication): VolumePublication {
  const { at, csiNodeId, capability, readOnly, publishContext } = publication;
  const heldFor = holdersOf(publication);
  return {
    state: publicStateOf(publication),
    step: at,
    csiNodeId,
    capability,
    readOnly,
    ...(heldFor.length > 0 && { heldFor }),
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

/** What keeps it from where it is going. */
export function errorOf(context: VolumeContext): Failure | undefined {
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

/** Who has it where it is in the way, as far as its plugin has said. */
function holdersIn({ claims, sighting }: VolumeContext, { answerClass }: CallFailure): string {
  const { heldOn = [] } = sighting ?? {};
  if (answerClass !== 'repair' || heldOn.length === 0) return '';
  const holders = claims.filter(({ nodeId }) => heldOn.includes(nodeId)).map(describeClaim);
  const by = holders.length > 0 ? `, claimed by ${holders.join(', ')}: release that first` : '';
  return `; its plugin has it on node ${heldOn.join(', ')}${by}`;
}

/** Why it can't be published there until something is asked for: what has to be gone first has failed to go. */
export function stuckOf(context: VolumeContext, nodeId: string): string | undefined {
  const publication = context.publications[nodeId];
  if (!publication || publicStateOf(publication) !== 'pending-publish') return undefined;
  const stuck = blockersOf(context, nodeId, publication).find(([, { failure }]) => failure);
  return stuck && describeBlocker(nodeId, stuck);
}

/** What it waits for, or why it waits for nothing any more, where nothing is under way that could say so. */
export function troubleOf(context: VolumeContext): Failure | undefined {
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
