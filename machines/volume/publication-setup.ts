/** Data, events, conditions and actions of a publication. Its states: publication.ts */
import { assign, setup } from 'xstate';
import type { CallFailure, Tries } from '../kit/csi-types.js';
import type { PhaseMeta } from '../kit/parts.js';
import { isSameData } from '../kit/same-data.js';
import type { StateWords } from '../kit/state-words.js';
import type { AttachedBy, Calling, FailedWork, PublicationState, PublishWish, QueuedWish } from './wishes.js';

export interface PublicationData extends QueuedWish {
  /** Number of the publication; rises with each later one on the same node. */
  number: number;
  /** `call` also while a sent call may have attached it. Absent: nothing is known to be attached, or it is not known how. */
  attachedBy?: AttachedBy | undefined;
  /** From ControllerPublishVolume, verbatim. */
  publishContext?: Record<string, string> | undefined;
  /** Failed attempts at the present goal, with the moment of the next one. */
  tries?: Tries | undefined;
  /** Failed attempts to learn the outcome of a cancelled publish. */
  attemptsToResolve?: number | undefined;
  /** A publish with an unknown outcome may still reach the plugin: a list without this publication proves nothing. */
  mayStillArrive?: true | undefined;
  /** Why the volume leaves the node without the node's report. Then NOT_FOUND proves that it is detached. */
  fenced?: string | undefined;
  /** The plugin lists the volume as detached while the publication leaves. Then NOT_FOUND proves that it is. */
  detachConfirmedByList?: true | undefined;
  /** Wish that is published next on this node, once this publication is removed. */
  next?: QueuedWish | undefined;
  failure?: CallFailure | undefined;
}

export type PublicationEvent = PublicationRequest | PublicationOutcome;

export type PublicationRequest =
  // First event of a new publication.
  | { type: 'wanted' }
  /** Wanted in place of a failed publication whose node may have staged the volume. */
  | { type: 'wanted-again' }
  /** The plugin lists the volume as attached where nobody asked for it, or a forced deletion left it there. */
  | { type: 'found-attached' }
  // Requests of users, claims and nodes.
  | ({ type: 'publish'; wish: PublishWish } & Calling)
  /** The volume is not wanted on this node any more. */
  | ({ type: 'withdrawn' } & Calling)
  | { type: 'wish.dropped' }
  /** All claims and holds on the node are being given up: the node has to unstage the volume first. */
  | { type: 'node.to-unstage' }
  | { type: 'node.let-go' }
  | { type: 'node.fenced'; reason: string }
  /** A forced deletion gives the agent of the node time to unmount the volume. `tries`: until when. */
  | ({ type: 'node.given-time'; tries: Tries } & Calling)
  /** The time of the node is over: the call that detaches the volume begins. */
  | { type: 'node.time-over' }
  | { type: 'retry'; isFree: boolean }
  // The plugin's list of volumes.
  | { type: 'listed-as-detached' };

/** Outcome of the call. */
export type PublicationOutcome =
  /** No call was made: it waits, or is made anew. */
  | { type: 'call.not-made' }
  | { type: 'publish.done'; publishContext: Record<string, string>; attachedBy: AttachedBy }
  /** The plugin would refuse the same call again. */
  | ({ type: 'publish.refused' } & FailedWork)
  | ({ type: 'unpublish.refused' } & FailedWork)
  /** No call was made. */
  | ({ type: 'publish.not-sent' } & FailedWork)
  /** The call may have taken effect, or may still. */
  | ({ type: 'publish.unknown' } & FailedWork)
  /** The runtime ended while the call was under way: no attempt, but the call may have taken effect. */
  | { type: 'publish.interrupted' }
  | { type: 'unpublish.interrupted' }
  | { type: 'unpublish.done' }
  /** The plugin does not know the volume, which alone proves nothing. */
  | ({ type: 'unpublish.not-found' } & FailedWork)
  | ({ type: 'unpublish.failed' } & FailedWork)
  /** A forced deletion goes on without the plugin's confirmation. */
  | { type: 'unpublish.given-up' };

/**
 * After this many failed attempts to learn the outcome of a cancelled publish, the volume is unpublished all the
 * same.
 */
const attemptsToResolve = 3;

