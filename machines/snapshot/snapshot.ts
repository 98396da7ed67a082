/**
 * Snapshot of a volume or of a group of volumes: makes one call at a time, which its phase wants (phases.ts).
 * Diagram: docs/machines/volume-snapshot.md (generated).
 */
import { assign, enqueueActions, raise, setup } from 'xstate';
import { callChart, callGuards } from '../kit/call.js';
import type { AdmissionCall, AdmissionOutcome, CallOutcome } from '../kit/csi-types.js';
import { hostActions, stampOf, unbound } from '../kit/host.js';
import { isIn } from '../kit/parts.js';
import { changed, refused } from '../kit/requests.js';
import type { StateWords } from '../kit/state-words.js';
import { chosen, createCallOf, lookCallOf, removeCallOf, wantedCall } from './calls.js';
import {
  again,
  failed,
  hasToWait,
  learned,
  looked,
  made,
  removed,
  requested,
  type SnapshotChange,
} from './outcomes.js';
import { type SnapshotContext, snapshotChart } from './phases.js';
import { refusalAnswer, refusalOf } from './refusals.js';
import type {
  CreateSnapshotCall,
  LookCall,
  MadeSnapshot,
  RemoveSnapshotCall,
  SnapshotChanged,
  SnapshotKey,
  SnapshotKind,
  SnapshotMachineEvent,
  SnapshotRequest,
} from './types.js';

/** Takes over a change and broadcasts it. The types are given: `setup` can't infer them if there are parameters. */
const takeOver = enqueueActions<
  SnapshotContext,
  SnapshotMachineEvent,
  SnapshotChange,
  SnapshotMachineEvent,
  never,
  never,
  never,
  never,
  SnapshotChanged
>(({ enqueue }, { context, broadcasts = [] }) => {
  enqueue.assign(context);
  for (const broadcast of broadcasts) enqueue.emit({ key: context.key, uid: context.uid, ...broadcast });
});

const call = callChart(
  '#deciding',
  {
    create: { state: 'pending-create', src: 'createSnapshot', input: createCallOf, done: made },
    look: { state: 'waiting-until-ready', src: 'lookAtSnapshot', input: lookCallOf, done: looked },
    remove: {
      ...{ state: 'removing-untrusted', src: 'deleteSnapshot', id: 'removeUntrusted' },
      ...{ input: removeCallOf, done: removed },
    },
    delete: { state: 'pending-delete', src: 'deleteSnapshot', input: removeCallOf, done: removed },
  },
  { failed, learned, hasToWait, again },
);

const snapshotSetup = setup({
  types: {} as {
    context: SnapshotContext;
    events: SnapshotMachineEvent;
    input: SnapshotKey;
    emitted: SnapshotChanged;
    meta: StateWords;
  },
  actors: {
    createSnapshot: unbound<CallOutcome<MadeSnapshot>, CreateSnapshotCall>(),
    /** Asks the plugin whether the snapshot is ready. */
    lookAtSnapshot: unbound<CallOutcome<MadeSnapshot>, LookCall>(),
    deleteSnapshot: unbound<CallOutcome<null>, RemoveSnapshotCall>(),
    awaitAdmission: unbound<AdmissionOutcome, AdmissionCall>(),
  },
  guards: {
    isRefused: ({ context }, request: SnapshotRequest) => refusalOf(context, request) !== undefined,
    ...callGuards,
    /** Whether the call has to wait, and is still wanted. */
    mustWait: ({ context }, outcome: CallOutcome<unknown>) =>
      outcome.status === 'must-wait' && isWanted({ ...context, ...hasToWait(context, outcome).context }),
    /** Whether the waiting call is not wanted any more, or its wait now has a limit. */
    hasOtherWork: ({ context }) => !isWanted(context) || (context.isForced && !context.awaiting?.isForced),
    isAbsent: ({ context }) => context.at === 'absent',
    isLeftBehind: ({ context }) => context.at === 'left-behind',
    hasFailed: ({ context }) => isIn(context, 'failed'),
  },
  actions: {
    ...hostActions,
    change: takeOver,
    /** Picks the next call. */
    choose: assign(({ context, event }) => chosen(context, stampOf(event).at)),
    /** Keeps the stamp of the event before: what was due then is due now. */
    settle: raise(({ event }) => ({ type: 'settle' as const, ...stampOf(event) })),
  },
  delays: {
    untilDue: ({ context: { work }, event }) => Math.max(0, (work?.dueAtMs ?? 0) - stampOf(event).at),
  },
});

/** Whether the phase wants the call that is in progress. */
const isWanted = (context: SnapshotContext): boolean => wantedCall(context) === context.work?.kind;

/** Machine of snapshots of one kind. Groups have the same states: group.ts */
export const snapshotMachine = (kind: SnapshotKind) =>
  snapshotSetup.createMachine({
    id: kind,
    version: '4',
    context: ({ input }) => snapshotChart.begin({ kind, ...input }),
    initial: 'absent',
    on: {
      'snapshot.create': [refused(refusalAnswer), {}],
      'snapshot.delete': [refused(refusalAnswer), changed(requested)],
      'snapshot.retry': [refused(refusalAnswer), changed(requested)],
      'snapshot.acknowledge': [refused(refusalAnswer), changed(requested)],
    },
    states: {
      /** Exists within one step only. */
      deciding: {
        id: 'deciding',
        entry: 'choose',
        always: [
          { guard: 'isLeftBehind', target: 'left-behind' },
          { guard: 'isAbsent', target: 'absent' },
          ...call.ways,
          { guard: 'hasFailed', target: 'failed' },
          { target: 'ready' },
        ],
      },
      ...call.states,
      ready: { ...call.atRest, meta: { health: 'healthy', words: 'ready' } },
      failed: call.atRest,
      /** Deleted with force: the plugin may still have something. */
      'left-behind': { ...call.atRest, meta: { health: 'failed', words: 'something may be left behind' } },
      /** No snapshot is there: it was never made, or is deleted. */
      absent: {
        tags: 'absent',
        meta: { health: 'gone', words: 'deleted' },
        on: { 'snapshot.create': changed(requested), ...call.atRest.on },
      },
    },
  });

export const volumeSnapshotMachine = snapshotMachine('volume-snapshot');
