/** `runtime.leadership`: which agent works on volumes and nodes, and its events. */
import type { OwnerRoute } from '../cluster/request-client.js';
import { type Clock, pause } from '../engine/clock.js';
import type { ElectedEngine } from '../engine/lease/elected-engine.js';
import type { Store, TopicEntry } from '../engine/store.js';
import type { FollowedRow } from '../engine/topics/event-ids.js';
import { type FollowOptions, followAs } from '../engine/topics/topic-reader.js';
import { eventOf, type Topics } from '../engine/topics/topics.js';

export interface Leadership {
  /** Whether this runtime works on volumes and nodes now. False also while its lease has lapsed, until it has it again. */
  readonly isOurs: boolean;
  /** Reason if this runtime does not lead, naming the leader as far as it is known. */
  readonly refusal: string | undefined;
  /** Whether the leader, another agent, has been silent for so long that one may soon take over. */
  readonly isLeaderSilent: boolean;
  /** Whether this runtime can't lead, as it is of an older version than what is stored. */
  readonly isTooOld: boolean;
  /**
   * Follows the changes of the leader, from now or from after an event's id.
   * @throws StagecraftError CURSOR_EXPIRED; INVALID_ARGUMENT; STORE_UNAVAILABLE: follow again, from the last event's
   *   id
   */
  updates(options?: FollowOptions): AsyncIterable<LeadershipEvent>;
}

/** An agent leads from here on. `id` is the event's place in the topic, `at` is in milliseconds since the epoch. */
export interface LeadershipEvent extends Elected {
  id: string;
}

/** Time for which one agent leads. */
export interface Term {
  /** Its beginning, milliseconds since the epoch. */
  sinceMs: number;
  /** Rises with each grant of the lease. */
  epoch: number;
}

interface Elected {
  kind: 'elected';
  at: number;
  nodeId: string;
  /** In words, as in the refusals of other agents. */
  leader: string;
  /** Rises with each grant of the lease. */
  epoch: number;
  /** Where requests of other agents reach it. Absent: nowhere. */
  inbox?: string;
}

export const leadershipTopic = 'leadership';
const tellAgainMs = 2_000;

interface Telling {
  /** Name of the lease. */
  lease: string;
  event: Omit<Elected, 'kind'>;
}

/** Sends the event to all subscribers, on every runtime; once per epoch. */
export async function tellElected(topics: Topics, telling: Telling): Promise<void> {
  await topics.append(leadershipTopic, entryOf(telling));
}

/** Tells it again and again until the signal: a store that lost writes may have lost it. One that has it stays as it is. */
export async function keepTelling(
  { store, clock }: { store: Pick<Store, 'appendTopic'>; clock: Clock },
  telling: Telling,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await pause(clock, tellAgainMs, signal);
    if (signal.aborted) return;
    // Without the store nobody can ask either.
    await store.appendTopic(leadershipTopic, [entryOf(telling)]).catch(() => {});
  }
}

const entryOf = ({ lease, event }: Telling): TopicEntry => ({
  ...{ source: `lease/${lease}`, seq: event.epoch, index: 0 },
  text: JSON.stringify({ kind: 'elected', ...event } satisfies Elected),
});

/** The agent that was elected last; undefined: none was yet. @throws {Error} the store is away */
export async function electedIn(store: Pick<Store, 'readTopic'>): Promise<Elected | undefined> {
  const { newest } = await store.readTopic(leadershipTopic, 0, 0);
  const { rows } = await store.readTopic(leadershipTopic, newest - 1, 1);
  const [row] = rows;
  return row && JSON.parse(row.text);
}

/** Where the agent that leads reads; undefined: not known. @throws {Error} the store is away */
export async function routeIn(store: Pick<Store, 'readTopic'>): Promise<OwnerRoute | undefined> {
  const elected = await electedIn(store);
  return elected?.inbox === undefined ? undefined : { inbox: elected.inbox, epoch: elected.epoch };
}

export const leadershipEventOf = (row: FollowedRow): LeadershipEvent => ({ ...eventOf<Elected>(row), id: row.id });

export function leadershipOf(engine: ElectedEngine, isSilent: () => boolean): Leadership {
  return {
    get isLeaderSilent() {
      return engine.refusal !== undefined && isSilent();
    },
    get isOurs() {
      return engine.uncertainty === undefined;
    },
    get isTooOld() {
      return engine.isTooOld;
    },
    get refusal() {
      return engine.uncertainty?.message;
    },
    updates: (options?: FollowOptions) => followAs(engine, leadershipTopic, options).reading(leadershipEventOf),
  };
}
