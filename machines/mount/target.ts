import { Chart, isIn, type Part } from '../kit/parts.js';
import { workStates } from '../kit/work-states.js';
import { targetSetup } from './target-setup.js';

/** What waits for its time is tried now: each work state, by its name. */
const takesNow = { actions: 'hasten' as const };
const triesNow = { target: 'due' as const, actions: 'hasten' as const };

/** Nothing is mounted: its alloc has let go, but the last one waits until the volume is unstaged. */
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

/** A piece of work with its four states: to publish the volume to the target. */
const publishWork = <const TOutcomes extends object, const TCalling extends object>(
  outcomes: TOutcomes,
  whileCalling: TCalling,
) => {
  const stays = { use: { actions: ['takeUse', 'hasten'] as const }, 'runtime.started': takesNow };
  const work = workStates({
    call: 'NodePublishVolume',
    restart: 'hasten' as const,
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

/** Asked for, or given up, at any step on its way out. Given up, it is tried now. */
const waysFrom = (step: Step) => ({
  use: { target: `#target.replacing.${step}`, actions: 'wishNext' as const },
  leave: {
    target: `#target.pending-unpublish.${step === 'backing-off' ? 'due' : step}`,
    actions: ['dropNext', 'hasten'] as const,
  },
});

/** A piece of work with its four states: to unpublish the volume from the target. `done`: where that leads. */
const unpublishWork = <const TDone>(done: TDone) => {
  const stays = { hasten: takesNow, 'runtime.started': takesNow };
  const work = workStates({
    call: 'NodeUnpublishVolume',
    restart: 'hasten' as const,
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

/** It is to be unpublished, and a call to publish it has not ended yet. `otherwise`: where it leads if it has mounted nothing. */
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
    // Of the whole mount, or of its staging path: most states have nothing to do.
    retry: {},
    hasten: {},
    'runtime.started': {},
    'staging-dead': {},
    'staging-dead-gone': {},
    'let-go': {},
    'mount-appeared': { actions: 'keepAppeared' },
  },
  states: {
    /** Wanted, and no call was sent that may have mounted it. */
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
    /** Wanted, and an earlier call may have mounted it, or may still. */
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
    /** Wanted again: its mount is gone, and its plugin may still take it for mounted. */
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
    /** The plugin has mounted it, and nothing says otherwise. */
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
    /** Its mount is gone, or its file system does not answer, which is only reported: it is mounted again for who asks. */
    lost: {
      on: {
        use: { target: 'remounting', actions: 'begin' },
        leave: { target: 'pending-unpublish', actions: 'beginLeaving' },
        'staging-dead': { target: 'replacing', actions: 'replace' },
      },
    },
    /** Its alloc leaves: it has to be unmounted. */
    'pending-unpublish': {
      initial: 'due',
      states: {
        'first-publish': publishUnderWay('first-publish', letsGo),
        'publish-under-way': publishUnderWay('publish-under-way', 'due'),
        ...unpublishWork(letsGo),
      },
    },
    /** It has to be unmounted, and is mounted again after that. */
    replacing: {
      initial: 'due',
      states: {
        'first-publish': publishUnderWay('first-publish', { target: '#target.pending-publish', actions: 'beginNext' }),
        'publish-under-way': publishUnderWay('publish-under-way', 'due'),
        ...unpublishWork({ target: '#target.pending-publish', actions: 'beginNext' }),
      },
    },
    /** It could not be mounted, and what a call may have left is unmounted. */
    undoing: {
      initial: 'due',
      states: unpublishWork({ target: '#target.failed', actions: 'keepWhy' }),
    },
    /** It is unmounted, and its alloc is let go once the volume is unstaged. */
    'waiting-for-unstage': {
      on: { use: { target: 'pending-publish', actions: 'begin' }, leave: {}, 'let-go': 'released' },
    },
    /** It could not be mounted, and nothing of it is there. */
    failed: {
      on: { use: { target: 'pending-publish', actions: 'begin' }, leave: letsGo },
    },
    /** Its alloc has let go. */
    released: { type: 'final' },
  },
});

/** An alloc that uses the volume here: its data, and the state of its target. */
export type Target = Part<typeof targetMachine>;

export const targetChart = new Chart(targetMachine);

/** Whether it is to be mounted. */
export const isWanted = (target: Target): boolean =>
  isIn(target, 'pending-publish') || isIn(target, 'publish-in-doubt') || isIn(target, 'remounting');

/** Whether it has to be unmounted. */
export const isToUnpublish = (target: Target): boolean =>
  isIn(target, 'pending-unpublish') || isIn(target, 'replacing') || isIn(target, 'undoing');

/** Whether nothing of it is mounted, or may be. */
export const hasNoTarget = (target: Target): boolean =>
  isIn(target, 'failed') || isIn(target, 'waiting-for-unstage') || isIn(target, 'released');

/** Whether it is unpublished before it is given up: it is mounted, or may be, or only its plugin may take it for that. */
export const needsUnpublish = (target: Target): boolean =>
  isIn(target, 'published') || isIn(target, 'publish-in-doubt') || isIn(target, 'remounting') || isToUnpublish(target);

/** The state that users see. `detached`: it is unmounted, and the volume is to be unstaged before its alloc has let go. */
export type MountUserState = 'wanted' | 'published' | 'lost' | 'leaving' | 'detached' | 'failed';

export function mountUserStateOf(target: Target): MountUserState {
  if (isWanted(target)) return 'wanted';
  if (isToUnpublish(target)) return 'leaving';
  if (isIn(target, 'waiting-for-unstage')) return 'detached';
  if (isIn(target, 'published')) return 'published';
  if (isIn(target, 'lost')) return 'lost';
  if (isIn(target, 'failed')) return 'failed';
  throw new Error(`a target that is ${target.at} is no longer there`);
}
