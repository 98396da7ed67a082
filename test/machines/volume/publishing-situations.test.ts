/** The volume around its publications: situations in which the volume is wanted on a node, or is given up before it is there. */
import { lost, publishContext, readOnly, refused, wish } from './publication-table.js';
import {
  awaiting,
  backingOff,
  byCall,
  calling,
  claimOn,
  ended,
  failedBefore,
  failedOnce,
  laterMs,
  nowMs,
  on,
  onB,
  play,
  published,
  type Situation,
  soonMs,
  unpublished,
} from './situations.js';

const mustWait = { status: 'must-wait', ...awaiting };
const unpublish = { type: 'volume.unpublish', nodeId: 'a' } as const;
const publish = { type: 'volume.publish', nodeId: 'a', ...wish } as const;
const singleNode = { ...wish.capability, accessMode: 'single-node-writer' } as const;

const cancelled: Situation[] = [
  {
    name: 'V8 cancelled before its turn came: removed, the call for the other node goes on',
    record: {
      publications: { a: on('pending-publish'), b: onB('pending-publish') },
      work: calling('publish', 'b'),
    },
    event: unpublish,
    calls: [],
    publications: { b: onB('pending-publish') },
  },
  {
    name: 'V8 cancelled while its first call waits for the plugin: removed, as nothing was sent',
    record: {
      publications: { a: on('pending-publish') },
      ...{ work: calling('publish', 'a'), awaiting },
    },
    event: unpublish,
    calls: [],
    publications: {},
    changes: { work: null, awaiting: null },
  },
  {
    name: 'V8 the plugin is away: no call was made, and the volume waits until it may be made',
    record: { publications: { a: on('pending-publish') }, work: calling('publish', 'a') },
    event: { type: 'outcome', of: 'controllerPublish', output: mustWait },
    calls: ['awaitAdmission controllerPublish'],
    publications: { a: on('pending-publish') },
    changes: { awaiting },
  },
  {
    name: 'V8 cancelled, then the plugin is away: its first call was never made, so it is removed',
    record: { publications: { a: on('cancelling-first-call') }, work: calling('publish', 'a') },
    event: { type: 'outcome', of: 'controllerPublish', output: mustWait },
    calls: [],
    publications: {},
    changes: { work: null },
  },
  {
    name: 'V8 its call is admitted: it is made',
    record: {
      publications: { a: on('pending-publish') },
      ...{ work: calling('publish', 'a'), awaiting },
    },
    event: { type: 'admitted' },
    calls: ['controllerPublish csi-a'],
    publications: { a: on('pending-publish') },
    changes: { awaiting: null },
  },
  {
    name: 'V8 cancelled while its first call is under way: the outcome is waited for',
    record: { publications: { a: on('pending-publish') }, work: calling('publish', 'a') },
    event: unpublish,
    calls: [],
    publications: { a: on('cancelling-first-call', { attemptsToResolve: 0 }) },
  },
  {
    name: 'V8 the cancelled first call was done: it is undone',
    record: {
      publications: { a: on('cancelling-first-call', { attemptsToResolve: 0 }) },
      work: calling('publish', 'a'),
    },
    event: published,
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish', { publishContext: {}, ...byCall }) },
    changes: { work: calling('unpublish', 'a') },
  },
  {
    name: 'V8 the cancelled first call was never sent: removed',
    record: {
      publications: { a: on('cancelling-first-call', { attemptsToResolve: 0 }) },
      work: calling('publish', 'a'),
    },
    event: ended('controllerPublish', lost, { status: 'not-sent' }),
    calls: [],
    publications: {},
    changes: { work: null },
  },
  {
    name: 'V8 the answer to the cancelled first call is lost: it is asked again before it is undone',
    record: {
      publications: { a: on('cancelling-first-call', { attemptsToResolve: 0 }) },
      work: calling('publish', 'a'),
    },
    event: ended('controllerPublish', lost),
    calls: [],
    publications: { a: on('cancelling', { attemptsToResolve: 1, ...byCall, ...failedOnce(soonMs) }) },
    changes: { work: backingOff('publish', soonMs, 'a') },
  },
  {
    name: 'V8 cancelled in doubt, long before the next attempt: that is made at once',
    record: {
      publications: { a: on('in-doubt', failedBefore(5, 60_000)) },
      work: backingOff('publish', 60_000, 'a'),
    },
    event: unpublish,
    calls: ['controllerPublish csi-a'],
    publications: { a: on('cancelling', { attemptsToResolve: 0 }) },
    changes: { work: calling('publish', 'a') },
  },
  {
    name: 'V8 the third attempt to resolve it is lost too: unpublished, and no list is proof',
    record: {
      publications: { a: on('cancelling', { attemptsToResolve: 2, ...failedBefore(2) }) },
      work: calling('publish', 'a'),
    },
    event: ended('controllerPublish', lost),
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish', { mayStillArrive: true, ...byCall }) },
    changes: { work: calling('unpublish', 'a') },
  },
  {
    name: 'V8 wanted again while it is resolved: the same call publishes it',
    record: {
      publications: { a: on('cancelling', { attemptsToResolve: 1, ...failedBefore(1) }) },
      work: calling('publish', 'a'),
    },
    event: publish,
    calls: [],
    publications: { a: on('in-doubt', failedBefore(1)) },
  },
  {
    name: 'V4 cancelled after it was published, without a claim: it is unpublished',
    record: { publications: { a: on('published', { publishContext }) } },
    event: unpublish,
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish', { publishContext }) },
    changes: { work: calling('unpublish', 'a') },
  },
];

