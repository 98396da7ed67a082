/** The volume around its publications: situations in which it leaves a node by a fence, or by a forced deletion. */
import type { Tries } from '../../../machines/kit/csi-types.js';
import type { Leftover } from '../../../machines/volume/types.js';
import { holds, lost, otherHolds, publishContext, refused, wish } from './publication-table.js';
import {
  awaiting,
  backingOff,
  calling,
  claimOn,
  ended,
  failedBefore,
  nowMs,
  on,
  onB,
  play,
  type Situation,
  soonMs,
} from './situations.js';

const reason = 'no power';
const fence = { type: 'volume.fence', nodeId: 'a', reason } as const;
const fenced = { fenced: reason };
const byForce = { type: 'volume.delete', force: true } as const;
const unstaged = { type: 'volume.unstaged', nodeId: 'a', claimGeneration: 8 } as const;
/** The plugin does not know the volume, or the node. */
const notFound = { ...lost, answerClass: 'not-so' } as const;

const fences: Situation[] = [
  {
    name: 'N3 fenced while published and claimed: its claim needs no report, the volume is unpublished',
    record: { publications: { a: on('published', { publishContext, holds }) }, claims: [claimOn('a', 'taken')] },
    event: fence,
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish', { publishContext, ...fenced }) },
    changes: { claims: [claimOn('a', 'node-detached', fenced)], work: calling('unpublish', 'a') },
  },
  {
    name: 'N3 fenced before its turn came: removed',
    record: {
      publications: { a: on('pending-publish'), b: onB('pending-publish') },
      work: calling('publish', 'b'),
    },
    event: fence,
    calls: [],
    publications: { b: onB('pending-publish') },
  },
  {
    name: 'N3 V8 fenced while its first call is under way: cancelled, the outcome is waited for',
    record: { publications: { a: on('pending-publish') }, work: calling('publish', 'a') },
    event: fence,
    calls: [],
    publications: { a: on('cancelling-first-call', { attemptsToResolve: 0, ...fenced }) },
  },
  {
    name: 'N3 V8 fenced in doubt: the call is repeated to learn its outcome',
    record: {
      publications: { a: on('in-doubt', failedBefore(1, soonMs)) },
      work: backingOff('publish', soonMs, 'a'),
    },
    event: fence,
    calls: ['controllerPublish csi-a'],
    publications: { a: on('cancelling', { attemptsToResolve: 0, ...fenced }) },
    changes: { work: calling('publish', 'a') },
  },
  {
    name: 'N3 V20 fenced while it is published once more: it leaves after that call',
    record: { publications: { a: on('republishing', { holds }) }, work: calling('publish', 'a') },
    event: fence,
    calls: [],
    publications: { a: on('pending-unpublish', fenced) },
  },
  {
    name: 'N3 fenced while its node is waited for, and wanted again there: unpublished, the wish is dropped',
    record: {
      publications: {
        a: on('pending-node-unpublish', { holds, next: { ...wish, holds: otherHolds } }),
      },
      claims: [claimOn('a', 'unpublishing')],
    },
    event: fence,
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish', fenced) },
    changes: { claims: [claimOn('a', 'node-detached', fenced)], work: calling('unpublish', 'a') },
  },
  {
    name: 'N3 fenced while an unpublish waits for its next attempt: tried at once',
    record: {
      publications: { a: on('pending-unpublish', failedBefore(4, 60_000)) },
      work: backingOff('unpublish', 60_000, 'a'),
    },
    event: fence,
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish', fenced) },
    changes: { work: calling('unpublish', 'a') },
  },
  {
    name: 'N3 fenced while its unpublish is under way: the call goes on, and NOT_FOUND will do',
    record: { publications: { a: on('pending-unpublish') }, work: calling('unpublish', 'a') },
    event: fence,
    calls: [],
    publications: { a: on('pending-unpublish', fenced) },
  },
  {
    name: 'N3 NOT_FOUND to the unpublish of a fenced node: removed, its claim is released',
    record: {
      publications: { a: on('pending-unpublish', fenced) },
      ...{ claims: [claimOn('a', 'node-detached', fenced)], work: calling('unpublish', 'a') },
    },
    event: ended('controllerUnpublish', notFound),
    calls: [],
    publications: {},
    changes: { claims: [], work: null },
  },
  {
    name: 'N3 fenced where it could not be unpublished: tried once more',
    record: { publications: { a: on('failed.unpublish', { failure: refused }) } },
    event: fence,
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish', fenced) },
    changes: { work: calling('unpublish', 'a') },
  },
];

const staged: Leftover = {
  ...{ what: 'staged', nodeId: 'a', csiNodeId: 'csi-a', allocId: 'web', generation: 8, csiId: 'vol-1' },
  message: 'node a has not reported that alloc web let go of it',
};
const limitMs = nowMs + 30_000;
const untilThen: Tries = {
  count: 0,
  notBeforeMs: limitMs,
  sinceMs: nowMs,
  failure: {
    code: 'VOLUME_IN_USE',
    final: false,
    message: 'node a has to unmount it for alloc web first, and has time for that until 1970-01-01T00:00:31.000Z',
  },
};
const lifecycle = { at: 'emptying', force: true } as const;

