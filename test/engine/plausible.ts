/** Random events and outputs for each machine of this project, plausible enough to reach all states. */
import type { AnyStateMachine } from 'xstate';
import type { AllocEvent, AllocOutcome, NamedStep } from '../../machines/alloc/types.js';
import {
  allocMachine,
  expansionMachine,
  groupSnapshotMachine,
  lifecycleMachine,
  modificationMachine,
  mountMachine,
  nodeMachine,
  pluginMachine,
  pluginsMachine,
  publicationMachine,
  registryMachine,
  snapshotPhases,
  stagingMachine,
  targetMachine,
  taskMachine,
  volumeMachine,
  volumeSnapshotMachine,
} from '../../machines/index.js';
import type { AdmissionOutcome, CallFailure, CallOutcome, Capability, Wait } from '../../machines/kit/csi-types.js';
import type { StagingEvent } from '../../machines/mount/staging-setup.js';
import type { MountFacts, TargetEvent } from '../../machines/mount/target-setup.js';
import type { MountEvent } from '../../machines/mount/types.js';
import type { NodeEvent } from '../../machines/node/node.js';
import type { Fingerprint, PluginEvent, PluginInfo } from '../../machines/plugin/plugin.js';
import type { PluginsEvent } from '../../machines/plugin/plugins.js';
import type { RegistryEvent } from '../../machines/registry/registry.js';
import type { SnapshotMachineEvent, SnapshotOutcome, SnapshotPhaseEvent } from '../../machines/snapshot/types.js';
import type { TaskEvent, TaskSpec } from '../../machines/task/task-types.js';
import type { ChangeEvent } from '../../machines/volume/change.js';
import type { LifecycleEvent } from '../../machines/volume/lifecycle-setup.js';
import type { PublicationEvent } from '../../machines/volume/publication-setup.js';
import type { VolumeMachineEvent, VolumeSpec } from '../../machines/volume/types.js';
import type { PublishWish } from '../../machines/volume/wishes.js';

export interface Die {
  of<T>(...all: [T, ...T[]]): T;
  /** Returns a whole number below `end`. */
  below(end: number): number;
}

/** Payload of each event type. */
type Drafts<TEvent extends { type: string }> = {
  [T in TEvent['type']]: (die: Die) => Omit<Extract<TEvent, { type: T }>, 'type' | 'at' | 'random'>;
};

export interface Plausible {
  machine: AnyStateMachine;
  input: (die: Die) => object;
  events: Record<string, (die: Die) => object>;
  /** Events that lead, in order, to a state that random events do not reach. */
  way?: object[];
  /** Outputs of effects by id; other effects give nothing. */
  outputs: Record<string, (die: Die) => unknown>;
}

const failure = (die: Die): CallFailure => ({
  code: 'CSI_ERROR',
  message: die.of('lost', 'busy'),
  final: die.below(3) === 0,
});

const wait = (die: Die): Wait => ({
  reason: 'its plugin is away',
  for: die.of('plugin', 'turn', 'clear', 'elsewhere', 'compared'),
});

const outcome =
  <T>(answer: (die: Die) => T) =>
  (die: Die): CallOutcome<T> => {
    if (die.below(3) > 0) return { status: 'done', answer: answer(die) };
    const otherwise = die.below(5);
    if (otherwise === 0) return { status: 'call-again', ...(die.below(2) > 0 && { home: 'node-1' }) };
    if (otherwise === 1) return { status: 'must-wait', ...wait(die) };
    return { status: die.of('failed', 'failed', 'not-sent'), failure: failure(die) };
  };

const admission = (die: Die): AdmissionOutcome =>
  die.below(3) > 0 ? { status: 'admitted' } : { status: 'not-sent', failure: failure(die) };

/** Outputs of the admission effects of these calls. */
const admissions = (ids: string[]) => Object.fromEntries(ids.map((id) => [`${id}Admission`, admission]));

const infoOf = (die: Die): PluginInfo => ({
  type: 'csi-node',
  name: 'disk',
  allocId: die.of('one', 'two', 'three'),
  connection: { socketPath: die.of('/run/a.sock', '/run/b.sock') },
});

