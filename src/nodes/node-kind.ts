/** The node machine, bound to what it does. */
import { addressParts } from '../../machines/kit/addresses.js';
import { nodeMachine } from '../../machines/node/node.js';
import { untilAborted } from '../abort.js';
import { type Clock, pause } from '../engine/clock.js';
import type { ActorKind, EffectCall, Migration } from '../engine/effects/effects.js';
import type { NodeFence } from './node-fence.js';

export const nodesTopic = 'nodes';

export interface NodeKindOptions {
  /** How long a node is down until it is fenced, milliseconds; absent: for ever. */
  afterMs?: number | undefined;
  clock: Clock;
  fence: NodeFence;
}

export const nodeKind = ({ afterMs, clock, fence }: NodeKindOptions): ActorKind => ({
  machine: nodeMachine,
  begin: (address) => ({ id: addressParts(address)[1] ?? '' }),
  topic: () => nodesTopic,
  migrations: [slotsKept],
  effects: {
    fenceTimer: {
      deadlineMs: Number.POSITIVE_INFINITY,
      run: async ({ input, signal }: EffectCall<{ id: string }>) => {
        const passed = afterMs === undefined ? untilAborted(signal) : observed(clock, afterMs, signal);
        // It goes on until all have heard, and logs what keeps it from that: it rejects only as this effect ends. One that
        // is fenced before is told to all of them.
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

/** Version 2 has the slots of volumes. What is there already is counted before the first slot is reserved. */
export const slotsKept: Migration = {
  name: 'slots are kept',
  from: '1',
  to: '2',
  migrate: ({ context, ...snapshot }) => ({ ...snapshot, context: { ...context, slots: {} } }),
};

/** However long the clock goes on between two looks, one look stands for no more than this. */
const longestLookMs = 5_000;

/** Resolves after so many milliseconds of the monotonic clock that this process has seen, or at once when aborted. */
export async function observed(clock: Clock, totalMs: number, signal: AbortSignal): Promise<void> {
  let leftMs = totalMs;
  do {
    const lookMs = Math.min(leftMs, longestLookMs);
    await pause(clock, lookMs, signal);
    leftMs -= lookMs;
  } while (leftMs > 0 && !signal.aborted);
}
