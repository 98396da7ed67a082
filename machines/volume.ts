/**
 * One volume, as the controller side sees it: takes one call at a time, and picks the next due piece of work whenever it
 * settles. Where it is published and who has claimed it is data. Diagram: docs/machines/volume.md (generated).
 */
import { assign, enqueueActions, raise, setup } from 'xstate';
import type { CallOutcome } from './csi-types.js';
import { hostActions, stampOf, unbound } from './host.js';
import {
  answerIn,
  attemptIn,
  type CreateCall,
  createCallOf,
  type ExpandAnswer,
  type ExpandCall,
  expandCallOf,
  type MadeCall,
  type ModifyCall,
  madeCallOf,
  modifyCallOf,
  type PublishAnswer,
  type PublishCall,
  publishCallOf,
  type UnpublishCall,
  unpublishCallOf,
} from './volume-calls.js';
import {
  begun,
  claim,
  discard,
  expand,
  fence,
  gone,
  modify,
  nobody,
  nodeExpanded,
  publish,
  release,
  retry,
  setAvailability,
  unclaim,
  unpublish,
  unstaged,
  withdrawWaiting,
} from './volume-changes.js';
import type { Change } from './volume-draft.js';
import { awaits, created, deleted, expanded, failed, modified, published, unpublished } from './volume-outcomes.js';
import { hasLeftovers, nothingLeft, notThere, refusalAnswer, refusalOf } from './volume-requests.js';
import { observed } from './volume-sightings.js';
import type {
  CreatedVolume,
  VolumeChanged,
  VolumeContext,
  VolumeInput,
  VolumeMachineEvent,
  VolumeRequest,
  WorkKind,
} from './volume-types.js';
import { failureOf, hasPublished, isGone, nextWork } from './volume-work.js';

/** Takes over what has changed, and tells of it. Its types are given, as `setup` can't find them where there are parameters. */
const takeOver = enqueueActions<
  VolumeContext,
  VolumeMachineEvent,
  Change,
  VolumeMachineEvent,
  never,
  never,
  never,
  never,
  VolumeChanged
>(({ context: { key, uid }, enqueue }, { context, tells = [] }) => {
  enqueue.assign(context);
  for (const told of tells) enqueue.emit({ key, uid: context.uid ?? uid, ...told });
});

