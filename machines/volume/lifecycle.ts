/**
 * Lifecycle of a volume: its creation and deletion, as far as its plugin has answered. A part of its volume
 * (volume.ts), which keeps it in its own record, makes its calls, and steps it with their outcomes. Diagram:
 * docs/machines/lifecycle.md (generated).
 */
import { assign, setup } from 'xstate';
import { maxUnproven } from '../kit/call-states.js';
import type { CallFailure, Tries } from '../kit/csi-types.js';
import { Chart, isIn, type Part, topState } from '../kit/parts.js';
import { workStates } from '../kit/work-states.js';
import type { CreatedVolume } from './wishes.js';

export interface LifecycleData {
  /** Failed attempts at the present goal, with the moment of the next one. */
  tries?: Tries | undefined;
  /** Reason of the failed state. */
  failure?: CallFailure | undefined;
  /** Volume that the plugin has made otherwise than asked: of no use, and deleted with this one. */
  madeOtherwise?: CreatedVolume | undefined;
  /** Number of times that the creation was begun again with another name. */
  round?: number | undefined;
  /** Number of those in a row that the plugin did not answer, and whose volume may lack the content of its source. */
  unproven?: number | undefined;
  /** The deletion goes on without what can't be confirmed. */
  force?: true | undefined;
}

interface FailedCall {
  failure: CallFailure;
  /** Includes this attempt. */
  tries: Tries;
}

export type LifecycleEvent =
  | { type: 'create' }
  | { type: 'delete'; force: boolean }
  /** Forgets a volume that was taken over: it stays with its plugin. */
  | { type: 'forget'; force: boolean }
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
  | { type: 'publications.found' }
  // The turn that the volume gives, and the outcome of the call.
  | { type: 'turn.given' }
  | { type: 'turn.lost' }
  | { type: 'call.waits' }
  | { type: 'create.done' }
  | { type: 'create.not-as-asked'; failure: CallFailure; made: CreatedVolume }
  /** An earlier call may have made the volume, and the plugin does not say that it has the content of its source. */
  | { type: 'create.unproven'; made: CreatedVolume }
  /** The plugin would refuse the same call again. */
  | ({ type: 'create.refused' } & FailedCall)
  /** The plugin has nothing that belongs to this volume, whatever earlier calls did. */
  | ({ type: 'create.made-nothing' } & FailedCall)
  /** The plugin has no room: this call has made nothing. An earlier one may have, and may have taken the room. */
  | ({ type: 'create.no-room' } & FailedCall)
  /** No call was made. */
  | ({ type: 'create.not-sent' } & FailedCall)
  /** The call may have made the volume, or may still. */
  | ({ type: 'create.unknown' } & FailedCall)
  /** The runtime ended while the call was under way: no attempt, but the call may have taken effect. */
  | { type: 'create.interrupted' }
  /** A forced deletion goes on without knowing what the plugin has made. */
  | { type: 'create.given-up' }
  /** The unproven volume is removed. `failure`: reason if no further one is made. */
  | { type: 'remove.done'; failure: CallFailure }
  | { type: 'delete.done' }
  | ({ type: 'delete.refused' } & FailedCall)
  | ({ type: 'delete.failed' } & FailedCall)
  | { type: 'delete.interrupted' }
  | { type: 'delete.given-up' };

const toEmptying = (inner: 'create-under-way' | 'waiting-for-publications') =>
  ({ target: `#lifecycle.emptying.${inner}`, actions: ['startOver', 'noteForce'] }) as const;

/** Outcomes of a creation that nobody waits for any more. */
const createEnds = <const TTarget extends string>(target: TTarget) => ({
  'call.waits': target,
  'turn.lost': target,
  'create.done': target,
  'create.refused': target,
  'create.made-nothing': target,
  'create.no-room': target,
  'create.not-sent': target,
  'create.unknown': target,
  'create.interrupted': target,
  'create.given-up': target,
});

