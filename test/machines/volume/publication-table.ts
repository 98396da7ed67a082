/** Records of publications, and the events that publication-pairs.txt tells of. */
import type { CallFailure, Tries } from '../../../machines/kit/csi-types.js';
import type { PublicationData, PublicationEvent } from '../../../machines/volume/publication-setup.js';
import type { PublishWish, QueuedWish } from '../../../machines/volume/wishes.js';
import { meeting, type Names } from '../pairs.js';

export const wish: PublishWish = {
  capability: { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' },
  readOnly: false,
  csiNodeId: 'csi-a',
};
export const readOnly: PublishWish = { ...wish, readOnly: true };
/** The same use, but the plugin has another name for the node. */
const renamed: PublishWish = { ...wish, csiNodeId: 'csi-a2' };

export const lost: CallFailure = { code: 'CSI_ERROR', message: 'lost', final: false };
export const refused: CallFailure = { code: 'CSI_ERROR', message: 'refused', final: true };
const busy: CallFailure = { code: 'CSI_ERROR', message: 'busy', final: false, answerClass: 'busy' };

/** Of an attempt before the event. */
export const earlier: Tries = { count: 1, notBeforeMs: 50, sinceMs: 0, failure: lost };
const whileBusy: Tries = { ...earlier, failure: busy };
/** With the attempt that the event reports. */
export const again: Tries = { count: 2, notBeforeMs: 300, sinceMs: 100, failure: lost };
/** A forced deletion gives the node until then. */
export const untilThen: Tries = { count: 0, notBeforeMs: 30_000, sinceMs: 0, failure: lost };

export const publishContext = { device: '/dev/x' };
export const holds = [{ allocId: 'web', generation: 3 }];
export const otherHolds = [{ allocId: 'db', generation: 4 }];
/** Comes next on the node. */
const next: QueuedWish = { ...wish, csiNodeId: 'csi-a3', holds: otherHolds };

const failed = { failure: lost, tries: again };
const forGood = { failure: refused, tries: again };

/** All that a publication may have, but what a guard asks for. */
const record: PublicationData = {
  ...{ ...wish, number: 1, publishContext: { device: '/dev/old' }, holds, next },
  ...{ tries: earlier, attemptsToResolve: 1, failure: lost },
};
const inItsTime = { tries: untilThen };
const mayStillArrive = { mayStillArrive: true } as const;
const fenced = { fenced: 'no power' };
const listed = { detachConfirmedByList: true } as const;
const none = { underWay: undefined };

/** `in its time`: the node has time to unmount the volume. */
export const cases = meeting<PublicationEvent, PublicationData>(record, [
  ['wanted', { type: 'wanted' }],
  ['wanted-again', { type: 'wanted-again' }],
  ['found-attached', { type: 'found-attached' }],
  ['publish', { type: 'publish', wish, ...none }],
  ['publish, under way', { type: 'publish', wish, underWay: 'publish' }],
  ['publish, was fenced', { type: 'publish', wish, ...none }, fenced],
  ['publish read-only', { type: 'publish', wish: readOnly, ...none }],
  ['publish read-only, under way', { type: 'publish', wish: readOnly, underWay: 'publish' }],
  ['publish read-only, may still arrive', { type: 'publish', wish: readOnly, ...none }, mayStillArrive],
  ['publish renamed', { type: 'publish', wish: renamed, ...none }],
  ['publish renamed, under way', { type: 'publish', wish: renamed, underWay: 'publish' }],
  ['withdrawn', { type: 'withdrawn', ...none }],
  ['withdrawn, under way', { type: 'withdrawn', underWay: 'publish' }],
  ['wish.dropped', { type: 'wish.dropped' }],
  ['node.to-unstage', { type: 'node.to-unstage' }],
  ['node.let-go', { type: 'node.let-go' }],
  ['node.let-go, in its time', { type: 'node.let-go' }, inItsTime],
  ['node.fenced', { type: 'node.fenced', reason: 'no power' }],
  ['node.given-time', { type: 'node.given-time', tries: untilThen, ...none }],
  ['node.given-time, publish under way', { type: 'node.given-time', tries: untilThen, underWay: 'publish' }],
  ['node.given-time, unpublish under way', { type: 'node.given-time', tries: untilThen, underWay: 'unpublish' }],
  ['node.time-over', { type: 'node.time-over' }, inItsTime],
  ['retry', { type: 'retry', isFree: true }],
  ['retry, place taken', { type: 'retry', isFree: false }],
  ['retry, may still arrive', { type: 'retry', isFree: true }, mayStillArrive],
  ['retry, in its time', { type: 'retry', isFree: true }, inItsTime],
  ['listed-as-detached', { type: 'listed-as-detached' }],
  ['listed-as-detached, known', { type: 'listed-as-detached' }, listed],
  ['listed-as-detached, may still arrive', { type: 'listed-as-detached' }, mayStillArrive],
  ['listed-as-detached, busy', { type: 'listed-as-detached' }, { tries: whileBusy }],
  ['listed-as-detached, in its time', { type: 'listed-as-detached' }, inItsTime],
  ['call.not-made', { type: 'call.not-made' }],
  ['call.not-made, in its time', { type: 'call.not-made' }, inItsTime],
  ['publish.done', { type: 'publish.done', publishContext, attachedBy: 'call' }, mayStillArrive],
  ['publish.refused', { type: 'publish.refused', ...forGood }],
  ['publish.not-sent', { type: 'publish.not-sent', ...failed }],
  ['publish.not-sent, the last', { type: 'publish.not-sent', ...failed }, { attemptsToResolve: 2 }],
  ['publish.unknown', { type: 'publish.unknown', ...failed }],
  ['publish.unknown, the last', { type: 'publish.unknown', ...failed }, { attemptsToResolve: 2 }],
  ['publish.unknown, in its time', { type: 'publish.unknown', ...failed }, inItsTime],
  ['publish.interrupted', { type: 'publish.interrupted' }],
  ['unpublish.done', { type: 'unpublish.done' }],
  ['unpublish.refused', { type: 'unpublish.refused', ...forGood }],
  ['unpublish.interrupted', { type: 'unpublish.interrupted' }],
  ['unpublish.not-found', { type: 'unpublish.not-found', ...failed }],
  ['unpublish.not-found, fenced', { type: 'unpublish.not-found', ...failed }, fenced],
  ['unpublish.not-found, listed as detached', { type: 'unpublish.not-found', ...failed }, listed],
  ['unpublish.failed', { type: 'unpublish.failed', ...failed }],
  ['unpublish.given-up', { type: 'unpublish.given-up' }],
]);

/** Values in publication-pairs.txt. */
export const names: Names = {
  ...{ wish, readOnly, renamed, lost, refused, earlier, again, untilThen, publishContext, holds, otherHolds },
  'holds and otherHolds': [...holds, ...otherHolds],
  'wish with otherHolds': { ...wish, holds: otherHolds },
  'readOnly with otherHolds': { ...readOnly, holds: otherHolds },
  'renamed with otherHolds': { ...renamed, holds: otherHolds },
};
