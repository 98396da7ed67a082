/**
 * Guards, actions and effects of the snapshot machines, and building blocks of their states. States: making.ts,
 * deleting.ts, snapshot.ts
 */
import { assign, enqueueActions, raise, setup } from 'xstate';
import { dueAtMs } from '../kit/backoff.js';
import { answered, asksFor, maxUnproven } from '../kit/call-states.js';
import type { AdmissionCall, AdmissionOutcome, CallOutcome, Wait } from '../kit/csi-types.js';
import { hostActions, type Stamped, stampOf, unbound } from '../kit/host.js';
import { isSameData } from '../kit/same-data.js';
import { createCallOf, failedCreate, failedLook, failedRemove, lookCallOf, removeCallOf } from './calls.js';
import { retried, type SnapshotChange } from './changes.js';
import { snapshotDeleting } from './refusals.js';
import type {
  CreateSnapshotCall,
  LookCall,
  MadeSnapshot,
  RemoveSnapshotCall,
  SnapshotChanged,
  SnapshotContext,
  SnapshotKey,
  SnapshotMachineEvent,
  SnapshotOutcome,
} from './types.js';

/** The types are given: `setup` can't infer them if there are parameters. */
const change = enqueueActions<
  SnapshotContext,
  SnapshotMachineEvent | SnapshotOutcome,
  SnapshotChange,
  SnapshotMachineEvent | SnapshotOutcome,
  never,
  never,
  never,
  never,
  SnapshotChanged
>(({ context: { key, uid }, enqueue }, { context, broadcasts = [] }) => {
  enqueue.assign(context);
  for (const broadcast of broadcasts) enqueue.emit({ key, uid: context.uid ?? uid, ...broadcast });
});

function untilDueMs({ tries }: SnapshotContext, event: Partial<Stamped>): number {
  const { at } = stampOf(event);
  return Math.max(0, dueAtMs(tries ?? undefined, at) - at);
}

export const snapshotSetup = setup({
  types: {} as {
    context: SnapshotContext;
    events: SnapshotMachineEvent | SnapshotOutcome;
    input: SnapshotKey;
    emitted: SnapshotChanged;
  },
  actors: {
    createSnapshot: unbound<CallOutcome<MadeSnapshot>, CreateSnapshotCall>(),
    /** Asks the plugin whether the snapshot is ready. */
    lookAtSnapshot: unbound<CallOutcome<MadeSnapshot>, LookCall>(),
    deleteSnapshot: unbound<CallOutcome<null>, RemoveSnapshotCall>(),
    awaitAdmission: unbound<AdmissionOutcome, AdmissionCall>(),
  },
  guards: {
    isOtherSpec: ({ context, event }) => event.type === 'snapshot.create' && !isSameData(context.spec, event.spec),
    isForcing: ({ context, event }) => event.type === 'snapshot.delete' && event.force && !context.isForced,
    isReady: ({ event }) => 'made' in event && event.made.isReady,
    isOther: ({ context, event }) => 'made' in event && event.made.csiId !== context.csi?.csiId,
    isRefusal: ({ event }) => 'failure' in event && event.failure.final,
    isMoreToRemove: ({ context: { csi, discards } }) => discards.length + (csi ? 1 : 0) > 1,
    isUntrustedAgain: ({ context }) => context.untrusted >= maxUnproven,
    hasLeftovers: ({ context }) => context.leftovers.length > 0,
    isIdUnknown: ({ context }) => context.left.asked !== undefined,
    isIdKnown: ({ context }) => context.left.made.length > 0,
    /** Whether the attempt that has just failed is repeated without delay. */
    isDueAtOnce: ({ context, event }) => 'failure' in event && untilDueMs(context, event) === 0,
  },
  actions: {
    ...hostActions,
    change,
    noteWait: assign((_, { reason, for: what }: Wait) => ({ awaiting: { reason, for: what } })),
    forgetWait: assign({ awaiting: null }),
    settleHome: assign((_, home: string | undefined) => (home === undefined ? {} : { home })),
    /** Keeps the name of the driver: the call was made without knowing it. */
    learn: assign(({ context }, driver: string | undefined) => (driver && !context.driver ? { driver } : {})),
    report: raise((_, outcome: SnapshotOutcome) => outcome),
    /** Raises the outcome again, for the state that is entered. */
    handOver: raise(({ event }) => event),
    refuseUnexpected: assign(({ context: { kind, key }, event }): Partial<SnapshotContext> => {
      throw new Error(`${kind} ${key.namespace}/${key.id} does not expect '${event.type}' in its state`);
    }),
  },
  delays: {
    untilDue: ({ context, event }) => untilDueMs(context, event),
  },
});

/** Changes the data by a pure function of changes.ts. */
export const becomes = <TEvent>(change: (context: SnapshotContext, event: TEvent) => SnapshotChange) => ({
  type: 'change' as const,
  params: ({ context, event }: { context: SnapshotContext; event: TEvent }) => change(context, event),
});

export const makes = asksFor('createSnapshot', {
  input: createCallOf,
  done: (made: MadeSnapshot, stamp): SnapshotOutcome => ({ type: 'create.done', made, ...stamp }),
  failed: failedCreate,
});

export const looks = asksFor('lookAtSnapshot', {
  input: lookCallOf,
  done: (made: MadeSnapshot, stamp): SnapshotOutcome => ({ type: 'look.done', made, ...stamp }),
  failed: failedLook,
});

/** @param id id of the effect */
export const removes = <const TId extends string>(id: TId) =>
  asksFor('deleteSnapshot', {
    id,
    input: removeCallOf,
    done: (_: null, stamp): SnapshotOutcome => ({ type: 'remove.done', ...stamp }),
    failed: failedRemove,
  });

/**
 * State between two attempts.
 * @param on further transitions
 */
export const backingOff = <TOn extends object>(on: TOn) => ({
  always: { guard: 'isDueAtOnce' as const, target: 'calling' },
  after: { untilDue: 'calling' },
  on: { 'snapshot.retry': { target: 'calling', actions: becomes(retried) }, ...on },
});

/** Keeps what the call waits for. */
export const noteWait = { type: 'noteWait' as const, params: ({ event }: { event: Wait }) => event };

/** Waits, as the call was not made. */
export const mustWait = { target: 'waiting-for-plugin', actions: noteWait } as const;

/** Makes the call anew: it was not made, and may be made now. */
export const settleHome = {
  type: 'settleHome' as const,
  params: ({ event }: { event: { home?: string } }) => event.home,
};

/**
 * State of a waiting call, which is made once it is admitted.
 * @param on further transitions
 */
export const waiting = <TOn extends object>(on: TOn) => ({
  exit: 'forgetWait' as const,
  on: {
    'wait.changed': { actions: noteWait },
    'call.admitted': 'calling',
    'snapshot.retry': { actions: becomes(retried) },
    ...on,
  },
});

/** To a creation while the snapshot is being deleted. */
export const whileBeingDeleted = {
  'snapshot.create': answered((context: SnapshotContext) => ({ error: snapshotDeleting(context) })),
};