const fingerprint = (die: Die): Fingerprint => ({
  healthy: die.below(2) > 0,
  description: die.of('ready', 'not ready'),
  ...(die.below(2) > 0 && { basic: { pluginName: 'disk', vendorVersion: '1', nodeId: die.of('n-1', 'n-2') } }),
  ...(die.below(2) > 0 && { capabilities: ['STAGE_UNSTAGE_VOLUME'] }),
});

const pluginEvents: Drafts<PluginEvent> = {
  'fingerprint.changed': (die) => ({ fingerprint: fingerprint(die) }),
  'plugin.restart': (die) => ({ info: infoOf(die) }),
  'plugin.lost': () => ({ description: 'its process has ended' }),
  'plugin.shutdown': () => ({}),
};

const pluginsEvents: Drafts<PluginsEvent> = {
  'plugins.register': (die) => ({ info: infoOf(die) }),
  'plugins.deregister': (die) => ({
    allocId: die.of('one', 'two', 'three'),
    ...(die.below(2) > 0 && { dependents: ['volume a'] }),
    ...(die.below(2) > 0 && { info: infoOf(die) }),
  }),
};

const nodePlugins = (die: Die) => [
  { name: 'disk', nodeId: die.of('n-1', 'n-2'), ...(die.below(2) === 0 && { maxVolumes: 1 }) },
];
const slot = (die: Die) => ({
  volume: die.of('volume/default/a', 'volume/default/b'),
  reservation: die.of('r1', 'r2'),
});

const nodeEvents: Drafts<NodeEvent> = {
  'node.report': (die) => ({ plugins: nodePlugins(die) }),
  'node.down': () => ({}),
  'node.fence': () => ({ reason: 'it burns' }),
  'node.remove': () => ({}),
  'node.reserve-slot': (die) => ({ plugin: 'disk', ...slot(die) }),
  'node.add-slot': (die) => ({ plugin: 'disk', ...slot(die) }),
  'node.release-slots': (die) => ({ plugin: 'disk', slots: [slot(die)] }),
  'node.slots-counted': (die) => ({ plugin: 'disk', number: die.below(2) }),
};

const registryEvents: Drafts<RegistryEvent> = {
  'registry.start': () => ({}),
  'registry.stop': (die) => ({ release: die.below(2) > 0 }),
  'registry.placed': (die) => ({
    place: { id: die.of('x', 'y'), dataDir: '/data', host: 'h' },
    mounts: die.below(2) > 0 ? ['mount/a/default/web'] : [],
  }),
  'registry.former-mount-over': () => ({ address: 'mount/a/default/web' }),
};

const taskSpec = (die: Die): TaskSpec => ({
  id: 'disk',
  plugin: 'disk',
  type: die.of('node', 'controller', 'monolith'),
  command: ['disk', die.of('-v', '-q')],
  env: {},
  healthTimeoutMs: 1_000,
  restart: { maxRestarts: die.below(4), windowMs: 100_000, backoff: { initialMs: 100, maxMs: 1_000 } },
});

const taskEvents: Drafts<TaskEvent> = {
  'task.start': (die) => ({ spec: taskSpec(die) }),
  'task.restart': () => ({}),
  'task.stop': (die) => (die.below(2) > 0 ? { dependents: ['volume a'] } : {}),
  'task.remove': () => ({}),
  'health.changed': (die) => ({ health: { healthy: die.below(2) > 0, description: 'looked at' } }),
};

const spawned = (die: Die) => ({
  ...{ allocId: 'run-1', token: 'token', socketPath: '/run/a.sock' },
  process: die.below(3) > 0 ? { pid: die.below(100), bootId: 'boot', startTime: 1 } : null,
});

const capability = (die: Die) => ({
  accessMode: die.of('single-node-writer' as const, 'multi-node-multi-writer' as const),
  attachmentMode: 'file-system' as const,
});

const wish = (die: Die): PublishWish => ({
  capability: capability(die),
  readOnly: die.below(3) === 0,
  csiNodeId: die.of('csi-a', 'csi-b'),
});

const nodeId = (die: Die): string => die.of('a', 'b');
const allocId = (die: Die): string => die.of('one', 'two', 'three');
const capacity = (die: Die) => ({ requiredBytes: die.of('1', '2') });

