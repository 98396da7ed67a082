/** Binds the alloc machine to its effects. */

import { type AllocWork, allocMachine } from '../../machines/alloc/alloc.js';
import { allocParts } from '../../machines/alloc/parts.js';
import type { AllocInput } from '../../machines/alloc/types.js';
import { addressParts, nodeOf, singleMountAt } from '../../machines/kit/addresses.js';
import type { ActorKind, Effect, EffectCall } from '../engine/effects/effects.js';
import type { AllocWorker } from './alloc-work.js';

export const allocsTopic = (node: string): string => `allocs/${encodeURIComponent(node)}`;

/** Lasts as long as its state: time limits are the machine's. */
const lasting = (run: (call: EffectCall<AllocWork>) => Promise<unknown>): Effect => ({
  deadlineMs: Number.POSITIVE_INFINITY,
  run: (call: EffectCall<AllocWork>) => run(call),
});

export const allocKind = (worker: AllocWorker): ActorKind => ({
  machine: allocMachine,
  parts: allocParts,
  begin: (address): AllocInput => {
    const single = singleMountAt(address);
    return { node: nodeOf(address), allocId: addressParts(address)[2] ?? '', ...(single && { single }) };
  },
  topic: (address) => allocsTopic(nodeOf(address)),
  effects: {
    prepareAlloc: lasting((call) => worker.prepare(call)),
    recoverAlloc: lasting((call) => worker.recover(call)),
    releaseAlloc: lasting((call) => worker.release(call)),
  },
});
