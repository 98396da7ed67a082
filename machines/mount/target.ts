import { Chart, isIn, type Part } from '../kit/parts.js';
import { workStates } from '../kit/work-states.js';
import { targetSetup } from './target-setup.js';

/** Tries now what waits for its time: each work state, by its name. */
const takesNow = { actions: 'hasten' as const };
const triesNow = { target: 'due' as const, actions: 'hasten' as const };

/** Nothing is mounted: the alloc has let go. The last alloc waits until the volume is unstaged. */
const letsGo = [
  { guard: 'isLast' as const, target: '#target.waiting-for-unstage' as const, actions: 'forgetMount' as const },
  { target: '#target.released' as const },
];

const undone = { target: '#target.undoing.due' as const, actions: 'undo' as const };
const undoneInDoubt = { ...undone, actions: ['undo', 'doubt'] as const };
const toPublished = [
  { guard: 'isDead' as const, target: '#target.publish-in-doubt.due' as const, actions: 'forgetTries' as const },
  { target: '#target.published' as const, actions: 'keepFound' as const },
];

/** Four states of the work to publish the volume to the target. */
const publishWork = <const TOutcomes extends object, const TCalling extends object>(
  outcomes: TOutcomes,
  whileCalling: TCalling,
) => {
  const stays = { use: { actions: ['takeUse', 'hasten'] as const }, 'runtime.started': takesNow };
  const work = workStates({
    call: 'NodePublishVolume',
    restart: 'restart' as const,
    outcomes,
    calling: { ...stays, ...whileCalling },
    waiting: stays,
  });
  const anew = {
    use: { target: 'due' as const, actions: ['takeUse', 'hasten'] as const },
    'runtime.started': triesNow,
  };
  return {
    ...work,
    due: { on: { ...work.due.on, ...anew } },
    'backing-off': { on: { ...work['backing-off'].on, ...anew } },
  };
};

type Step = 'first-publish' | 'publish-under-way' | 'due' | 'calling' | 'waiting-for-plugin' | 'backing-off';

/** Transitions of a target on its way out that is asked for, or given up. Given up, the work is tried now. */
const waysFrom = (step: Step) => ({
  use: { target: `#target.replacing.${step}`, actions: 'wishNext' as const },
  leave: {
    target: `#target.pending-unpublish.${step === 'backing-off' ? 'due' : step}`,
    actions: ['dropNext', 'hasten'] as const,
  },
});

/** Four states of the work to unpublish the volume from the target. `done`: where that leads. */
const unpublishWork = <const TDone>(done: TDone) => {
  const stays = { hasten: takesNow, 'runtime.started': takesNow };
  const work = workStates({
    call: 'NodeUnpublishVolume',
    restart: 'restart' as const,
    outcomes: {
      'unpublish.done': done,
      'unpublish.failed': { target: 'backing-off' as const, actions: 'count' as const },
      'unpublish.interrupted': 'due' as const,
    },
    calling: { ...stays, ...waysFrom('calling') },
    waiting: { ...stays, ...waysFrom('waiting-for-plugin') },
  });
  return {
    ...work,
    due: { on: { ...work.due.on, ...stays, ...waysFrom('due') } },
    'backing-off': {
      on: { ...work['backing-off'].on, hasten: triesNow, 'runtime.started': triesNow, ...waysFrom('backing-off') },
    },
  };
};

/**
 * State of a target that is to be unpublished while a call to publish has not ended. `otherwise`: where it leads if
 * nothing was mounted.
 */
const publishUnderWay = <const TOtherwise>(step: Step, otherwise: TOtherwise) => ({
  tags: 'has-turn' as const,
  on: {
    'call.waits': otherwise,
    'turn.lost': otherwise,
    'publish.not-sent': otherwise,
    'publish.refused': otherwise,
    'publish.not-as-asked': { target: 'due' as const, actions: 'doubt' as const },
    'publish.unknown': { target: 'due' as const, actions: 'doubt' as const },
    'publish.interrupted': { target: 'due' as const, actions: 'doubt' as const },
    'publish.done': { target: 'due' as const, actions: 'keepFound' as const },
    ...waysFrom(step),
  },
});

