/**
 * Guards, actions and effects of the snapshot machines, and what their states have in common. The states: making.ts,
 * deleting.ts, snapshot.ts
 */
import { assign, enqueueActions, raise, setup } from 'xstate';
import { dueAtMs } from '../kit/backoff.js';
import { answered, asksFor } from '../kit/call-states.js';
import type { Awaiting, CallOutcome } from '../kit/csi-types.js';
import { hostActions, type Stamped, stampOf, unbound } from '../kit/host.js';
import { isSameData } from '../kit/same-data.js';
import { createCallOf, lookCallOf, removeCallOf } from './calls.js';
import { maxUntrusted, retried, type SnapshotChange } from './changes.js';
import { failedCreate, failedLook, failedRemove } from './outcomes.js';
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

/** Its types are given, as `setup` can't find them where there are parameters. */
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
    /** Asks the same again, or for what is there: whether it is ready. */
    lookAtSnapshot: unbound<CallOutcome<MadeSnapshot>, LookCall>(),
    deleteSnapshot: unbound<CallOutcome<null>, RemoveSnapshotCall>(),
  },
  guards: {
    isOtherSpec: ({ context, event }) => event.type === 'snapshot.create' && !isSameData(context.spec, event.spec),
    isForcing: ({ context, event }) => event.type === 'snapshot.delete' && event.force && !context.isForced,
    /** The wait began before the deletion was forced: a forced call waits for a while only. */
    isWaitUnforced: ({ context, event }) => event.type === 'call.awaits' && context.isForced && !event.isForced,
    isReady: ({ event }) => 'made' in event && event.made.isReady,
    isOther: ({ context, event }) => 'made' in event && event.made.csiId !== context.csi?.csiId,
    isRefusal: ({ event }) => 'failure' in event && event.failure.final,
    isMoreToRemove: ({ context: { csi, discards } }) => discards.length + (csi ? 1 : 0) > 1,
    isUntrustedAgain: ({ context }) => context.untrusted >= maxUntrusted,
    hasLeftovers: ({ context }) => context.leftovers.length > 0,
    isIdUnknown: ({ context }) => context.left.asked !== undefined,
    isIdKnown: ({ context }) => context.left.made.length > 0,
    /** The attempt that has just failed is repeated without delay. */
    isDueAtOnce: ({ context, event }) => 'failure' in event && untilDueMs(context, event) === 0,
  },
  actions: {
    ...hostActions,
    change,
    await: assign((_, { reason, isForced }: Awaiting) => ({ awaiting: { reason, ...(isForced && { isForced }) } })),
    awaitNoMore: assign({ awaiting: null }),
    settleHome: assign((_, home: string) => ({ home })),
    /** A call that was made without knowing the plugin's driver learns it. */
    learn: assign(({ context }, driver: string | undefined) => (driver && !context.driver ? { driver } : {})),
    report: raise((_, outcome: SnapshotOutcome) => outcome),
    /** The outcome counts in the state that is entered. */
    handOver: raise(({ event }) => event),
    refuseUnexpected: assign(({ context: { kind, key }, event }): Partial<SnapshotContext> => {
      throw new Error(`${kind} ${key.namespace}/${key.id} does not expect '${event.type}' in its state`);
    }),
  },
  delays: {
    untilDue: ({ context, event }) => untilDueMs(context, event),
  },
});

/** The data changes by a pure function of changes.ts. */
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

/** @param id of the effect */
export const removes = <const TId extends string>(id: TId) =>
  asksFor('deleteSnapshot', {
    id,
    input: removeCallOf,
    done: (_: null, stamp): SnapshotOutcome => ({ type: 'remove.done', ...stamp }),
    failed: failedRemove,
  });

/** Between two attempts. @param on what else happens there */
export const backingOff = <TOn extends object>(on: TOn) => ({
  always: { guard: 'isDueAtOnce' as const, target: 'asking' },
  after: { untilDue: 'asking' },
  on: { 'snapshot.retry': { target: 'asking', actions: becomes(retried) }, ...on },
});

/** While a call is under way, or waits. */
export const onTheWay = {
  'call.home': {
    actions: { type: 'settleHome' as const, params: ({ event }: { event: { home: string } }) => event.home },
  },
};

/** The call waits: no call is made until its effect has ended. */
export const waits = { type: 'await' as const, params: ({ event }: { event: Awaiting }) => event };

/** To a creation while the snapshot is being deleted. */
export const whileBeingDeleted = {
  'snapshot.create': answered((context: SnapshotContext) => ({ error: snapshotDeleting(context) })),
};
