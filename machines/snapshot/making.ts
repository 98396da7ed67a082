/**
 * States of a snapshot that is being made. A call may go on after the deletion was asked for (`calling.to-be-
 * deleted`): its outcome then leads to the states of deleting.ts
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
  interrupted,
  lookedAt,
  lookedMeanwhile,
  refusedAndGone,
  removalRefused,
  removed,
  retried,
} from './changes.js';
import {
  backingOff,
  becomes,
  looks,
  makes,
  mustWait,
  noteWait,
  removes,
  settleHome,
  snapshotSetup,
  waiting,
  whileBeingDeleted,
} from './setup.js';

const asked = becomes(deletionAsked);
const isGone = { target: '#absent', actions: becomes(gone) };
const removesUntrusted = removes('removeUntrusted');

/** Hands the outcome over to the call that finds out the id: the plugin may have made the snapshot. */
const findsOut = { target: '#finding-out.calling', actions: 'handOver' } as const;

/** The outcome is wanted, until the deletion is asked for. */
const wanted = {
  on: {
    'snapshot.retry': { actions: becomes(retried) },
    'snapshot.delete': { target: 'to-be-deleted', actions: asked },
  },
};
/** Asked again while the call is under way. */
const deletedAgain = {
  ...whileBeingDeleted,
  'snapshot.retry': { actions: becomes(retried) },
  'snapshot.delete': [{ guard: 'isForcing', actions: asked }, {}],
} as const;

/** No call was sent that may have made the snapshot. */
export const pendingCreate = snapshotSetup.createStateConfig({
  id: 'pending-create',
  initial: 'calling',
  states: {
    calling: {
      ...makes.call,
      initial: 'wanted',
      on: {
        'create.done': [
          { guard: 'isReady', target: '#ready', actions: becomes(created) },
          { target: '#waiting-until-ready.backing-off', actions: becomes(created) },
        ],
        'create.refused': { target: '#failed.refused', actions: becomes(callRefused) },
        'create.id-taken': { target: '#failed.refused', actions: becomes(callRefused) },
        'create.no-room': { target: '#failed.in-doubt', actions: becomes(hadNoRoom) },
        'create.unknown': { target: '#create-in-doubt.backing-off', actions: becomes(attemptFailed) },
        'create.changed-nothing': { target: '#pending-create.backing-off', actions: becomes(attemptFailed) },
        'call.again': { target: '#pending-create.calling', reenter: true, actions: settleHome },
        'call.interrupted': { target: '#create-in-doubt.calling', actions: becomes(interrupted) },
        'call.must-wait': mustWait,
      },
      states: {
        wanted,
        'to-be-deleted': {
          on: {
            ...deletedAgain,
            'create.refused': { target: '#absent', actions: becomes(refusedAndGone) },
            'create.changed-nothing': isGone,
            'create.given-up': [{ guard: 'isRefusal', ...isGone }, findsOut],
            'create.*': findsOut,
            'call.again': isGone,
            'call.must-wait': isGone,
            'call.interrupted': '#finding-out.calling',
          },
        },
      },
    },
    'waiting-for-plugin': {
      ...makes.admission,
      ...waiting({
        'create.refused': { target: '#failed.refused', actions: becomes(callRefused) },
        'create.changed-nothing': { target: 'backing-off', actions: becomes(attemptFailed) },
        'snapshot.delete': isGone,
      }),
    },
    'backing-off': backingOff({ 'snapshot.delete': isGone }),
  },
});

/** An earlier call may have made a snapshot of another moment: one that is made now can't be trusted. */
export const createInDoubt = snapshotSetup.createStateConfig({
  id: 'create-in-doubt',
  initial: 'calling',
  states: {
    calling: {
      ...makes.call,
      initial: 'wanted',
      on: {
        'create.done': { target: '#removing-untrusted.calling', actions: becomes(distrusted) },
        'create.refused': { target: '#failed.in-doubt', actions: becomes(callRefused) },
        'create.id-taken': { target: '#failed.refused', actions: becomes(callRefused) },
        'create.no-room': { target: '#failed.in-doubt', actions: becomes(hadNoRoom) },
        'create.unknown': { target: '#create-in-doubt.backing-off', actions: becomes(attemptFailed) },
        'create.changed-nothing': { target: '#create-in-doubt.backing-off', actions: becomes(attemptFailed) },
        'call.again': { target: '#create-in-doubt.calling', reenter: true, actions: settleHome },
        'call.interrupted': { target: '#create-in-doubt.calling', reenter: true },
        'call.must-wait': mustWait,
      },
      states: {
        wanted,
        'to-be-deleted': {
          on: {
            ...deletedAgain,
            'create.*': findsOut,
            'call.again': { target: '#finding-out.calling', actions: settleHome },
            'call.must-wait': { target: '#finding-out.waiting-for-plugin', actions: noteWait },
            'call.interrupted': '#finding-out.calling',
          },
        },
      },
    },
    'waiting-for-plugin': {
      ...makes.admission,
      ...waiting({
        'create.refused': { target: '#failed.in-doubt', actions: becomes(callRefused) },
        'create.changed-nothing': { target: 'backing-off', actions: becomes(attemptFailed) },
        'snapshot.delete': { target: '#finding-out.calling', actions: asked },
      }),
    },
    'backing-off': backingOff({ 'snapshot.delete': { target: '#finding-out.calling', actions: asked } }),
  },
});

