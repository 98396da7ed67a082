/** Checks the options of public subscribers, then follows the topic. */
import { StagecraftError } from '../../errors.js';
import type { ActorSystem } from '../actor-system.js';
import { cursorOf, type FollowedRow } from './event-ids.js';
import type { TopicReader } from './topic-reader.js';

export interface FollowOptions {
  /** `now`; `0` for all kept events; or the id of the last event that the caller has seen. Default `now`. */
  from?: string;
  signal?: AbortSignal;
}

/** Follows a topic with the caller's options. @throws {StagecraftError} INVALID_ARGUMENT */
export function followAs(
  engine: Pick<ActorSystem, 'follow'>,
  topic: string,
  options: unknown = {},
): TopicReader<FollowedRow> {
  if (!(options instanceof Object)) throw invalid(`the options are { from, signal }, not ${JSON.stringify(options)}`);
  const { from = 'now', signal }: { from?: unknown; signal?: unknown } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalid('signal must be an AbortSignal');
  return engine.follow(topic, cursorOf(topic, from), signal);
}

const invalid = (message: string): StagecraftError => new StagecraftError('INVALID_ARGUMENT', message);
