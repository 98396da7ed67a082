/**
 * One volume on one node: staged once, published for each alloc that uses it, one call at a time. The
 * machine keeps its users as data, so they outlive every process. Diagram: docs/machines/mount.md (generated).
 */
import { assign, enqueueActions, raise, setup } from 'xstate';
import { callGuards, callStates, changed, refused } from '../kit/call-states.js';
import type { AdmissionCall, AdmissionOutcome, CallOutcome } from '../kit/csi-types.js';
import { hostActions, stampOf, unbound } from '../kit/host.js';
import { isIn } from '../kit/parts.js';
import {
  type NodeExpandAnswer,
  type NodeExpandCall,
  type NodePublishAnswer,
  type NodePublishCall,
  type NodeUnpublishAnswer,
  nodeExpandCallOf,
  nodePublishCallOf,
  type StageAnswer,
  type StageCall,
  stageCallOf,
  type UnpublishCall,
  type UnstageCall,
  unpublishCallOf,
  unstageCallOf,
} from './calls.js';
import {
  chooseWork,
  conditionSeen,
  confirm,
  expandMount,
  hasten,
  holdReleased,
  isCallWanted,
  learnedMount,
  leave,
  type MountChange,
  noMount,
  observedMounts,
  retryMount,
  use,
} from './changes.js';
import {
  mountAppeared,
  mountFailed,
  mountHasToWait,
  nodeExpanded,
  targetMounted,
  targetUnmounted,
  volumeStaged,
  volumeUnstaged,
} from './outcomes.js';
import { mountRefusalAnswer, mountRefusalOf } from './requests.js';
import { isStaged } from './staging.js';
import type { MountChanged, MountContext, MountEvent, MountInput, MountRequest, MountWorkKind } from './types.js';
import { isNotHere } from './work.js';

/** Takes over a change and broadcasts it. The types are given: `setup` can't infer them if there are parameters. */
const takeOver = enqueueActions<
  MountContext,
  MountEvent,
  MountChange,
  MountEvent,
  never,
  never,
  never,
  never,
  MountChanged
>(({ context: { node, key }, enqueue }, { context, broadcasts = [] }) => {
  enqueue.assign(context);
  for (const told of broadcasts) enqueue.emit({ node, key, ...told });
});

/** State of the chart for each piece of work. */
const workStates = {
  stage: 'staging',
  publish: 'publishing',
  unpublish: 'unpublishing',
  unstage: 'unstaging',
  expand: 'expanding',
} as const satisfies Record<MountWorkKind, string>;

const workKinds: MountWorkKind[] = ['stage', 'publish', 'unpublish', 'unstage', 'expand'];

const { pending } = callStates({
  settling: '#mount.settling',
  failed: mountFailed,
  learned: learnedMount,
  hasToWait: mountHasToWait,
  again: () => ({ context: {} }),
});

