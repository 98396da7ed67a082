/** States of a snapshot that is to be deleted: its id is found out where it is not known, then it is removed. */
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
import { backingOff, becomes, makes, onTheWay, removes, snapshotSetup, waits, whileBeingDeleted } from './setup.js';

/**
 * A call while the deletion is asked for, under way or waiting. Once the deletion is forced, a call that waits begins again.
 * @param again state where the call is made
 */
export const callToDelete = (again: '#finding-out.asking' | '#pending-delete.asking') =>
  snapshotSetup.createStateConfig({
    initial: 'calling',
    states: {
      calling: {
        on: {
          'snapshot.delete': [{ guard: 'isForcing', actions: becomes(deletionAsked) }, {}],
          'call.awaits': [
            { guard: 'isWaitUnforced', target: again, reenter: true },
            { target: 'waiting-for-plugin', actions: waits },
          ],
        },
      },
      'waiting-for-plugin': {
        on: {
          'snapshot.delete': [
            { guard: 'isForcing', target: again, reenter: true, actions: becomes(deletionAsked) },
            {},
          ],
          'call.awaits': { actions: waits },
        },
      },
    },
  });

const waitsToDelete = backingOff({
  ...whileBeingDeleted,
  'snapshot.delete': [{ guard: 'isForcing' as const, target: 'asking', actions: becomes(deletionAsked) }, {}],
});

/** To be deleted, but its id is not known: the creation is repeated to learn it. */
export const findingOut = snapshotSetup.createStateConfig({
  id: 'finding-out',
  initial: 'asking',
  states: {
    asking: {
      ...makes,
      ...callToDelete('#finding-out.asking'),
      exit: 'awaitNoMore',
      on: {
        ...onTheWay,
        ...whileBeingDeleted,
        'create.done': { target: '#pending-delete.asking', actions: becomes(found) },
        'create.refused': { target: '#failed.finding-out', actions: becomes(refusedToFindOut) },
        'create.no-room': { target: '#finding-out.backing-off', actions: becomes(noRoomToFindOut) },
        'create.unknown': { target: '#finding-out.backing-off', actions: becomes(attemptFailed) },
        'create.harmless': { target: '#finding-out.backing-off', actions: becomes(attemptFailed) },
        'create.id-taken': { target: '#absent', actions: becomes(gone) },
        'create.given-up': { target: '#left-behind', actions: becomes(findingOutGivenUp) },
        'call.restart': { target: '#finding-out.asking', reenter: true },
        'call.interrupted': { target: '#finding-out.asking', reenter: true },
        'snapshot.retry': { actions: becomes(retried) },
      },
    },
    'backing-off': waitsToDelete,
  },
});

/** Removed: what can't be trusted first, then the snapshot itself. */
export const pendingDelete = snapshotSetup.createStateConfig({
  id: 'pending-delete',
  initial: 'asking',
  states: {
    asking: {
      ...removes('deleteSnapshot'),
      ...callToDelete('#pending-delete.asking'),
      exit: 'awaitNoMore',
      on: {
        ...onTheWay,
        ...whileBeingDeleted,
        'remove.done': [
          { guard: 'isMoreToRemove', target: '#pending-delete.asking', reenter: true, actions: becomes(removed) },
          { guard: 'hasLeftovers', target: '#left-behind', actions: becomes(removedLast) },
          { target: '#absent', actions: becomes(removedLast) },
        ],
        'remove.refused': { target: '#failed.deletion', actions: becomes(removalRefused) },
        'remove.failed': { target: '#pending-delete.backing-off', actions: becomes(attemptFailed) },
        'remove.given-up': [
          {
            guard: 'isMoreToRemove',
            target: '#pending-delete.asking',
            reenter: true,
            actions: becomes(removalGivenUp),
          },
          { target: '#left-behind', actions: becomes(lastRemovalGivenUp) },
        ],
        'call.restart': { target: '#pending-delete.asking', reenter: true },
        'snapshot.retry': { actions: becomes(retried) },
      },
    },
    'backing-off': waitsToDelete,
  },
});
