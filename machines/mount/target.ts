import { Chart, type Part } from '../kit/parts.js';
import { repeated } from '../kit/state-words.js';
import { type MountUserState, targetSetup } from './target-setup.js';

/** Nothing is mounted: the alloc has let go. The last alloc waits until the volume is unstaged. */
const letsGo = [
  { guard: 'isLastUser', target: '#target.waiting-for-unstage', actions: 'forgetMount' },
  { target: '#target.released' },
] as const;

const undone = { target: '#target.undoing', actions: 'undo' } as const;
const undoneInDoubt = { target: '#target.undoing', actions: ['undo', 'doubt'] } as const;
const toPublished = [
  { guard: 'isStagingDead', target: '#target.publish-in-doubt', actions: 'forgetTries' },
  { target: '#target.published', actions: 'keepFound' },
] as const;

const triesNow = { actions: 'hasten' } as const;
const restarts = { actions: 'restart' } as const;
const wanted = { use: { actions: ['takeUse', 'hasten'] }, retry: restarts, 'runtime.started': triesNow } as const;

/** Ways of a target on its way out that is asked for, or given up. */
const onItsWayOut = {
  use: { target: '#target.replacing', actions: 'wishNext' },
  leave: { target: '#target.pending-unpublish', actions: ['dropNext', 'hasten'] },
} as const;
const whileFirstCall = {
  use: { target: '#target.replacing-first-call', actions: 'wishNext' },
  leave: { target: '#target.leaving-first-call', actions: ['dropNext', 'hasten'] },
} as const;

/** Outcomes of a call to publish that nobody waits for any more. It is unmounted once that has ended. */
const publishEnds = {
  'publish.not-sent': {},
  'publish.refused': {},
  'publish.not-as-asked': { actions: 'doubt' },
  'publish.unknown': { actions: 'doubt' },
  'publish.interrupted': { actions: 'doubt' },
  'publish.done': { actions: 'keepFound' },
} as const;
const firstCallEnds = <const TNothing, const TTarget extends string>(nothing: TNothing, target: TTarget) => ({
  'call.not-made': nothing,
  'publish.not-sent': nothing,
  'publish.refused': nothing,
  'publish.not-as-asked': { target, actions: 'doubt' as const },
  'publish.unknown': { target, actions: 'doubt' as const },
  'publish.interrupted': { target, actions: 'doubt' as const },
  'publish.done': { target, actions: 'keepFound' as const },
});

const undoes = {
  retry: restarts,
  hasten: triesNow,
  'runtime.started': triesNow,
  'unpublish.failed': { actions: 'count' },
  'unpublish.interrupted': {},
} as const;

