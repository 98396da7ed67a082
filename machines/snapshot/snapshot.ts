/**
 * Snapshot of a volume or of a group of volumes: makes one call at a time, which its phase wants (phases.ts).
 * Diagram: docs/machines/volume-snapshot.md (generated).
 */
import { assign, raise, setup } from 'xstate';
import { callChart } from '../kit/call.js';
import type { AdmissionCall, AdmissionOutcome, CallOutcome } from '../kit/csi-types.js';
import { hostActions, stampOf, unbound } from '../kit/host.js';
import { isIn } from '../kit/parts.js';
import { changed, refusing, takesOver } from '../kit/requests.js';
import type { StateWords } from '../kit/state-words.js';
import { chosen, createCallOf, lookCallOf, removeCallOf, wantedCall } from './calls.js';
import { doneWith, failed, learned, notMade, removeDone, requested, type SnapshotChange } from './outcomes.js';
import { type SnapshotContext, snapshotChart } from './phases.js';
import { refusalOf } from './refusals.js';
import type {
  CreateSnapshotCall,
  LookCall,
  MadeSnapshot,
  RemoveSnapshotCall,
  SnapshotChanged,
  SnapshotKey,
  SnapshotKind,
  SnapshotMachineEvent,
} from './types.js';

const takeOver = takesOver<SnapshotContext, SnapshotMachineEvent, SnapshotChange, SnapshotChanged>(
  (_, { context: { key, uid }, broadcasts = [] }) => broadcasts.map((told) => ({ key, uid, ...told })),
);

/** Whether the phase wants the call that is in progress. */
const isWanted = (context: SnapshotContext): boolean => wantedCall(context) === context.work?.kind;

const { isRefused, refused } = refusing(refusalOf);

const call = callChart(
  '#deciding',
  {
    create: { state: 'pending-create', src: 'createSnapshot', input: createCallOf, done: doneWith('create.done') },
    look: { state: 'waiting-until-ready', src: 'lookAtSnapshot', input: lookCallOf, done: doneWith('look.done') },
    remove: {
      ...{ state: 'removing-untrusted', src: 'deleteSnapshot', id: 'removeUntrusted' },
      ...{ input: removeCallOf, done: removeDone },
    },
    delete: { state: 'pending-delete', src: 'deleteSnapshot', input: removeCallOf, done: removeDone },
  },
  { isNext: isWanted, isForced: ({ isForced }) => isForced, failed, notMade, learned },
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
    isRefused,
    ...call.guards,
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
  delays: call.delays,
});

/** Machine of snapshots of one kind. Groups have the same states. */
const snapshotMachine = (kind: SnapshotKind) =>
  snapshotSetup.createMachine({
    id: kind,
    version: '4',
    context: ({ input }) => snapshotChart.begin({ kind, ...input }),
    initial: 'absent',
    on: {
      'snapshot.create': [refused, {}],
      'snapshot.delete': [refused, changed(requested)],
      'snapshot.retry': [refused, changed(requested)],
      'snapshot.acknowledge': [refused, changed(requested)],
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

/**
 * Snapshots of several volumes of one plugin, taken at one moment: one actor for all, with the states of a snapshot
 * of one volume (snapshot.ts). Diagram: docs/machines/group-snapshot.md (generated).
 */
export const groupSnapshotMachine = snapshotMachine('group-snapshot');
