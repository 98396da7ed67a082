/** States of a snapshot that is being deleted: its id is found out if it is not known, then it is removed. */
import {
  attemptFailed,
  deletionAsked,
  findingOutGivenUp,
  found,
  gone,
  lastRemovalGivenUp,
  noRoomToFindOut,
  refusedToFindOut,
  removalGivenUp,
  removalRefused,
  removed,
  removedLast,
  retried,
} from './changes.js';
import {
  backingOff,
  becomes,
  makes,
  mustWait,
  removes,
  settleHome,
  snapshotSetup,
  waiting,
  whileBeingDeleted,
} from './setup.js';

const asked = becomes(deletionAsked);
const removesIt = removes('deleteSnapshot');

/** Asked again while the call is under way. */
const deletedAgain = {
  ...whileBeingDeleted,
  'snapshot.retry': { actions: becomes(retried) },
  'snapshot.delete': [{ guard: 'isForcing', actions: asked }, {}],
} as const;

/** Asked again while the call waits: once the deletion is forced, the wait begins anew, with a limit. */
const forcedWhileWaiting = {
  ...whileBeingDeleted,
  'snapshot.delete': [{ guard: 'isForcing', target: 'calling', actions: asked }, {}],
} as const;

const waitsToDelete = backingOff({
  ...whileBeingDeleted,
  'snapshot.delete': [{ guard: 'isForcing' as const, target: 'calling', actions: asked }, {}],
});

/** Delete requested with an unknown id: the creation is repeated to learn it. */
export const findingOut = snapshotSetup.createStateConfig({
  id: 'finding-out',
  initial: 'calling',
  states: {
    calling: {
      ...makes.call,
      on: {
        ...deletedAgain,
        'create.done': { target: '#pending-delete.calling', actions: becomes(found) },
        'create.refused': { target: '#failed.finding-out', actions: becomes(refusedToFindOut) },
        'create.no-room': { target: 'backing-off', actions: becomes(noRoomToFindOut) },
        'create.unknown': { target: 'backing-off', actions: becomes(attemptFailed) },
        'create.changed-nothing': { target: 'backing-off', actions: becomes(attemptFailed) },
        'create.id-taken': { target: '#absent', actions: becomes(gone) },
        'create.given-up': { target: '#left-behind', actions: becomes(findingOutGivenUp) },
        'call.again': { target: 'calling', reenter: true, actions: settleHome },
        'call.interrupted': { target: 'calling', reenter: true },
        'call.must-wait': mustWait,
      },
    },
    'waiting-for-plugin': {
      ...makes.admission,
      ...waiting({
        ...forcedWhileWaiting,
        'create.refused': { target: '#failed.finding-out', actions: becomes(refusedToFindOut) },
        'create.changed-nothing': { target: 'backing-off', actions: becomes(attemptFailed) },
        'create.given-up': { target: '#left-behind', actions: becomes(findingOutGivenUp) },
      }),
    },
    'backing-off': waitsToDelete,
  },
});

const removalIsGivenUp = [
  { guard: 'isMoreToRemove', target: 'calling', reenter: true, actions: becomes(removalGivenUp) },
  { target: '#left-behind', actions: becomes(lastRemovalGivenUp) },
] as const;

/** Removes what can't be trusted first, then the snapshot itself. */
export const pendingDelete = snapshotSetup.createStateConfig({
  id: 'pending-delete',
  initial: 'calling',
  states: {
    calling: {
      ...removesIt.call,
      on: {
        ...deletedAgain,
        'remove.done': [
          { guard: 'isMoreToRemove', target: 'calling', reenter: true, actions: becomes(removed) },
          { guard: 'hasLeftovers', target: '#left-behind', actions: becomes(removedLast) },
          { target: '#absent', actions: becomes(removedLast) },
        ],
        'remove.refused': { target: '#failed.deletion', actions: becomes(removalRefused) },
        'remove.failed': { target: 'backing-off', actions: becomes(attemptFailed) },
        'remove.given-up': removalIsGivenUp,
        'call.again': { target: 'calling', reenter: true, actions: settleHome },
        'call.interrupted': { target: 'calling', reenter: true },
        'call.must-wait': mustWait,
      },
    },
    'waiting-for-plugin': {
      ...removesIt.admission,
      ...waiting({
        ...forcedWhileWaiting,
        'remove.refused': { target: '#failed.deletion', actions: becomes(removalRefused) },
        'remove.failed': { target: 'backing-off', actions: becomes(attemptFailed) },
        'remove.given-up': removalIsGivenUp,
      }),
    },
    'backing-off': waitsToDelete,
  },
});
