/** Inputs of the calls that a volume makes, without secrets. Pure. */
import type { Capability, CapacityRange, SecretRef, Segments } from '../kit/csi-types.js';
import { topState } from '../kit/parts.js';
import { isOfModes, mayBeThere } from './modes.js';
import { publicationAt } from './outcomes.js';
import type { VolumeContext, VolumeOrigin, VolumeSpec } from './types.js';
import type { AttachedBy, CreatedVolume } from './wishes.js';
import { nameWithPlugin } from './words.js';

export interface VolumeCall {
  /** Registered name of the plugin. */
  plugin: string;
  secrets: Record<string, SecretRef>;
  /** The wait for the plugin has a limit. */
  isForced: boolean;
  /** Name of the driver that made it: no other one is called. Absent: not known. */
  driver?: string;
  /** Node whose agent alone makes the call; absent: none is known. */
  home?: string;
  /** Topology in which the volume can be used, while its home is unknown. */
  topology?: Segments[];
}

export interface CreateCall extends VolumeCall {
  name: string;
  spec: VolumeSpec;
  /** An earlier call was sent, and may have made the volume. */
  mayBeMade?: true;
  /** The spec names no topology, so that of `spec` is settled just before the call. `first`: node that comes first. */
  toBePlaced?: { first?: string };
}

/** Call about a volume that the plugin has. */
export interface MadeCall extends VolumeCall {
  csiId: string;
  origin: VolumeOrigin | null;
}

/** Call that attaches the volume to a node, or detaches it there. */
export interface AttachCall extends MadeCall {
  csiNodeId: string;
  /** How it came to be attached there. Absent: not known, or nothing is. */
  attachedBy?: AttachedBy;
}

export interface PublishCall extends AttachCall {
  capability: Capability;
  readOnly: boolean;
  volumeContext: Record<string, string>;
}

export interface ExpandCall extends MadeCall {
  capacity: CapacityRange;
  /** Nodes where it is published, or may be. */
  nodeIds: string[];
  /** Capability of its use. */
  capability?: Capability;
}

export interface ModifyCall extends MadeCall {
  mutableParameters: Record<string, string>;
}

const mustSpec = ({ spec }: VolumeContext): VolumeSpec => {
  if (!spec) throw new Error('the volume has no spec yet');
  return spec;
};

const callOf = (context: VolumeContext): VolumeCall => {
  const { plugin, secrets } = mustSpec(context);
  const { home, driver } = context;
  const topology = madeOf(context)?.accessibleTopology ?? [];
  const call: VolumeCall = { plugin, secrets, isForced: context.lifecycle.force === true };
  if (driver) call.driver = driver;
  if (home) call.home = home;
  else if (topology.length > 0) call.topology = topology;
  return call;
};

/** Volume at the plugin, also one that was made otherwise than asked. */
const madeOf = ({ csi, lifecycle }: VolumeContext): CreatedVolume | undefined => csi ?? lifecycle.madeOtherwise;

export const createCallOf = (context: VolumeContext): CreateCall => {
  const { topology, askedOn, origin, lifecycle } = context;
  const spec = mustSpec(context);
  const asked = topology ? { ...spec, topology } : spec;
  const call: CreateCall = Object.assign(callOf(context), { name: nameWithPlugin(context), spec: asked });
  if (origin === 'call') call.mayBeMade = true;
  const isNamed = spec.topology.requisite.length + spec.topology.preferred.length > 0;
  // A call that is repeated is the same.
  if (topState(lifecycle) === 'pending-create' && !isNamed)
    call.toBePlaced = askedOn === undefined ? {} : { first: askedOn };
  return call;
};

export const madeCallOf = (context: VolumeContext): MadeCall => {
  const made = madeOf(context);
  if (!made) throw new Error('the volume has no id yet');
  return Object.assign(callOf(context), { csiId: made.id, origin: context.origin });
};

export const publishCallOf = (context: VolumeContext): PublishCall => {
  const { capability, readOnly } = publicationAt(context).publication;
  const volumeContext = context.csi?.context ?? {};
  return Object.assign(unpublishCallOf(context), { capability, readOnly, volumeContext });
};

export const unpublishCallOf = (context: VolumeContext): AttachCall => {
  const { csiNodeId, attachedBy } = publicationAt(context).publication;
  return Object.assign(madeCallOf(context), { csiNodeId, ...(attachedBy && { attachedBy }) });
};

export const expandCallOf = (context: VolumeContext): ExpandCall => {
  const capacity = context.expansion?.wish ?? {};
  const mayBe = Object.entries(context.publications).filter(([, publication]) => mayBeThere(publication));
  const nodeIds = mayBe.map(([nodeId]) => nodeId);
  const capability = mayBe[0]?.[1].capability ?? unpublishedUse(context);
  return { ...madeCallOf(context), capacity, nodeIds, ...(capability && { capability }) };
};

/** Use of a volume that is on no node: as claimed, else as asked for first. */
const unpublishedUse = ({ spec, claims }: VolumeContext): Capability | undefined => {
  const offered = spec?.capabilities ?? [];
  return offered.find((one) => claims.some((claim) => isOfModes(one, claim))) ?? offered[0];
};

export const modifyCallOf = (context: VolumeContext): ModifyCall => ({
  ...madeCallOf(context),
  mutableParameters: context.modification?.wish ?? {},
});
