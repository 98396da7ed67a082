/**
 * A publication: a volume on one node, as the controller side knows it. A part of its volume (volume.ts), which keeps
 * it in its own record, makes its calls, and steps it with their outcomes. Diagram: docs/machines/publication.md
 * (generated).
 */
import { Chart, type Part, topState } from '../kit/parts.js';
import { workStates } from '../kit/work-states.js';
import { publicationSetup } from './publication-setup.js';
import type { PublicationState } from './wishes.js';

/** Continues after a call that publishes again, while the publication leaves: its node may have time to unmount it. */
const afterPublish = (...actions: ('keepContext' | 'doubt')[]) => [
  { guard: 'isNodeGivenTime' as const, target: 'waiting-for-node' as const, actions },
  { target: 'due' as const, actions },
];

export const publicationMachine = publicationSetup.createMachine({
  id: 'publication',
  version: '1',
  context: ({ input }) => input,
  initial: 'new',
  on: {
    'wish.dropped': { actions: 'dropWish' },
    'node.fenced': { actions: 'fence' },
    // Sent to all publications of a volume: most states have nothing to do.
    retry: {},
    'listed-as-detached': {},
  },
  states: {
    /** Exists within one step only. */
    new: {
      on: {
        wanted: 'pending-publish',
        'wanted-again': 'republishing',
        'found-attached': 'pending-unpublish',
      },
    },
    /** Wanted; no call was sent that may have attached the volume. */
    'pending-publish': {
      initial: 'due',
      states: workStates({
        call: 'ControllerPublishVolume',
        restart: 'restart',
        outcomes: {
          'publish.done': { target: '#publication.published', actions: ['keepContext', 'hasten'] },
          'publish.refused': { target: '#publication.failed.refused', actions: 'keepFailure' },
          'publish.not-sent': { target: 'backing-off', actions: 'count' },
          'publish.unknown': { target: '#publication.in-doubt.backing-off', actions: 'count' },
          'publish.interrupted': '#publication.in-doubt.due',
        },
        calling: {
          withdrawn: { target: '#publication.cancelling.first-call', actions: 'restartResolving' },
          publish: [
            { guard: 'isSameWish', actions: 'staysWanted' },
            { target: '#publication.cancelling.first-call', actions: ['wishNext', 'restartResolving'] },
          ],
        },
      }),
      on: {
        withdrawn: 'removed',
        publish: [
          { guard: 'isSameWish', actions: 'staysWanted' },
          { target: 'removed', actions: 'wishNext' },
        ],
      },
    },
    /** Wanted; an earlier call may have attached the volume, or may still. */
    'in-doubt': {
      initial: 'due',
      states: workStates({
        call: 'ControllerPublishVolume',
        restart: 'restart',
        outcomes: {
          'publish.done': { target: '#publication.published', actions: ['keepContext', 'hasten'] },
          'publish.refused': { target: '#publication.failed.in-doubt', actions: 'keepFailure' },
          'publish.not-sent': { target: 'backing-off', actions: 'count' },
          'publish.unknown': { target: 'backing-off', actions: 'count' },
          'publish.interrupted': 'due',
        },
        calling: {
          withdrawn: { target: '#publication.cancelling.calling', actions: 'restartResolving' },
          publish: [
            { guard: 'isSameWish', actions: 'staysWanted' },
            { target: '#publication.cancelling.calling', actions: ['wishNext', 'restartResolving'] },
          ],
        },
        waiting: {
          withdrawn: { target: '#publication.cancelling.waiting-for-plugin', actions: 'restartResolving' },
          publish: [
            { guard: 'isSameWish', actions: 'staysWanted' },
            { target: '#publication.cancelling.waiting-for-plugin', actions: ['wishNext', 'restartResolving'] },
          ],
        },
      }),
      on: {
        withdrawn: { target: 'cancelling', actions: 'restartResolving' },
        publish: [
          { guard: 'isSameWish', actions: 'staysWanted' },
          { target: 'cancelling', actions: ['wishNext', 'restartResolving'] },
        ],
      },
    },
    /** Was published, and the plugin no longer lists it. The node may have staged the volume. */
    republishing: {
      initial: 'due',
      states: workStates({
        call: 'ControllerPublishVolume',
        restart: 'restart',
        outcomes: {
          'publish.done': { target: '#publication.published', actions: ['keepContext', 'hasten'] },
          'publish.refused': { target: '#publication.failed.was-published', actions: 'keepFailure' },
          'publish.not-sent': { target: 'backing-off', actions: 'count' },
          'publish.unknown': { target: 'backing-off', actions: ['count', 'doubt'] },
          'publish.interrupted': { target: 'due', actions: 'doubt' },
        },
        calling: {
          withdrawn: { target: '#publication.pending-unpublish.publish-under-way', actions: 'startOver' },
          'node.to-unstage': {
            target: '#publication.pending-node-unpublish.publish-under-way',
            actions: 'startOverWithHolds',
          },
          publish: [
            { guard: 'isSameUse', actions: 'staysWanted' },
            { target: '#publication.pending-unpublish.publish-under-way', actions: ['wishNext', 'startOver'] },
          ],
        },
      }),
      on: {
        withdrawn: { target: 'pending-unpublish', actions: 'startOver' },
        'node.to-unstage': { target: 'pending-node-unpublish', actions: 'startOverWithHolds' },
        publish: [
          { guard: 'isSameUse', actions: 'staysWanted' },
          { target: 'pending-unpublish', actions: ['wishNext', 'startOver'] },
        ],
      },
    },
    /** Not wanted, but a call may have attached the volume: the call is repeated to learn its outcome, then undone. */
    cancelling: {
      initial: 'due',
      states: {
        /** Cancelled while the very first call was under way. */
        'first-call': {
          tags: 'has-turn',
          meta: { call: 'ControllerPublishVolume (sent before)' },
          on: {
            publish: [
              { guard: 'isSameWish', target: '#publication.pending-publish.calling', actions: 'staysWanted' },
              { actions: 'wishNext' },
            ],
            retry: { actions: 'restartResolving' },
            'call.waits': '#publication.removed',
            'turn.lost': '#publication.removed',
            'publish.not-sent': '#publication.removed',
            'publish.done': { target: '#publication.pending-unpublish', actions: ['keepContext', 'startOver'] },
            'publish.refused': { target: '#publication.pending-unpublish', actions: 'startOver' },
            'publish.unknown': { target: 'backing-off', actions: 'countToResolve' },
            'publish.interrupted': 'due',
          },
        },
        ...workStates({
          call: 'ControllerPublishVolume',
          restart: 'restartResolving',
          outcomes: {
            'publish.done': { target: '#publication.pending-unpublish', actions: ['keepContext', 'startOver'] },
            'publish.refused': { target: '#publication.pending-unpublish', actions: ['startOver', 'doubt'] },
            'publish.not-sent': [
              {
                guard: 'isLastToResolve',
                target: '#publication.pending-unpublish',
                actions: ['startOver', 'doubt'],
              },
              { target: 'backing-off', actions: 'countToResolve' },
            ],
            'publish.unknown': [
              {
                guard: 'isLastToResolve',
                target: '#publication.pending-unpublish',
                actions: ['startOver', 'doubt'],
              },
              { target: 'backing-off', actions: 'countToResolve' },
            ],
            'publish.interrupted': 'due',
          },
          calling: {
            publish: [
              { guard: 'isSameWish', target: '#publication.in-doubt.calling', actions: 'staysWanted' },
              { actions: 'wishNext' },
            ],
          },
          waiting: {
            publish: [
              { guard: 'isSameWish', target: '#publication.in-doubt.waiting-for-plugin', actions: 'staysWanted' },
              { actions: 'wishNext' },
            ],
          },
        }),
      },
      on: {
        withdrawn: {},
        publish: [{ guard: 'isSameWish', target: 'in-doubt', actions: 'staysWanted' }, { actions: 'wishNext' }],
      },
    },
    published: {
      on: {
        publish: {},
        withdrawn: { target: 'pending-unpublish', actions: 'startOver' },
        'node.to-unstage': { target: 'pending-node-unpublish', actions: 'startOverWithHolds' },
        'listed-as-detached': { guard: 'isListCredible', target: 'republishing' },
      },
    },
    /** Its claims are given up; the node still has to report that it has unstaged the volume. */
    'pending-node-unpublish': {
      initial: 'waiting-for-node',
      states: {
        'waiting-for-node': {
          on: {
            'node.let-go': { target: '#publication.pending-unpublish', actions: 'startOver' },
            'listed-as-detached': {
              guard: 'isListCredible',
              target: '#publication.pending-unpublish',
              actions: ['startOver', 'confirmDetach'],
            },
          },
        },
        /** A call that publishes it again has not ended yet. */
        'publish-under-way': {
          tags: 'has-turn',
          on: {
            'node.let-go': { target: '#publication.pending-unpublish.publish-under-way', actions: 'startOver' },
            'call.waits': 'waiting-for-node',
            'turn.lost': 'waiting-for-node',
            'publish.not-sent': 'waiting-for-node',
            'publish.refused': 'waiting-for-node',
            'publish.done': { target: 'waiting-for-node', actions: 'keepContext' },
            'publish.unknown': { target: 'waiting-for-node', actions: 'doubt' },
            'publish.interrupted': { target: 'waiting-for-node', actions: 'doubt' },
          },
        },
      },
      on: {
        withdrawn: {},
        publish: { actions: 'wishNext' },
        retry: { actions: 'hasten' },
      },
    },
    'pending-unpublish': {
      initial: 'due',
      states: {
        /** A call that publishes it again has not ended yet. */
        'publish-under-way': {
          tags: 'has-turn',
          on: {
            retry: [{ guard: 'isNodeGivenTime' }, { actions: 'restart' }],
            'node.fenced': { actions: ['fence', 'hasten'] },
            'node.given-time': { actions: 'count' },
            'node.let-go': { actions: 'hasten' },
            'listed-as-detached': {},
            'call.waits': afterPublish(),
            'turn.lost': afterPublish(),
            'publish.not-sent': afterPublish(),
            'publish.refused': afterPublish(),
            'publish.done': afterPublish('keepContext'),
            'publish.unknown': afterPublish('doubt'),
            'publish.interrupted': afterPublish('doubt'),
          },
        },
        /** A forced deletion gives the agent of its node time to unmount it. */
        'waiting-for-node': {
          on: {
            retry: {},
            'listed-as-detached': {},
            'node.let-go': { target: 'due', actions: 'hasten' },
            'turn.given': 'calling',
          },
        },
        ...workStates({
          call: 'ControllerUnpublishVolume',
          restart: 'restart',
          outcomes: {
            'unpublish.done': '#publication.removed',
            'unpublish.not-found': [
              { guard: 'isProofOfDetach', target: '#publication.removed' },
              { guard: 'isFinal', target: '#publication.failed.unpublish', actions: 'keepFailure' },
              { target: 'backing-off', actions: 'count' },
            ],
            'unpublish.refused': { target: '#publication.failed.unpublish', actions: 'keepFailure' },
            'unpublish.failed': { target: 'backing-off', actions: 'count' },
            'unpublish.interrupted': 'due',
            'unpublish.given-up': '#publication.removed',
          },
          calling: {
            'node.fenced': { actions: ['fence', 'hasten'] },
            'node.given-time': {},
            'listed-as-detached': {},
          },
          waiting: { 'node.fenced': { actions: ['fence', 'hasten'] }, 'listed-as-detached': {} },
        }),
      },
      on: {
        withdrawn: {},
        publish: { actions: 'wishNext' },
        'node.fenced': { target: '.due', actions: ['fence', 'hasten'] },
        'node.given-time': { target: '.waiting-for-node', actions: 'count' },
        'listed-as-detached': { guard: 'isListCredible', target: '.due', actions: 'confirmDetach' },
      },
    },
    /** Does nothing until somebody asks. */
    failed: {
      initial: 'refused',
      on: { withdrawn: { target: 'pending-unpublish', actions: 'startOver' } },
      states: {
        /** Could not be published; the volume is not attached. */
        refused: {
          on: {
            publish: {},
            retry: { guard: 'isPlaceFree', target: '#publication.pending-publish', actions: 'restart' },
          },
        },
        /** Could not be published; an earlier attempt may have attached the volume. */
        'in-doubt': {
          entry: 'doubt',
          on: {
            retry: { guard: 'isPlaceFree', target: '#publication.in-doubt', actions: ['restart', 'doubtIsItsState'] },
            publish: [
              { guard: 'isSameWish' },
              { target: '#publication.pending-unpublish', actions: ['startOver', 'wishNext'] },
            ],
          },
        },
        /** Was published, and could not be published again. The node may have staged the volume. */
        'was-published': {
          on: {
            'node.to-unstage': { target: '#publication.pending-node-unpublish', actions: 'startOverWithHolds' },
            retry: { guard: 'isPlaceFree', target: '#publication.republishing', actions: 'restart' },
            publish: [
              { guard: 'isSameWish' },
              { guard: 'mayStillArrive', target: '#publication.pending-unpublish', actions: ['startOver', 'wishNext'] },
            ],
          },
        },
        /** Could not be unpublished; the volume may be attached. */
        unpublish: {
          on: {
            retry: { target: '#publication.pending-unpublish', actions: 'restart' },
            publish: { target: '#publication.pending-unpublish', actions: ['startOver', 'wishNext'] },
          },
        },
      },
    },
    /** Gone from the node, or never came there. */
    removed: { type: 'final' },
  },
});

/** Publication of a volume on one node: its data, and the path of its state. */
export type Publication = Part<typeof publicationMachine>;

export const publicationChart = new Chart(publicationMachine);

const publicStates: Record<string, PublicationState> = {
  'pending-publish': 'pending-publish',
  'in-doubt': 'pending-publish',
  republishing: 'pending-publish',
  cancelling: 'pending-publish',
  published: 'published',
  'pending-node-unpublish': 'pending-node-unpublish',
  'pending-unpublish': 'pending-unpublish',
  failed: 'failed',
};

/** State that users see. */
export function publicStateOf(publication: { at: string }): PublicationState {
  const state = publicStates[topState(publication)];
  if (!state) throw new Error(`a publication in state '${publication.at}' has no state to show to users`);
  return state;
}
