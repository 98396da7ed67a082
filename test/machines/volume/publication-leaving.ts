/** Table of the publication chart: the states of a volume that leaves its node. */
import {
  again,
  earlier,
  type Group,
  holds,
  next,
  otherHolds,
  publishContext,
  type Row,
  refused,
  renamed,
  untilThen,
  whileBusy,
  wish,
} from './publication-table.js';

const fenced: Row = ['node fenced', 'stays', { fenced: 'no power', holds: undefined, next: undefined }];
const fencedNow: Row = [
  'node fenced',
  'stays',
  { fenced: 'no power', holds: undefined, next: undefined, tries: undefined },
];
/** Without the outcomes of a call that was made: it waits. */
const unsent = (rows: Row[]): Row[] =>
  rows.filter(([event]) => !/(done|not found.*|unknown.*|interrupted)$/.test(event));
const dropped: Row = ['wish dropped', 'stays', { next: undefined }];
const listed: Row = ['listed as detached', 'stays'];
const restarted: Row[] = [
  ['retry', 'stays', { tries: undefined }],
  ['retry, place taken', 'stays', { tries: undefined }],
];
const resolveAgain = { tries: undefined, attemptsToResolve: 0 };
const resolveRestarted: Row[] = [
  ['retry', 'stays', resolveAgain],
  ['retry, place taken', 'stays', resolveAgain],
];
/** Wanted once more: the holds of the wish that was to come next join its own. */
const wantedAgain = { attemptsToResolve: undefined, next: undefined, holds: [...holds, ...otherHolds] };
/** A wish for another use takes the place of the one that was to come next, with the holds of that. */
const queued = { next: { ...renamed, holds: otherHolds } };
/** The record starts over for its next goal, which is to unpublish. */
const over = { tries: undefined, attemptsToResolve: undefined, holds: undefined };
const overWithContext = { ...over, publishContext };
const overInDoubt = { ...over, mayStillArrive: true } as const;
const counted = { tries: again, attemptsToResolve: 2 };
const last = { attemptsToResolve: 2 };

const resolved: Row[] = [
  ['publish done', 'pending-unpublish.due', overWithContext],
  ['publish refused', 'pending-unpublish.due', overInDoubt],
  ['publish not sent', 'cancelling.backing-off', counted],
  ['publish not sent', 'pending-unpublish.due', overInDoubt, last],
  ['publish unknown', 'cancelling.backing-off', counted],
  ['publish unknown', 'pending-unpublish.due', overInDoubt, last],
  ['publish interrupted', 'cancelling.due'],
];

const unpublished: Row[] = [
  ['unpublish done', 'removed'],
  ['unpublish not found', 'pending-unpublish.backing-off', { tries: again }],
  ['unpublish not found', 'removed', {}, { fenced: 'no power' }],
  ['unpublish not found', 'removed', {}, { detachConfirmedByList: true }],
  ['unpublish not found for good', 'failed.unpublish', { failure: refused, tries: undefined, next: undefined }],
  ['unpublish refused', 'failed.unpublish', { failure: refused, tries: undefined, next: undefined }],
  ['unpublish failed', 'pending-unpublish.backing-off', { tries: again }],
  ['unpublish interrupted', 'pending-unpublish.due'],
  ['unpublish given up', 'removed'],
];

const given = { tries: untilThen };

