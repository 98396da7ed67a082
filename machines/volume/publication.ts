/**
 * A publication: a volume on one node, as the controller side knows it. A part of its volume (volume.ts), which keeps
 * it in its own record, makes its calls, and steps it with their outcomes. Diagram: docs/machines/publication.md
 * (generated).
 */
import { Chart, type Part } from '../kit/parts.js';
import { repeated } from '../kit/state-words.js';
import { publicationSetup } from './publication-setup.js';
import type { PublicationState } from './wishes.js';

/** Outcomes of a call to publish while the publication leaves: it is not undone before that call has ended. */
const publishEnds = {
  'publish.not-sent': {},
  'publish.refused': {},
  'publish.done': { actions: 'keepContext' },
  'publish.unknown': { actions: 'doubt' },
  'publish.interrupted': { actions: 'doubt' },
} as const;

export const publicationMachine = publicationSetup.createMachine({
  id: 'publication',
  version: '2',
  context: ({ input }) => input,
  initial: 'new',
  on: {
    'wish.dropped': { actions: 'dropWish' },
    'node.fenced': { actions: 'fence' },
    // Sent to all publications of a volume, or to the one whose call was not made: most phases have nothing to do.
    retry: {},
    'listed-as-detached': {},
    'call.not-made': {},
  },
  states: {
    /** Exists within one step only. */
    new: {
      meta: { health: 'waiting', words: '' },
      on: {
        wanted: 'pending-publish',
        'wanted-again': 'republishing',
        'found-attached': 'pending-unpublish',
      },
    },
    /** Wanted; no call was sent before that may have attached the volume. */
    'pending-publish': {
      meta: {
        shownAs: 'pending-publish',
        call: 'publish',
        words: { calling: 'being published', restsAfter: 'publish not sent' },
      },
      on: {
        retry: { actions: 'restart' },
        withdrawn: [
          { guard: 'isCallUnderWay', target: 'cancelling-first-call', actions: 'restartResolving' },
          { target: 'removed' },
        ],
        publish: [
          { guard: 'isSameWish', actions: 'staysWanted' },
          { guard: 'isCallUnderWay', target: 'cancelling-first-call', actions: ['wishNext', 'restartResolving'] },
          { target: 'removed', actions: 'wishNext' },
        ],
        'publish.done': { target: 'published', actions: ['keepContext', 'hasten'] },
        'publish.refused': { target: 'failed.refused', actions: 'keepFailure' },
        'publish.not-sent': { actions: 'count' },
        'publish.unknown': { target: 'in-doubt', actions: 'count' },
        'publish.interrupted': 'in-doubt',
      },
    },
    /** Wanted; an earlier call may have attached the volume, or may still. */
    'in-doubt': {
      meta: { shownAs: 'pending-publish', call: 'publish', health: 'in-doubt', words: repeated('publish in doubt') },
      on: {
        retry: { actions: 'restart' },
        withdrawn: { target: 'cancelling', actions: 'restartResolving' },
        publish: [
          { guard: 'isSameWish', actions: 'staysWanted' },
          { target: 'cancelling', actions: ['wishNext', 'restartResolving'] },
        ],
        'publish.done': { target: 'published', actions: ['keepContext', 'hasten'] },
        'publish.refused': { target: 'failed.in-doubt', actions: 'keepFailure' },
        'publish.not-sent': { actions: 'count' },
        'publish.unknown': { actions: 'count' },
        'publish.interrupted': {},
      },
    },
    /** Was published, and the plugin no longer lists it. The node may have staged the volume. */
    republishing: {
      meta: {
        shownAs: 'pending-publish',
        call: 'publish',
        words: {
          waiting: 'lost by the plugin, to be published again',
          calling: 'lost by the plugin, being published again',
          restsAfter: 'lost by the plugin, could not be published again',
        },
      },
      on: {
        retry: { actions: 'restart' },
        withdrawn: { target: 'pending-unpublish', actions: 'startOver' },
        'node.to-unstage': { target: 'pending-node-unpublish', actions: 'startOverWithHolds' },
        publish: [
          { guard: 'isSameUse', actions: 'staysWanted' },
          { target: 'pending-unpublish', actions: ['wishNext', 'startOver'] },
        ],
        'publish.done': { target: 'published', actions: ['keepContext', 'hasten'] },
        'publish.refused': { target: 'failed.was-published', actions: 'keepFailure' },
        'publish.not-sent': { actions: 'count' },
        'publish.unknown': { actions: ['count', 'doubt'] },
        'publish.interrupted': { actions: 'doubt' },
      },
    },
    /** Not wanted any more, while the very first call is under way: if that was not sent, nothing is there. */
    'cancelling-first-call': {
      meta: {
        shownAs: 'pending-publish',
        call: 'publish',
        health: 'in-doubt',
        words: { calling: 'publish cancelled, its call is under way', restsAfter: 'publish cancelled' },
      },
      on: {
        withdrawn: {},
        retry: { actions: 'restartResolving' },
        publish: [{ guard: 'isSameWish', target: 'pending-publish', actions: 'staysWanted' }, { actions: 'wishNext' }],
        'call.not-made': 'removed',
        'publish.not-sent': 'removed',
        'publish.done': { target: 'pending-unpublish', actions: ['keepContext', 'startOver'] },
        'publish.refused': { target: 'pending-unpublish', actions: 'startOver' },
        'publish.unknown': { target: 'cancelling', actions: 'countToResolve' },
        'publish.interrupted': 'cancelling',
      },
    },
    /** Not wanted, but a call may have attached the volume: the call is repeated to learn its outcome, then undone. */
    cancelling: {
      meta: {
        shownAs: 'pending-publish',
        call: 'publish',
        health: 'in-doubt',
        words: repeated('publish cancelled in doubt', 'to learn its outcome'),
      },
      on: {
        withdrawn: {},
        retry: { actions: 'restartResolving' },
        publish: [{ guard: 'isSameWish', target: 'in-doubt', actions: 'staysWanted' }, { actions: 'wishNext' }],
        'publish.done': { target: 'pending-unpublish', actions: ['keepContext', 'startOver'] },
        'publish.refused': { target: 'pending-unpublish', actions: ['startOver', 'doubt'] },
        'publish.not-sent': [
          { guard: 'isLastToResolve', target: 'pending-unpublish', actions: ['startOver', 'doubt'] },
          { actions: 'countToResolve' },
        ],
        'publish.unknown': [
          { guard: 'isLastToResolve', target: 'pending-unpublish', actions: ['startOver', 'doubt'] },
          { actions: 'countToResolve' },
        ],
        'publish.interrupted': {},
      },
    },
    published: {
      meta: { shownAs: 'published', health: 'healthy', words: '' },
      on: {
        publish: {},
        withdrawn: { target: 'pending-unpublish', actions: 'startOver' },
        'node.to-unstage': { target: 'pending-node-unpublish', actions: 'startOverWithHolds' },
        'listed-as-detached': { guard: 'isListCredible', target: 'republishing' },
      },
    },
    /** Its claims are given up; the node still has to report that it has unstaged the volume. */
    'pending-node-unpublish': {
      meta: {
        shownAs: 'pending-node-unpublish',
        health: 'waiting',
        words: 'waits for the node to unstage it',
        otherwise: { 'publish-under-way': 'waits for the node to unstage it, a publish is under way' },
      },
      on: {
        ...publishEnds,
        withdrawn: {},
        retry: { actions: 'hasten' },
        publish: { actions: 'wishNext' },
        'node.let-go': { target: 'pending-unpublish', actions: 'startOver' },
        'listed-as-detached': {
          guard: 'isListCredible',
          target: 'pending-unpublish',
          actions: ['startOver', 'confirmDetach'],
        },
      },
    },
    /** The plugin has to detach it. A forced deletion gives the agent of its node time to unmount it first. */
    'pending-unpublish': {
      meta: {
        shownAs: 'pending-unpublish',
        call: 'unpublish',
        words: { calling: 'being unpublished', restsAfter: 'not unpublished yet' },
        otherwise: {
          'publish-under-way': 'waits for a publish that is under way',
          'waiting-for-node': 'the node has time to unmount it',
        },
      },
      on: {
        ...publishEnds,
        withdrawn: {},
        retry: [{ guard: 'isNodeGivenTime' }, { actions: 'restart' }],
        publish: { actions: 'wishNext' },
        'node.fenced': { actions: ['fence', 'hasten'] },
        'node.given-time': [{ guard: 'isUnpublishUnderWay' }, { actions: 'count' }],
        'node.let-go': { guard: 'isNodeGivenTime', actions: 'hasten' },
        'node.time-over': { actions: 'hasten' },
        'listed-as-detached': { guard: 'isListCredible', actions: 'confirmDetach' },
        'unpublish.done': 'removed',
        'unpublish.not-found': [{ guard: 'isProofOfDetach', target: 'removed' }, { actions: 'count' }],
        'unpublish.refused': { target: 'failed.unpublish', actions: 'keepFailure' },
        'unpublish.failed': { actions: 'count' },
        'unpublish.interrupted': {},
        'unpublish.given-up': 'removed',
      },
    },
    /** Does nothing until somebody asks. */
    failed: {
      meta: { shownAs: 'failed', health: 'failed', words: '' },
      initial: 'refused',
      on: { withdrawn: { target: 'pending-unpublish', actions: 'startOver' } },
      states: {
        /** Could not be published; the volume is not attached. */
        refused: {
          meta: { words: 'publish refused' },
          on: {
            publish: {},
            retry: { guard: 'hasNothingInItsWay', target: '#publication.pending-publish', actions: 'restart' },
          },
        },
        /** Could not be published; an earlier attempt may have attached the volume. */
        'in-doubt': {
          meta: { words: 'publish refused, but an earlier attempt may have attached it' },
          entry: 'doubt',
          on: {
            retry: {
              guard: 'hasNothingInItsWay',
              target: '#publication.in-doubt',
              actions: ['restart', 'doubtIsItsState'],
            },
            publish: [
              { guard: 'isSameWish' },
              { target: '#publication.pending-unpublish', actions: ['startOver', 'wishNext'] },
            ],
          },
        },
        /** Was published, and could not be published again. The node may have staged the volume. */
        'was-published': {
          meta: { words: 'publish again refused, and the node may have it staged' },
          on: {
            'node.to-unstage': { target: '#publication.pending-node-unpublish', actions: 'startOverWithHolds' },
            retry: { guard: 'hasNothingInItsWay', target: '#publication.republishing', actions: 'restart' },
            publish: [
              { guard: 'isSameWish' },
              { guard: 'mayStillArrive', target: '#publication.pending-unpublish', actions: ['startOver', 'wishNext'] },
            ],
          },
        },
        /** Could not be unpublished; the volume may be attached. */
        unpublish: {
          meta: { words: 'unpublish refused, and it may be attached' },
          on: {
            retry: { target: '#publication.pending-unpublish', actions: 'restart' },
            publish: { target: '#publication.pending-unpublish', actions: ['startOver', 'wishNext'] },
          },
        },
      },
    },
    /** Gone from the node, or never came there. */
    removed: { meta: { health: 'gone', words: '' }, type: 'final' },
  },
});

/** Publication of a volume on one node: its data, and the path of its state. */
export type Publication = Part<typeof publicationMachine>;

export const publicationChart = new Chart(publicationMachine);

/** State that users see. */
export const publicStateOf = (publication: { at: string }): PublicationState => publicationChart.shownAs(publication);
