/** The volume around its publications: claims and holds on a node end. */
import { holds, lost, publishContext, wish } from './publication-table.js';
import {
  backingOff,
  byCall,
  calling,
  claimOn,
  ended,
  failedOnce,
  on,
  play,
  type Situation,
  soonMs,
} from './situations.js';

const release = { type: 'volume.release', allocId: 'web' } as const;
const unstaged = { type: 'volume.unstaged', nodeId: 'a', claimGeneration: 8 } as const;
/** The plugin does not know the volume, or the node. */
const notFound = { ...lost, answerClass: 'not-so' } as const;

const claims: Situation[] = [
  {
    name: 'V4 C4 the last claim on the node is released: its node is waited for',
    record: { publications: { a: on('published', { publishContext }) }, claims: [claimOn('a', 'taken')] },
    event: release,
    calls: [],
    publications: { a: on('pending-node-unpublish', { publishContext }) },
    changes: { claims: [claimOn('a', 'unpublishing')] },
  },
  {
    name: 'C4 one of two claims on the node is released: the volume stays published',
    record: {
      publications: { a: on('published') },
      claims: [claimOn('a', 'taken'), claimOn('a', 'taken', { allocId: 'db', generation: 7 })],
    },
    event: release,
    calls: [],
    publications: { a: on('published') },
    changes: { claims: [claimOn('a', 'unpublishing'), claimOn('a', 'taken', { allocId: 'db', generation: 7 })] },
  },
  {
    name: 'V4 C4 the node reports that it let go: the volume is unpublished',
    record: {
      publications: { a: on('pending-node-unpublish') },
      claims: [claimOn('a', 'unpublishing')],
    },
    event: unstaged,
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish') },
    changes: { claims: [claimOn('a', 'node-detached')], work: calling('unpublish', 'a') },
  },
  {
    name: 'V20 its claim is released while it is published once more: the node is waited for, the call goes on',
    record: {
      publications: { a: on('republishing') },
      ...{ claims: [claimOn('a', 'taken')], work: calling('publish', 'a') },
    },
    event: release,
    calls: [],
    publications: { a: on('pending-node-unpublish') },
    changes: { claims: [claimOn('a', 'unpublishing')] },
  },
  {
    name: 'V20 that call ends, its answer is lost: the node is waited for, and no list proves anything',
    record: {
      publications: { a: on('pending-node-unpublish') },
      ...{ claims: [claimOn('a', 'unpublishing')], work: calling('publish', 'a') },
    },
    event: ended('controllerPublish', lost),
    calls: [],
    publications: { a: on('pending-node-unpublish', { mayStillArrive: true, ...byCall }) },
    changes: { work: null },
  },
  {
    name: 'V20 NOT_FOUND to an unpublish: no proof, tried again',
    record: { publications: { a: on('pending-unpublish') }, work: calling('unpublish', 'a') },
    event: ended('controllerUnpublish', notFound),
    calls: [],
    publications: { a: on('pending-unpublish', failedOnce(soonMs, notFound)) },
    changes: { work: backingOff('unpublish', soonMs, 'a') },
  },
  {
    name: 'V20 NOT_FOUND to an unpublish that the list has as detached: removed, its claim is released',
    record: {
      publications: { a: on('pending-unpublish', { detachConfirmedByList: true }) },
      ...{ claims: [claimOn('a', 'node-detached')], work: calling('unpublish', 'a') },
    },
    event: ended('controllerUnpublish', notFound),
    calls: [],
    publications: {},
    changes: { claims: [], work: null },
  },
];

const kept: Situation[] = [
  {
    name: 'V4 the last claim is released, but an alloc without a claim has it mounted: its node is waited for',
    record: { publications: { a: on('published', { holds }) }, claims: [claimOn('a', 'taken')] },
    event: release,
    calls: [],
    publications: { a: on('pending-node-unpublish', { holds }) },
    changes: { claims: [claimOn('a', 'unpublishing')] },
  },
  {
    name: 'V4 the node has let go for the claim, an alloc without one has it mounted: it stays',
    record: {
      publications: { a: on('pending-node-unpublish', { holds }) },
      claims: [claimOn('a', 'unpublishing')],
    },
    event: unstaged,
    calls: [],
    publications: { a: on('pending-node-unpublish', { holds }) },
    changes: { claims: [claimOn('a', 'node-detached')] },
  },
  {
    name: 'V4 the last hold is released: the volume is unpublished',
    record: {
      publications: { a: on('pending-node-unpublish', { holds }) },
      claims: [claimOn('a', 'node-detached')],
    },
    event: { type: 'volume.hold-released', nodeId: 'a', allocId: 'web', generation: 3 },
    calls: ['controllerUnpublish csi-a'],
    publications: { a: on('pending-unpublish') },
    changes: { work: calling('unpublish', 'a') },
  },
  {
    name: 'V4 a report of an earlier hold: the later one stays',
    record: { publications: { a: on('pending-node-unpublish', { holds }) } },
    event: { type: 'volume.hold-released', nodeId: 'a', allocId: 'web', generation: 2 },
    calls: [],
    publications: { a: on('pending-node-unpublish', { holds }) },
  },
  {
    name: 'V4 mounted for another alloc while holds keep it: that alloc joins them',
    record: { publications: { a: on('pending-node-unpublish', { holds, isByAgent: true }) } },
    event: { type: 'volume.publish', nodeId: 'a', ...wish, hold: 'db' },
    calls: [],
    publications: {
      a: on('pending-node-unpublish', {
        holds: [...holds, { allocId: 'db', generation: 9 }],
        isByAgent: true,
      }),
    },
    changes: { generation: 9 },
  },
];

describe('a volume that its users give up, step by step', () => {
  for (const [name, situations] of Object.entries({ claims, holds: kept }))
    describe(name, () => {
      for (const situation of situations) it(situation.name, () => play(situation));
    });
});
