/**
 * One volume on one node: staged once, published for each alloc that uses it, one call at a time. The
 * machine keeps its users as data, so they outlive every process. Diagram: docs/machines/mount.md (generated).
 */
import { assign, raise, setup } from 'xstate';
import { callChart } from '../kit/call.js';
import type { AdmissionCall, AdmissionOutcome, CallOutcome } from '../kit/csi-types.js';
import { hostActions, stampOf, unbound } from '../kit/host.js';
import { changed, refusing, takesOver } from '../kit/requests.js';
import type { StateWords } from '../kit/state-words.js';
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
  givenUp,
  hasten,
  holdReleased,
  isCallWanted,
  learnedMount,
  leave,
  noMount,
  observedMounts,
  retryMount,
  use,
} from './changes.js';
import type { MountChange } from './draft.js';
import {
  mountAppeared,
  mountFailed,
  mountNotMade,
  nodeExpanded,
  targetMounted,
  targetUnmounted,
  volumeStaged,
  volumeUnstaged,
} from './outcomes.js';
import { mountRefusalOf } from './requests.js';
import { isStaged } from './staging.js';
import { callStates } from './states.js';
import type { MountChanged, MountContext, MountEvent, MountInput } from './types.js';
import { isNotHere } from './work.js';

const takeOver = takesOver<MountContext, MountEvent, MountChange, MountChanged>(({ node, key }, { broadcasts = [] }) =>
  broadcasts.map((told) => ({ node, key, ...told })),
);

const { isRefused, refused } = refusing(mountRefusalOf);

const call = callChart(
  '#mount.deciding',
  {
    stage: { state: callStates.stage, src: 'nodeStage', input: stageCallOf, done: volumeStaged },
    publish: { state: callStates.publish, src: 'nodePublish', input: nodePublishCallOf, done: targetMounted },
    unpublish: { state: callStates.unpublish, src: 'nodeUnpublish', input: unpublishCallOf, done: targetUnmounted },
    unstage: { state: callStates.unstage, src: 'nodeUnstage', input: unstageCallOf, done: volumeUnstaged },
    expand: { state: callStates.expand, src: 'nodeExpand', input: nodeExpandCallOf, done: nodeExpanded },
  },
  { isNext: isCallWanted, failed: mountFailed, notMade: mountNotMade, learned: learnedMount },
);

export const mountMachine = setup({
  types: {} as {
    context: MountContext;
    events: MountEvent;
    input: MountInput;
    emitted: MountChanged;
    meta: StateWords;
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
    isRefused,
    ...call.guards,
    isNotHere: ({ context }) => isNotHere(context),
    hasPublished: ({ context }) => context.users.some((user) => user.at === 'published'),
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
  delays: call.delays,
}).createMachine({
  id: 'mount',
  version: '4',
  context: ({ input }) => noMount(input),
  initial: 'unstaged',
  on: {
    'mount.use': [refused, changed((context, event) => use(context, event, stampOf(event)))],
    'mount.leave': changed((context, event) => leave(context, event.allocId, stampOf(event))),
    'mount.expand': changed((context, event) => expandMount(context, event.capacity)),
    'mount.observed': changed((context, event) => observedMounts(context, event, stampOf(event))),
    'mount.confirm': changed((context, event) => confirm(context, event.allocId, stampOf(event))),
    'mount.hold-released': changed((context, event) => holdReleased(context, event.allocId)),
    'mount.condition': changed((context, event) => conditionSeen(context, event.condition)),
    'mount.retry': changed((context, event) => retryMount(context, stampOf(event), event.acceptDriver)),
    'mount.hasten': changed((context, event) => hasten(context, stampOf(event))),
    // No call of this agent is under way then: none is made for such a mount.
    'mount.given-up': { target: '.deciding', ...changed((context, event) => givenUp(context, stampOf(event))) },
    'call.appeared': changed((context, event) => mountAppeared(context, event.mount, stampOf(event))),
  },
  states: {
    /** Within one step only. */
    deciding: {
      entry: 'choose',
      always: [
        { guard: 'isNotHere', target: 'unstaged.absent' },
        ...call.ways,
        { guard: 'hasPublished', target: 'published' },
        { guard: 'isStaged', target: 'staged' },
        { target: 'unstaged.held' },
      ],
    },
    unstaged: {
      meta: { health: 'gone', words: 'not mounted' },
      initial: 'absent',
      states: {
        /** Nothing of the volume is here, and nothing is to be undone. */
        absent: { tags: 'absent', ...call.atRest },
        /** The volume is wanted here, or was; no call is under way. */
        held: { ...call.atRest, meta: { health: 'gone', words: 'not mounted, and not let go of yet' } },
      },
    },
    staged: { ...call.atRest, meta: { health: 'healthy', words: 'staged' } },
    published: { ...call.atRest, meta: { health: 'healthy', words: 'mounted' } },
    ...call.states,
  },
});