/** Claimed again by an alloc while it is unpublished. */
const duringUnpublish = {
  publications: { a: on('pending-unpublish', { isByAgent: true }) },
  ...{ claims: [claimOn('a', 'taken')], work: calling('unpublish', 'a') },
};

const forced: Situation[] = [
  {
    name: 'V13 published for an alloc by its agent: the node has 30 s to unmount it',
    record: { publications: { a: on('published', { isByAgent: true }) }, claims: [claimOn('a', 'taken')] },
    event: byForce,
    calls: [],
    publications: { a: on('pending-unpublish', { isByAgent: true, tries: untilThen }) },
    changes: { lifecycle, claims: [], leftovers: [staged], work: backingOff('unpublish', limitMs, 'a') },
  },
  {
    name: 'V13 the node has unmounted it in time: unpublished at once, nothing is left there',
    record: {
      publications: { a: on('pending-unpublish', { isByAgent: true, tries: untilThen }) },
      ...{ lifecycle, leftovers: [staged], work: backingOff('unpublish', limitMs, 'a') },
    },
    event: unstaged,
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish', { isByAgent: true }) },
    changes: { leftovers: [], work: calling('unpublish', 'a') },
  },
  {
    name: 'V13 the time of the node is over: unpublished, and kept as a leftover',
    record: {
      publications: { a: on('pending-unpublish', { tries: { ...untilThen, notBeforeMs: nowMs } }) },
      ...{ lifecycle, leftovers: [staged], work: backingOff('unpublish', nowMs, 'a') },
    },
    event: { type: 'due' },
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish') },
    changes: { work: calling('unpublish', 'a', nowMs) },
  },
  {
    name: 'V13 published without an agent: unpublished at once',
    record: { publications: { a: on('published') } },
    event: byForce,
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish') },
    changes: { lifecycle, work: calling('unpublish', 'a') },
  },
  {
    name: 'V13 V8 its first publish is under way: cancelled, its outcome is waited for',
    record: { publications: { a: on('pending-publish') }, work: calling('publish', 'a') },
    event: byForce,
    calls: [],
    publications: { a: on('cancelling-first-call', { attemptsToResolve: 0 }) },
    changes: { lifecycle },
  },
  {
    name: 'V13 its node is waited for, without an agent: unpublished at once, what is staged is a leftover',
    record: {
      publications: { a: on('pending-node-unpublish') },
      claims: [claimOn('a', 'unpublishing')],
    },
    event: byForce,
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish') },
    changes: { lifecycle, claims: [], leftovers: [staged], work: calling('unpublish', 'a') },
  },
  {
    name: 'V13 an unpublish waits for its next attempt: tried at once',
    record: {
      publications: { a: on('pending-unpublish', failedBefore(4, 60_000)) },
      work: backingOff('unpublish', 60_000, 'a'),
    },
    event: byForce,
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish') },
    changes: { lifecycle, work: calling('unpublish', 'a') },
  },
  {
    name: 'V13 it could not be unpublished: tried once more',
    record: { publications: { a: on('failed.unpublish', { failure: refused }) } },
    event: byForce,
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish') },
    changes: { lifecycle, work: calling('unpublish', 'a') },
  },
  {
    name: 'V13 the third attempt to unpublish it fails: given up, kept as a leftover, and the volume is deleted',
    record: {
      publications: { a: on('pending-unpublish', failedBefore(2)) },
      ...{ lifecycle, work: calling('unpublish', 'a') },
    },
    event: ended('controllerUnpublish', lost),
    calls: ['deleteVolume'],
    publications: {},
    changes: {
      leftovers: [{ what: 'published', nodeId: 'a', csiNodeId: 'csi-a', csiId: 'vol-1', message: lost.message }],
      lifecycle: { at: 'pending-delete', force: true },
      work: calling('delete'),
    },
  },
  {
    name: 'V13 its unpublish is under way: no time for its node, the call goes on',
    record: duringUnpublish,
    event: byForce,
    calls: [],
    publications: duringUnpublish.publications,
    changes: { lifecycle, claims: [], leftovers: [staged] },
  },
  {
    name: 'V13 its unpublish waits for the plugin: its node has 30 s to unmount it first',
    record: { ...duringUnpublish, awaiting },
    event: byForce,
    calls: [],
    publications: { a: on('pending-unpublish', { isByAgent: true, tries: untilThen }) },
    changes: {
      lifecycle,
      claims: [],
      leftovers: [staged],
      work: backingOff('unpublish', limitMs, 'a'),
      awaiting: null,
    },
  },
  {
    name: 'V13 asked for while an unpublish waits for the plugin: the call is asked for again, with force',
    record: {
      publications: { a: on('pending-unpublish') },
      ...{ work: calling('unpublish', 'a'), awaiting },
    },
    event: byForce,
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish') },
    changes: { lifecycle, awaiting: null },
  },
];

describe('a volume that is taken from its nodes, step by step', () => {
  for (const [name, situations] of Object.entries({ fences, 'forced deletion': forced }))
    describe(name, () => {
      for (const situation of situations) it(situation.name, () => play(situation));
    });
});