export const targetMachine = targetSetup.createMachine({
  id: 'target',
  version: '1',
  context: ({ input }) => input,
  initial: 'pending-publish',
  on: {
    // Sent for the whole mount, or for its staging: most states have nothing to do.
    retry: {},
    hasten: {},
    'runtime.started': {},
    'staging-dead': {},
    'staging-dead-gone': {},
    'let-go': {},
    'mount-appeared': { actions: 'keepAppeared' },
  },
  states: {
    /** Wanted; no call was sent that may have mounted it. */
    'pending-publish': {
      initial: 'due',
      states: publishWork(
        {
          'publish.done': toPublished,
          'publish.refused': { target: '#target.failed', actions: 'keepFailure' },
          'publish.not-as-asked': undoneInDoubt,
          'publish.not-sent': { target: 'backing-off', actions: 'count' },
          'publish.unknown': { target: '#target.publish-in-doubt.backing-off', actions: 'count' },
          'publish.interrupted': '#target.publish-in-doubt.due',
        },
        {
          leave: { target: '#target.pending-unpublish.first-publish', actions: 'beginLeaving' },
          'staging-dead-gone': { target: '#target.replacing.first-publish', actions: 'replace' },
        },
      ),
      on: { leave: letsGo, 'stage.refused': { target: 'failed', actions: 'keepFailure' } },
    },
    /** Wanted; an earlier call may have mounted it, or may still. */
    'publish-in-doubt': {
      initial: 'due',
      states: publishWork(
        {
          'publish.done': toPublished,
          'publish.refused': undoneInDoubt,
          'publish.not-as-asked': undoneInDoubt,
          'publish.not-sent': { target: 'backing-off', actions: 'count' },
          'publish.unknown': { target: 'backing-off', actions: 'count' },
          'publish.interrupted': 'due',
        },
        {
          leave: { target: '#target.pending-unpublish.publish-under-way', actions: ['beginLeaving', 'doubt'] },
          'staging-dead-gone': { target: '#target.replacing.publish-under-way', actions: ['replace', 'doubt'] },
        },
      ),
      on: {
        leave: { target: 'pending-unpublish', actions: ['beginLeaving', 'doubt'] },
        'stage.refused': undoneInDoubt,
        'staging-dead': { target: 'replacing', actions: ['replace', 'doubt'] },
        'staging-dead-gone': { target: 'replacing', actions: ['replace', 'doubt'] },
      },
    },
    /** Wanted again: the mount is gone, and the plugin may still take it as mounted. */
    remounting: {
      initial: 'due',
      states: publishWork(
        {
          'publish.done': toPublished,
          'publish.refused': undone,
          'publish.not-as-asked': undoneInDoubt,
          'publish.not-sent': { target: 'backing-off', actions: 'count' },
          'publish.unknown': { target: '#target.publish-in-doubt.backing-off', actions: 'count' },
          'publish.interrupted': '#target.publish-in-doubt.due',
        },
        {
          leave: { target: '#target.pending-unpublish.publish-under-way', actions: 'beginLeaving' },
          'staging-dead-gone': { target: '#target.replacing.publish-under-way', actions: 'replace' },
        },
      ),
      on: {
        leave: { target: 'pending-unpublish', actions: 'beginLeaving' },
        'stage.refused': undone,
        'staging-dead': { target: 'replacing', actions: 'replace' },
      },
    },
    /** Mounted by the plugin, as the kernel showed. */
    published: {
      on: {
        use: { actions: 'takeUse' },
        leave: { target: 'pending-unpublish', actions: 'beginLeaving' },
        'seen-missing': [
          { guard: 'isRepairedAtOnce', target: 'remounting', actions: 'begin' },
          { target: 'lost', actions: 'forgetFound' },
        ],
        'seen-dead': [
          { guard: 'isRepairedAtOnce', target: 'replacing', actions: 'replace' },
          { target: 'lost', actions: 'forgetFound' },
        ],
      },
    },
    /** The mount is gone or dead, which is only reported: mounted again for whoever asks. */
    lost: {
      on: {
        use: { target: 'remounting', actions: 'begin' },
        leave: { target: 'pending-unpublish', actions: 'beginLeaving' },
        'staging-dead': { target: 'replacing', actions: 'replace' },
      },
    },
    /** The alloc leaves: the target has to be unmounted. */
    'pending-unpublish': {
      initial: 'due',
      states: {
        'first-publish': publishUnderWay('first-publish', letsGo),
        'publish-under-way': publishUnderWay('publish-under-way', 'due'),
        ...unpublishWork(letsGo),
      },
    },
    /** Unmounted, then mounted again. */
    replacing: {
      initial: 'due',
      states: {
        'first-publish': publishUnderWay('first-publish', { target: '#target.pending-publish', actions: 'beginNext' }),
        'publish-under-way': publishUnderWay('publish-under-way', 'due'),
        ...unpublishWork({ target: '#target.pending-publish', actions: 'beginNext' }),
      },
    },
    /** Could not be mounted; what a call may have left is unmounted. */
    undoing: {
      initial: 'due',
      states: unpublishWork({ target: '#target.failed', actions: 'keepWhy' }),
    },
    /** Unmounted; the alloc lets go once the volume is unstaged. */
    'waiting-for-unstage': {
      on: { use: { target: 'pending-publish', actions: 'begin' }, leave: {}, 'let-go': 'released' },
    },
    /** Could not be mounted; nothing is left at the target. */
    failed: {
      on: { use: { target: 'pending-publish', actions: 'begin' }, leave: letsGo },
    },
    /** The alloc has let go. */
    released: { type: 'final' },
  },
});

