/**
 * Phases of a snapshot: how far it is with its plugin, made, awaited or deleted. How far its call is, says the machine
 * (snapshot.ts), which steps the phases by requests and by outcomes of the call. Diagram: docs/machines/snapshot.md
 * (generated).
 */
import { assign, setup } from 'xstate';
import { maxUnproven } from '../kit/call.js';
import { Chart, type Part, type PhaseMeta } from '../kit/parts.js';
import { repeated, type StateWords } from '../kit/state-words.js';
import {
  attemptFailed,
  begun,
  callRefused,
  created,
  deletionAsked,
  distrusted,
  findingOutGivenUp,
  found,
  foundOther,
  hadNoRoom,
  interrupted,
  lookedAt,
  lookedMeanwhile,
  noRoomToFindOut,
  noSnapshot,
  refusedToFindOut,
  removalGivenUp,
  removed,
  retried,
  retriedLeftovers,
} from './changes.js';
import type { SnapshotCallKind, SnapshotData, SnapshotInput, SnapshotPhaseEvent, SnapshotState } from './types.js';

const phaseSetup = setup({
  types: {} as {
    context: SnapshotData;
    events: SnapshotPhaseEvent;
    input: SnapshotInput;
    meta: PhaseMeta<SnapshotState, SnapshotCallKind> & Partial<StateWords>;
  },
  guards: {
    isCreateUnderWay: ({ event }) => event.type === 'snapshot.delete' && event.underWay === 'create',
    isForcing: ({ context, event }) => event.type === 'snapshot.delete' && event.force && !context.isForced,
    isReady: ({ event }) => 'made' in event && event.made.isReady,
    isAnotherSnapshot: ({ context, event }) => 'made' in event && event.made.csiId !== context.csi?.csiId,
    isMoreToRemove: ({ context: { csi, discards } }) => discards.length + (csi ? 1 : 0) > 1,
    isThirdUntrusted: ({ context }) => context.untrusted >= maxUnproven,
    hasLeftovers: ({ context }) => context.leftovers.length > 0,
    isIdUnknown: ({ context }) => context.left.asked !== undefined,
    isIdKnown: ({ context }) => context.left.made.length > 0,
  },
  actions: {
    change: assign((_, change: Partial<SnapshotData>) => change),
  },
});

/** Changes the data by a pure function of changes.ts. */
const becomes = <TEvent>(change: (data: SnapshotData, event: TEvent) => Partial<SnapshotData>) => ({
  type: 'change' as const,
  params: ({ context, event }: { context: SnapshotData; event: TEvent }) => change(context, event),
});

const again = becomes(retried);
const asked = becomes(deletionAsked);
const count = becomes(attemptFailed);
const keepFailure = becomes(callRefused);

/** The call has not ended as far as is known, and is made once more. */
const madeOnceMore = { 'call.interrupted': {}, 'call.not-made': {} } as const;

/** Asked again while it is being deleted. */
const askedAgain = {
  'snapshot.retry': { actions: again },
  'snapshot.delete': [{ guard: 'isForcing', actions: asked }, {}],
} as const;

