/** Data, events, conditions and actions of a target. Its states: target.ts */
import { assign, setup } from 'xstate';
import type { CallFailure, Capability, Tries } from '../kit/csi-types.js';
import type { AppearedMount, KernelMount } from './kernel-mount.js';

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

/** Conditions and actions of the chart (target.ts). */
export const targetSetup = setup({
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
});