/** Removes what can't be trusted; then the snapshot is made again with another name, or has failed. */
export const removingUntrusted = snapshotSetup.createStateConfig({
  id: 'removing-untrusted',
  initial: 'calling',
  states: {
    calling: {
      ...removesUntrusted.call,
      initial: 'wanted',
      on: {
        'remove.done': [
          { guard: 'isMoreToRemove', target: '#removing-untrusted.calling', reenter: true, actions: becomes(removed) },
          { guard: 'isUntrustedAgain', target: '#failed.unproven', actions: becomes(removed) },
          { target: '#pending-create.calling', actions: becomes(removed) },
        ],
        'remove.refused': { target: '#failed.removal', actions: becomes(removalRefused) },
        'remove.failed': { target: '#removing-untrusted.backing-off', actions: becomes(attemptFailed) },
        'call.again': { target: '#removing-untrusted.calling', reenter: true, actions: settleHome },
        'call.interrupted': { target: '#removing-untrusted.calling', reenter: true },
        'call.must-wait': mustWait,
      },
      states: {
        wanted,
        'to-be-deleted': {
          on: {
            ...deletedAgain,
            'remove.*': { target: '#pending-delete.calling', actions: 'handOver' },
            'call.again': { target: '#pending-delete.calling', actions: settleHome },
            'call.must-wait': { target: '#pending-delete.waiting-for-plugin', actions: noteWait },
            'call.interrupted': '#pending-delete.calling',
          },
        },
      },
    },
    'waiting-for-plugin': {
      ...removesUntrusted.admission,
      ...waiting({
        'remove.refused': { target: '#failed.removal', actions: becomes(removalRefused) },
        'remove.failed': { target: 'backing-off', actions: becomes(attemptFailed) },
        'snapshot.delete': { target: '#pending-delete.calling', actions: asked },
      }),
    },
    'backing-off': backingOff({ 'snapshot.delete': { target: '#pending-delete.calling', actions: asked } }),
  },
});

/** Made, but not usable yet, as the plugin says. */
export const waitingUntilReady = snapshotSetup.createStateConfig({
  id: 'waiting-until-ready',
  initial: 'calling',
  states: {
    calling: {
      ...looks.call,
      initial: 'wanted',
      on: {
        'look.done': [
          { guard: 'isOther', target: '#removing-untrusted.calling', actions: becomes(foundOther) },
          { guard: 'isReady', target: '#ready', actions: becomes(lookedAt) },
          { target: '#waiting-until-ready.backing-off', actions: becomes(lookedAt) },
        ],
        'look.refused': { target: '#failed.readiness', actions: becomes(callRefused) },
        'look.failed': { target: '#waiting-until-ready.backing-off', actions: becomes(attemptFailed) },
        'call.again': { target: '#waiting-until-ready.calling', reenter: true, actions: settleHome },
        'call.interrupted': { target: '#waiting-until-ready.calling', reenter: true },
        'call.must-wait': mustWait,
      },
      states: {
        wanted,
        'to-be-deleted': {
          on: {
            ...deletedAgain,
            'look.*': { target: '#pending-delete.calling', actions: becomes(lookedMeanwhile) },
            'call.again': { target: '#pending-delete.calling', actions: settleHome },
            'call.must-wait': '#pending-delete.calling',
            'call.interrupted': '#pending-delete.calling',
          },
        },
      },
    },
    'waiting-for-plugin': {
      ...looks.admission,
      ...waiting({
        'look.refused': { target: '#failed.readiness', actions: becomes(callRefused) },
        'look.failed': { target: 'backing-off', actions: becomes(attemptFailed) },
        'snapshot.delete': { target: '#pending-delete.calling', actions: asked },
      }),
    },
    'backing-off': backingOff({ 'snapshot.delete': { target: '#pending-delete.calling', actions: asked } }),
  },
});
