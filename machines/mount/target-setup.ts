/** Data, events, conditions and actions of a target. Its states: target.ts */
import { assign, setup } from 'xstate';
import type { CallFailure, Capability, Tries } from '../kit/csi-types.js';
import type { PhaseMeta } from '../kit/parts.js';
import type { StateWords } from '../kit/state-words.js';
import type { AppearedMount, KernelMount } from './kernel-mount.js';

/** How an alloc asks for the volume. */
export interface TargetUse {
  readOnly: boolean;
  capability: Capability;
}

export interface TargetData extends TargetUse {
  allocId: string;
  /** Number of this mount of the target; a later one has another. */
  number: number;
  /** Moment of the request that the target waits for, milliseconds since the epoch. */
  sinceMs: number;
  /** Mount at the target once it was made. */
  found?: KernelMount | undefined;
  /** Mount that the target shows since a publish with an unknown answer. */
  appeared?: AppearedMount | undefined;
  /** A publish with an unknown outcome may still reach the plugin: an empty path proves nothing. */
  mayStillArrive?: true | undefined;
  /** How it is mounted again once it is unmounted. */
  next?: TargetUse | undefined;
  /** Failed attempts at the present goal, with the moment of the next one. */
  tries?: Tries | undefined;
  /** Reason of the failed state, also while the target is undone. */
  failure?: CallFailure | undefined;
}

/** State that users see. `detached`: unmounted; the volume is to be unstaged before the alloc has let go. */
export type MountUserState = 'wanted' | 'published' | 'lost' | 'leaving' | 'detached' | 'failed';

/** Facts that the mount adds to each event. */
export interface MountFacts {
  /** Milliseconds since the epoch. */
  atMs: number;
  /** Number of a mount that begins now. */
  nextNumber: number;
  /** Whether the volume has to be unstaged, as no other alloc uses it here. */
  isLast: boolean;
  /** Whether a call to publish to this target is under way, and may take effect. */
  isCallUnderWay: boolean;
}

/** Outcomes of a call about the target. */
export type TargetOutcome =
  /** `isDead`: the staging path was seen dead meanwhile. */
  | { type: 'publish.done'; found: KernelMount; isDead: boolean }
  /** The plugin would refuse the same call again. */
  | { type: 'publish.refused'; failure: CallFailure }
  /** The plugin has mounted the volume otherwise than asked. */
  | { type: 'publish.not-as-asked'; failure: CallFailure }
  /** No call was made. */
  | { type: 'publish.not-sent'; tries: Tries }
  /** The call may have taken effect, or may still. */
  | { type: 'publish.unknown'; tries: Tries }
  /** The runtime ended while the call was under way: no attempt, but the call may have taken effect. */
  | { type: 'publish.interrupted' }
  | { type: 'unpublish.done' }
  | { type: 'unpublish.failed'; tries: Tries }
  | { type: 'unpublish.interrupted' };

/** Requests and observations. */
export type TargetChange =
  | { type: 'use'; use: TargetUse }
  | { type: 'leave' }
  | { type: 'retry' }
  /** Undoes at once what waits to be undone. */
  | { type: 'hasten' }
  | { type: 'runtime.started' }
  /** The plugin refuses for good to stage the volume as asked. */
  | { type: 'stage.refused'; failure: CallFailure }
  /** The volume is unstaged, or another alloc uses it. */
  | { type: 'let-go' }
  // Observations of the kernel. `isMended`: the mount is repaired without a request.
  | { type: 'seen-missing'; isMended: boolean }
  | { type: 'seen-dead'; isMended: boolean }
  /** The staging that the target may be bound from is dead, and can't be unstaged while the target is bound. */
  | { type: 'staging-dead' }
  /** The dead staging is gone; the target may still be bound from it. */
  | { type: 'staging-dead-gone' }
  | { type: 'mount-appeared'; mount: AppearedMount }
  /** The call was not made: it waits, or is made anew. */
  | { type: 'call.not-made' };

export type TargetEvent = MountFacts & (TargetChange | TargetOutcome);

interface Taken {
  context: TargetData;
  event: TargetEvent;
}

const useOf = ({ readOnly, capability }: TargetUse): TargetUse => ({ readOnly, capability });

/** Data of a target where nothing is mounted. */
const noTarget = { found: undefined, appeared: undefined, mayStillArrive: undefined, tries: undefined };

/** Data of a new request: nothing is left of earlier ones. */
const begun = (use: TargetUse, { nextNumber, atMs }: MountFacts): Omit<TargetData, 'allocId'> => ({
  ...useOf(use),
  number: nextNumber,
  sinceMs: atMs,
  ...noTarget,
  next: undefined,
  failure: undefined,
});

const useIn = ({ event, context }: Taken): TargetUse => (event.type === 'use' ? event.use : context);
const failureIn = ({ event }: Taken): CallFailure | undefined => ('failure' in event ? event.failure : undefined);

/** Conditions and actions of the chart (target.ts). */
export const targetSetup = setup({
  types: {} as {
    context: TargetData;
    events: TargetEvent;
    input: TargetData;
    meta: PhaseMeta<MountUserState, 'publish' | 'unpublish'> & StateWords;
  },
  guards: {
    isLastUser: ({ event }) => event.isLast,
    isCallUnderWay: ({ event }) => event.isCallUnderWay,
    isStagingDead: ({ event }) => event.type === 'publish.done' && event.isDead,
    isRepairedAtOnce: ({ event }) => 'isMended' in event && event.isMended,
  },
  actions: {
    takeUse: assign((taken) => useOf(useIn(taken))),
    begin: assign((taken) => begun(useIn(taken), taken.event)),
    beginNext: assign(({ context, event }) => begun({ ...context, ...context.next }, event)),
    beginLeaving: assign(({ event }) => ({ sinceMs: event.atMs, tries: undefined, failure: undefined })),
    /** Mounts it again as before. */
    replace: assign(({ context, event }) => ({
      sinceMs: event.atMs,
      next: useOf(context),
      tries: undefined,
      failure: undefined,
    })),
    wishNext: assign((taken) => ({ next: useIn(taken) })),
    dropNext: assign({ next: undefined, failure: undefined }),
    hasten: assign(({ context: { tries } }) => ({ tries: tries && { ...tries, notBeforeMs: 0 } })),
    restart: assign({ tries: undefined }),
    count: assign(({ event }) => ({ tries: 'tries' in event ? event.tries : undefined })),
    doubt: assign({ mayStillArrive: true }),
    /** Keeps what the target shows: the call is done. */
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
});
