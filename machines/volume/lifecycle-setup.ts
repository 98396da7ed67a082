/** Data, events, conditions and actions of a lifecycle. Its states: lifecycle.ts */
import { assign, setup } from 'xstate';
import { maxUnproven } from '../kit/call.js';
import type { CallFailure, Tries } from '../kit/csi-types.js';
import type { PhaseMeta } from '../kit/parts.js';
import type { StateWords } from '../kit/state-words.js';
import type { Calling, CreatedVolume, FailedWork } from './wishes.js';

export interface LifecycleData {
  /** Failed attempts at the present goal, with the moment of the next one. */
  tries?: Tries | undefined;
  /** Reason of the failed state. */
  failure?: CallFailure | undefined;
  /** Volume that the plugin has made otherwise than asked: of no use, and deleted with this one. */
  madeOtherwise?: CreatedVolume | undefined;
  /** Number of times that the creation was begun again with another name. */
  round?: number | undefined;
  /** Creations in a row whose answer was lost, so that the volume may lack the content of its source. */
  unproven?: number | undefined;
  /** The deletion goes on without what can't be confirmed. */
  force?: true | undefined;
}

export type LifecycleEvent = LifecycleRequest | LifecycleOutcome;

type LifecycleRequest =
  | { type: 'create' }
  | ({ type: 'delete'; force: boolean } & Calling)
  /** Forgets a volume that was taken over: it stays with its plugin. */
  | ({ type: 'forget'; force: boolean } & Calling)
  | { type: 'retry' }
  /**
   * Begins a retry after a forced deletion, by what is left: at the plugin with a known id or without, or only on
   * nodes.
   */
  | { type: 'leftovers.delete' }
  | { type: 'leftovers.find' }
  | { type: 'leftovers.detach' }
  /** No node has the volume any more. */
  | { type: 'publications.gone' }
  /** The plugin lists the volume on a node again. */
  | { type: 'publications.found' };

/** Outcome of the call. */
export type LifecycleOutcome =
  /** No call was made: it waits, or is made anew. */
  | { type: 'call.not-made' }
  | { type: 'create.done' }
  | { type: 'create.not-as-asked'; failure: CallFailure; made: CreatedVolume }
  /** An earlier call may have made the volume, and the plugin does not say that it has the content of its source. */
  | { type: 'create.unproven'; made: CreatedVolume }
  /** The plugin would refuse the same call again. */
  | ({ type: 'create.refused' } & FailedWork)
  /** The plugin has nothing that belongs to this volume, whatever earlier calls did. */
  | ({ type: 'create.made-nothing' } & FailedWork)
  /** The plugin has no room: this call has made nothing. An earlier one may have, and may have taken the room. */
  | ({ type: 'create.no-room' } & FailedWork)
  /** No call was made. */
  | ({ type: 'create.not-sent' } & FailedWork)
  /** The call may have made the volume, or may still. */
  | ({ type: 'create.unknown' } & FailedWork)
  /** The runtime ended while the call was under way: no attempt, but the call may have taken effect. */
  | { type: 'create.interrupted' }
  /** A forced deletion goes on without knowing what the plugin has made. */
  | { type: 'create.given-up' }
  /** `failure`: reason if an unproven volume is removed, and no further one is made. */
  | { type: 'delete.done'; failure: CallFailure }
  | ({ type: 'delete.refused' } & FailedWork)
  | ({ type: 'delete.failed' } & FailedWork)
  | { type: 'delete.interrupted' }
  | { type: 'delete.given-up' };

/** State of the volume that users see, unless a call about a node is next. Absent: its publications say it. */
type ShownLifecycle = 'pending-create' | 'pending-delete' | 'failed' | 'deleted';

/** Conditions and actions of the chart (lifecycle.ts). */
export const lifecycleSetup = setup({
  types: {} as {
    context: LifecycleData;
    events: LifecycleEvent;
    meta: PhaseMeta<ShownLifecycle, 'create' | 'remove' | 'delete'> & StateWords;
  },
  guards: {
    isCreateUnderWay: ({ event }) => 'underWay' in event && event.underWay === 'create',
    isRemoveUnderWay: ({ event }) => 'underWay' in event && event.underWay === 'remove',
    isMadeOtherwise: ({ context }) => context.madeOtherwise !== undefined,
    isThirdUnproven: ({ context: { unproven = 0 } }) => unproven >= maxUnproven,
    isNewlyForced: ({ context, event }) => event.type === 'delete' && event.force && !context.force,
  },
  actions: {
    count: assign(({ event }) => ({ tries: 'tries' in event ? event.tries : undefined })),
    restart: assign({ tries: undefined, failure: undefined, unproven: undefined }),
    startOver: assign({ tries: undefined, failure: undefined, unproven: undefined, madeOtherwise: undefined }),
    noteForce: assign(({ context, event }) => ({
      force: context.force ?? (('force' in event && event.force) || undefined),
    })),
    forceLeftovers: assign({ force: true }),
    forgetForce: assign({ force: undefined }),
    keepFailure: assign(({ event }) => ({ failure: 'failure' in event ? event.failure : undefined, tries: undefined })),
    keepMade: assign(({ event }) => ('made' in event ? { madeOtherwise: event.made } : {})),
    forgetTries: assign({ tries: undefined }),
    /** A call that only the end of the runtime cut off says nothing of the plugin, and is not counted. */
    countUnproven: assign(({ context: { unproven = 0, tries } }) => ({
      unproven: unproven + (tries ? 1 : 0),
      tries: undefined,
    })),
    nextRound: assign(({ context: { round = 0 } }) => ({
      round: round + 1,
      tries: undefined,
      madeOtherwise: undefined,
    })),
  },
});
