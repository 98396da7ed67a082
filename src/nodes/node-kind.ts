/** Binds the effects of the node machine: its timer until the fence, and the messages to its volumes. Reads its broadcasts. */
import { addressParts } from '../../machines/kit/addresses.js';
import {
  type NodeChanged,
  type NodeContext,
  type NodeEvent,
  nodeMachine,
  slotRefusal,
} from '../../machines/node/node.js';
import { hasWaiting } from '../../machines/volume/claims.js';
import { isToBeFenced } from '../../machines/volume/releases.js';
import type { VolumeContext, VolumeRequest } from '../../machines/volume/types.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import { untilAborted } from '../abort.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import { type Clock, pause } from '../engine/clock.js';
import type { ActorKind, EffectCall } from '../engine/effects/effects.js';
import type { Logger } from '../engine/logger.js';
import type { TroubleLog } from '../engine/storage/trouble-log.js';
import type { FollowedRow } from '../engine/topics/event-ids.js';
import { eventOf } from '../engine/topics/topics.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { NodeAdmission } from './node-admission.js';

export const nodesTopic = 'nodes';

type EventOf<One> = One extends { type: infer Kind; id: infer Id }
  ? Omit<One, 'type' | 'id'> & { kind: Kind; nodeId: Id }
  : never;

/**
 * Change of a node. `id` is its place in the topic: follow from there to continue after it. `at` is in ms since the
 * epoch.
 */
export type NodeUpdate = { id: string; at: number } & EventOf<NodeChanged>;

export function nodeUpdateOf(row: FollowedRow): NodeUpdate {
  const { type: kind, id: nodeId, ...change } = eventOf<NodeChanged & { at: number }>(row);
  return { ...change, id: row.id, kind, nodeId } as NodeUpdate;
}

interface NodeKindOptions {
  /** Time from down to fenced, in milliseconds; absent: a node that is down is never fenced by itself. */
  afterMs?: number | undefined;
  clock: Clock;
  fence: Pick<NodeFence, 'withdraw' | 'release'>;
}

export const nodeKind = ({ afterMs, clock, fence }: NodeKindOptions): ActorKind => ({
  machine: nodeMachine,
  begin: (address) => ({ id: addressParts(address)[1] ?? '' }),
  topic: () => nodesTopic,
  // A node in any other state answers for itself that it takes no volume.
  refusalOf: (context: NodeContext, request: NodeEvent, value) =>
    value === 'ready' && request.type === 'node.reserve-slot' ? slotRefusal(context, request) : undefined,
  effects: {
    fenceTimer: {
      deadlineMs: Number.POSITIVE_INFINITY,
      run: async ({ input, signal }: EffectCall<{ id: string }>) => {
        const passed = afterMs === undefined ? untilAborted(signal) : elapsed(clock, afterMs, signal);
        // Runs on by itself, retries and logs, and rejects only when this effect ends. A fence that comes first sends its own
        // message to all volumes.
        fence.withdraw({ nodeId: input.id, reason: `node ${input.id} is down`, signal }).catch(() => {});
        await passed;
      },
    },
    releaseVolumes: {
      deadlineMs: Number.POSITIVE_INFINITY,
      run: ({ input, signal }: EffectCall<{ id: string; reason: string }>) =>
        fence.release({ nodeId: input.id, reason: input.reason, signal }),
    },
  },
});

/** Longest time that one pause counts for, however far the clock has moved: time while the host was suspended does not count. */
const longestLookMs = 5_000;

/** Resolves after `totalMs` of the monotonic clock as observed by this process, or at once when aborted. */
export async function elapsed(clock: Clock, totalMs: number, signal: AbortSignal): Promise<void> {
  let leftMs = totalMs;
  do {
    const lookMs = Math.min(leftMs, longestLookMs);
    await pause(clock, lookMs, signal);
    leftMs -= lookMs;
  } while (leftMs > 0 && !signal.aborted);
}

interface NodeFenceOptions {
  engine: ActorSystem;
  clock: Clock;
  logger: Pick<Logger, 'warn'>;
  troubles: TroubleLog;
  admission: Pick<NodeAdmission, 'settled'>;
}

interface Fencing {
  nodeId: string;
  reason: string;
  signal: AbortSignal;
}

