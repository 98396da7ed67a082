/** What the rows of the tables of the publication chart are made of: events with a name each, and the records they meet. */
import type { CallFailure, Tries } from '../../../machines/kit/csi-types.js';
import type { Publication } from '../../../machines/volume/publication.js';
import type { PublicationData, PublicationEvent } from '../../../machines/volume/publication-setup.js';
import type { PublishWish, QueuedWish } from '../../../machines/volume/wishes.js';

export const wish: PublishWish = {
  capability: { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' },
  readOnly: false,
  csiNodeId: 'csi-a',
};
export const readOnly: PublishWish = { ...wish, readOnly: true };
/** The same use, but the plugin has another name for the node. */
export const renamed: PublishWish = { ...wish, csiNodeId: 'csi-a2' };

export const lost: CallFailure = { code: 'CSI_ERROR', message: 'lost', final: false };
export const refused: CallFailure = { code: 'CSI_ERROR', message: 'refused', final: true };
const busy: CallFailure = { code: 'CSI_ERROR', message: 'busy', final: false, answerClass: 'busy' };

/** Of an attempt before the event. */
export const earlier: Tries = { count: 1, notBeforeMs: 50, sinceMs: 0, failure: lost };
export const whileBusy: Tries = { ...earlier, failure: busy };
/** With the attempt that the event reports. */
export const again: Tries = { count: 2, notBeforeMs: 300, sinceMs: 100, failure: lost };
/** A forced deletion gives the node until then. */
export const untilThen: Tries = { count: 0, notBeforeMs: 30_000, sinceMs: 0, failure: lost };

export const publishContext = { device: '/dev/x' };
export const holds = [{ allocId: 'web', generation: 3 }];
export const otherHolds = [{ allocId: 'db', generation: 4 }];
export const next: QueuedWish = { ...readOnly, holds: otherHolds };

const failed = { failure: lost, tries: again };
const forGood = { failure: refused, tries: again };

/** Events by name. Where a guard decides, an event has more than one name. */
export const events = {
  wanted: { type: 'wanted' },
  'wanted again': { type: 'wanted-again' },
  'found attached': { type: 'found-attached' },
  publish: { type: 'publish', wish },
  'publish read-only': { type: 'publish', wish: readOnly },
  'publish renamed': { type: 'publish', wish: renamed },
  withdrawn: { type: 'withdrawn' },
  'wish dropped': { type: 'wish.dropped' },
  'node to unstage': { type: 'node.to-unstage' },
  'node let go': { type: 'node.let-go' },
  'node fenced': { type: 'node.fenced', reason: 'no power' },
  'node given time': { type: 'node.given-time', tries: untilThen },
  retry: { type: 'retry', isFree: true },
  'retry, place taken': { type: 'retry', isFree: false },
  'listed as detached': { type: 'listed-as-detached' },
  'turn given': { type: 'turn.given' },
  'turn lost': { type: 'turn.lost' },
  'call waits': { type: 'call.waits' },
  'publish done': { type: 'publish.done', publishContext },
  'publish refused': { type: 'publish.refused', ...forGood },
  'publish not sent': { type: 'publish.not-sent', ...failed },
  'publish unknown': { type: 'publish.unknown', ...failed },
  'publish interrupted': { type: 'publish.interrupted' },
  'unpublish done': { type: 'unpublish.done' },
  'unpublish refused': { type: 'unpublish.refused', ...forGood },
  'unpublish interrupted': { type: 'unpublish.interrupted' },
  'unpublish not found': { type: 'unpublish.not-found', ...failed },
  'unpublish not found for good': { type: 'unpublish.not-found', ...forGood },
  'unpublish failed': { type: 'unpublish.failed', ...failed },
  'unpublish given up': { type: 'unpublish.given-up' },
} satisfies Record<string, PublicationEvent>;

export type EventName = keyof typeof events;
export type At = Publication['at'];

/**
 * One event: the state after it, and what becomes of the data. Data without a change stay as they are; `undefined`: gone.
 * The last one adds to the record that the event meets.
 */
export type Row = [
  event: EventName,
  to: At | 'stays',
  changes?: Partial<PublicationData>,
  given?: Partial<PublicationData>,
];

/** A top-level state. */
export interface Group {
  /** What all of its rows meet, beside the wish and the number. */
  record: Partial<PublicationData>;
  /** Rows for all states of the group that have no row of their own for the event. */
  everywhere: Row[];
  rows: Partial<Record<At, Row[]>>;
}