export const leaving: Record<string, Group> = {
  // The call is repeated until it is known whether it has attached the volume; then that is undone.
  cancelling: {
    record: { tries: earlier, attemptsToResolve: 1, holds, next },
    everywhere: [
      ['publish', 'in-doubt.due', wantedAgain],
      ['publish renamed', 'stays', queued],
      ['withdrawn', 'stays'],
      dropped,
      fenced,
      listed,
    ],
    rows: {
      // Nothing was sent before this call: where it was not sent either, nothing is left to resolve.
      'cancelling.first-call': [
        ['publish', 'pending-publish.calling', wantedAgain],
        ['publish renamed', 'stays', queued],
        ['call waits', 'removed'],
        ['turn lost', 'removed'],
        ['publish not sent', 'removed'],
        ['publish done', 'pending-unpublish.due', overWithContext],
        ['publish refused', 'pending-unpublish.due', over],
        ['publish unknown', 'cancelling.backing-off', counted],
        ['publish interrupted', 'cancelling.due'],
        ...resolveRestarted,
      ],
      'cancelling.due': [['turn given', 'cancelling.calling'], ...resolveRestarted],
      'cancelling.calling': [
        ['publish', 'in-doubt.calling', wantedAgain],
        ['publish renamed', 'stays', queued],
        ['call waits', 'cancelling.waiting-for-plugin'],
        ['turn lost', 'cancelling.due'],
        ...resolved,
        ...resolveRestarted,
      ],
      'cancelling.waiting-for-plugin': [
        ['publish', 'in-doubt.waiting-for-plugin', wantedAgain],
        ['publish renamed', 'stays', queued],
        ['call waits', 'stays'],
        ['turn lost', 'cancelling.due'],
        ...unsent(resolved),
        ...resolveRestarted,
      ],
      'cancelling.backing-off': [
        ['turn given', 'cancelling.calling'],
        ['retry', 'cancelling.due', resolveAgain],
        ['retry, place taken', 'cancelling.due', resolveAgain],
      ],
    },
  },

  // Its node may have it staged, and is waited for.
  'pending-node-unpublish': {
    record: { publishContext, holds, next },
    everywhere: [
      ['publish', 'stays', { next: { ...wish, holds: otherHolds } }],
      ['withdrawn', 'stays'],
      ['retry', 'stays', { tries: undefined }, { tries: earlier }],
      ['retry, place taken', 'stays'],
      dropped,
      fenced,
    ],
    rows: {
      'pending-node-unpublish.waiting-for-node': [
        ['node let go', 'pending-unpublish.due', { holds: undefined }],
        ['listed as detached', 'pending-unpublish.due', { holds: undefined, detachConfirmedByList: true }],
        ['listed as detached', 'stays', {}, { mayStillArrive: true }],
        ['listed as detached', 'stays', {}, { tries: whileBusy }],
      ],
      'pending-node-unpublish.publish-under-way': [
        listed,
        ['node let go', 'pending-unpublish.publish-under-way', { holds: undefined }],
        ['call waits', 'pending-node-unpublish.waiting-for-node'],
        ['turn lost', 'pending-node-unpublish.waiting-for-node'],
        ['publish not sent', 'pending-node-unpublish.waiting-for-node'],
        ['publish refused', 'pending-node-unpublish.waiting-for-node'],
        [
          'publish done',
          'pending-node-unpublish.waiting-for-node',
          { mayStillArrive: undefined },
          { mayStillArrive: true },
        ],
        ['publish unknown', 'pending-node-unpublish.waiting-for-node', { mayStillArrive: true }],
        ['publish interrupted', 'pending-node-unpublish.waiting-for-node', { mayStillArrive: true }],
      ],
    },
  },

  // It has to be detached. A forced deletion may give its node time before.
  'pending-unpublish': {
    record: { tries: earlier, publishContext, next },
    everywhere: [
      ['publish', 'stays', { next: { ...wish, holds: otherHolds } }],
      ['withdrawn', 'stays'],
      ['node fenced', 'pending-unpublish.due', { fenced: 'no power', next: undefined, tries: undefined }],
      ['node given time', 'pending-unpublish.waiting-for-node', given],
      ['listed as detached', 'pending-unpublish.due', { detachConfirmedByList: true, tries: undefined }],
      ['listed as detached', 'stays', {}, { detachConfirmedByList: true }],
      ['listed as detached', 'stays', {}, { mayStillArrive: true }],
      ['listed as detached', 'stays', {}, { tries: whileBusy }],
      dropped,
    ],
    rows: {
      'pending-unpublish.publish-under-way': [
        listed,
        fencedNow,
        ['node given time', 'stays', given],
        ['node let go', 'stays', { tries: undefined }, given],
        ['retry', 'stays', { tries: undefined }],
        ['retry', 'stays', {}, given],
        ['call waits', 'pending-unpublish.due'],
        ['call waits', 'pending-unpublish.waiting-for-node', {}, given],
        ['turn lost', 'pending-unpublish.due'],
        ['turn lost', 'pending-unpublish.waiting-for-node', {}, given],
        ['publish not sent', 'pending-unpublish.due'],
        ['publish not sent', 'pending-unpublish.waiting-for-node', {}, given],
        ['publish refused', 'pending-unpublish.due'],
        ['publish refused', 'pending-unpublish.waiting-for-node', {}, given],
        ['publish done', 'pending-unpublish.due', { mayStillArrive: undefined }, { mayStillArrive: true }],
        ['publish done', 'pending-unpublish.waiting-for-node', {}, given],
        ['publish unknown', 'pending-unpublish.due', { mayStillArrive: true }],
        ['publish unknown', 'pending-unpublish.waiting-for-node', { mayStillArrive: true }, given],
        ['publish interrupted', 'pending-unpublish.due', { mayStillArrive: true }],
        ['publish interrupted', 'pending-unpublish.waiting-for-node', { mayStillArrive: true }, given],
      ],
      'pending-unpublish.waiting-for-node': [
        listed,
        ['node let go', 'pending-unpublish.due', { tries: undefined }, given],
        ['turn given', 'pending-unpublish.calling', {}, given],
        ['retry', 'stays', {}, given],
        ['retry, place taken', 'stays', {}, given],
      ],
      'pending-unpublish.due': [['turn given', 'pending-unpublish.calling'], ...restarted],
      'pending-unpublish.calling': [
        listed,
        fencedNow,
        ['node given time', 'stays'],
        ['call waits', 'pending-unpublish.waiting-for-plugin'],
        ['turn lost', 'pending-unpublish.due'],
        ...unpublished,
        ...restarted,
      ],
      'pending-unpublish.waiting-for-plugin': [
        listed,
        fencedNow,
        ['call waits', 'stays'],
        ['turn lost', 'pending-unpublish.due'],
        ...unsent(unpublished),
        ...restarted,
      ],
      'pending-unpublish.backing-off': [
        ['turn given', 'pending-unpublish.calling'],
        ['retry', 'pending-unpublish.due', { tries: undefined }],
        ['retry, place taken', 'pending-unpublish.due', { tries: undefined }],
      ],
    },
  },
};
