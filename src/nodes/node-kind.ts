/** Binds the effects of the node machine: its timer until the fence, and the messages to its volumes. Reads its broadcasts. */
import { addressParts } from '../../machines/kit/addresses.js';
import {
  type NodeChanged,
  type NodeContext,
  type NodeEvent,
  nodeMachine,
  slotRefusal,
} from '../../machines/node/node.js';
import { untilAborted } from '../abort.js';
import { type Clock, pause } from '../engine/clock.js';
import type { ActorKind, EffectCall } from '../engine/effects/effects.js';
import type { FollowedRow } from '../engine/topics/event-ids.js';
import { eventOf } from '../engine/topics/topics.js';
import type { NodeFence } from './node-fence.js';

export const nodesTopic = 'nodes';

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
