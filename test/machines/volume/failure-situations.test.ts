/** The volume around its publications: failed publications, and what the plugin lists. */
import { lost, otherHolds, publishContext, readOnly, refused, wish } from './publication-table.js';
import {
  awaiting,
  backingOff,
  byCall,
  calling,
  claimOn,
  ended,
  failedBefore,
  failedOnce,
  listed,
  nowMs,
  on,
  onB,
  play,
  type Situation,
  soonMs,
  unpublished,
} from './situations.js';

const publish = { type: 'volume.publish', nodeId: 'a', ...wish } as const;
const retry = { type: 'volume.retry' } as const;
const singleNode = { ...wish.capability, accessMode: 'single-node-writer' } as const;

const failures: Situation[] = [
  {
    name: 'V11 retry of a refused publish: it is published',
    record: { publications: { a: on('failed.refused', { failure: refused }) } },
    event: retry,
    calls: ['controllerPublish csi-a'],
    publications: { a: on('pending-publish') },
    changes: { work: calling('publish', 'a') },
  },
  {
    name: 'V5 retry of a refused publish whose place was taken: it stays failed',
    record: {
      publications: {
        a: on('failed.refused', { capability: singleNode, failure: refused }),
        b: onB('published', { capability: singleNode }),
      },
    },
    event: retry,
    calls: [],
    publications: {
      a: on('failed.refused', { capability: singleNode, failure: refused }),
      b: onB('published', { capability: singleNode }),
    },
  },
  {
    name: 'V11 retry of a publish that was refused in doubt: in doubt',
    record: { publications: { a: on('failed.in-doubt', { failure: refused, mayStillArrive: true }) } },
    event: retry,
    calls: ['controllerPublish csi-a'],
    publications: { a: on('in-doubt') },
    changes: { work: calling('publish', 'a') },
  },
  {
    name: 'V11 retry of one that was published, and could not be again: its node may have it staged',
    record: { publications: { a: on('failed.was-published', { failure: refused, publishContext }) } },
    event: retry,
    calls: ['controllerPublish csi-a'],
    publications: { a: on('republishing', { publishContext }) },
    changes: { work: calling('publish', 'a') },
  },
  {
    name: 'V11 retry of one that could not be unpublished: it is unpublished',
    record: { publications: { a: on('failed.unpublish', { failure: refused }) } },
    event: retry,
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish') },
    changes: { work: calling('unpublish', 'a') },
  },
  {
    name: 'V5 published another way where it failed, and may be there: it is unpublished first',
    record: { publications: { a: on('failed.in-doubt', { failure: refused, mayStillArrive: true }) } },
    event: { ...publish, ...readOnly },
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish', { mayStillArrive: true, next: readOnly }) },
    changes: { work: calling('unpublish', 'a') },
  },
  {
    name: 'V5 published another way where it was refused: a new publication takes the place of the failed one',
    record: { publications: { a: on('failed.refused', { failure: refused }) } },
    event: { ...publish, ...readOnly },
    calls: ['controllerPublish csi-a'],
    publications: { a: on('pending-publish', { ...readOnly, number: 3 }) },
    changes: { publicationNumber: 3, work: calling('publish', 'a') },
  },
];

const believed = (state: string) => [`a 1 ${state}`];

