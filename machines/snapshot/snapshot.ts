/**
 * One snapshot of a volume, or of a group of them: made, waited for until it can be used, deleted; one call at a time.
 * States that make calls: making.ts, deleting.ts. Diagram: docs/machines/volume-snapshot.md (generated).
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

/** None is there: it was never made, or is gone. */
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

/** A call that would fail again. Nothing is done until somebody asks for it. */
const failed = snapshotSetup.createStateConfig({
  id: 'failed',
  initial: 'refused',
  states: {
    /** The plugin has none. */
    refused: {
      on: {
        'snapshot.retry': { target: '#pending-create', actions: again },
        'snapshot.delete': { target: '#absent', actions: becomes(gone) },
      },
    },
    /** The plugin may have one. */
    'in-doubt': {
      on: {
        'snapshot.retry': { target: '#create-in-doubt', actions: again },
        'snapshot.delete': { target: '#finding-out', actions: asked },
      },
    },
    /** As often as it was made, it could not be trusted; all were removed. */
    unproven: {
      on: {
        'snapshot.retry': { target: '#pending-create', actions: again },
        'snapshot.delete': { target: '#absent', actions: becomes(gone) },
      },
    },
    /** Made, but its plugin refuses to say whether it can be used. */
    readiness: {
      on: {
        'snapshot.retry': { target: '#waiting-until-ready', actions: again },
        'snapshot.delete': { target: '#pending-delete', actions: asked },
      },
    },
    /** One that can't be trusted is still there. */
    removal: {
      on: {
        'snapshot.retry': { target: '#removing-untrusted', actions: again },
        'snapshot.delete': { target: '#pending-delete', actions: asked },
      },
    },
    /** To be deleted, and the plugin refuses to repeat what would tell its id. */
    'finding-out': {
      on: {
        ...whileBeingDeleted,
        'snapshot.retry': { target: '#finding-out', actions: again },
        'snapshot.delete': { target: '#finding-out', actions: asked },
      },
    },
    /** To be deleted, and the plugin refuses to. */
    deletion: {
      on: {
        ...whileBeingDeleted,
        'snapshot.retry': { target: '#pending-delete', actions: again },
        'snapshot.delete': { target: '#pending-delete', actions: asked },
      },
    },
  },
});

/** Deleted with force: the plugin may still have something of it. */
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

/** Groups are made of the same states: group.ts */
export const snapshotMachine = (kind: SnapshotKind) =>
  snapshotSetup.createMachine({
    id: kind,
    version: '2',
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
      // Only states that ask for a call expect what comes of it.
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