export const lifecycleMachine = setup({
  types: {} as { context: LifecycleData; events: LifecycleEvent; tags: 'has-turn' },
  guards: {
    isMadeOtherwise: ({ context }) => context.madeOtherwise !== undefined,
    isLastRound: ({ context: { unproven = 0 } }) => unproven >= maxUnproven,
    hasFailedBefore: ({ context }) => context.tries !== undefined,
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
}).createMachine({
  id: 'lifecycle',
  version: '1',
  context: {},
  initial: 'absent',
  states: {
    /** No volume is there. A forced deletion may have left something of an earlier one. */
    absent: {
      entry: 'startOver',
      on: {
        create: { target: 'pending-create', actions: 'forgetForce' },
        'leftovers.delete': { target: 'emptying', actions: 'forceLeftovers' },
        'leftovers.find': { target: 'finding-out', actions: 'forceLeftovers' },
        'leftovers.detach': { target: 'letting-go', actions: 'forceLeftovers' },
      },
    },
    /** No call was sent that may have made the volume. */
    'pending-create': {
      initial: 'due',
      states: workStates({
        call: 'CreateVolume',
        restart: 'restart',
        outcomes: {
          'create.done': { target: '#lifecycle.created', actions: 'startOver' },
          'create.not-as-asked': { target: '#lifecycle.failed.not-as-asked', actions: ['keepFailure', 'keepMade'] },
          'create.refused': { target: '#lifecycle.failed.refused', actions: 'keepFailure' },
          'create.made-nothing': { target: '#lifecycle.failed.refused', actions: 'keepFailure' },
          'create.no-room': { target: 'backing-off', actions: 'count' },
          'create.not-sent': { target: 'backing-off', actions: 'count' },
          'create.unknown': { target: '#lifecycle.create-in-doubt.backing-off', actions: 'count' },
          // Attempts before the doubt have made nothing.
          'create.interrupted': { target: '#lifecycle.create-in-doubt.due', actions: 'forgetTries' },
        },
        calling: {
          delete: { target: '#lifecycle.finding-out.first-call', actions: ['startOver', 'noteForce'] },
          forget: { target: '#lifecycle.letting-go.create-under-way', actions: ['startOver', 'noteForce'] },
        },
      }),
      on: {
        delete: { target: 'absent', actions: 'noteForce' },
        forget: { target: 'absent', actions: 'noteForce' },
      },
    },
    /** An earlier call may have made the volume, or has made it otherwise than asked. */
    'create-in-doubt': {
      initial: 'due',
      states: workStates({
        call: 'CreateVolume',
        restart: 'restart',
        outcomes: {
          'create.done': { target: '#lifecycle.created', actions: 'startOver' },
          'create.not-as-asked': { target: '#lifecycle.failed.not-as-asked', actions: ['keepFailure', 'keepMade'] },
          'create.unproven': { target: '#lifecycle.removing-unproven', actions: ['keepMade', 'countUnproven'] },
          'create.refused': [
            { guard: 'isMadeOtherwise', target: '#lifecycle.failed.not-as-asked', actions: 'keepFailure' },
            { target: '#lifecycle.failed.in-doubt', actions: 'keepFailure' },
          ],
          'create.made-nothing': [
            { guard: 'isMadeOtherwise', target: '#lifecycle.failed.not-as-asked', actions: 'keepFailure' },
            { target: '#lifecycle.failed.refused', actions: 'keepFailure' },
          ],
          // The earlier call may have taken the room.
          'create.no-room': { target: 'backing-off', actions: 'count' },
          'create.not-sent': { target: 'backing-off', actions: 'count' },
          'create.unknown': { target: 'backing-off', actions: 'count' },
          'create.interrupted': 'due',
        },
        calling: {
          delete: [
            { guard: 'isMadeOtherwise', ...toEmptying('create-under-way') },
            { target: '#lifecycle.finding-out.calling', actions: ['startOver', 'noteForce'] },
          ],
        },
        waiting: {
          delete: [
            { guard: 'isMadeOtherwise', ...toEmptying('waiting-for-publications') },
            { target: '#lifecycle.finding-out.waiting-for-plugin', actions: ['startOver', 'noteForce'] },
          ],
        },
      }),
      on: {
        delete: [
          { guard: 'isMadeOtherwise', ...toEmptying('waiting-for-publications') },
          { target: 'finding-out', actions: ['startOver', 'noteForce'] },
        ],
      },
    },
    /** Removes a volume that may lack the content of its source; then it is made again, with another name. */
    'removing-unproven': {
      initial: 'due',
      states: workStates({
        call: 'DeleteVolume',
        restart: 'restart',
        outcomes: {
          'remove.done': [
            { guard: 'isLastRound', target: '#lifecycle.failed.unproven', actions: ['nextRound', 'keepFailure'] },
            { target: '#lifecycle.pending-create', actions: 'nextRound' },
          ],
          'delete.refused': { target: '#lifecycle.failed.not-as-asked', actions: 'keepFailure' },
          'delete.failed': { target: 'backing-off', actions: 'count' },
          'delete.interrupted': 'due',
        },
        calling: { delete: { target: '#lifecycle.pending-delete.calling', actions: ['startOver', 'noteForce'] } },
        waiting: {
          delete: { target: '#lifecycle.pending-delete.waiting-for-plugin', actions: ['startOver', 'noteForce'] },
        },
      }),
      on: { delete: toEmptying('waiting-for-publications') },
    },
    created: {
      on: {
        retry: {},
        delete: toEmptying('waiting-for-publications'),
        forget: { target: 'letting-go', actions: 'noteForce' },
      },
    },
    /** Delete requested with an unknown id: CreateVolume is repeated to learn it. */
    'finding-out': {
      initial: 'due',
      states: {
        /** Given up while the very first call was under way. */
        'first-call': {
          tags: 'has-turn',
          meta: { call: 'CreateVolume (sent before)' },
          on: {
            delete: { actions: 'noteForce' },
            retry: { actions: 'restart' },
            ...createEnds('#lifecycle.absent'),
            'create.done': '#lifecycle.emptying',
            'create.unknown': { target: 'backing-off', actions: 'count' },
            'create.interrupted': 'due',
          },
        },
        ...workStates({
          call: 'CreateVolume',
          restart: 'restart',
          outcomes: {
            'create.done': { target: '#lifecycle.emptying', actions: 'startOver' },
            'create.refused': { target: '#lifecycle.failed.finding-out', actions: 'keepFailure' },
            'create.made-nothing': '#lifecycle.absent',
            'create.no-room': { target: 'backing-off', actions: 'count' },
            'create.not-sent': { target: 'backing-off', actions: 'count' },
            'create.unknown': { target: 'backing-off', actions: 'count' },
            'create.interrupted': 'due',
            'create.given-up': '#lifecycle.absent',
          },
          calling: { delete: [{ guard: 'isNewlyForced', actions: ['restart', 'noteForce'] }, {}] },
          waiting: { delete: [{ guard: 'isNewlyForced', actions: ['restart', 'noteForce'] }, {}] },
        }),
      },
      on: { delete: [{ guard: 'isNewlyForced', target: '.due', actions: ['restart', 'noteForce'] }, {}] },
    },
    /** Deleted once no node has the volume. */
    emptying: {
      initial: 'waiting-for-publications',
      states: {
        'waiting-for-publications': {
          on: {
            'publications.gone': [
              { guard: 'hasFailedBefore', target: '#lifecycle.pending-delete.backing-off' },
              { target: '#lifecycle.pending-delete' },
            ],
          },
        },
        /** A repeated creation has not ended yet. */
        'create-under-way': { tags: 'has-turn', on: createEnds('waiting-for-publications') },
      },
      on: {
        retry: { actions: 'restart' },
        delete: [{ guard: 'isNewlyForced', actions: ['restart', 'noteForce'] }, {}],
      },
    },
    /** Forgotten once no node has the volume: the plugin keeps the volume, or has lost it. */
    'letting-go': {
      initial: 'waiting-for-publications',
      states: {
        'waiting-for-publications': { on: { 'publications.gone': '#lifecycle.absent' } },
        'create-under-way': { tags: 'has-turn', on: createEnds('waiting-for-publications') },
      },
      on: { retry: {}, delete: { actions: 'noteForce' }, forget: { actions: 'noteForce' } },
    },
    'pending-delete': {
      initial: 'due',
      states: workStates({
        call: 'DeleteVolume',
        restart: 'restart',
        outcomes: {
          'delete.done': '#lifecycle.absent',
          'delete.refused': { target: '#lifecycle.failed.delete', actions: 'keepFailure' },
          'delete.failed': { target: 'backing-off', actions: 'count' },
          'delete.interrupted': 'due',
          'delete.given-up': '#lifecycle.absent',
        },
        calling: {
          delete: [{ guard: 'isNewlyForced', actions: ['restart', 'noteForce'] }, {}],
          'publications.found': {},
        },
        waiting: {
          delete: [{ guard: 'isNewlyForced', actions: ['restart', 'noteForce'] }, {}],
          'publications.found': {},
        },
      }),
      on: {
        delete: [{ guard: 'isNewlyForced', target: '.due', actions: ['restart', 'noteForce'] }, {}],
        'publications.found': 'emptying',
      },
    },
    /** Does nothing until somebody asks. */
    failed: {
      initial: 'refused',
      states: {
        /** Could not be created; nothing is there. */
        refused: {
          on: {
            retry: { target: '#lifecycle.pending-create', actions: 'restart' },
            delete: { target: '#lifecycle.absent', actions: 'noteForce' },
            forget: { target: '#lifecycle.absent', actions: 'noteForce' },
          },
        },
        /** Could not be created; an earlier attempt may have made the volume. */
        'in-doubt': {
          on: {
            retry: { target: '#lifecycle.create-in-doubt', actions: 'restart' },
            delete: { target: '#lifecycle.finding-out', actions: ['startOver', 'noteForce'] },
          },
        },
        /** Three volumes were made and removed: none was proven to have the content of its source. */
        unproven: {
          on: {
            retry: { target: '#lifecycle.pending-create', actions: 'restart' },
            delete: { target: '#lifecycle.absent', actions: 'noteForce' },
          },
        },
        /** Exists, but otherwise than asked. */
        'not-as-asked': {
          on: {
            retry: { target: '#lifecycle.create-in-doubt', actions: 'restart' },
            delete: toEmptying('waiting-for-publications'),
          },
        },
        /** Delete requested, and the plugin does not report the id. */
        'finding-out': {
          on: {
            retry: { target: '#lifecycle.finding-out', actions: 'restart' },
            delete: { target: '#lifecycle.finding-out', actions: ['restart', 'noteForce'] },
          },
        },
        /** Could not be deleted, and is there. */
        delete: {
          on: {
            retry: { target: '#lifecycle.pending-delete', actions: 'restart' },
            delete: { target: '#lifecycle.pending-delete', actions: ['restart', 'noteForce'] },
          },
        },
      },
    },
  },
});

/** Lifecycle of a volume: its data, and the path of its state. */
export type Lifecycle = Part<typeof lifecycleMachine>;

export const lifecycleChart = new Chart(lifecycleMachine);

/** Lifecycle of a volume that does not exist. */
export const absent = lifecycleChart.begin(undefined);

const leaving = ['finding-out', 'emptying', 'letting-go', 'pending-delete'];

/** Whether the deletion was asked for, and is not done. */
export const isLeaving = (lifecycle: Lifecycle): boolean =>
  leaving.includes(topState(lifecycle)) || lifecycle.at === 'failed.delete' || lifecycle.at === 'failed.finding-out';

/** Whether the deletion was asked for, done or not. */
export const isDeleted = (lifecycle: Lifecycle): boolean => isLeaving(lifecycle) || lifecycle.at === 'absent';

/** Reason why the volume could not be created; undefined if it was, or still may be. */
export const creationFailure = (lifecycle: Lifecycle): CallFailure | undefined =>
  isIn(lifecycle, 'failed') && lifecycle.at !== 'failed.delete' ? lifecycle.failure : undefined;

/** Whether the creation or its deletion has failed, and CreateVolume may have made the volume. */
export const isFailedInDoubt = ({ at }: Lifecycle): boolean => at === 'failed.in-doubt' || at === 'failed.finding-out';