const lists: Situation[] = [
  {
    name: 'V20 published, and the list has it as detached: it is published again',
    record: { publications: { a: on('published', { publishContext }) } },
    event: listed(believed('published'), []),
    calls: ['controllerPublish csi-a'],
    publications: { a: on('republishing', { publishContext }) },
    changes: { work: calling('publish', 'a') },
  },
  {
    name: 'V20 its node is waited for, and the list has it as detached: unpublished without the report',
    record: {
      publications: { a: on('pending-node-unpublish') },
      claims: [claimOn('a', 'unpublishing')],
    },
    event: listed(believed('pending-node-unpublish'), []),
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish', { detachConfirmedByList: true }) },
    changes: {
      claims: [claimOn('a', 'node-detached', { fenced: 'its plugin lists it as detached' })],
      work: calling('unpublish', 'a'),
    },
  },
  {
    name: 'V20 its node is waited for by a hold, and the list has it as detached: it stays',
    record: { publications: { a: on('pending-node-unpublish', { holds: otherHolds }) } },
    event: listed(believed('pending-node-unpublish'), []),
    calls: [],
    publications: { a: on('pending-node-unpublish', { holds: otherHolds }) },
  },
  {
    name: 'V20 the list has it as detached while a call for another node is under way: the list is not used',
    record: {
      publications: { a: on('published', { publishContext }), b: onB('pending-publish') },
      work: calling('publish', 'b'),
    },
    event: listed(['a 1 published', 'b 2 pending-publish'], []),
    calls: [],
    publications: { a: on('published', { publishContext }), b: onB('pending-publish') },
  },
  {
    name: 'V20 its node is waited for while its publish is under way, and the list has it as detached: not used',
    record: {
      publications: { a: on('pending-node-unpublish') },
      ...{ claims: [claimOn('a', 'unpublishing')], work: calling('publish', 'a') },
    },
    event: listed(believed('pending-node-unpublish'), []),
    calls: [],
    publications: { a: on('pending-node-unpublish') },
  },
  {
    name: 'V20 its unpublish waits for the plugin, and the list has it as detached: the list is not used',
    record: {
      publications: { a: on('pending-unpublish') },
      ...{ work: calling('unpublish', 'a'), awaiting },
    },
    event: listed(believed('pending-unpublish'), []),
    calls: [],
    publications: { a: on('pending-unpublish') },
  },
  {
    name: 'V20 an unpublish waits for its next attempt, and the list has it as detached: tried at once',
    record: {
      publications: { a: on('pending-unpublish', failedBefore(4, 60_000)) },
      work: backingOff('unpublish', 60_000, 'a'),
    },
    event: listed(believed('pending-unpublish'), []),
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish', { detachConfirmedByList: true }) },
    changes: { work: calling('unpublish', 'a') },
  },
  {
    name: 'V4 the list has it on a node after its deletion was tried: unpublished, then deleted in its time',
    record: {
      lifecycle: { at: 'pending-delete', ...failedBefore(2, 60_000) },
      work: backingOff('delete', 60_000),
    },
    event: listed([], ['csi-a'], [{ nodeId: 'a', csiNodeId: 'csi-a' }]),
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish', { number: 3, ...byCall }) },
    changes: {
      lifecycle: { at: 'emptying', ...failedBefore(2, 60_000) },
      ...{ publicationNumber: 3, work: calling('unpublish', 'a') },
    },
  },
  {
    name: 'V4 its deletion is due, and it can not be unpublished yet: it is not deleted under that',
    record: {
      lifecycle: { at: 'emptying', ...failedBefore(2) },
      ...{ publications: { a: on('pending-unpublish') }, work: calling('unpublish', 'a') },
    },
    event: ended('controllerUnpublish', lost),
    calls: [],
    publications: { a: on('pending-unpublish', failedOnce(soonMs)) },
    changes: { work: backingOff('unpublish', soonMs, 'a') },
  },
  {
    name: 'V13 retry of a deletion that was refused, while it is on a node: unpublished first',
    record: {
      lifecycle: { at: 'failed.delete', failure: refused },
      ...{ publications: { a: on('pending-unpublish', failedBefore(1)) } },
      work: backingOff('unpublish', nowMs, 'a'),
    },
    event: retry,
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish') },
    changes: { lifecycle: { at: 'emptying' }, work: calling('unpublish', 'a') },
  },
  {
    name: 'V10 it is on no node any more: its deletion waits for the time of its next attempt',
    record: {
      lifecycle: { at: 'emptying', ...failedBefore(2, 60_000) },
      ...{ publications: { a: on('pending-unpublish') }, work: calling('unpublish', 'a') },
    },
    event: unpublished,
    calls: [],
    publications: {},
    changes: {
      lifecycle: { at: 'pending-delete', ...failedBefore(2, 60_000) },
      work: backingOff('delete', 60_000),
    },
  },
  {
    name: 'V20 a publish in doubt is not in the list: that proves nothing, it goes on',
    record: {
      publications: { a: on('in-doubt', failedBefore(1, soonMs)) },
      work: backingOff('publish', soonMs, 'a'),
    },
    event: listed(believed('pending-publish'), []),
    calls: [],
    publications: { a: on('in-doubt', failedBefore(1, soonMs)) },
  },
];

describe('failed publications and lists, step by step', () => {
  for (const [name, situations] of Object.entries({ failures, 'the list': lists }))
    describe(name, () => {
      for (const situation of situations) it(situation.name, () => play(situation));
    });
});
