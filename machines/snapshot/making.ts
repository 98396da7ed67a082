/**
 * States of a snapshot that is made. `asking` holds the effect of a call: it is under way (`calling`), waits, or goes on though
 * the deletion was asked for (`to-be-deleted`). Its outcome then leads to the states of deleting.ts
 */
import {
  attemptFailed,
  callRefused,
  created,
  deletionAsked,
  distrusted,
  foundOther,
  gone,
  hadNoRoom,
  lookedAt,
  lookedMeanwhile,
  refusedAndGone,
  removalRefused,
  removed,
  retried,
} from './changes.js';
import { callToDelete } from './deleting.js';
import {
  backingOff,
  becomes,
  looks,
  makes,
  onTheWay,
  removes,
  snapshotSetup,
  waits,
  whileBeingDeleted,
} from './setup.js';

const asked = becomes(deletionAsked);
const stillAsked = { ...onTheWay, 'snapshot.retry': { actions: becomes(retried) } };
const isGone = { target: '#absent', actions: becomes(gone) };

/** The plugin may have made it: the outcome counts as one of the call that finds that out. */
const findsOut = { target: '#finding-out.asking', actions: 'handOver' } as const;

/** The call waits, or begins to. */
const isWaiting = { target: 'waiting-for-plugin', actions: waits };
/** The reason changes. */
const stillWaits = { actions: waits };

/** Nothing was sent that may have made it. */
export const pendingCreate = snapshotSetup.createStateConfig({
  id: 'pending-create',
  initial: 'asking',
  states: {
    asking: {
      ...makes,
      initial: 'calling',
      exit: 'awaitNoMore',
      on: {
        ...stillAsked,
        'create.done': [
          { guard: 'isReady', target: '#ready', actions: becomes(created) },
          { target: '#waiting-until-ready.backing-off', actions: becomes(created) },
        ],
        'create.refused': { target: '#failed.refused', actions: becomes(callRefused) },
        'create.id-taken': { target: '#failed.refused', actions: becomes(callRefused) },
        'create.no-room': { target: '#failed.in-doubt', actions: becomes(hadNoRoom) },
        'create.unknown': { target: '#create-in-doubt.backing-off', actions: becomes(attemptFailed) },
        'create.harmless': { target: '#pending-create.backing-off', actions: becomes(attemptFailed) },
        'call.restart': { target: '#pending-create.asking', reenter: true },
      },
      states: {
        calling: {
          on: {
            'call.interrupted': '#create-in-doubt.asking',
            'call.awaits': isWaiting,
            'snapshot.delete': { target: 'to-be-deleted', actions: asked },
          },
        },
        'waiting-for-plugin': {
          on: {
            'call.interrupted': { target: '#pending-create.asking', reenter: true },
            'call.awaits': stillWaits,
            'snapshot.delete': isGone,
          },
        },
        'to-be-deleted': {
          on: {
            ...whileBeingDeleted,
            'create.refused': { target: '#absent', actions: becomes(refusedAndGone) },
            'create.harmless': isGone,
            'create.given-up': [{ guard: 'isRefusal', ...isGone }, findsOut],
            'create.*': findsOut,
            'call.restart': isGone,
            'call.awaits': isGone,
            'call.interrupted': '#finding-out.asking',
            'snapshot.delete': [{ guard: 'isForcing', actions: asked }, {}],
          },
        },
      },
    },
    'backing-off': backingOff({ 'snapshot.delete': isGone }),
  },
});

/** An earlier call may have made one, of another moment: one that is made now can't be trusted. */
export const createInDoubt = snapshotSetup.createStateConfig({
  id: 'create-in-doubt',
  initial: 'asking',
  states: {
    asking: {
      ...makes,
      initial: 'calling',
      exit: 'awaitNoMore',
      on: {
        ...stillAsked,
        'create.done': { target: '#removing-untrusted.asking', actions: becomes(distrusted) },
        'create.refused': { target: '#failed.in-doubt', actions: becomes(callRefused) },
        'create.id-taken': { target: '#failed.refused', actions: becomes(callRefused) },
        'create.no-room': { target: '#failed.in-doubt', actions: becomes(hadNoRoom) },
        'create.unknown': { target: '#create-in-doubt.backing-off', actions: becomes(attemptFailed) },
        'create.harmless': { target: '#create-in-doubt.backing-off', actions: becomes(attemptFailed) },
        'call.restart': { target: '#create-in-doubt.asking', reenter: true },
        'call.interrupted': { target: '#create-in-doubt.asking', reenter: true },
      },
      states: {
        calling: {
          on: { 'call.awaits': isWaiting, 'snapshot.delete': { target: 'to-be-deleted', actions: asked } },
        },
        'waiting-for-plugin': {
          on: {
            'call.awaits': stillWaits,
            'snapshot.delete': [
              { guard: 'isForcing', target: '#finding-out.asking', actions: asked },
              { target: 'to-be-deleted.waiting-for-plugin', actions: asked },
            ],
          },
        },
        'to-be-deleted': {
          ...callToDelete('#finding-out.asking'),
          on: {
            ...whileBeingDeleted,
            'create.*': findsOut,
            'call.restart': '#finding-out.asking',
            'call.interrupted': '#finding-out.asking',
          },
        },
      },
    },
    'backing-off': backingOff({ 'snapshot.delete': { target: '#finding-out.asking', actions: asked } }),
  },
});

