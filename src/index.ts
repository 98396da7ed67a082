/** Entry point `stagecraft`: the runtime, and the types of its inputs and results. */

export type {
  AccessMode,
  AllocMount,
  AllocState,
  AllocStep,
  AttachmentMode,
  Bytes,
  Capability,
  Claim,
  Fingerprint,
  MountState,
  NodeInfo,
  PluginBasics,
  PluginInfo,
  SecretRef,
  TaskChanged,
  TaskSpec,
  VolumeKey,
} from '../machines/index.js';
export type { AllocEvent, AllocStatus, AllocVolumeState, AllocVolumeStatus } from './allocs/alloc-view.js';
export type { EntrySource, JournalEntry } from './engine/actor/actor-record.js';
export type { QuarantinedActor } from './engine/actor/actors.js';
export type { Clock } from './engine/clock.js';
export type { ActorPhase, EffectPhase, FeedBody, FeedRecord } from './engine/feed.js';
export type { Logger } from './engine/logger.js';
export type { PersistedSnapshot } from './engine/machine/hosted-machine.js';
export type { Moment, Replayed } from './engine/machine/replay.js';
export type { Random } from './engine/random.js';
export type { Store } from './engine/store.js';
export type { FollowOptions } from './engine/topics/topic-reader.js';
export {
  type ErrorCode,
  type ErrorDetails,
  type ErrorRow,
  errorTable,
  isErrorCode,
  StagecraftError,
} from './errors.js';
export type { DataDirAccess } from './host/data-dir-access.js';
export { checkJournal, type Divergence, type JournalCheck } from './journal/check-journal.js';
export { History, type HistoryLine, type HistoryTone } from './journal/history.js';
export { type JournalFile, type JournalledActor, openJournal } from './journal/journal-file.js';
export type { After, EntryLine, JournalHead } from './journal/journal-text.js';
export { type CourseEnd, type Edit, OtherCourse } from './journal/what-if.js';
export type { ClaimClient, ClaimWait, KnownVolume, PublishedVolume, SlotRequest } from './mounts/claim-client.js';
export type { OnPluginLoss } from './mounts/mount-reconciler.js';
export type { AllocVolumeRequest, MountRequest, MountUsage } from './mounts/mount-spec.js';
export type { MountInfo } from './mounts/mount-steps.js';
export type { MountEvent, MountStatus, MountUserStatus } from './mounts/mount-view.js';
export type { VolumeUsage } from './mounts/node-port.js';
export type { OrphanedMount } from './mounts/orphaned-mounts.js';
export type { VolumeStats } from './mounts/volume-stats.js';
export type { NodeUpdate } from './nodes/node-kind.js';
export type { NodeReport, NodeStatus, UnstagedReport } from './nodes/node-manager.js';
export type { Dependents } from './registry/dependents.js';
export type { Dispenser, FingerprintRequest } from './registry/dispenser.js';
export type { FingerprintTimes } from './registry/fingerprint-loop.js';
export type { PluginEvent } from './registry/plugin-events.js';
export type { WaitOptions } from './registry/plugin-registry.js';
export type { PluginStatus } from './registry/plugin-statuses.js';
export type { Page } from './requests/actor-pages.js';
export type { AwaitOptions, DeleteOptions } from './requests/await-options.js';
export type { VolumeKeyInput } from './requests/fields.js';
export type { ActorControl, ActorStatus, Journal } from './runtime/actor-records.js';
export type { AgentPlugin, AgentStatus, ClusterOverview, OwnerStatus } from './runtime/cluster-overview.js';
export type { ActorEvent, EventsByTopic, EventTopic, RuntimeEvent } from './runtime/event-topics.js';
export type { Leadership, LeadershipEvent } from './runtime/leadership.js';
export type { CallOptions, LogOptions, Retention, RuntimeOptions } from './runtime/options.js';
export {
  type Allocations,
  createRuntime,
  type FeedListener,
  type GroupSnapshots,
  type Mounts,
  type Nodes,
  type Plugins,
  type Runtime,
  type Shown,
  type Snapshots,
  type StoreStatus,
  shown,
  type Tasks,
  type Volumes,
} from './runtime/runtime.js';
export type { EventFilter, Events, SubscribeOptions } from './runtime/runtime-events.js';
export type { SecretsProvider } from './secrets/secrets.js';
export {
  type EnvironmentOptions,
  envSecrets,
  fileSecrets,
  type SecretsFrom,
  secretsFrom,
} from './secrets/secrets-providers.js';
export type { GroupSnapshotSpec, SnapshotFilter, SnapshotSpec } from './snapshots/snapshot-variants.js';
export type { GroupMember, GroupSnapshot, Snapshot, SnapshotEvent } from './snapshots/snapshot-view.js';
export type { TaskOptions } from './tasks/spec.js';
export type { LogPart } from './tasks/task-logs.js';
export type { TaskState, TaskStatus, TaskUpdate } from './tasks/task-supervisor.js';
export type { Capacity, CapacityRequest } from './volumes/capacity.js';
export type { Reconciled } from './volumes/reconciler.js';
export type { VolumeFilter, VolumeSpec } from './volumes/spec.js';
export type { Expanded, ExpandRequest } from './volumes/volume-changing.js';
export type { ClaimOptions, PublishOptions } from './volumes/volume-manager.js';
export type { Volume, VolumeEvent, VolumePublication } from './volumes/volume-view.js';
