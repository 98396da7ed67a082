/**
 * Ids of events: `<topic>@<cursor>`, such as `volumes@12` or `plugins/n1@7`. A topic refuses the ids of other topics,
 * which would point to unrelated events.
 */
import { StagecraftError } from '../../errors.js';
import type { Cursor, TopicRow } from '../store.js';

/** Row as followers get it. */
export interface FollowedRow extends TopicRow {
  /** Pass it as `from` to continue after this row. */
  id: string;
}

export const eventId = (topic: string, cursor: Cursor): string => `${topic}@${cursor}`;

/**
 * Returns the position of an event in its topic. @param from as in FollowOptions @throws {StagecraftError}
 * INVALID_ARGUMENT
 */
export function cursorOf(topic: string, from: unknown): Cursor | 'now' {
  if (from === 'now') return from;
  if (from === '0') return 0;
  const [, of, digits] = (typeof from === 'string' && /^(?:(.*)@)?(\d+)$/.exec(from)) || [];
  const cursor = Number(digits);
  const such = `give 'now', '0', or the id of an event of ${topic}, such as '${eventId(topic, 12)}'`;
  if (digits === undefined || !Number.isSafeInteger(cursor))
    throw invalid(`${JSON.stringify(from)} is no event id: ${such}`);
  if (of === undefined) throw invalid(`'${from}' is a number without its topic: ${such}`);
  if (of !== topic) throw invalid(`'${from}' is the id of an event of ${of}: ${such}`);
  return cursor;
}

const invalid = (message: string): StagecraftError => new StagecraftError('INVALID_ARGUMENT', message);