export const snapshotPhases = phaseSetup.createMachine({
  id: 'snapshot',
  version: '1',
  context: ({ input }) => noSnapshot(input),
  initial: 'absent',
  states: {
    /** Nothing is there: it was never made, or is deleted. */
    absent: {
      meta: { shownAs: 'deleted', health: 'gone', words: '' },
      on: { 'snapshot.create': { target: 'pending-create', actions: becomes(begun) } },
    },
    /** No call was sent that may have made it, but for the present one. */
    'pending-create': {
      meta: {
        shownAs: 'pending-create',
        call: 'create',
        words: { calling: 'being created', restsAfter: 'create not sent' },
      },
      on: {
        'snapshot.retry': { actions: again },
        'snapshot.delete': [
          { guard: 'isCreateUnderWay', target: 'finding-out-first-call', actions: asked },
          { target: 'absent' },
        ],
        'create.done': [
          { guard: 'isReady', target: 'ready', actions: becomes(created) },
          { target: 'waiting-until-ready', actions: becomes(created) },
        ],
        'create.refused': { target: 'failed.refused', actions: keepFailure },
        'create.id-taken': { target: 'failed.refused', actions: keepFailure },
        'create.no-room': { target: 'failed.in-doubt', actions: becomes(hadNoRoom) },
        'create.unknown': { target: 'create-in-doubt', actions: count },
        'create.changed-nothing': { actions: count },
        'call.interrupted': { target: 'create-in-doubt', actions: becomes(interrupted) },
        'call.not-made': {},
      },
    },
    /** An earlier call may have made a snapshot of another moment: one that is made now can't be trusted. */
    'create-in-doubt': {
      meta: { shownAs: 'pending-create', call: 'create', health: 'in-doubt', words: repeated('create in doubt') },
      on: {
        ...madeOnceMore,
        'snapshot.retry': { actions: again },
        'snapshot.delete': { target: 'finding-out', actions: asked },
        'create.done': { target: 'removing-untrusted', actions: becomes(distrusted) },
        'create.refused': { target: 'failed.in-doubt', actions: keepFailure },
        'create.id-taken': { target: 'failed.refused', actions: keepFailure },
        'create.no-room': { target: 'failed.in-doubt', actions: becomes(hadNoRoom) },
        'create.unknown': { actions: count },
        'create.changed-nothing': { actions: count },
      },
    },
    /** Removes what can't be trusted; then the snapshot is made again with another name, or has failed. */
    'removing-untrusted': {
      meta: {
        shownAs: 'pending-create',
        call: 'remove',
        words: {
          waiting: 'can not be trusted',
          calling: 'can not be trusted, being removed',
          restsAfter: 'can not be trusted, not removed yet',
        },
      },
      on: {
        ...madeOnceMore,
        'snapshot.retry': { actions: again },
        'snapshot.delete': { target: 'pending-delete', actions: asked },
        'remove.done': [
          { guard: 'isMoreToRemove', actions: becomes(removed) },
          { guard: 'isThirdUntrusted', target: 'failed.refused', actions: becomes(removed) },
          { target: 'pending-create', actions: becomes(removed) },
        ],
        'remove.refused': { target: 'failed.removal', actions: keepFailure },
        'remove.failed': { actions: count },
      },
    },
    /** Made, but not usable yet, as the plugin says. */
    'waiting-until-ready': {
      meta: {
        shownAs: 'waiting',
        call: 'look',
        health: 'waiting',
        words: { waiting: 'not ready yet', calling: 'not ready yet, being asked about', restsAfter: 'not ready yet' },
      },
      on: {
        ...madeOnceMore,
        'snapshot.retry': { actions: again },
        'snapshot.delete': { target: 'pending-delete', actions: asked },
        'look.done': [
          { guard: 'isAnotherSnapshot', target: 'removing-untrusted', actions: becomes(foundOther) },
          { guard: 'isReady', target: 'ready', actions: becomes(lookedAt) },
          { actions: becomes(lookedAt) },
        ],
        'look.refused': { target: 'failed.readiness', actions: keepFailure },
        'look.failed': { actions: count },
      },
    },
    ready: {
      meta: { shownAs: 'ready', health: 'healthy', words: '' },
      on: {
        'snapshot.retry': { actions: again },
        'snapshot.delete': { target: 'pending-delete', actions: asked },
      },
    },
    /** Deletion asked for while the very first call is under way: if that call has made nothing, none is there. */
    'finding-out-first-call': {
      meta: {
        shownAs: 'pending-create',
        call: 'create',
        health: 'in-doubt',
        words: {
          waiting: 'create given up',
          calling: 'create given up, its call is under way',
          restsAfter: 'create given up',
        },
      },
      on: {
        ...askedAgain,
        'create.done': { target: 'pending-delete', actions: becomes(found) },
        'create.refused': { target: 'absent', actions: keepFailure },
        'create.id-taken': 'absent',
        'create.changed-nothing': 'absent',
        'create.given-up': 'absent',
        'create.no-room': { target: 'finding-out', actions: becomes(noRoomToFindOut) },
        'create.unknown': { target: 'finding-out', actions: count },
        'call.interrupted': 'finding-out',
        'call.not-made': 'absent',
      },
    },
    /** Deletion asked for with an unknown id: the creation is repeated to learn it. */
    'finding-out': {
      meta: {
        shownAs: 'pending-create',
        call: 'create',
        health: 'in-doubt',
        words: repeated('create in doubt and given up', 'to learn its id'),
      },
      on: {
        ...madeOnceMore,
        ...askedAgain,
        'create.done': { target: 'pending-delete', actions: becomes(found) },
        'create.refused': { target: 'failed.finding-out', actions: becomes(refusedToFindOut) },
        'create.id-taken': 'absent',
        'create.no-room': { actions: becomes(noRoomToFindOut) },
        'create.unknown': { actions: count },
        'create.changed-nothing': { actions: count },
        'create.given-up': { target: 'left-behind', actions: becomes(findingOutGivenUp) },
      },
    },
    /** Removes what can't be trusted first, then the snapshot itself. */
    'pending-delete': {
      meta: {
        shownAs: 'pending-delete',
        call: 'delete',
        words: { calling: 'being deleted', restsAfter: 'not deleted yet' },
      },
      on: {
        ...madeOnceMore,
        ...askedAgain,
        'remove.done': [
          { guard: 'isMoreToRemove', actions: becomes(removed) },
          { guard: 'hasLeftovers', target: 'left-behind', actions: becomes(removed) },
          { target: 'absent', actions: becomes(removed) },
        ],
        'remove.refused': { target: 'failed.deletion', actions: keepFailure },
        'remove.failed': { actions: count },
        'remove.given-up': [
          { guard: 'isMoreToRemove', actions: becomes(removalGivenUp) },
          { target: 'left-behind', actions: becomes(removalGivenUp) },
        ],
        // The look was under way when the deletion was asked for.
        'look.done': { actions: becomes(lookedMeanwhile) },
        'look.refused': {},
        'look.failed': {},
      },
    },
    /** Deleted with force: the plugin may still have something. */
    'left-behind': {
      meta: { shownAs: 'deleted', health: 'failed', words: 'something may be left behind' },
      on: {
        'snapshot.retry': [
          { guard: 'isIdUnknown', target: 'finding-out', actions: becomes(retriedLeftovers) },
          { guard: 'isIdKnown', target: 'pending-delete', actions: becomes(retriedLeftovers) },
        ],
        'snapshot.acknowledge': 'absent',
      },
    },
    /** The call would fail again. Nothing is done until somebody asks. */
    failed: {
      meta: { shownAs: 'failed', health: 'failed' },
      initial: 'refused',
      states: {
        /** The plugin has no snapshot: it refused to make one, or none could be trusted. */
        refused: {
          meta: { words: 'create refused, or never proven' },
          on: {
            'snapshot.retry': { target: '#snapshot.pending-create', actions: again },
            'snapshot.delete': '#snapshot.absent',
          },
        },
        /** The plugin may have a snapshot. */
        'in-doubt': {
          meta: { words: 'create refused or no room, and an attempt may have created it' },
          on: {
            'snapshot.retry': { target: '#snapshot.create-in-doubt', actions: again },
            'snapshot.delete': { target: '#snapshot.finding-out', actions: asked },
          },
        },
        /** Made, but the plugin refuses to say whether it can be used. */
        readiness: {
          meta: { words: 'it does not become ready' },
          on: {
            'snapshot.retry': { target: '#snapshot.waiting-until-ready', actions: again },
            'snapshot.delete': { target: '#snapshot.pending-delete', actions: asked },
          },
        },
        /** A snapshot that can't be trusted is still there. */
        removal: {
          meta: { words: 'what was created can not be removed' },
          on: {
            'snapshot.retry': { target: '#snapshot.removing-untrusted', actions: again },
            'snapshot.delete': { target: '#snapshot.pending-delete', actions: asked },
          },
        },
        /** Being deleted; the plugin refuses the call that would tell the id. */
        'finding-out': {
          meta: { words: 'create given up, and its id is not known' },
          on: {
            'snapshot.retry': { target: '#snapshot.finding-out', actions: again },
            'snapshot.delete': { target: '#snapshot.finding-out', actions: asked },
          },
        },
        /** Being deleted; the plugin refuses to delete it. */
        deletion: {
          meta: { words: 'delete refused' },
          on: {
            'snapshot.retry': { target: '#snapshot.pending-delete', actions: again },
            'snapshot.delete': { target: '#snapshot.pending-delete', actions: asked },
          },
        },
      },
    },
  },
});

export const snapshotChart = new Chart(snapshotPhases);

/** Record of a snapshot: its data, and `at`, its phase. */
export type SnapshotContext = Part<typeof snapshotPhases>;