/** What can't be trusted goes first; then it is made again under another name, or has failed. */
export const removingUntrusted = snapshotSetup.createStateConfig({
  id: 'removing-untrusted',
  initial: 'asking',
  states: {
    asking: {
      ...removes('removeUntrusted'),
      initial: 'calling',
      exit: 'awaitNoMore',
      on: {
        ...stillAsked,
        'remove.done': [
          { guard: 'isMoreToRemove', target: '#removing-untrusted.asking', reenter: true, actions: becomes(removed) },
          { guard: 'isUntrustedAgain', target: '#failed.unproven', actions: becomes(removed) },
          { target: '#pending-create.asking', actions: becomes(removed) },
        ],
        'remove.refused': { target: '#failed.removal', actions: becomes(removalRefused) },
        'remove.failed': { target: '#removing-untrusted.backing-off', actions: becomes(attemptFailed) },
        'call.restart': { target: '#removing-untrusted.asking', reenter: true },
      },
      states: {
        calling: {
          on: { 'call.awaits': isWaiting, 'snapshot.delete': { target: 'to-be-deleted', actions: asked } },
        },
        'waiting-for-plugin': {
          on: {
            'call.awaits': stillWaits,
            'snapshot.delete': [
              { guard: 'isForcing', target: '#pending-delete.asking', actions: asked },
              { target: 'to-be-deleted.waiting-for-plugin', actions: asked },
            ],
          },
        },
        'to-be-deleted': {
          ...callToDelete('#pending-delete.asking'),
          on: {
            ...whileBeingDeleted,
            'remove.*': { target: '#pending-delete.asking', actions: 'handOver' },
            'call.restart': '#pending-delete.asking',
          },
        },
      },
    },
    'backing-off': backingOff({ 'snapshot.delete': { target: '#pending-delete.asking', actions: asked } }),
  },
});

/** Made, but the plugin says that it can't be used yet. */
export const waitingUntilReady = snapshotSetup.createStateConfig({
  id: 'waiting-until-ready',
  initial: 'asking',
  states: {
    asking: {
      ...looks,
      initial: 'calling',
      exit: 'awaitNoMore',
      on: {
        ...stillAsked,
        'look.done': [
          { guard: 'isOther', target: '#removing-untrusted.asking', actions: becomes(foundOther) },
          { guard: 'isReady', target: '#ready', actions: becomes(lookedAt) },
          { target: '#waiting-until-ready.backing-off', actions: becomes(lookedAt) },
        ],
        'look.refused': { target: '#failed.readiness', actions: becomes(callRefused) },
        'look.failed': { target: '#waiting-until-ready.backing-off', actions: becomes(attemptFailed) },
        'call.restart': { target: '#waiting-until-ready.asking', reenter: true },
      },
      states: {
        calling: {
          on: { 'call.awaits': isWaiting, 'snapshot.delete': { target: 'to-be-deleted', actions: asked } },
        },
        'waiting-for-plugin': {
          on: { 'call.awaits': stillWaits, 'snapshot.delete': { target: '#pending-delete.asking', actions: asked } },
        },
        'to-be-deleted': {
          on: {
            ...whileBeingDeleted,
            'look.*': { target: '#pending-delete.asking', actions: becomes(lookedMeanwhile) },
            'call.restart': '#pending-delete.asking',
            'call.awaits': '#pending-delete.asking',
            'snapshot.delete': [{ guard: 'isForcing', actions: asked }, {}],
          },
        },
      },
    },
    'backing-off': backingOff({ 'snapshot.delete': { target: '#pending-delete.asking', actions: asked } }),
  },
});