const volumeSpec = (die: Die): VolumeSpec => ({
  plugin: 'disk',
  capacity: {},
  capabilities: [capability(die)],
  parameters: {},
  mutableParameters: {},
  secrets: {},
  topology: { requisite: [], preferred: [] },
  ...(die.below(4) === 0 && { external: { csiId: 'vol-0', context: {} } }),
});

const volumeEvents: Drafts<VolumeMachineEvent> = {
  'volume.create': (die) => ({ spec: volumeSpec(die), uid: 'u1', name: 'sc-u1' }),
  'volume.publish': (die) => ({
    ...{ nodeId: nodeId(die), ...wish(die) },
    ...(die.below(3) === 0 && { hold: allocId(die) }),
    ...(die.below(3) === 0 && { reservation: die.of('r1', 'r2') }),
  }),
  'volume.add-slot': (die) => ({ nodeId: nodeId(die), reservation: die.of('r1', 'r2') }),
  'volume.unpublish': (die) => ({ nodeId: nodeId(die) }),
  'volume.delete': (die) => ({ force: die.below(2) > 0 }),
  'volume.claim': (die) => ({
    claim: {
      ...{ allocId: allocId(die), nodeId: nodeId(die), csiNodeId: die.of('csi-a', 'csi-b') },
      ...{ mode: die.of('read', 'write'), ...capability(die) },
    },
    wait: die.below(2) > 0,
  }),
  'volume.claim-and-publish': (die) => ({
    claim: {
      ...{ allocId: allocId(die), nodeId: nodeId(die), csiNodeId: die.of('csi-a', 'csi-b') },
      ...{ mode: die.of('read', 'write'), ...capability(die) },
    },
    ...{ capability: capability(die), readOnly: die.below(2) > 0 },
    ...(die.below(3) === 0 && { reservation: die.of('r1', 'r2') }),
  }),
  'volume.unclaim': (die) => ({ allocId: allocId(die) }),
  'volume.withdraw': (die) => ({ nodeId: nodeId(die), reason: 'its node is down' }),
  'volume.release': (die) => ({ allocId: allocId(die) }),
  'volume.unstaged': (die) => ({
    ...{ nodeId: nodeId(die), claimGeneration: die.below(9) },
    ...(die.below(2) === 0 && { allocId: allocId(die) }),
  }),
  'volume.hold-released': (die) => ({ nodeId: nodeId(die), allocId: allocId(die), generation: die.below(9) }),
  'volume.fence': (die) => ({ nodeId: nodeId(die), reason: 'it burns' }),
  'volume.expand': (die) => ({ capacity: capacity(die) }),
  'volume.node-expanded': (die) => ({ nodeId: nodeId(die), uid: 'u1', capacity: capacity(die) }),
  'volume.modify': (die) => ({ mutableParameters: { speed: die.of('slow', 'fast') } }),
  'volume.retry': () => ({}),
  'volume.set-availability': (die) => ({ availability: die.of('active', 'pause', 'drain') }),
  'volume.acknowledge': () => ({}),
  'volume.observed': (die) => ({
    believed: die.of([], ['a']),
    sighting: { isMissing: die.below(3) === 0, attached: die.of(['csi-a'], []) },
  }),
  'wait.changed': wait,
  settle: () => ({}),
};

const made = (die: Die) => ({
  csiId: die.of('snap-1', 'snap-2'),
  isReady: die.below(2) > 0,
  members: [{ csiId: 'snap-1', sourceCsiId: die.of('vol-1', 'vol-2') }],
});

const attempt = (die: Die) => ({ failure: failure(die), status: die.of('failed' as const, 'not-sent' as const) });

const snapshotOutcomes: Record<SnapshotOutcome['type'], (die: Die) => object> = {
  'create.done': (die) => ({ made: made(die) }),
  'look.done': (die) => ({ made: made(die) }),
  'remove.done': () => ({}),
  'create.refused': attempt,
  'create.unknown': attempt,
  'create.changed-nothing': attempt,
  'create.no-room': attempt,
  'create.id-taken': attempt,
  'create.given-up': attempt,
  'look.refused': attempt,
  'look.failed': attempt,
  'remove.refused': attempt,
  'remove.failed': attempt,
  'remove.given-up': attempt,
  'call.interrupted': () => ({}),
  'call.not-made': () => ({}),
};