const lostAnswers: Situation[] = [
  {
    name: 'V8 the answer to a publish is lost: in doubt, tried again later',
    record: { publications: { a: on('pending-publish') }, work: calling('publish', 'a') },
    event: ended('controllerPublish', lost),
    calls: [],
    publications: { a: on('in-doubt', { ...byCall, ...failedOnce(soonMs) }) },
    changes: { work: backingOff('publish', soonMs, 'a') },
  },
  {
    name: 'V8 the pause is over: the same call is made',
    record: { publications: { a: on('in-doubt', failedBefore(1)) }, work: backingOff('publish', nowMs, 'a') },
    event: { type: 'due' },
    calls: ['controllerPublish csi-a'],
    publications: { a: on('in-doubt', failedBefore(1)) },
    changes: { work: calling('publish', 'a', nowMs) },
  },
  {
    name: 'V8 the runtime ended while the first call was under way: in doubt, called again at once',
    record: { publications: { a: on('pending-publish') }, work: calling('publish', 'a') },
    event: { type: 'interrupted', of: 'controllerPublish' },
    calls: ['controllerPublish csi-a'],
    publications: { a: on('in-doubt') },
  },
  {
    name: 'V11 the plugin refuses the repeat of a call in doubt: failed, and it may be there',
    record: { publications: { a: on('in-doubt', failedBefore(1)) }, work: calling('publish', 'a') },
    event: ended('controllerPublish', refused),
    calls: [],
    publications: { a: on('failed.in-doubt', { failure: refused, mayStillArrive: true, ...byCall }) },
    changes: { work: null },
  },
  {
    name: 'V8 the answer to an unpublish is lost: tried again later',
    record: { publications: { a: on('pending-unpublish') }, work: calling('unpublish', 'a') },
    event: ended('controllerUnpublish', lost),
    calls: [],
    publications: { a: on('pending-unpublish', failedOnce(soonMs)) },
    changes: { work: backingOff('unpublish', soonMs, 'a') },
  },
  {
    name: 'V10 the second attempt fails: the pause is twice as long',
    record: { publications: { a: on('in-doubt', failedBefore(1)) }, work: calling('publish', 'a') },
    event: ended('controllerPublish', lost),
    calls: [],
    publications: {
      a: on('in-doubt', { ...byCall, tries: { count: 2, notBeforeMs: laterMs, sinceMs: nowMs, failure: lost } }),
    },
    changes: { work: backingOff('publish', laterMs, 'a') },
  },
];

const otherwise: Situation[] = [
  {
    name: 'V5 published another way while it is being published: refused, with what is in the way',
    record: { publications: { a: on('pending-publish') }, work: calling('publish', 'a') },
    event: { ...publish, ...readOnly },
    calls: [],
    publications: { a: on('pending-publish') },
    refused: 'VOLUME_IN_USE',
  },
  {
    name: 'V5 published another way while it is cancelled: comes next',
    record: {
      publications: { a: on('cancelling-first-call', { attemptsToResolve: 0 }) },
      work: calling('publish', 'a'),
    },
    event: { ...publish, ...readOnly },
    calls: [],
    publications: { a: on('cancelling-first-call', { attemptsToResolve: 0, next: readOnly }) },
  },
  {
    name: 'V5 it is unpublished, and another way was asked for meanwhile: a new publication begins',
    record: {
      publications: { a: on('pending-unpublish', { next: readOnly }) },
      work: calling('unpublish', 'a'),
    },
    event: unpublished,
    calls: ['controllerPublish csi-a'],
    publications: { a: on('pending-publish', { ...readOnly, number: 3 }) },
    changes: { publicationNumber: 3, work: calling('publish', 'a') },
  },
  {
    name: 'V5 published again while its node lets go of it: comes next',
    record: {
      publications: { a: on('pending-node-unpublish') },
      claims: [claimOn('a', 'unpublishing')],
    },
    event: publish,
    calls: [],
    publications: { a: on('pending-node-unpublish', { next: wish }) },
  },
  {
    name: 'V5 single-node: the second node has to wait until the first one is unpublished',
    record: {
      publications: {
        a: on('pending-unpublish', { capability: singleNode }),
        b: onB('pending-publish', { capability: singleNode }),
      },
      work: calling('unpublish', 'a'),
    },
    event: unpublished,
    calls: ['controllerPublish csi-b'],
    publications: { b: onB('pending-publish', { capability: singleNode }) },
    changes: { work: calling('publish', 'b') },
  },
];

describe('a volume on its way to nodes, step by step', () => {
  for (const [name, situations] of Object.entries({
    'given up': cancelled,
    'lost answers': lostAnswers,
    'another way': otherwise,
  }))
    describe(name, () => {
      for (const situation of situations) it(situation.name, () => play(situation));
    });
});
