/** Table of the publication chart: the states of a volume that is wanted on its node, or has failed there. */
import {
  again,
  earlier,
  type Group,
  holds,
  lost,
  publishContext,
  type Row,
  readOnly,
  refused,
  renamed,
  whileBusy,
  wish,
} from './publication-table.js';

const fenced: Row = ['node fenced', 'stays', { fenced: 'no power', holds: undefined, next: undefined }];
const dropped: Row = ['wish dropped', 'stays'];
const listed: Row = ['listed as detached', 'stays'];
const noRetry: Row[] = [
  ['retry', 'stays'],
  ['retry, place taken', 'stays'],
];
const restarted: Row[] = [
  ['retry', 'stays', { tries: undefined }],
  ['retry, place taken', 'stays', { tries: undefined }],
];
/** After a success nothing is left of the attempts. */
const done = { publishContext, tries: undefined };
/** A failure for good takes the place of the attempts. */
const failedForGood = { failure: refused, tries: undefined };
/** Resolving begins at once, and counts from nothing. */
const resolving = { attemptsToResolve: 0, tries: undefined };
const otherwise = { ...resolving, next: readOnly };
/** The record starts over for its next goal. */
const over = { tries: undefined, holds: undefined };
const toNode = { tries: undefined };

export const wanted: Record<string, Group> = {
  new: {
    record: { holds },
    everywhere: [dropped, fenced, listed, ...noRetry],
    rows: {
      new: [
        ['wanted', 'pending-publish.due'],
        ['wanted again', 'republishing.due'],
        ['found attached', 'pending-unpublish.due'],
      ],
    },
  },

  // Nothing was sent that may have attached it: whoever gives it up finds it removed, unless the first call is on its way.
  'pending-publish': {
    record: { tries: earlier, holds },
    everywhere: [
      ['publish', 'stays'],
      ['publish', 'stays', { fenced: undefined }, { fenced: 'no power' }],
      ['publish read-only', 'removed', { next: readOnly }],
      ['publish renamed', 'removed', { next: renamed }],
      ['withdrawn', 'removed'],
      dropped,
      fenced,
      listed,
    ],
    rows: {
      'pending-publish.due': [['turn given', 'pending-publish.calling'], ...restarted],
      'pending-publish.calling': [
        ['publish', 'stays'],
        ['publish read-only', 'cancelling.first-call', otherwise],
        ['publish renamed', 'cancelling.first-call', { ...resolving, next: renamed }],
        ['withdrawn', 'cancelling.first-call', resolving],
        ['withdrawn', 'cancelling.first-call', { attemptsToResolve: 0 }, { tries: undefined }],
        ['call waits', 'pending-publish.waiting-for-plugin'],
        ['turn lost', 'pending-publish.due'],
        ['publish done', 'published', done],
        ['publish refused', 'failed.refused', failedForGood],
        ['publish not sent', 'pending-publish.backing-off', { tries: again }],
        ['publish unknown', 'in-doubt.backing-off', { tries: again }],
        ['publish interrupted', 'in-doubt.due'],
        ...restarted,
      ],
      'pending-publish.waiting-for-plugin': [
        ['call waits', 'stays'],
        ['turn lost', 'pending-publish.due'],
        ['publish refused', 'failed.refused', failedForGood],
        ['publish not sent', 'pending-publish.backing-off', { tries: again }],
        ...restarted,
      ],
      'pending-publish.backing-off': [
        ['turn given', 'pending-publish.calling'],
        ['retry', 'pending-publish.due', { tries: undefined }],
        ['retry, place taken', 'pending-publish.due', { tries: undefined }],
      ],
    },
  },

  // An earlier call may have attached it: it is not given up before that is known.
  'in-doubt': {
    record: { tries: earlier, holds },
    everywhere: [
      ['publish', 'stays'],
      ['publish', 'stays', { fenced: undefined }, { fenced: 'no power' }],
      ['publish read-only', 'cancelling.due', otherwise],
      ['publish renamed', 'cancelling.due', { ...resolving, next: renamed }],
      ['withdrawn', 'cancelling.due', resolving],
      dropped,
      fenced,
      listed,
    ],
    rows: {
      'in-doubt.due': [['turn given', 'in-doubt.calling'], ...restarted],
      'in-doubt.calling': [
        ['publish', 'stays'],
        ['publish read-only', 'cancelling.calling', otherwise],
        ['withdrawn', 'cancelling.calling', resolving],
        ['call waits', 'in-doubt.waiting-for-plugin'],
        ['turn lost', 'in-doubt.due'],
        ['publish done', 'published', done],
        ['publish done', 'published', { ...done, mayStillArrive: undefined }, { mayStillArrive: true }],
        ['publish refused', 'failed.in-doubt', { ...failedForGood, mayStillArrive: true }],
        ['publish not sent', 'in-doubt.backing-off', { tries: again }],
        ['publish unknown', 'in-doubt.backing-off', { tries: again }],
        ['publish interrupted', 'in-doubt.due'],
        ...restarted,
      ],
      'in-doubt.waiting-for-plugin': [
        ['publish', 'stays'],
        ['publish read-only', 'cancelling.waiting-for-plugin', otherwise],
        ['withdrawn', 'cancelling.waiting-for-plugin', resolving],
        ['call waits', 'stays'],
        ['turn lost', 'in-doubt.due'],
        ['publish refused', 'failed.in-doubt', { ...failedForGood, mayStillArrive: true }],
        ['publish not sent', 'in-doubt.backing-off', { tries: again }],
        ...restarted,
      ],
      'in-doubt.backing-off': [
        ['turn given', 'in-doubt.calling'],
        ['retry', 'in-doubt.due', { tries: undefined }],
        ['retry, place taken', 'in-doubt.due', { tries: undefined }],
      ],
    },
  },

  // Its node may have it staged: another way to use it means that it leaves first; another name of the node does not.
  republishing: {
    record: { tries: earlier, holds, publishContext },
    everywhere: [
      ['publish', 'stays'],
      ['publish', 'stays', { fenced: undefined }, { fenced: 'no power' }],
      ['publish renamed', 'stays'],
      ['publish read-only', 'pending-unpublish.due', { ...over, next: readOnly }],
      ['withdrawn', 'pending-unpublish.due', over],
      ['node to unstage', 'pending-node-unpublish.waiting-for-node', toNode],
      dropped,
      fenced,
      listed,
    ],
    rows: {
      'republishing.due': [['turn given', 'republishing.calling'], ...restarted],
      'republishing.calling': [
        ['publish', 'stays'],
        ['publish renamed', 'stays'],
        ['publish read-only', 'pending-unpublish.publish-under-way', { ...over, next: readOnly }],
        ['withdrawn', 'pending-unpublish.publish-under-way', over],
        ['node to unstage', 'pending-node-unpublish.publish-under-way', toNode],
        ['call waits', 'republishing.waiting-for-plugin'],
        ['turn lost', 'republishing.due'],
        ['publish done', 'published', { ...done, mayStillArrive: undefined }, { mayStillArrive: true }],
        ['publish refused', 'failed.was-published', failedForGood],
        ['publish not sent', 'republishing.backing-off', { tries: again }],
        ['publish unknown', 'republishing.backing-off', { tries: again, mayStillArrive: true }],
        ['publish interrupted', 'republishing.due', { mayStillArrive: true }],
        ...restarted,
      ],
      'republishing.waiting-for-plugin': [
        ['call waits', 'stays'],
        ['turn lost', 'republishing.due'],
        ['publish refused', 'failed.was-published', failedForGood],
        ['publish not sent', 'republishing.backing-off', { tries: again }],
        ...restarted,
      ],
      'republishing.backing-off': [
        ['turn given', 'republishing.calling'],
        ['retry', 'republishing.due', { tries: undefined }],
        ['retry, place taken', 'republishing.due', { tries: undefined }],
      ],
    },
  },

  // A list that is no news changes nothing: it is known, may be outrun by a call, or the plugin works on the volume.
  published: {
    record: { publishContext, holds },
    everywhere: [
      ['publish', 'stays'],
      ['withdrawn', 'pending-unpublish.due', over],
      ['node to unstage', 'pending-node-unpublish.waiting-for-node', toNode],
      ['listed as detached', 'republishing.due'],
      ['listed as detached', 'stays', {}, { detachConfirmedByList: true }],
      ['listed as detached', 'stays', {}, { mayStillArrive: true }],
      ['listed as detached', 'stays', {}, { tries: whileBusy }],
      dropped,
      fenced,
      ...noRetry,
    ],
    rows: {},
  },

  // Nothing is done until somebody asks. How it failed says whether it may be attached.
  failed: {
    record: { failure: lost, holds },
    everywhere: [
      ['withdrawn', 'pending-unpublish.due', { failure: undefined, holds: undefined }],
      ['wish dropped', 'stays'],
      fenced,
      listed,
      ['retry, place taken', 'stays'],
    ],
    rows: {
      'failed.refused': [
        ['publish', 'stays'],
        ['retry', 'pending-publish.due', { failure: undefined }],
        ['retry, place taken', 'stays'],
      ],
      'failed.in-doubt': [
        ['publish', 'stays'],
        ['publish read-only', 'pending-unpublish.due', { failure: undefined, holds: undefined, next: readOnly }],
        ['retry', 'in-doubt.due', { failure: undefined, mayStillArrive: undefined }, { mayStillArrive: true }],
        ['retry, place taken', 'stays'],
      ],
      'failed.was-published': [
        ['publish', 'stays'],
        // The volume replaces this one by another (publishing.ts): nothing of it can arrive later.
        ['publish read-only', 'stays'],
        [
          'publish read-only',
          'pending-unpublish.due',
          { failure: undefined, holds: undefined, next: readOnly },
          { mayStillArrive: true },
        ],
        ['node to unstage', 'pending-node-unpublish.waiting-for-node', { failure: undefined }],
        ['retry', 'republishing.due', { failure: undefined }],
        ['retry, place taken', 'stays'],
      ],
      'failed.unpublish': [
        ['publish', 'pending-unpublish.due', { failure: undefined, holds: undefined, next: wish }],
        ['retry', 'pending-unpublish.due', { failure: undefined }],
        ['retry, place taken', 'pending-unpublish.due', { failure: undefined }],
      ],
    },
  },
};