const snapshotEvents: Drafts<SnapshotMachineEvent> = {
  'snapshot.create': () => ({
    spec: {
      ...{ plugin: 'disk', parameters: {}, secrets: {} },
      sources: [{ volume: { namespace: 'default', id: 'data' }, csiId: 'vol-1' }],
    },
    uid: 'u1',
    name: 'sc-u1',
  }),
  'snapshot.delete': (die) => ({ force: die.below(2) > 0 }),
  'snapshot.retry': () => ({}),
  'snapshot.acknowledge': () => ({}),
  'wait.changed': wait,
  settle: () => ({}),
};

/** Leads to an unstage call that waits. */
const unstageWaiting: StagingEvent[] = [
  { type: 'stage.wanted' },
  { type: 'stage.done', number: 1, found: undefined },
  { type: 'unstage.wanted' },
  { type: 'call.not-made' },
];

const snapshotPhaseEvents: Record<SnapshotPhaseEvent['type'], (die: Die) => object> = {
  ...snapshotEvents,
  'snapshot.delete': (die) => ({ force: die.below(2) > 0, underWay: die.of('create', undefined, 'look') }),
  ...snapshotOutcomes,
};

const snapshotOutputs = {
  createSnapshot: outcome(made),
  lookAtSnapshot: outcome(made),
  deleteSnapshot: outcome(() => null),
  removeUntrusted: outcome(() => null),
  admission,
};
const nothing = outcome(() => null);

const mountAlloc = (die: Die) => die.of('a', 'b', 'c');
const mountUse: Capability = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' };
const mountCondition = (die: Die) => ({ condition: die.of(null, { abnormal: true, message: 'a disk is failing' }) });

const mountEvents: Drafts<MountEvent> = {
  'mount.use': (die) => ({
    volume: {
      ...{ uid: die.of('u1', 'u1', 'u2'), plugin: 'disk', csiId: 'vol-1' },
      ...{ volumeContext: {}, publishContext: {}, secrets: {} },
    },
    capability: die.of(mountUse, mountUse, { ...mountUse, accessMode: 'single-node-writer' }),
    ...{ allocId: mountAlloc(die), readOnly: die.below(5) === 0, isClaimed: die.below(2) > 0 },
    ...(die.below(3) === 0 && { hold: die.below(9) }),
  }),
  'mount.leave': (die) => ({ allocId: mountAlloc(die) }),
  'mount.expand': (die) => ({ capacity: capacity(die) }),
  'mount.observed': (die) => ({
    users: [{ number: die.below(9), is: die.of('missing', 'dead'), isMended: die.below(2) > 0 }],
    staging: die.of([], [{ number: die.below(9), isMended: die.below(2) > 0, isDead: die.below(3) === 0 }]),
    isStart: die.below(3) === 0,
  }),
  'mount.confirm': (die) => ({ allocId: mountAlloc(die) }),
  'mount.hold-released': (die) => ({ allocId: mountAlloc(die), generation: die.below(9) }),
  'mount.condition': mountCondition,
  'mount.retry': () => ({}),
  'mount.hasten': () => ({}),
  'mount.given-up': () => ({}),
  'wait.changed': wait,
  'call.appeared': () => ({ mount: { device: '8:1', root: '/', bootId: 'b' } }),
  settle: () => ({}),
};

const kernelMount = (die: Die) => ({ found: { device: die.of('8:1', '8:2'), root: '/' }, bootId: 'b' });

const allocVolumes = (die: Die) => [
  {
    ...{ name: 'data', volume: { namespace: 'default', id: die.of('data', 'data', 'other') } },
    ...{ mode: 'write' as const, readOnly: false, taskPath: '/data', ...mountUse },
  },
];

const allocMount = {
  ...{ name: 'data', volume: { namespace: 'default', id: 'data' }, hostPath: '/h', taskPath: '/data' },
  ...{ readOnly: false, isDevice: false },
};

const data = 'data';