export const targetMachine = targetSetup.createMachine({
  id: 'target',
  version: '2',
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
    'call.not-made': {},
  },
  states: {
    /** Wanted; no call was sent before that may have mounted it. */
    'pending-publish': {
      meta: {
        shownAs: 'wanted',
        call: 'publish',
        words: { waiting: 'to be mounted', calling: 'being mounted', restsAfter: 'mount not done' },
      },
      on: {
        ...wanted,
        leave: [{ guard: 'isCallUnderWay', target: 'leaving-first-call', actions: 'beginLeaving' }, ...letsGo],
        'staging-dead-gone': { guard: 'isCallUnderWay', target: 'replacing-first-call', actions: 'replace' },
        'stage.refused': { target: 'failed', actions: 'keepFailure' },
        'publish.done': toPublished,
        'publish.refused': { target: 'failed', actions: 'keepFailure' },
        'publish.not-as-asked': undoneInDoubt,
        'publish.not-sent': { actions: 'count' },
        'publish.unknown': { target: 'publish-in-doubt', actions: 'count' },
        'publish.interrupted': 'publish-in-doubt',
      },
    },
    /** Wanted; an earlier call may have mounted it, or may still. */
    'publish-in-doubt': {
      meta: { shownAs: 'wanted', call: 'publish', health: 'in-doubt', words: repeated('mount in doubt') },
      on: {
        ...wanted,
        leave: { target: 'pending-unpublish', actions: ['beginLeaving', 'doubt'] },
        'stage.refused': undoneInDoubt,
        'staging-dead': { target: 'replacing', actions: ['replace', 'doubt'] },
        'staging-dead-gone': { target: 'replacing', actions: ['replace', 'doubt'] },
        'publish.done': toPublished,
        'publish.refused': undoneInDoubt,
        'publish.not-as-asked': undoneInDoubt,
        'publish.not-sent': { actions: 'count' },
        'publish.unknown': { actions: 'count' },
        'publish.interrupted': {},
      },
    },
    /** Wanted again: the mount is gone, and the plugin may still take it as mounted. */
    remounting: {
      meta: {
        shownAs: 'wanted',
        call: 'publish',
        words: {
          waiting: 'not there any more',
          calling: 'not there any more, being mounted again',
          restsAfter: 'not there any more, could not be mounted again',
        },
      },
      on: {
        ...wanted,
        leave: { target: 'pending-unpublish', actions: 'beginLeaving' },
        'stage.refused': undone,
        'staging-dead': { target: 'replacing', actions: 'replace' },
        'staging-dead-gone': { guard: 'isCallUnderWay', target: 'replacing', actions: 'replace' },
        'publish.done': toPublished,
        'publish.refused': undone,
        'publish.not-as-asked': undoneInDoubt,
        'publish.not-sent': { actions: 'count' },
        'publish.unknown': { target: 'publish-in-doubt', actions: 'count' },
        'publish.interrupted': 'publish-in-doubt',
      },
    },
    /** Mounted by the plugin, as the kernel showed. */
    published: {
      meta: { shownAs: 'published', health: 'healthy', words: '' },
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
      meta: { shownAs: 'lost', health: 'failed', words: 'not there any more, mounted again on request' },
      on: {
        use: { target: 'remounting', actions: 'begin' },
        leave: { target: 'pending-unpublish', actions: 'beginLeaving' },
        'staging-dead': { target: 'replacing', actions: 'replace' },
      },
    },
    /** The alloc leaves while the very first call is under way: if that mounts nothing, nothing is unmounted. */
    'leaving-first-call': {
      meta: { shownAs: 'leaving', health: 'working', words: 'given up, its first mount is under way' },
      on: { ...whileFirstCall, ...firstCallEnds(letsGo, 'pending-unpublish') },
    },
    /** The alloc leaves: the target has to be unmounted. */
    'pending-unpublish': {
      meta: {
        shownAs: 'leaving',
        call: 'unpublish',
        words: { waiting: 'to be unmounted', calling: 'being unmounted', restsAfter: 'not unmounted yet' },
      },
      on: { ...undoes, ...onItsWayOut, ...publishEnds, 'unpublish.done': letsGo },
    },
    /** Mounted anew once the very first call has ended; if that mounts nothing, nothing is unmounted. */
    'replacing-first-call': {
      meta: {
        ...{ shownAs: 'leaving', health: 'working' },
        words: 'to be mounted again, its first mount is under way',
      },
      on: {
        ...whileFirstCall,
        ...firstCallEnds({ target: 'pending-publish', actions: 'beginNext' } as const, 'replacing'),
      },
    },
    /** Unmounted, then mounted again. */
    replacing: {
      meta: {
        shownAs: 'leaving',
        call: 'unpublish',
        words: {
          waiting: 'to be unmounted, then mounted again',
          calling: 'being unmounted, then mounted again',
          restsAfter: 'not unmounted yet, then mounted again',
        },
      },
      on: {
        ...undoes,
        ...onItsWayOut,
        ...publishEnds,
        'unpublish.done': { target: 'pending-publish', actions: 'beginNext' },
      },
    },
    /** Could not be mounted; what a call may have left is unmounted. */
    undoing: {
      meta: {
        shownAs: 'leaving',
        call: 'unpublish',
        words: {
          waiting: 'mount failed, to be undone',
          calling: 'mount failed, being undone',
          restsAfter: 'mount failed, not undone yet',
        },
      },
      on: { ...undoes, ...onItsWayOut, 'unpublish.done': { target: 'failed', actions: 'keepWhy' } },
    },
    /** Unmounted; the alloc lets go once the volume is unstaged. */
    'waiting-for-unstage': {
      meta: { shownAs: 'detached', health: 'waiting', words: 'unmounted, released once the volume is unstaged' },
      on: { use: { target: 'pending-publish', actions: 'begin' }, leave: {}, 'let-go': 'released' },
    },
    /** Could not be mounted; nothing is left at the target. */
    failed: {
      meta: { shownAs: 'failed', health: 'failed', words: 'could not be mounted' },
      on: { use: { target: 'pending-publish', actions: 'begin' }, leave: letsGo },
    },
    /** The alloc has let go. */
    released: { type: 'final', meta: { health: 'gone', words: '' } },
  },
});

/** Target of an alloc that uses the volume here: its data, and its phase. */
export type Target = Part<typeof targetMachine>;

export const targetChart = new Chart(targetMachine);

/** State that users see. */
export const mountUserStateOf = (target: Target): MountUserState => targetChart.shownAs(target);

/** Whether the target is to be mounted. */
export const isWanted = (target: Target): boolean => targetChart.metaOf(target).shownAs === 'wanted';

/** Whether the target has to be unmounted. */
export const isToUnpublish = (target: Target): boolean => targetChart.metaOf(target).shownAs === 'leaving';

/** Whether the alloc leaves, and does not come back. */
export const isLeaving = (target: Target): boolean =>
  target.at === 'pending-unpublish' || target.at === 'leaving-first-call';

/** Whether the target is unmounted to be mounted again. */
export const isBeingReplaced = (target: Target): boolean =>
  target.at === 'replacing' || target.at === 'replacing-first-call';

/** Whether nothing is mounted at the target, or may be. */
export const hasNoTarget = (target: Target): boolean =>
  target.at === 'failed' || target.at === 'waiting-for-unstage' || target.at === 'released';

/**
 * Whether the target is unpublished before it is given up: it is mounted, or may be, or only the plugin may take it
 * as mounted.
 */
export const needsUnpublish = (target: Target): boolean =>
  target.at === 'published' || target.at === 'publish-in-doubt' || target.at === 'remounting' || isToUnpublish(target);
