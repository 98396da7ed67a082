/**
 * Lifecycle of a volume: its creation and deletion, as far as its plugin has answered. A part of its volume
 * (volume.ts), which keeps it in its own record, makes its calls, and steps it with their outcomes. Diagram:
 * docs/machines/lifecycle.md (generated).
 */
import type { CallFailure } from '../kit/csi-types.js';
import { Chart, isIn, type Part, topState } from '../kit/parts.js';
import { repeated } from '../kit/state-words.js';
import { lifecycleSetup } from './lifecycle-setup.js';

const toEmptying = { target: '#lifecycle.emptying', actions: ['startOver', 'noteForce'] } as const;
const deletedAgain = [{ guard: 'isNewlyForced', actions: ['restart', 'noteForce'] }, {}] as const;

/** Outcomes of a creation that nobody waits for any more. */
const createEnds = {
  'create.done': {},
  'create.refused': {},
  'create.made-nothing': {},
  'create.no-room': {},
  'create.not-sent': {},
  'create.unknown': {},
  'create.interrupted': {},
  'create.given-up': {},
} as const;

export const lifecycleMachine = lifecycleSetup.createMachine({
  id: 'lifecycle',
  version: '2',
  context: {},
  initial: 'absent',
  // Sent whenever a call was not made: most phases have nothing to do.
  on: { 'call.not-made': {} },
  states: {
    /** No volume is there. A forced deletion may have left something of an earlier one. */
    absent: {
      meta: { shownAs: 'deleted', health: 'gone', words: '' },
      entry: 'startOver',
      on: {
        create: { target: 'pending-create', actions: 'forgetForce' },
        'leftovers.delete': { target: 'emptying', actions: 'forceLeftovers' },
        'leftovers.find': { target: 'finding-out', actions: 'forceLeftovers' },
        'leftovers.detach': { target: 'letting-go', actions: 'forceLeftovers' },
      },
    },
    /** No call was sent before that may have made the volume. */
    'pending-create': {
      meta: {
        shownAs: 'pending-create',
        call: 'create',
        words: { calling: 'being created', restsAfter: 'create not sent' },
      },
      on: {
        retry: { actions: 'restart' },
        delete: [
          { guard: 'isCreateUnderWay', target: 'finding-out-first-call', actions: ['startOver', 'noteForce'] },
          { target: 'absent', actions: 'noteForce' },
        ],
        forget: [
          { guard: 'isCreateUnderWay', target: 'letting-go', actions: ['startOver', 'noteForce'] },
          { target: 'absent', actions: 'noteForce' },
        ],
        'create.done': { target: 'created', actions: 'startOver' },
        'create.not-as-asked': { target: 'failed.not-as-asked', actions: ['keepFailure', 'keepMade'] },
        'create.refused': { target: 'failed.refused', actions: 'keepFailure' },
        'create.made-nothing': { target: 'failed.refused', actions: 'keepFailure' },
        'create.no-room': { actions: 'count' },
        'create.not-sent': { actions: 'count' },
        'create.unknown': { target: 'create-in-doubt', actions: 'count' },
        // Attempts before the doubt have made nothing.
        'create.interrupted': { target: 'create-in-doubt', actions: 'forgetTries' },
      },
    },
    /** An earlier call may have made the volume, or has made it otherwise than asked. */
    'create-in-doubt': {
      meta: { shownAs: 'pending-create', call: 'create', health: 'in-doubt', words: repeated('create in doubt') },
      on: {
        retry: { actions: 'restart' },
        delete: [
          { guard: 'isMadeOtherwise', ...toEmptying },
          { target: 'finding-out', actions: ['startOver', 'noteForce'] },
        ],
        'create.done': { target: 'created', actions: 'startOver' },
        'create.not-as-asked': { target: 'failed.not-as-asked', actions: ['keepFailure', 'keepMade'] },
        'create.unproven': { target: 'removing-unproven', actions: ['keepMade', 'countUnproven'] },
        'create.refused': [
          { guard: 'isMadeOtherwise', target: 'failed.not-as-asked', actions: 'keepFailure' },
          { target: 'failed.in-doubt', actions: 'keepFailure' },
        ],
        'create.made-nothing': [
          { guard: 'isMadeOtherwise', target: 'failed.not-as-asked', actions: 'keepFailure' },
          { target: 'failed.refused', actions: 'keepFailure' },
        ],
        // The earlier call may have taken the room.
        'create.no-room': { actions: 'count' },
        'create.not-sent': { actions: 'count' },
        'create.unknown': { actions: 'count' },
        'create.interrupted': {},
      },
    },
    /** Removes a volume that may lack the content of its source; then it is made again, with another name. */
    'removing-unproven': {
      meta: {
        shownAs: 'pending-create',
        call: 'remove',
        words: {
          waiting: 'may lack its content, to be removed',
          calling: 'may lack its content, being removed',
          restsAfter: 'may lack its content, not removed yet',
        },
      },
      on: {
        retry: { actions: 'restart' },
        delete: [
          { guard: 'isRemoveUnderWay', target: 'pending-delete', actions: ['startOver', 'noteForce'] },
          toEmptying,
        ],
        'delete.done': [
          { guard: 'isThirdUnproven', target: 'failed.unproven', actions: ['nextRound', 'keepFailure'] },
          { target: 'pending-create', actions: 'nextRound' },
        ],
        'delete.refused': { target: 'failed.not-as-asked', actions: 'keepFailure' },
        'delete.failed': { actions: 'count' },
        'delete.interrupted': {},
      },
    },
    created: {
      meta: { health: 'healthy', words: '' },
      on: {
        retry: {},
        delete: toEmptying,
        forget: { target: 'letting-go', actions: 'noteForce' },
      },
    },
    /** Deleted while the very first call is under way: if that was not sent, nothing is there. */
    'finding-out-first-call': {
      meta: {
        shownAs: 'pending-create',
        call: 'create',
        health: 'in-doubt',
        words: { calling: 'create given up, its call is under way', restsAfter: 'create given up' },
      },
      on: {
        delete: { actions: 'noteForce' },
        retry: { actions: 'restart' },
        'call.not-made': 'absent',
        'create.refused': 'absent',
        'create.made-nothing': 'absent',
        'create.no-room': 'absent',
        'create.not-sent': 'absent',
        'create.given-up': 'absent',
        'create.done': 'emptying',
        'create.unknown': { target: 'finding-out', actions: 'count' },
        'create.interrupted': 'finding-out',
      },
    },
    /** Delete requested with an unknown id: CreateVolume is repeated to learn it. */
    'finding-out': {
      meta: {
        shownAs: 'pending-create',
        call: 'create',
        health: 'in-doubt',
        words: repeated('create in doubt and given up', 'to learn its id'),
      },
      on: {
        retry: { actions: 'restart' },
        delete: deletedAgain,
        'create.done': { target: 'emptying', actions: 'startOver' },
        'create.refused': { target: 'failed.finding-out', actions: 'keepFailure' },
        'create.made-nothing': 'absent',
        'create.no-room': { actions: 'count' },
        'create.not-sent': { actions: 'count' },
        'create.unknown': { actions: 'count' },
        'create.interrupted': {},
        'create.given-up': 'absent',
      },
    },
    /** Deleted once no node has the volume, and no creation is under way. */
    emptying: {
      meta: {
        health: 'waiting',
        words: 'deleted once no node has it',
        otherwise: { 'create-under-way': 'deleted once the create that is under way has ended' },
      },
      on: {
        ...createEnds,
        retry: { actions: 'restart' },
        delete: deletedAgain,
        'publications.gone': 'pending-delete',
      },
    },
    /** Forgotten once no node has the volume: the plugin keeps the volume, or has lost it. */
    'letting-go': {
      meta: {
        health: 'waiting',
        words: 'forgotten once no node has it',
        otherwise: { 'create-under-way': 'forgotten once the call that is under way has ended' },
      },
      on: {
        ...createEnds,
        retry: {},
        delete: { actions: 'noteForce' },
        forget: { actions: 'noteForce' },
        'publications.gone': 'absent',
      },
    },
    'pending-delete': {
      meta: {
        shownAs: 'pending-delete',
        call: 'delete',
        words: { calling: 'being deleted', restsAfter: 'not deleted yet' },
      },
      on: {
        retry: { actions: 'restart' },
        delete: deletedAgain,
        'publications.found': 'emptying',
        'delete.done': 'absent',
        'delete.refused': { target: 'failed.delete', actions: 'keepFailure' },
        'delete.failed': { actions: 'count' },
        'delete.interrupted': {},
        'delete.given-up': 'absent',
      },
    },
    /** Does nothing until somebody asks. */
    failed: {
      meta: { shownAs: 'failed', health: 'failed', words: '' },
      initial: 'refused',
      states: {
        /** Could not be created; nothing is there. */
        refused: {
          meta: { words: 'create refused' },
          on: {
            retry: { target: '#lifecycle.pending-create', actions: 'restart' },
            delete: { target: '#lifecycle.absent', actions: 'noteForce' },
            forget: { target: '#lifecycle.absent', actions: 'noteForce' },
          },
        },
        /** Could not be created; an earlier attempt may have made the volume. */
        'in-doubt': {
          meta: { words: 'create refused, but an earlier attempt may have created it' },
          on: {
            retry: { target: '#lifecycle.create-in-doubt', actions: 'restart' },
            delete: { target: '#lifecycle.finding-out', actions: ['startOver', 'noteForce'] },
          },
        },
        /** Three volumes were made and removed: none was proven to have the content of its source. */
        unproven: {
          meta: { words: 'created three times, never with proof of its content, and removed' },
          on: {
            retry: { target: '#lifecycle.pending-create', actions: 'restart' },
            delete: { target: '#lifecycle.absent', actions: 'noteForce' },
          },
        },
        /** Exists, but otherwise than asked. */
        'not-as-asked': {
          meta: { words: 'created, but not as requested' },
          on: {
            retry: { target: '#lifecycle.create-in-doubt', actions: 'restart' },
            delete: toEmptying,
          },
        },
        /** Delete requested, and the plugin does not report the id. */
        'finding-out': {
          meta: { words: 'create given up, and its id is not known' },
          on: {
            retry: { target: '#lifecycle.finding-out', actions: 'restart' },
            delete: { target: '#lifecycle.finding-out', actions: ['restart', 'noteForce'] },
          },
        },
        /** Could not be deleted, and is there. */
        delete: {
          meta: { words: 'delete refused' },
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

const leaving = ['finding-out-first-call', 'finding-out', 'emptying', 'letting-go', 'pending-delete'];

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
