/** The node machine, bound to what it does. */
import { addressParts } from '../../machines/kit/addresses.js';
import { nodeMachine } from '../../machines/node/node.js';
import { untilAborted } from '../abort.js';
import type { ActorKind, EffectCall } from '../engine/effects/effects.js';
import type { Fencing } from './node-fence.js';
import { slotsKept } from './node-migrations.js';

export const nodesTopic = 'nodes';

export interface NodeKindOptions {
  /** How long a node is down until it is fenced, milliseconds; absent: for ever. */
  afterMs?: number | undefined;
  /** Lets so much time pass, as this process sees it. */
  after(delayMs: number, signal: AbortSignal): Promise<void>;
  /** Tells every volume on a node that it is lost. */
  release(fencing: Fencing): Promise<void>;
  /** Tells every volume that is waited for there that this is no use. */
  withdraw(fencing: Fencing): Promise<void>;
}

export const nodeKind = ({ afterMs, after, release, withdraw }: NodeKindOptions): ActorKind => ({
  machine: nodeMachine,
  begin: (address) => ({ id: addressParts(address)[1] ?? '' }),
  topic: () => nodesTopic,
  migrations: [slotsKept],
  effects: {
    fenceTimer: {
      deadlineMs: Number.POSITIVE_INFINITY,
      run: async ({ input, signal }: EffectCall<{ id: string }>) => {
        const passed = afterMs === undefined ? untilAborted(signal) : after(afterMs, signal);
        // It goes on until all have heard, and logs what keeps it from that: it rejects only as this effect ends. One that
        // is fenced before is told to all of them.
        withdraw({ nodeId: input.id, reason: `node ${input.id} is down`, signal }).catch(() => {});
        await passed;
      },
    },
    releaseVolumes: {
      deadlineMs: Number.POSITIVE_INFINITY,
      run: ({ input, signal }: EffectCall<{ id: string; reason: string }>) =>
        release({ nodeId: input.id, reason: input.reason, signal }),
    },
  },
});
