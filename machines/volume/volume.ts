/**
 * One volume, as the controller side sees it: makes one call at a time, and picks the next due piece of work whenever
 * it settles. Its publications and claims are data. Diagram: docs/machines/volume.md (generated).
 */
import { assign, raise, setup } from 'xstate';
import { callChart } from '../kit/call.js';
import type { AdmissionCall, AdmissionOutcome, CallOutcome } from '../kit/csi-types.js';
import { hostActions, stampOf, unbound } from '../kit/host.js';
import { changed, refusing, takesOver } from '../kit/requests.js';
import type { StateWords } from '../kit/state-words.js';
import {
  type AttachCall,
  type CreateCall,
  createCallOf,
  type ExpandCall,
  expandCallOf,
  type MadeCall,
  type ModifyCall,
  madeCallOf,
  modifyCallOf,
  type PublishCall,
  publishCallOf,
  unpublishCallOf,
} from './calls.js';
import {
  begun,
  claimAndPublish,
  discard,
  gone,
  modify,
  nobody,
  publish,
  retry,
  setAvailability,
  unpublish,
} from './changes.js';
import { claim, unclaim, withdrawWaiting } from './claims.js';
import { expand } from './expanding.js';
import { asUnstaged, clearStaged, retryLeftovers } from './leftovers.js';
import { observed } from './listing.js';
import { created, deleted, expanded, failed, learned, modified, notMade, published, unpublished } from './outcomes.js';
import { fence, holdReleased, release, unstaged } from './releases.js';
import { refusalOf } from './requests.js';
import { nodeExpanded } from './size.js';
import { addSlot, slotAnswer } from './slots.js';
import type {
  CreateAnswer,
  VolumeChange,
  VolumeChanged,
  VolumeContext,
  VolumeInput,
  VolumeMachineEvent,
} from './types.js';
import type { ExpandAnswer, PublishAnswer } from './wishes.js';
import { chosen, failureOf, hasPublished, isAbsent, isNext } from './work.js';

const takeOver = takesOver<VolumeContext, VolumeMachineEvent, VolumeChange, VolumeChanged>(
  ({ key, uid }, { context, broadcasts = [] }) => broadcasts.map((told) => ({ key, uid: context.uid ?? uid, ...told })),
);

const { isRefused, refused } = refusing(refusalOf);

const call = callChart(
  '#volume.deciding',
  {
    create: { state: 'pending-create', src: 'createVolume', input: createCallOf, done: created },
    remove: {
      state: 'removing-unproven',
      src: 'deleteVolume',
      id: 'removeUnproven',
      input: madeCallOf,
      done: deleted,
    },
    publish: { state: 'pending-publish', src: 'controllerPublish', input: publishCallOf, done: published },
    unpublish: { state: 'pending-unpublish', src: 'controllerUnpublish', input: unpublishCallOf, done: unpublished },
    expand: { state: 'pending-expand', src: 'controllerExpand', input: expandCallOf, done: expanded },
    modify: { state: 'pending-modify', src: 'controllerModify', input: modifyCallOf, done: modified },
    delete: { state: 'pending-delete', src: 'deleteVolume', input: madeCallOf, done: deleted },
  },
  {
    isNext,
    isForced: ({ lifecycle }) => lifecycle.force === true,
    failed,
    notMade,
    learned,
  },
);

