/**
 * One snapshot of a volume, or of a group of them: made, waited for until it can be used, deleted; one call at a time.
 * Diagram: docs/machines/volume-snapshot.md (generated).
 */
import { assign, enqueueActions, raise, setup } from 'xstate';
import { answered, callStates, changed, refused } from '../kit/call-states.js';
import type { Awaiting, CallOutcome } from '../kit/csi-types.js';
import { hostActions, stampOf, unbound } from '../kit/host.js';
import {
  begunSnapshot,
  deleteSnapshot,
  doomed,
  failedSnapshot,
  goneSnapshot,
  isSnapshotGone,
  isSnapshotRetryable,
  learnedSnapshot,
  lookedAt,
  madeSnapshot,
  nameWithPlugin,
  nextSnapshotWork,
  noSnapshot,
  refusalIn,
  removedSnapshot,
  retrySnapshot,
  retrySnapshotLeftovers,
  type SnapshotChange,
  snapshotHasLeftovers,
  snapshotNothingLeft,
  snapshotNotThere,
  snapshotOnlyLeftovers,
} from './changes.js';
import type {
  CreateSnapshotCall,
  LookCall,
  MadeSnapshot,
  RemoveSnapshotCall,
  SnapshotChanged,
  SnapshotContext,
  SnapshotKey,
  SnapshotKind,
  SnapshotMachineEvent,
  SnapshotRequest,
  SnapshotWorkKind,
} from './types.js';

const callOf = ({ spec, deletion, home, driver }: SnapshotContext) => {
  if (!spec) throw new Error('the snapshot has no spec yet');
  const { plugin, secrets } = spec;
  return { plugin, secrets, isForced: deletion?.force === true, ...(home && { home }), ...(driver && { driver }) };
};

const createCallOf = (context: SnapshotContext): CreateSnapshotCall => ({
  ...callOf(context),
  name: nameWithPlugin(context),
  sourceIds: (context.spec?.sources ?? []).map(({ csiId }) => csiId),
  parameters: context.spec?.parameters ?? {},
});

const memberIds = ({ members }: MadeSnapshot): string[] => members.map(({ csiId }) => csiId);

const lookCallOf = (context: SnapshotContext): LookCall => {
  if (!context.csi) throw new Error('the snapshot has no id yet');
  return { ...createCallOf(context), csiId: context.csi.csiId, memberIds: memberIds(context.csi) };
};

const removeCallOf = (context: SnapshotContext): RemoveSnapshotCall => {
  const made = doomed(context);
  if (!made) throw new Error('nothing is to be removed');
  return { ...callOf(context), csiId: made.csiId, memberIds: memberIds(made) };
};

const answer = (context: SnapshotContext, request: SnapshotRequest) => {
  const error = refusalIn(context, request);
  return error ? { error } : { value: null };
};

/** Takes over what has changed, and tells of it. Its types are given, as `setup` can't find them where there are parameters. */
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
>(({ context: { key, uid }, enqueue }, { context, tells = [] }) => {
  enqueue.assign(context);
  for (const told of tells) enqueue.emit({ key, uid: context.uid ?? uid, ...told });
});

const { calling, pending } = callStates({
  settling: '#settling',
  failed: failedSnapshot,
  learned: learnedSnapshot,
});

