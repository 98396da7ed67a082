/** The alloc machine, bound to what it does. */

import { type AllocWork, allocMachine } from '../../machines/alloc/alloc.js';
import type { AllocInput } from '../../machines/alloc/types.js';
import { addressParts, nodeOf } from '../../machines/kit/addresses.js';
import type { ActorKind, Effect, EffectCall } from '../engine/effects/effects.js';
import { stepsOfVolumes } from './alloc-migrations.js';
import type { AllocWorker } from './alloc-work.js';

export const allocsTopic = (node: string): string => `allocs/${encodeURIComponent(node)}`;

/** Each lasts as long as its state: limits are the machine's. */
const lasting = (run: (call: EffectCall<AllocWork>) => Promise<unknown>): Effect => ({
  deadlineMs: Number.POSITIVE_INFINITY,
  run: (call: EffectCall<AllocWork>) => run(call),
});

export const allocKind = (worker: AllocWorker): ActorKind => ({
  machine: allocMachine,
  begin: (address): AllocInput => ({ node: nodeOf(address), allocId: addressParts(address)[2] ?? '' }),
  topic: (address) => allocsTopic(nodeOf(address)),
  migrations: [stepsOfVolumes],
  effects: {
    prepareAlloc: lasting((call) => worker.prepare(call)),
    recoverAlloc: lasting((call) => worker.recover(call)),
    releaseAlloc: lasting((call) => worker.release(call)),
  },
});