interface News {
  request: VolumeRequest;
  isFor(context: VolumeContext): boolean;
  signal: AbortSignal;
}

interface Round {
  /** Reasons of the volumes that have not committed the message. */
  untold: string[];
  /** Volumes that can't take the message: they are out of service, or their records can't be read. */
  unread: string[];
}

const retryMs = 5_000;

/**
 * Sends the volumes of a node the news that it is fenced or down. After a fence they release its claims without its report;
 * when it is down, claims queued for it are withdrawn, so that others get the free slots.
 * Retries until every volume has committed the message. After a crash it starts again with those that have not. A volume whose
 * record can't be read, or that is out of service, does not hold it up: the fence names it.
 */
export class NodeFence {
  readonly #options: NodeFenceOptions;
  readonly #volumes: ActorsOf<typeof volumeMachine>;

  constructor(options: NodeFenceOptions) {
    this.#options = options;
    this.#volumes = new ActorsOf(options.engine, volumeMachine);
  }

  /**
   * Sends the fence of a node to all volumes on it.
   * @returns volumes that could not take it, as `namespace/id`: they may be on the node
   */
  async release({ nodeId, reason, signal }: Fencing): Promise<string[]> {
    const request: VolumeRequest = { type: 'volume.fence', nodeId, reason };
    const isFor = (context: VolumeContext): boolean => isToBeFenced(context, nodeId);
    const unread = await this.#tellAll(nodeId, { request, isFor, signal });
    if (unread.length > 0) {
      const message = `node ${nodeId} is fenced, but ${unread.length} volumes could not take the fence and may be on it (${unread.slice(0, 5).join(', ')}): take them back into service, then fence the node again`;
      this.#options.logger.warn({ nodeId, volumes: unread }, message);
    }
    return unread;
  }

  /** Withdraws all claims that are queued for a node that is down. */
  async withdraw({ nodeId, reason, signal }: Fencing): Promise<void> {
    const request: VolumeRequest = { type: 'volume.withdraw', nodeId, reason };
    await this.#tellAll(nodeId, { request, isFor: (context) => hasWaiting(context, nodeId), signal });
  }

  async #tellAll(nodeId: string, news: News): Promise<string[]> {
    const { clock, troubles, admission } = this.#options;
    const { signal } = news;
    await admission.settled(nodeId);
    try {
      for (;;) {
        const { untold, unread } = await this.#round(news).catch((error: unknown) => ({
          untold: [messageOf(error)],
          unread: [],
        }));
        signal.throwIfAborted();
        if (untold.length === 0) {
          troubles.over(news);
          return unread;
        }
        const message = `cannot send the state of node ${nodeId} to all of its volumes: ${untold.slice(0, 3).join('; ')}`;
        troubles.failed(news, { subject: `the state of node ${nodeId}`, fields: { nodeId }, message });
        await pause(clock, retryMs, signal);
        signal.throwIfAborted();
      }
    } finally {
      troubles.abandon(news);
    }
  }

  /** Sends the message to all selected volumes. */
  async #round({ request, isFor, signal }: News): Promise<Round> {
    const round: Round = { untold: [], unread: [] };
    const leaveOut = (address: string): void => void round.unread.push(addressParts(address).slice(1).join('/'));
    const tell = async (address: string): Promise<void> => {
      try {
        await this.#volumes.ask(address, request);
      } catch (error) {
        const code = error instanceof StagecraftError ? error.code : undefined;
        if (code === 'ACTOR_QUARANTINED') leaveOut(address);
        else if (code !== 'VOLUME_NOT_FOUND') round.untold.push(`${address}: ${messageOf(error)}`);
      }
    };
    let after: string | undefined;
    do {
      signal.throwIfAborted();
      const { rows, next, skipped = [] } = await this.#volumes.page({ after });
      for (const { address } of skipped) leaveOut(address);
      const concerned = rows.filter(([address, { context }]) => {
        try {
          return isFor(context);
        } catch {
          leaveOut(address); // its context is damaged
          return false;
        }
      });
      await Promise.all(concerned.map(([address]) => tell(address)));
      after = next;
    } while (after !== undefined);
    return round;
  }
}