export const volumeMachine = setup({
  types: {} as {
    context: VolumeContext;
    events: VolumeMachineEvent;
    input: VolumeInput;
    emitted: VolumeChanged;
    meta: StateWords;
  },
  actors: {
    createVolume: unbound<CallOutcome<CreateAnswer>, CreateCall>(),
    deleteVolume: unbound<CallOutcome<null>, MadeCall>(),
    controllerPublish: unbound<CallOutcome<PublishAnswer>, PublishCall>(),
    controllerUnpublish: unbound<CallOutcome<null>, AttachCall>(),
    controllerExpand: unbound<CallOutcome<ExpandAnswer>, ExpandCall>(),
    controllerModify: unbound<CallOutcome<null>, ModifyCall>(),
    awaitAdmission: unbound<AdmissionOutcome, AdmissionCall>(),
  },
  guards: {
    isRefused,
    ...call.guards,
    isGone: ({ context }) => isAbsent(context),
    isGoneWithoutLeftovers: ({ context }) => isAbsent(context) && context.leftovers.length === 0,
    hasFailedToCreateOrDelete: ({ context }) => failureOf(context) !== undefined,
    hasPublished: ({ context }) => hasPublished(context),
  },
  actions: {
    ...hostActions,
    change: takeOver,
    /** Picks the next piece of work. */
    choose: assign(({ context, event }) => chosen(context, stampOf(event).at)),
    /** Keeps the stamp of the event before: what was due then is due now. */
    settle: raise(({ event }) => ({ type: 'settle' as const, ...stampOf(event) })),
  },
  delays: call.delays,
}).createMachine({
  id: 'volume',
  version: '4',
  context: ({ input }) => nobody(input),
  initial: 'deleted',
  on: {
    'volume.create': [refused, {}],
    'volume.publish': [refused, changed((context, event) => publish(context, event))],
    'volume.add-slot': {
      actions: [
        { type: 'answer', params: ({ context, event }) => slotAnswer(context, event) },
        { type: 'change', params: ({ context, event }) => addSlot(context, event) },
      ],
    },
    'volume.unpublish': [refused, changed((context, event) => unpublish(context, event.nodeId))],
    'volume.delete': [refused, changed((context, event) => discard(context, event.force, stampOf(event)))],
    'volume.claim': [refused, changed((context, event) => claim(context, event.claim))],
    'volume.claim-and-publish': [refused, changed(claimAndPublish)],
    'volume.release': changed((context, event) => release(context, event)),
    'volume.unclaim': changed((context, event) => unclaim(context, event.allocId)),
    'volume.withdraw': changed((context, event) => withdrawWaiting(context, event.nodeId, event.reason)),
    'volume.unstaged': [refused, changed((context, event) => unstaged(context, event))],
    'volume.hold-released': changed((context, event) => holdReleased(context, event)),
    'volume.fence': changed((context, event) => fence(context, event.nodeId, event.reason)),
    'volume.expand': [refused, changed((context, event) => expand(context, event.capacity))],
    'volume.node-expanded': changed(nodeExpanded),
    'volume.modify': [refused, changed((context, event) => modify(context, event.mutableParameters))],
    'volume.acknowledge': refused,
    'volume.retry': changed((context, event) => retry(context, event.acceptDriver)),
    'volume.set-availability': changed((context, event) => setAvailability(context, event.availability)),
    'volume.observed': changed(observed),
  },
  states: {
    /** Exists within one step only. */
    deciding: {
      entry: 'choose',
      always: [
        {
          guard: 'isGoneWithoutLeftovers',
          target: 'deleted.confirmed',
          actions: { type: 'change', params: ({ context }) => gone(context) },
        },
        {
          guard: 'isGone',
          target: 'deleted.unconfirmed',
          actions: { type: 'change', params: ({ context }) => gone(context) },
        },
        ...call.ways,
        { guard: 'hasFailedToCreateOrDelete', target: 'failed' },
        { guard: 'hasPublished', target: 'published' },
        { target: 'created' },
      ],
    },
    ...call.states,
    created: { ...call.atRest, meta: { health: 'healthy', words: 'created' } },
    published: { ...call.atRest, meta: { health: 'healthy', words: 'published' } },
    failed: { ...call.atRest, meta: { health: 'failed', words: 'failed' } },
    deleted: {
      meta: { health: 'gone', words: 'deleted' },
      initial: 'confirmed',
      on: { '*': refused },
      states: {
        /** No volume is there: it was never created, or is deleted. */
        confirmed: {
          tags: 'absent',
          on: {
            'volume.create': {
              target: '#volume.deciding',
              actions: { type: 'change', params: ({ context, event }) => begun(context, event) },
            },
          },
        },
        unconfirmed: {
          meta: { health: 'gone', words: 'deleted, and something may be left behind' },
          on: {
            'volume.acknowledge': 'confirmed',
            'volume.retry': [
              refused,
              {
                target: '#volume.deciding',
                actions: {
                  type: 'change',
                  params: ({ context, event }) => retryLeftovers(context, event.acceptDriver),
                },
              },
            ],
            'volume.unstaged': [
              refused,
              { actions: { type: 'change', params: ({ context, event }) => clearStaged(context, event) } },
            ],
            'volume.hold-released': [
              refused,
              { actions: { type: 'change', params: ({ context, event }) => clearStaged(context, asUnstaged(event)) } },
            ],
          },
          always: { guard: 'isGoneWithoutLeftovers', target: 'confirmed' },
        },
      },
    },
  },
});