export const mountMachine = setup({
  types: {} as {
    context: MountContext;
    events: MountEvent;
    input: MountInput;
    emitted: MountChanged;
  },
  actors: {
    nodeStage: unbound<CallOutcome<StageAnswer>, StageCall>(),
    nodePublish: unbound<CallOutcome<NodePublishAnswer>, NodePublishCall>(),
    nodeUnpublish: unbound<CallOutcome<NodeUnpublishAnswer>, UnpublishCall>(),
    nodeUnstage: unbound<CallOutcome<NodeUnpublishAnswer>, UnstageCall>(),
    /** Done once the controller side knows of it. */
    nodeExpand: unbound<CallOutcome<NodeExpandAnswer>, NodeExpandCall>(),
    awaitAdmission: unbound<AdmissionOutcome, AdmissionCall>(),
  },
  guards: {
    isRefused: ({ context }, request: MountRequest) => mountRefusalOf(context, request) !== undefined,
    ...callGuards,
    /** Whether the call has to wait and is still the next. */
    mustWait: ({ context, event }, outcome: CallOutcome<unknown>) => {
      if (outcome.status !== 'must-wait') return false;
      const stamp = stampOf(event);
      return isCallWanted({ ...context, ...mountHasToWait(context, outcome, stamp).context }, stamp.at);
    },
    isToCall: ({ context: { work } }, kind: MountWorkKind) => work?.isCalling === true && work.kind === kind,
    isToWait: ({ context: { work } }, kind: MountWorkKind) => work?.kind === kind,
    /** Whether another call is due than the waiting one, or none. */
    hasOtherWork: ({ context, event }) => !isCallWanted(context, stampOf(event).at),
    isNotHere: ({ context }) => isNotHere(context),
    isPublished: ({ context }) => context.users.some((user) => isIn(user, 'published')),
    isStaged: ({ context }) => isStaged(context.staging),
  },
  actions: {
    ...hostActions,
    change: takeOver,
    /** Picks the next piece of work. */
    choose: assign(({ context, event }) => chooseWork(context, stampOf(event))),
    /** Keeps the stamp of the event before: what was due then is due now. */
    settle: raise(({ event }) => ({ type: 'settle' as const, ...stampOf(event) })),
  },
  delays: {
    untilDue: ({ context: { work }, event }) => Math.max(0, (work?.dueAtMs ?? 0) - stampOf(event).at),
  },
}).createMachine({
  id: 'mount',
  version: '3',
  context: ({ input }) => noMount(input),
  initial: 'unstaged',
  on: {
    'mount.use': [refused(mountRefusalAnswer), changed((context, event) => use(context, event, stampOf(event)))],
    'mount.leave': changed((context, event) => leave(context, event, stampOf(event))),
    'mount.expand': changed((context, event) => expandMount(context, event.capacity)),
    'mount.observed': changed((context, event) => observedMounts(context, event, stampOf(event))),
    'mount.confirm': changed((context, event) => confirm(context, event.allocId, stampOf(event))),
    'mount.hold-released': changed((context, event) => holdReleased(context, event)),
    'mount.condition': changed((context, event) => conditionSeen(context, event.condition)),
    'mount.retry': changed((context, event) => retryMount(context, stampOf(event), event.acceptDriver)),
    'mount.hasten': changed((context, event) => hasten(context, stampOf(event))),
    'call.appeared': changed((context, event) => mountAppeared(context, event.mount, stampOf(event))),
  },
  states: {
    settling: {
      entry: 'choose',
      always: [
        { guard: 'isNotHere', target: 'unstaged.absent' },
        ...workKinds.map((kind) => ({
          guard: { type: 'isToCall' as const, params: kind },
          target: `${workStates[kind]}.calling`,
        })),
        ...workKinds.map((kind) => ({
          guard: { type: 'isToWait' as const, params: kind },
          target: `${workStates[kind]}.backing-off`,
        })),
        { guard: 'isPublished', target: 'published' },
        { guard: 'isStaged', target: 'staged' },
        { target: 'unstaged.held' },
      ],
    },
    unstaged: {
      initial: 'absent',
      states: {
        /** Nothing of the volume is here, and nothing is to be undone. */
        absent: { tags: 'absent', on: { settle: '#mount.settling' } },
        /** The volume is wanted here, or was; no call is under way. */
        held: { on: { settle: '#mount.settling' } },
      },
    },
    staging: pending('nodeStage', { input: stageCallOf, done: volumeStaged }),
    staged: { on: { settle: 'settling' } },
    publishing: pending('nodePublish', { input: nodePublishCallOf, done: targetMounted }),
    published: { on: { settle: 'settling' } },
    unpublishing: pending('nodeUnpublish', { input: unpublishCallOf, done: targetUnmounted }),
    unstaging: pending('nodeUnstage', { input: unstageCallOf, done: volumeUnstaged }),
    expanding: pending('nodeExpand', { input: nodeExpandCallOf, done: nodeExpanded }),
  },
});
