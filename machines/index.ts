/** Entry point `stagecraft/machines`: the machines and the types of what they keep and say. */
export { allocMachine } from './alloc/alloc.js';
export { allocParts } from './alloc/parts.js';
export type { AllocChanged, AllocContext, AllocState, AllocVolume } from './alloc/types.js';
export type { AllocMount, AllocStep } from './alloc/volume-steps.js';
export { type BackoffPolicy, jittered } from './kit/backoff.js';
export type { AccessMode, AttachmentMode, Bytes, Capability, SecretRef, Segments } from './kit/csi-types.js';
export type { AnswerParams, Failure, MessageParams, RestoreReport, Stamped } from './kit/host.js';
export type { PartView } from './kit/parts.js';
export { mountMachine } from './mount/mount.js';
export { stagingMachine } from './mount/staging.js';
export { mountParts, mountPathOf, mountStateOf } from './mount/states.js';
export { targetMachine } from './mount/target.js';
export type { MountChanged, MountContext, MountState, MountUserState, Target } from './mount/types.js';
export { type NodeChanged, type NodePlugin, nodeMachine } from './node/node.js';
export {
  type Fingerprint,
  type HealthChanged,
  type NodeInfo,
  type NodeInfoChanged,
  type PluginBasics,
  type PluginInfo,
  pluginMachine,
} from './plugin/plugin.js';
export { pluginsMachine, type RegistrationChanged } from './plugin/plugins.js';
export { registryMachine } from './registry/registry.js';
export { type SnapshotContext, snapshotPhases } from './snapshot/phases.js';
export { groupSnapshotMachine, volumeSnapshotMachine } from './snapshot/snapshot.js';
export { snapshotParts, snapshotPathOf, snapshotStateOf } from './snapshot/states.js';
export type { SnapshotChanged, SnapshotKey, SnapshotState } from './snapshot/types.js';

export { taskMachine } from './task/task.js';
export type {
  ProcessIdentity,
  RestartPolicy,
  TaskChanged,
  TaskHealth,
  TaskSpec,
  TaskType,
} from './task/task-types.js';
export { expansionMachine, modificationMachine } from './volume/change.js';
export { lifecycleMachine } from './volume/lifecycle.js';
export { publicationMachine } from './volume/publication.js';
export { volumeParts, volumePathOf, volumeStateOf } from './volume/states.js';
export type { Claim, Publication, VolumeChanged, VolumeContext, VolumeState } from './volume/types.js';
export { volumeMachine } from './volume/volume.js';
export type { VolumeKey } from './volume/wishes.js';
