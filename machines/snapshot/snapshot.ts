/**
 * One snapshot of a volume or of a group of volumes: made, awaited until it can be used, deleted; one call at a time.
 * States with calls: making.ts, deleting.ts. Diagram: docs/machines/volume-snapshot.md (generated).
 */
import { answered } from '../kit/call-states.js';
import { begun, deletionAsked, gone, noSnapshot, retried, retriedLeftovers } from './changes.js';
import { findingOut, pendingDelete } from './deleting.js';
import { createInDoubt, pendingCreate, removingUntrusted, waitingUntilReady } from './making.js';
import {
  snapshotExists,
  snapshotHasLeftovers,
  snapshotNothingLeft,
  snapshotNotThere,
  snapshotOnlyLeftovers,
} from './refusals.js';
import { becomes, snapshotSetup, whileBeingDeleted } from './setup.js';
import type { SnapshotContext, SnapshotKind } from './types.js';

const asked = becomes(deletionAsked);
const again = becomes(retried);
const unexpected = { actions: 'refuseUnexpected' } as const;

const notThere = answered((context: SnapshotContext) => ({ error: snapshotNotThere(context) }));
const onlyLeftovers = answered((context: SnapshotContext) => ({ error: snapshotOnlyLeftovers(context) }));

/** No snapshot is there: it was never made, or is deleted. */
const absent = snapshotSetup.createStateConfig({
  id: 'absent',
  tags: 'absent',
  on: {
    'snapshot.create': { target: '#pending-create', actions: becomes(begun) },
    'snapshot.delete': notThere,
    'snapshot.retry': notThere,
    'snapshot.acknowledge': notThere,
  },
});

/** The call would fail again. Nothing is done until somebody asks. */
const failed = snapshotSetup.createStateConfig({
  id: 'failed',
  initial: 'refused',
  states: {
    /** The plugin has no snapshot. */
    refused: {
      on: {
        'snapshot.retry': { target: '#pending-create', actions: again },
        'snapshot.delete': { target: '#absent', actions: becomes(gone) },
      },
    },
    /** The plugin may have a snapshot. */
    'in-doubt': {
      on: {
        'snapshot.retry': { target: '#create-in-doubt', actions: again },
        'snapshot.delete': { target: '#finding-out', actions: asked },
      },
    },
    /** None of the snapshots that were made could be trusted; all were removed. */
    unproven: {
      on: {
        'snapshot.retry': { target: '#pending-create', actions: again },
        'snapshot.delete': { target: '#absent', actions: becomes(gone) },
      },
    },
    /** Made, but the plugin refuses to say whether it can be used. */
    readiness: {
      on: {
        'snapshot.retry': { target: '#waiting-until-ready', actions: again },
        'snapshot.delete': { target: '#pending-delete', actions: asked },
      },
    },
    /** A snapshot that can't be trusted is still there. */
    removal: {
      on: {
        'snapshot.retry': { target: '#removing-untrusted', actions: again },
        'snapshot.delete': { target: '#pending-delete', actions: asked },
      },
    },
    /** Being deleted; the plugin refuses the call that would tell the id. */
    'finding-out': {
      on: {
        ...whileBeingDeleted,
        'snapshot.retry': { target: '#finding-out', actions: again },
        'snapshot.delete': { target: '#finding-out', actions: asked },
      },
    },
    /** Being deleted; the plugin refuses to delete it. */
    deletion: {
      on: {
        ...whileBeingDeleted,
        'snapshot.retry': { target: '#pending-delete', actions: again },
        'snapshot.delete': { target: '#pending-delete', actions: asked },
      },
    },
  },
});

/** Deleted with force: the plugin may still have something. */
const leftBehind = snapshotSetup.createStateConfig({
  id: 'left-behind',
  on: {
    'snapshot.create': answered((context: SnapshotContext) => ({ error: snapshotHasLeftovers(context) })),
    'snapshot.acknowledge': '#absent',
    'snapshot.retry': [
      { guard: 'isIdUnknown', target: '#finding-out', actions: becomes(retriedLeftovers) },
      { guard: 'isIdKnown', target: '#pending-delete', actions: becomes(retriedLeftovers) },
      onlyLeftovers,
    ],
    'snapshot.delete': onlyLeftovers,
  },
});

/** Machine of snapshots of one kind. Groups have the same states: group.ts */
export const snapshotMachine = (kind: SnapshotKind) =>
  snapshotSetup.createMachine({
    id: kind,
    version: '3',
    context: ({ input }) => noSnapshot({ kind, ...input }),
    initial: 'absent',
    on: {
      'snapshot.create': [
        {
          guard: 'isOtherSpec',
          ...answered((context, { spec }) => ({ error: snapshotExists(context, spec) })),
        },
        {},
      ],
      'snapshot.acknowledge': answered((context) => ({ error: snapshotNothingLeft(context) })),
      // Only states with a call expect its outcome.
      'create.*': unexpected,
      'look.*': unexpected,
      'remove.*': unexpected,
      'call.*': unexpected,
      'wait.changed': unexpected,
    },
    states: {
      absent,
      'pending-create': pendingCreate,
      failed,
      'create-in-doubt': createInDoubt,
      'removing-untrusted': removingUntrusted,
      'waiting-until-ready': waitingUntilReady,
      'pending-delete': pendingDelete,
      'left-behind': leftBehind,
      ready: {
        id: 'ready',
        on: {
          'snapshot.retry': { actions: again },
          'snapshot.delete': { target: '#pending-delete', actions: asked },
        },
      },
      'finding-out': findingOut,
    },
  });

export const volumeSnapshotMachine = snapshotMachine('volume-snapshot');