interface Taken {
  context: PublicationData;
  event: PublicationEvent;
}
const wishIn = ({ event }: Taken): PublishWish | undefined => (event.type === 'publish' ? event.wish : undefined);
const triesIn = ({ event }: Taken): Tries | undefined => ('tries' in event ? event.tries : undefined);

const isSameUse = (one: PublishWish, other: PublishWish | undefined): boolean =>
  other !== undefined && one.readOnly === other.readOnly && isSameData(one.capability, other.capability);

const isSameWish = (one: PublishWish, other: PublishWish | undefined): boolean =>
  isSameUse(one, other) && one.csiNodeId === other?.csiNodeId;

/** Conditions and actions of the chart (publication.ts). */
export const publicationSetup = setup({
  types: {} as {
    context: PublicationData;
    events: PublicationEvent;
    input: PublicationData;
    meta: PhaseMeta<PublicationState, 'publish' | 'unpublish'> & StateWords;
  },
  guards: {
    isCallUnderWay: ({ event }) => 'underWay' in event && event.underWay !== undefined,
    isUnpublishUnderWay: ({ event }) => 'underWay' in event && event.underWay === 'unpublish',
    isSameWish: (taken) => isSameWish(taken.context, wishIn(taken)),
    isSameUse: (taken) => isSameUse(taken.context, wishIn(taken)),
    isLastToResolve: ({ context }) => (context.attemptsToResolve ?? 0) + 1 >= attemptsToResolve,
    /** Whether the node was given up on record, or the plugin lists the volume as detached. */
    isProofOfDetach: ({ context }) => context.fenced !== undefined || context.detachConfirmedByList === true,
    mayStillArrive: ({ context }) => context.mayStillArrive === true,
    /** Whether the list is new, no call that may still attach the volume is on its way, and no time is given to the node. */
    isListCredible: ({ context: { detachConfirmedByList, mayStillArrive, tries } }) =>
      !detachConfirmedByList && !mayStillArrive && tries?.count !== 0 && tries?.failure.answerClass !== 'busy',
    /** Whether a forced deletion gave the node time before any attempt to unpublish. */
    isNodeGivenTime: ({ context }) => context.tries?.count === 0,
    hasNothingInItsWay: ({ event }) => event.type === 'retry' && event.isFree,
  },
  actions: {
    /** Keeps the answer: the call is done, and can't arrive later. */
    keepContext: assign(({ event }) => {
      if (event.type !== 'publish.done') return {};
      const { publishContext, attachedBy } = event;
      return { publishContext, attachedBy, mayStillArrive: undefined, attemptsToResolve: undefined };
    }),
    count: assign((taken) => ({ tries: triesIn(taken) })),
    countToResolve: assign((taken) => ({
      tries: triesIn(taken),
      attemptsToResolve: (taken.context.attemptsToResolve ?? 0) + 1,
    })),
    restart: assign({ tries: undefined, failure: undefined }),
    restartResolving: assign({ tries: undefined, attemptsToResolve: 0 }),
    /** Forgets the attempts at earlier goals. */
    startOver: assign({ tries: undefined, failure: undefined, attemptsToResolve: undefined, holds: undefined }),
    startOverWithHolds: assign({ tries: undefined, failure: undefined }),
    doubt: assign({ mayStillArrive: true }),
    doubtIsItsState: assign({ mayStillArrive: undefined }),
    keepFailure: assign(({ event }) => ({
      failure: 'failure' in event ? event.failure : undefined,
      tries: undefined,
      next: undefined,
      attemptsToResolve: undefined,
    })),
    /** Adds the holds of the wish that was to come next. */
    staysWanted: assign(({ context: { holds = [], next } }) => {
      const all = [...holds, ...(next?.holds ?? [])];
      return {
        fenced: undefined,
        next: undefined,
        attemptsToResolve: undefined,
        holds: all.length > 0 ? all : undefined,
      };
    }),
    wishNext: assign((taken) => {
      const wish = wishIn(taken);
      return { next: wish && { ...taken.context.next, ...wish } };
    }),
    dropWish: assign({ next: undefined }),
    fence: assign(({ event }) =>
      event.type === 'node.fenced' ? { fenced: event.reason, next: undefined, holds: undefined } : {},
    ),
    hasten: assign({ tries: undefined }),
    confirmDetach: assign({ detachConfirmedByList: true, tries: undefined }),
  },
});