export const volumeMachine = setup({
  types: {} as {
    context: VolumeContext;
    events: VolumeMachineEvent;
    input: VolumeInput;
    emitted: VolumeChanged;
  },
  actors: {
    createVolume: unbound<CallOutcome<CreatedVolume>, CreateCall>(),
    deleteVolume: unbound<CallOutcome<null>, MadeCall>(),
    controllerPublish: unbound<CallOutcome<PublishAnswer>, PublishCall>(),
    controllerUnpublish: unbound<CallOutcome<null>, UnpublishCall>(),
    controllerExpand: unbound<CallOutcome<ExpandAnswer>, ExpandCall>(),
    controllerModify: unbound<CallOutcome<null>, ModifyCall>(),
  },
  guards: {
    isRefused: ({ context }, request: VolumeRequest) => refusalOf(context, request) !== undefined,
    isDone: (_, outcome: CallOutcome<unknown>) => outcome.status === 'done',
    isToCall: ({ context: { work } }, kind: WorkKind) => work?.isCalling === true && work.kind === kind,
    isToWait: ({ context: { work } }, kind: WorkKind) => work?.kind === kind,
    /** What it waits for is not wanted any more. */
    isOutdated: ({ context, event }) => {
      const { work, awaiting, deletion } = context;
      if (!awaiting) return false;
      const next = nextWork(context, stampOf(event).at);
      return (
        next?.kind !== work?.kind || next?.nodeId !== work?.nodeId || (deletion?.force === true && !awaiting.isForced)
      );
    },
    isGone: ({ context }) => isGone(context),
    isAllGone: ({ context }) => isGone(context) && context.leftovers.length === 0,
    hasFailed: ({ context }) => failureOf(context) !== undefined,
    hasPublished: ({ context }) => hasPublished(context),
  },
  actions: {
    ...hostActions,
    change: takeOver,
    /** The next piece of work, as it is from here. */
    choose: assign(({ context, event }) => ({ work: nextWork(context, stampOf(event).at), awaiting: null })),
    /** With the stamp of what led to it: it is due now what was due then. */
    settle: raise(({ event }) => ({ type: 'settle' as const, ...stampOf(event) })),
  },
  delays: {
    untilDue: ({ context: { work }, event }) => Math.max(0, (work?.dueAtMs ?? 0) - stampOf(event).at),
  },
}).createMachine({
  id: 'volume',
  version: '1',
  context: ({ input }) => nobody(input),
  initial: 'deleted',
  on: {
    'volume.create': [
      {
        guard: { type: 'isRefused', params: ({ event }) => event },
        actions: { type: 'answer', params: ({ context, event }) => refusalAnswer(context, event) },
      },
      {},
    ],
    'volume.publish': [
      {
        guard: { type: 'isRefused', params: ({ event }) => event },
        actions: { type: 'answer', params: ({ context, event }) => refusalAnswer(context, event) },
      },
      {
        actions: [{ type: 'change', params: ({ context, event }) => publish(context, event.nodeId, event) }, 'settle'],
      },
    ],
    'volume.unpublish': [
      {
        guard: { type: 'isRefused', params: ({ event }) => event },
        actions: { type: 'answer', params: ({ context, event }) => refusalAnswer(context, event) },
      },
      { actions: [{ type: 'change', params: ({ context, event }) => unpublish(context, event.nodeId) }, 'settle'] },
    ],
    'volume.delete': [
      {
        guard: { type: 'isRefused', params: ({ event }) => event },
        actions: { type: 'answer', params: ({ context, event }) => refusalAnswer(context, event) },
      },
      { actions: [{ type: 'change', params: ({ context, event }) => discard(context, event.force) }, 'settle'] },
    ],
    'volume.claim': [
      {
        guard: { type: 'isRefused', params: ({ event }) => event },
        actions: { type: 'answer', params: ({ context, event }) => refusalAnswer(context, event) },
      },
      { actions: [{ type: 'change', params: ({ context, event }) => claim(context, event.claim) }, 'settle'] },
    ],
    'volume.release': {
      actions: [{ type: 'change', params: ({ context, event }) => release(context, event.allocId) }, 'settle'],
    },
    'volume.unclaim': {
      actions: [{ type: 'change', params: ({ context, event }) => unclaim(context, event.allocId) }, 'settle'],
    },
    'volume.withdraw': {
      actions: [
        { type: 'change', params: ({ context, event }) => withdrawWaiting(context, event.nodeId, event.reason) },
        'settle',
      ],
    },
    'volume.unstaged': {
      actions: [
        { type: 'change', params: ({ context, event }) => unstaged(context, event.nodeId, event.claimGeneration) },
        'settle',
      ],
    },
    'volume.fence': {
      actions: [
        { type: 'change', params: ({ context, event }) => fence(context, event.nodeId, event.reason) },
        'settle',
      ],
    },
    'volume.expand': [
      {
        guard: { type: 'isRefused', params: ({ event }) => event },
        actions: { type: 'answer', params: ({ context, event }) => refusalAnswer(context, event) },
      },
      { actions: [{ type: 'change', params: ({ context, event }) => expand(context, event.capacity) }, 'settle'] },
    ],
    'volume.expanded': {
      actions: [{ type: 'change', params: ({ context }) => nodeExpanded(context) }, 'settle'],
    },
    'volume.modify': [
      {
        guard: { type: 'isRefused', params: ({ event }) => event },
        actions: { type: 'answer', params: ({ context, event }) => refusalAnswer(context, event) },
      },
      {
        actions: [
          { type: 'change', params: ({ context, event }) => modify(context, event.mutableParameters) },
          'settle',
        ],
      },
    ],
    'volume.acknowledge': { actions: { type: 'answer', params: ({ context }) => ({ error: nothingLeft(context) }) } },
    'volume.retry': { actions: [{ type: 'change', params: ({ context }) => retry(context) }, 'settle'] },
    'volume.set-availability': {
      actions: [
        { type: 'change', params: ({ context, event }) => setAvailability(context, event.availability) },
        'settle',
      ],
    },
    'volume.observed': {
      actions: [{ type: 'change', params: ({ context, event }) => observed(context, event) }, 'settle'],
    },
    'call.awaits': {
      actions: [{ type: 'change', params: ({ context, event }) => awaits(context, event) }, 'settle'],
    },
  },
  states: {
    settling: {
      entry: 'choose',
      always: [
        {
          guard: 'isAllGone',
          target: 'deleted.confirmed',
          actions: { type: 'change', params: ({ context }) => gone(context) },
        },
        {
          guard: 'isGone',
          target: 'deleted.unconfirmed',
          actions: { type: 'change', params: ({ context }) => gone(context) },
        },
        { guard: { type: 'isToCall', params: 'create' }, target: 'pending-create.calling' },
        { guard: { type: 'isToCall', params: 'publish' }, target: 'pending-publish.calling' },
        { guard: { type: 'isToCall', params: 'unpublish' }, target: 'pending-unpublish.calling' },
        { guard: { type: 'isToCall', params: 'expand' }, target: 'pending-expand.calling' },
        { guard: { type: 'isToCall', params: 'modify' }, target: 'pending-modify.calling' },
        { guard: { type: 'isToCall', params: 'delete' }, target: 'pending-delete.calling' },
        { guard: { type: 'isToWait', params: 'create' }, target: 'pending-create.backing-off' },
        { guard: { type: 'isToWait', params: 'publish' }, target: 'pending-publish.backing-off' },
        { guard: { type: 'isToWait', params: 'unpublish' }, target: 'pending-unpublish.backing-off' },
        { guard: { type: 'isToWait', params: 'expand' }, target: 'pending-expand.backing-off' },
        { guard: { type: 'isToWait', params: 'modify' }, target: 'pending-modify.backing-off' },
        { guard: { type: 'isToWait', params: 'delete' }, target: 'pending-delete.backing-off' },
        { guard: 'hasFailed', target: 'failed' },
        { guard: 'hasPublished', target: 'published' },
        { target: 'created' },
      ],
    },
    'pending-create': {
      initial: 'backing-off',
      states: {
        calling: {
          invoke: {
            id: 'createVolume',
            src: 'createVolume',
            input: ({ context }) => createCallOf(context),
            onDone: [
              {
                guard: { type: 'isDone', params: ({ event }) => event.output },
                target: '#volume.settling',
                actions: { type: 'change', params: ({ context, event }) => created(context, answerIn(event.output)) },
              },
              {
                target: '#volume.settling',
                actions: { type: 'change', params: ({ context, event }) => failed(context, attemptIn(event)) },
              },
            ],
            onError: {
              target: '#volume.settling',
              actions: { type: 'change', params: ({ context, event }) => failed(context, attemptIn(event)) },
            },
          },
          on: { settle: { guard: 'isOutdated', target: '#volume.settling' } },
        },
        'backing-off': { on: { settle: '#volume.settling' }, after: { untilDue: '#volume.settling' } },
      },
    },
    created: { on: { settle: 'settling' } },
    'pending-publish': {
      initial: 'backing-off',
      states: {
        calling: {
          invoke: {
            id: 'controllerPublish',
            src: 'controllerPublish',
            input: ({ context }) => publishCallOf(context),
            onDone: [
              {
                guard: { type: 'isDone', params: ({ event }) => event.output },
                target: '#volume.settling',
                actions: {
                  type: 'change',
                  params: ({ context, event }) => published(context, answerIn(event.output).publishContext),
                },
              },
              {
                target: '#volume.settling',
                actions: { type: 'change', params: ({ context, event }) => failed(context, attemptIn(event)) },
              },
            ],
            onError: {
              target: '#volume.settling',
              actions: { type: 'change', params: ({ context, event }) => failed(context, attemptIn(event)) },
            },
          },
          on: { settle: { guard: 'isOutdated', target: '#volume.settling' } },
        },
        'backing-off': { on: { settle: '#volume.settling' }, after: { untilDue: '#volume.settling' } },
      },
    },
    published: { on: { settle: 'settling' } },
    'pending-unpublish': {
      initial: 'backing-off',
      states: {
        calling: {
          invoke: {
            id: 'controllerUnpublish',
            src: 'controllerUnpublish',
            input: ({ context }) => unpublishCallOf(context),
            onDone: [
              {
                guard: { type: 'isDone', params: ({ event }) => event.output },
                target: '#volume.settling',
                actions: { type: 'change', params: ({ context }) => unpublished(context) },
              },
              {
                target: '#volume.settling',
                actions: { type: 'change', params: ({ context, event }) => failed(context, attemptIn(event)) },
              },
            ],
            onError: {
              target: '#volume.settling',
              actions: { type: 'change', params: ({ context, event }) => failed(context, attemptIn(event)) },
            },
          },
          on: { settle: { guard: 'isOutdated', target: '#volume.settling' } },
        },
        'backing-off': { on: { settle: '#volume.settling' }, after: { untilDue: '#volume.settling' } },
      },
    },
    'pending-expand': {
      initial: 'backing-off',
      states: {
        calling: {
          invoke: {
            id: 'controllerExpand',
            src: 'controllerExpand',
            input: ({ context }) => expandCallOf(context),
            onDone: [
              {
                guard: { type: 'isDone', params: ({ event }) => event.output },
                target: '#volume.settling',
                actions: { type: 'change', params: ({ context, event }) => expanded(context, answerIn(event.output)) },
              },
              {
                target: '#volume.settling',
                actions: { type: 'change', params: ({ context, event }) => failed(context, attemptIn(event)) },
              },
            ],
            onError: {
              target: '#volume.settling',
              actions: { type: 'change', params: ({ context, event }) => failed(context, attemptIn(event)) },
            },
          },
          on: { settle: { guard: 'isOutdated', target: '#volume.settling' } },
        },
        'backing-off': { on: { settle: '#volume.settling' }, after: { untilDue: '#volume.settling' } },
      },
    },
    'pending-modify': {
      initial: 'backing-off',
      states: {
        calling: {
          invoke: {
            id: 'controllerModify',
            src: 'controllerModify',
            input: ({ context }) => modifyCallOf(context),
            onDone: [
              {
                guard: { type: 'isDone', params: ({ event }) => event.output },
                target: '#volume.settling',
                actions: { type: 'change', params: ({ context }) => modified(context) },
              },
              {
                target: '#volume.settling',
                actions: { type: 'change', params: ({ context, event }) => failed(context, attemptIn(event)) },
              },
            ],
            onError: {
              target: '#volume.settling',
              actions: { type: 'change', params: ({ context, event }) => failed(context, attemptIn(event)) },
            },
          },
          on: { settle: { guard: 'isOutdated', target: '#volume.settling' } },
        },
        'backing-off': { on: { settle: '#volume.settling' }, after: { untilDue: '#volume.settling' } },
      },
    },
    'pending-delete': {
      initial: 'backing-off',
      states: {
        calling: {
          invoke: {
            id: 'deleteVolume',
            src: 'deleteVolume',
            input: ({ context }) => madeCallOf(context),
            onDone: [
              {
                guard: { type: 'isDone', params: ({ event }) => event.output },
                target: '#volume.settling',
                actions: { type: 'change', params: ({ context }) => deleted(context) },
              },
              {
                target: '#volume.settling',
                actions: { type: 'change', params: ({ context, event }) => failed(context, attemptIn(event)) },
              },
            ],
            onError: {
              target: '#volume.settling',
              actions: { type: 'change', params: ({ context, event }) => failed(context, attemptIn(event)) },
            },
          },
          on: { settle: { guard: 'isOutdated', target: '#volume.settling' } },
        },
        'backing-off': { on: { settle: '#volume.settling' }, after: { untilDue: '#volume.settling' } },
      },
    },
    failed: { on: { settle: 'settling' } },
    deleted: {
      initial: 'confirmed',
      states: {
        /** None is there: it was never made, or is gone. */
        confirmed: {
          tags: 'absent',
          on: {
            'volume.create': {
              target: '#volume.settling',
              actions: { type: 'change', params: ({ context, event }) => begun(context, event) },
            },
            '*': { actions: { type: 'answer', params: ({ context }) => ({ error: notThere(context) }) } },
          },
        },
        unconfirmed: {
          on: {
            'volume.create': {
              actions: { type: 'answer', params: ({ context }) => ({ error: hasLeftovers(context) }) },
            },
            'volume.acknowledge': 'confirmed',
            '*': { actions: { type: 'answer', params: ({ context }) => ({ error: notThere(context) }) } },
          },
        },
      },
    },
  },
});