/** Target of an alloc that uses the volume here: its data, and the path of its state. */
export type Target = Part<typeof targetMachine>;

export const targetChart = new Chart(targetMachine);

/** Whether the target is to be mounted. */
export const isWanted = (target: Target): boolean =>
  isIn(target, 'pending-publish') || isIn(target, 'publish-in-doubt') || isIn(target, 'remounting');

/** Whether the target has to be unmounted. */
export const isToUnpublish = (target: Target): boolean =>
  isIn(target, 'pending-unpublish') || isIn(target, 'replacing') || isIn(target, 'undoing');

/** Whether nothing is mounted at the target, or may be. */
export const hasNoTarget = (target: Target): boolean =>
  isIn(target, 'failed') || isIn(target, 'waiting-for-unstage') || isIn(target, 'released');

/**
 * Whether the target is unpublished before it is given up: it is mounted, or may be, or only the plugin may take it
 * as mounted.
 */
export const needsUnpublish = (target: Target): boolean =>
  isIn(target, 'published') || isIn(target, 'publish-in-doubt') || isIn(target, 'remounting') || isToUnpublish(target);

/** State that users see. `detached`: unmounted; the volume is to be unstaged before the alloc has let go. */
export type MountUserState = 'wanted' | 'published' | 'lost' | 'leaving' | 'detached' | 'failed';

export function mountUserStateOf(target: Target): MountUserState {
  if (isWanted(target)) return 'wanted';
  if (isToUnpublish(target)) return 'leaving';
  if (isIn(target, 'waiting-for-unstage')) return 'detached';
  if (isIn(target, 'published')) return 'published';
  if (isIn(target, 'lost')) return 'lost';
  if (isIn(target, 'failed')) return 'failed';
  throw new Error(`a target in state '${target.at}' has no state to show to users`);
}