/** Steps of a run for its volume, up to a random point. */
function stepsUp(die: Die, most = 4): NamedStep[] {
  const all: NamedStep[] = [
    { name: data, type: 'restart' },
    { name: data, type: 'claim.taken', generation: die.below(9) },
    { name: data, type: 'volume.published' },
    { name: data, type: 'volume.mounted', mount: allocMount },
  ];
  return all.slice(0, most);
}

const stepsDown: NamedStep[] = [
  { name: data, type: 'restart' },
  { name: data, type: 'volume.unmounted' },
  { name: data, type: 'claim.released' },
  { name: data, type: 'slot.freed' },
];

const waiting = (die: Die): NamedStep[] => [
  { name: data, type: 'volume.waits', reason: die.of(null, 'its plugin is away') },
];

const allocEvents: Drafts<AllocEvent> = {
  'alloc.prepare': (die) => ({ volumes: allocVolumes(die), untilMs: die.of(null, 1_050_000), bootId: 'b' }),
  'alloc.release': () => ({}),
  'alloc.forget': () => ({}),
  'alloc.abort': (die) => ({ failure: failure(die) }),
  'alloc.recover': (die) => ({ isNewBoot: die.below(2) > 0 }),
  'alloc.lost': (die) => ({ name: 'data', generation: die.below(9), failure: failure(die) }),
  'alloc.progress': (die) => ({
    steps: die.of(stepsUp(die, die.below(5)), stepsDown.slice(0, die.below(5)), waiting(die)),
  }),
};

const allocOutcome = (die: Die, steps: NamedStep[]): AllocOutcome =>
  die.below(3) > 0
    ? { status: 'done', steps }
    : { status: 'failed', failure: failure(die), ...(die.below(2) > 0 && { name: data }) };

const allocUp = (die: Die): AllocOutcome => allocOutcome(die, stepsUp(die));

