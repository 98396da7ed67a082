/**
 * The target of one alloc: where it has the volume mounted on this node. A part of its mount (mount.ts), which keeps it in its own
 * record, makes its calls, and steps it with what came of them. Diagram: docs/machines/target.md (generated).
 */
import { assign, setup } from 'xstate';
import type { CallFailure, Capability, Tries } from '../kit/csi-types.js';
import { Chart, isIn, type Part } from '../kit/parts.js';
import { workStates } from '../kit/work-states.js';
import type { AppearedMount, KernelMount } from './types.js';

/** How an alloc asks for the volume. */
export interface TargetUse {
  readOnly: boolean;
  /** It has a slot of the volume for this: whoever else is here without one keeps the volume from being given up. */
  isClaimed: boolean;
  capability: Capability;
  /** Generation of the hold that the volume keeps for it. Absent: it has none, as where a claim stands for it. */
  hold?: number | undefined;
}

export interface TargetData extends TargetUse {
  allocId: string;
  /** Of this mount of the target: one that is mounted once more has another. */
  number: number;
  /** When what it waits for was asked for, milliseconds since the epoch. */
  sinceMs: number;
  /** What the target has shown once it was mounted. */
  found?: KernelMount | undefined;
  /** Mount that the target shows since a publish whose answer is not known. */
  appeared?: AppearedMount | undefined;
  /** A publish with an unknown outcome may still reach the plugin: that the kernel shows nothing proves nothing. */
  mayStillArrive?: true | undefined;
  /** How it is mounted once it is unmounted. */
  next?: TargetUse | undefined;
  /** Failed attempts at the present goal, and when the next one is due. */
  tries?: Tries | undefined;
  /** Why it is failed, or will be once it is undone. */
  failure?: CallFailure | undefined;
}

/** What the mount says with each event. */
export interface Moment {
  /** Milliseconds since the epoch. */
  atMs: number;
  /** Of a mount that begins now. */
  nextNumber: number;
  /** It has to be unstaged, and nobody else uses it here. */
  isLast: boolean;
}

export type TargetEvent = Moment &
  (
    | { type: 'use'; use: TargetUse }
    | { type: 'leave' }
    | { type: 'retry' }
    /** What waits to be undone is undone now. */
    | { type: 'hasten' }
    | { type: 'runtime.started' }
    /** The plugin does not stage the volume as it is asked for, and would refuse the same again. */
    | { type: 'stage.refused'; failure: CallFailure }
    /** The volume is unstaged, or somebody else uses it. */
    | { type: 'let-go' }
    // What the kernel shows. `isMended`: it is repaired without anybody asking.
    | { type: 'seen-missing'; isMended: boolean }
    | { type: 'seen-dead'; isMended: boolean }
    /** What it may be bound from is dead: that can't be unstaged while a target is bound from it. */
    | { type: 'staging-dead' }
    /** What was dead there is not any more: the target may still be bound from it. */
    | { type: 'staging-dead-gone' }
    | { type: 'mount-appeared'; mount: AppearedMount }
    // The turn that the mount gives, and the outcome of its call.
    | { type: 'turn.given' }
    | { type: 'turn.lost' }
    | { type: 'call.waits' }
    /** `isDead`: the staging path was seen dead meanwhile. */
    | { type: 'publish.done'; found: KernelMount; isDead: boolean }
    /** The plugin would refuse the same again. */
    | { type: 'publish.refused'; failure: CallFailure }
    /** The plugin has mounted it otherwise than it was asked for. */
    | { type: 'publish.not-as-asked'; failure: CallFailure }
    /** No call was made. */
    | { type: 'publish.not-sent'; tries: Tries }
    /** The call may have taken effect, or may still. */
    | { type: 'publish.unknown'; tries: Tries }
    /** The runtime ended while the call was under way: no attempt, but it may have taken effect. */
    | { type: 'publish.interrupted' }
    | { type: 'unpublish.done' }
    | { type: 'unpublish.failed'; tries: Tries }
    | { type: 'unpublish.interrupted' }
  );

interface Taken {
  context: TargetData;
  event: TargetEvent;
}

const useOf = ({ readOnly, isClaimed, capability, hold }: TargetUse): TargetUse => ({
  readOnly,
  isClaimed,
  capability,
  hold,
});

/** Nothing of it is there. */
const noTarget = { found: undefined, appeared: undefined, mayStillArrive: undefined, tries: undefined };

/** Asked for from the beginning: nothing is left of what came before. */
const begun = (use: TargetUse, { nextNumber, atMs }: Moment): Omit<TargetData, 'allocId'> => ({
  ...useOf(use),
  number: nextNumber,
  sinceMs: atMs,
  ...noTarget,
  next: undefined,
  failure: undefined,
});

const useIn = ({ event, context }: Taken): TargetUse => (event.type === 'use' ? event.use : context);
const failureIn = ({ event }: Taken): CallFailure | undefined => ('failure' in event ? event.failure : undefined);

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

export const targetMachine = setup({
  types: {} as { context: TargetData; events: TargetEvent; input: TargetData; tags: 'has-turn' },
  guards: {
    isLast: ({ event }) => event.isLast,
    isDead: ({ event }) => event.type === 'publish.done' && event.isDead,
    isRepairedAtOnce: ({ event }) => 'isMended' in event && event.isMended,
  },
  actions: {
    takeUse: assign((taken) => useOf(useIn(taken))),
    begin: assign((taken) => begun(useIn(taken), taken.event)),
    beginNext: assign(({ context, event }) => begun({ ...context, ...context.next }, event)),
    beginLeaving: assign(({ event }) => ({ sinceMs: event.atMs, tries: undefined, failure: undefined })),
    /** It comes back as it was. */
    replace: assign(({ context: { readOnly, isClaimed, capability }, event }) => ({
      sinceMs: event.atMs,
      next: { readOnly, isClaimed, capability },
      tries: undefined,
      failure: undefined,
    })),
    wishNext: assign((taken) => {
      const use = useIn(taken);
      return { next: use, hold: use.hold ?? taken.context.hold };
    }),
    dropNext: assign({ next: undefined, failure: undefined }),
    hasten: assign(({ context: { tries } }) => ({ tries: tries && { ...tries, notBeforeMs: 0 } })),
    count: assign(({ event }) => ({ tries: 'tries' in event ? event.tries : undefined })),
    doubt: assign({ mayStillArrive: true }),
    /** The call is done: what is there is known. */
    keepFound: assign(({ event }) => ({
      ...noTarget,
      found: event.type === 'publish.done' ? event.found : undefined,
      failure: undefined,
    })),
    keepAppeared: assign(({ event }) => (event.type === 'mount-appeared' ? { appeared: event.mount } : {})),
    forgetFound: assign({ found: undefined }),
    forgetTries: assign({ appeared: undefined, tries: undefined, failure: undefined }),
    forgetMount: assign({ ...noTarget, next: undefined, failure: undefined }),
    keepFailure: assign((taken) => ({ failure: failureIn(taken), tries: undefined })),
    keepWhy: assign(noTarget),
    undo: assign((taken) => ({ sinceMs: taken.event.atMs, failure: failureIn(taken), tries: undefined })),
  },
}).createMachine({
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