/** Groups are made of the same states: group-snapshot.ts */
export const snapshotMachine = (kind: SnapshotKind) =>
  setup({
    types: {} as {
      context: SnapshotContext;
      events: SnapshotMachineEvent;
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
      isRefused: ({ context }, request: SnapshotRequest) => refusalIn(context, request) !== undefined,
      isDone: (_, outcome: CallOutcome<unknown>) => outcome.status === 'done',
      isToCall: ({ context: { work } }, kind: SnapshotWorkKind) => work?.isCalling === true && work.kind === kind,
      isToWait: ({ context: { work } }, kind: SnapshotWorkKind) => work?.kind === kind,
      /** What it waits for is not wanted any more. */
      isOutdated: ({ context, event }) => {
        const { work, awaiting, deletion } = context;
        if (!awaiting) return false;
        const next = nextSnapshotWork(context, stampOf(event).at);
        return (
          next?.kind !== work?.kind || next?.csiId !== work?.csiId || (deletion?.force === true && !awaiting.isForced)
        );
      },
      isToRemoveAll: ({ context: { work, deletion } }) =>
        deletion !== null && work?.isCalling === true && work.kind === 'remove',
      isDeleting: ({ context: { work, deletion } }) => deletion !== null && work?.kind === 'remove',
      isGone: ({ context }) => isSnapshotGone(context),
      isAllGone: ({ context }) => isSnapshotGone(context) && context.leftovers.length === 0,
      isRetryable: ({ context }) => isSnapshotRetryable(context),
      hasFailed: ({ context: { creation, readiness, removal } }) =>
        [creation, readiness, removal].some(({ failure }) => failure !== undefined),
    },
    actions: {
      ...hostActions,
      change: takeOver,
      choose: assign(({ context, event }) => ({
        work: nextSnapshotWork(context, stampOf(event).at),
        awaiting: null,
      })),
      await: assign((_, { reason, isForced }: Awaiting) => ({ awaiting: { reason, ...(isForced && { isForced }) } })),
      /** With the stamp of what led to it: it is due now what was due then. */
      settle: raise(({ event }) => ({ type: 'settle' as const, ...stampOf(event) })),
    },
    delays: {
      untilDue: ({ context: { work }, event }) => Math.max(0, (work?.dueAtMs ?? 0) - stampOf(event).at),
    },
  }).createMachine({
    id: kind,
    version: '1',
    context: ({ input }) => noSnapshot({ kind, ...input }),
    initial: 'deleted',
    on: {
      'snapshot.create': [refused(answer), {}],
      'snapshot.delete': changed((context, event) => deleteSnapshot(context, event.force)),
      'snapshot.acknowledge': answered((context) => ({ error: snapshotNothingLeft(context) })),
      'snapshot.retry': changed((context, event) => retrySnapshot(context, event.acceptDriver)),
      'call.awaits': { actions: [{ type: 'await', params: ({ event }) => event }, 'settle'] },
      'call.home': { actions: { type: 'change', params: ({ event }) => ({ context: { home: event.home } }) } },
    },
    states: {
      settling: {
        id: 'settling',
        entry: 'choose',
        always: [
          {
            guard: 'isAllGone',
            target: 'deleted.confirmed',
            actions: { type: 'change', params: ({ context }) => goneSnapshot(context) },
          },
          {
            guard: 'isGone',
            target: 'deleted.unconfirmed',
            actions: { type: 'change', params: ({ context }) => goneSnapshot(context) },
          },
          { guard: { type: 'isToCall', params: 'create' }, target: 'pending-create.calling' },
          { guard: { type: 'isToWait', params: 'create' }, target: 'pending-create.backing-off' },
          { guard: { type: 'isToCall', params: 'look' }, target: 'waiting.calling' },
          { guard: { type: 'isToWait', params: 'look' }, target: 'waiting.backing-off' },
          { guard: 'isToRemoveAll', target: 'pending-delete.calling' },
          { guard: 'isDeleting', target: 'pending-delete.backing-off' },
          { guard: { type: 'isToCall', params: 'remove' }, target: 'pending-create.removing' },
          { guard: { type: 'isToWait', params: 'remove' }, target: 'pending-create.backing-off' },
          { guard: 'hasFailed', target: 'failed' },
          { target: 'ready' },
        ],
      },
      'pending-create': pending({
        calling: calling('createSnapshot', { input: createCallOf, done: madeSnapshot }),
        /** What could not be trusted, before it is made anew. */
        removing: calling('deleteSnapshot', { id: 'removeUntrusted', input: removeCallOf, done: removedSnapshot }),
      }),
      waiting: pending({ calling: calling('lookAtSnapshot', { input: lookCallOf, done: lookedAt }) }),
      ready: { on: { settle: 'settling' } },
      'pending-delete': pending({ calling: calling('deleteSnapshot', { input: removeCallOf, done: removedSnapshot }) }),
      failed: { on: { settle: 'settling' } },
      deleted: {
        initial: 'confirmed',
        states: {
          /** None is there: it was never made, or is gone. */
          confirmed: {
            tags: 'absent',
            on: {
              'snapshot.create': {
                target: '#settling',
                actions: { type: 'change', params: ({ context, event }) => begunSnapshot(context, event) },
              },
              '*': answered((context) => ({ error: snapshotNotThere(context) })),
            },
          },
          unconfirmed: {
            on: {
              'snapshot.create': answered((context) => ({ error: snapshotHasLeftovers(context) })),
              'snapshot.acknowledge': 'confirmed',
              'snapshot.retry': [
                {
                  guard: 'isRetryable',
                  target: '#settling',
                  actions: {
                    type: 'change',
                    params: ({ context, event }) => retrySnapshotLeftovers(context, event.acceptDriver),
                  },
                },
                answered((context) => ({ error: snapshotOnlyLeftovers(context) })),
              ],
              '*': answered((context) => ({ error: snapshotOnlyLeftovers(context) })),
            },
          },
        },
      },
    },
  });

export const volumeSnapshotMachine = snapshotMachine('volume-snapshot');