const wishOf = (die: Die): PublishWish => ({
  csiNodeId: die.of('csi-a', 'csi-a', 'csi-b'),
  readOnly: die.below(4) === 0,
  capability: { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' },
});

const failedCall = (die: Die) => ({
  failure: failure(die),
  tries: { count: die.below(3), notBeforeMs: 1_000, sinceMs: 0, failure: failure(die) },
});

const none = (): object => ({});

const tried = (die: Die) => ({ tries: failedCall(die).tries });
const seen = (die: Die) => ({ isMended: die.below(2) > 0 });
const numbered = (die: Die) => ({
  number: die.below(9),
  ...(die.below(2) > 0 && { found: { device: '8:1', root: '/' } }),
});

const stagingEvents: Drafts<StagingEvent> = {
  'stage.wanted': none,
  'unstage.wanted': none,
  'targets.may-remain': none,
  'users.gone': none,
  retry: none,
  hasten: none,
  'runtime.started': none,
  'seen-missing': seen,
  'seen-dead': seen,
  'seen-dead-gone': none,
  'publish.found-unstaged': none,
  'mount-appeared': () => ({ mount: { device: '8:1', root: '/', bootId: 'b' } }),
  'call.not-made': none,
  'stage.done': numbered,
  'stage.not-needed': numbered,
  'stage.unknown': tried,
  'stage.refused': tried,
  'stage.not-sent': tried,
  'stage.interrupted': none,
  'unstage.done': numbered,
  'unstage.unknown': tried,
  'unstage.not-sent': tried,
  'unstage.interrupted': none,
};

const moment = (die: Die): MountFacts => ({
  ...{ atMs: die.below(1_000), nextNumber: die.below(9) },
  ...{ isLast: die.below(2) > 0, isCallUnderWay: die.below(2) > 0 },
});
const targetUseOf = (die: Die) => ({
  readOnly: die.below(2) > 0,
  isClaimed: die.below(2) > 0,
  capability: mountUse,
});
const then =
  <TMore extends object>(more: (die: Die) => TMore) =>
  (die: Die): MountFacts & TMore => ({ ...moment(die), ...more(die) });
const refusedCall = (die: Die) => ({ failure: failure(die) });

const targetEvents: Drafts<TargetEvent> = {
  use: then((die) => ({ use: targetUseOf(die) })),
  leave: moment,
  retry: moment,
  hasten: moment,
  'runtime.started': moment,
  'stage.refused': then(refusedCall),
  'let-go': moment,
  'seen-missing': then(seen),
  'seen-dead': then(seen),
  'staging-dead': moment,
  'staging-dead-gone': moment,
  'mount-appeared': then(() => ({ mount: { device: '8:1', root: '/', bootId: 'b' } })),
  'call.not-made': moment,
  'publish.done': then((die) => ({ found: { device: '8:1', root: '/' }, isDead: die.below(4) === 0 })),
  'publish.refused': then(refusedCall),
  'publish.not-as-asked': then(refusedCall),
  'publish.not-sent': then(tried),
  'publish.unknown': then(tried),
  'publish.interrupted': moment,
  'unpublish.done': moment,
  'unpublish.failed': then(tried),
  'unpublish.interrupted': moment,
};

const publishing = (die: Die) => die.of('publish' as const, undefined);

const publicationEvents: Drafts<PublicationEvent> = {
  wanted: none,
  'wanted-again': none,
  'found-attached': none,
  publish: (die) => ({ wish: wishOf(die), underWay: publishing(die) }),
  withdrawn: (die) => ({ underWay: publishing(die) }),
  'wish.dropped': none,
  'node.to-unstage': none,
  'node.let-go': none,
  'node.fenced': () => ({ reason: 'lost' }),
  'node.given-time': (die) => ({ tries: failedCall(die).tries, underWay: die.of('publish', 'unpublish', undefined) }),
  'node.time-over': none,
  retry: (die) => ({ isFree: die.below(2) > 0 }),
  'listed-as-detached': none,
  'call.not-made': none,
  'publish.done': (die) => ({ publishContext: { device: 'x' }, attachedBy: die.of('call', 'none') }),
  'publish.refused': failedCall,
  'publish.not-sent': failedCall,
  'publish.unknown': failedCall,
  'publish.interrupted': none,
  'unpublish.done': none,
  'unpublish.refused': failedCall,
  'unpublish.interrupted': none,
  'unpublish.not-found': failedCall,
  'unpublish.failed': failedCall,
  'unpublish.given-up': none,
};

const madeVolume = { id: 'vol-1', context: {}, accessibleTopology: [] };

const discarded = (die: Die) => ({
  force: die.below(3) === 0,
  underWay: die.of('create' as const, 'remove' as const, undefined),
});

const lifecycleEvents: Drafts<LifecycleEvent> = {
  create: none,
  delete: discarded,
  forget: discarded,
  retry: none,
  'leftovers.delete': none,
  'leftovers.find': none,
  'leftovers.detach': none,
  'publications.gone': none,
  'publications.found': none,
  'call.not-made': none,
  'create.done': none,
  'create.not-as-asked': (die) => ({ failure: failure(die), made: madeVolume }),
  'create.unproven': () => ({ made: madeVolume }),
  'create.refused': failedCall,
  'create.made-nothing': failedCall,
  'create.no-room': failedCall,
  'create.not-sent': failedCall,
  'create.unknown': failedCall,
  'create.interrupted': none,
  'create.given-up': none,
  'delete.done': (die) => ({ failure: failure(die) }),
  'delete.refused': failedCall,
  'delete.failed': failedCall,
  'delete.interrupted': none,
  'delete.given-up': none,
};

const unknownTwice = {
  failure: { code: 'CSI_ERROR', message: 'lost', final: false },
  tries: { count: 1, notBeforeMs: 0, sinceMs: 0, failure: { code: 'CSI_ERROR', message: 'lost', final: false } },
};

/** Three copies in a row without proof of their content. */
const threeUnproven: object[] = [
  { type: 'create' },
  ...Array.from({ length: 3 }).flatMap(() => [
    { type: 'create.unknown', ...unknownTwice },
    { type: 'create.unproven', made: madeVolume },
    { type: 'delete.done', failure: { code: 'VOLUME_UNPROVEN', message: 'unproven', final: true } },
  ]),
];

const changeEvents: Drafts<ChangeEvent<object>> = {
  asked: (die) => ({
    ...{ wish: { requiredBytes: die.of('1', '2') }, ifFailed: { requiredBytes: '2' } },
    isUnderWay: die.below(2) > 0,
  }),
  retry: none,
  hasten: none,
  'call.not-made': none,
  'change.done': none,
  'change.refused': failedCall,
  'change.failed': failedCall,
  'change.interrupted': none,
};

export const plausible: Plausible[] = [
  { machine: pluginMachine, input: (die) => ({ info: infoOf(die) }), events: pluginEvents, outputs: {} },
  { machine: pluginsMachine, input: () => ({ node: 'n' }), events: pluginsEvents, outputs: {} },
  { machine: nodeMachine, input: () => ({ id: 'n' }), events: nodeEvents, outputs: {} },
  {
    machine: registryMachine,
    input: () => ({}),
    events: registryEvents,
    outputs: { restoreActors: (die) => ({ actors: die.below(9), quarantined: [] }) },
  },
  {
    machine: taskMachine,
    input: () => ({ node: 'n' }),
    events: taskEvents,
    outputs: {
      spawnProcess: spawned,
      awaitReady: () => ({ pluginName: 'disk', vendorVersion: '1' }),
      watchProcess: (die) => die.of({ code: 1 }, { signal: 'SIGKILL' }, {}),
    },
  },
  {
    machine: volumeMachine,
    input: () => ({ namespace: 'default', id: 'data', seq: 7 }),
    events: volumeEvents,
    outputs: {
      createVolume: outcome((die) => ({
        ...madeVolume,
        ...(die.below(3) === 0 && { fault: failure(die), lacksSource: true }),
      })),
      controllerPublish: outcome(() => ({ publishContext: { device: 'x' } })),
      controllerExpand: outcome((die) => ({ capacityBytes: '2', nodeExpansionRequired: die.below(2) > 0 })),
      ...{ deleteVolume: nothing, removeUnproven: nothing, controllerUnpublish: nothing, controllerModify: nothing },
      admission,
    },
  },
  { machine: lifecycleMachine, input: () => ({}), events: lifecycleEvents, way: threeUnproven, outputs: {} },
  ...[expansionMachine, modificationMachine].map((machine) => ({
    machine,
    input: () => ({ wish: { requiredBytes: '1' } }),
    events: changeEvents,
    outputs: {},
  })),
  {
    machine: publicationMachine,
    input: (die) => ({ ...wishOf(die), number: 1 }),
    events: publicationEvents,
    outputs: {},
  },
  {
    machine: stagingMachine,
    input: () => ({ number: 0 }),
    events: stagingEvents,
    outputs: {},
    way: unstageWaiting,
  },
  {
    machine: targetMachine,
    input: (die) => ({ ...targetUseOf(die), allocId: 'a', number: 1, sinceMs: 0 }),
    events: targetEvents,
    outputs: {},
  },
  {
    machine: mountMachine,
    input: () => ({ node: 'n', namespace: 'default', id: 'data' }),
    events: mountEvents,
    outputs: {
      nodeStage: outcome((die) => ({ isStaged: die.below(4) > 0, ...kernelMount(die) })),
      nodePublish: outcome(kernelMount),
      nodeUnpublish: outcome((die) => die.of({}, { leftBehind: '/h: it is not empty' }, { unmounted: '/h' })),
      nodeUnstage: outcome((die) => die.of({}, { leftBehind: '/s: it is not empty' }, { unmounted: '/s' })),
      nodeExpand: outcome((die) => die.of({}, { capacityBytes: 2 })),
      ...admissions(['nodeStage', 'nodePublish', 'nodeUnpublish', 'nodeUnstage', 'nodeExpand']),
    },
  },
  {
    machine: allocMachine,
    input: () => ({ node: 'n', allocId: 'web' }),
    events: allocEvents,
    outputs: {
      ...{ prepareAlloc: allocUp, recoverAlloc: allocUp },
      releaseAlloc: (): AllocOutcome => ({ status: 'done', steps: stepsDown }),
    },
  },
  ...[volumeSnapshotMachine, groupSnapshotMachine].map((machine) => ({
    machine,
    input: () => ({ namespace: 'default', id: 'snap', kind: machine.id }),
    events: snapshotEvents,
    outputs: snapshotOutputs,
  })),
  {
    machine: snapshotPhases,
    input: () => ({ namespace: 'default', id: 'snap', kind: 'volume-snapshot' }),
    events: snapshotPhaseEvents,
    outputs: {},
  },
];
