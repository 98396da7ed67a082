/** Binds the alloc machine to its effects. */

import type { StateValue } from 'xstate';
import { type AllocWork, allocMachine } from '../../machines/alloc/alloc.js';
import { allocParts } from '../../machines/alloc/parts.js';
import type { AllocInput, AllocVolume } from '../../machines/alloc/types.js';
import type { AllocMount, VolumePart } from '../../machines/alloc/volume-steps.js';
import { addressParts, nodeOf } from '../../machines/kit/addresses.js';
import type { CallFailure } from '../../machines/kit/csi-types.js';
import type { ActorKind, Effect, EffectCall, Migration } from '../engine/effects/effects.js';
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
  begin: (address): AllocInput => ({ node: nodeOf(address), allocId: addressParts(address)[2] ?? '' }),
  topic: (address) => allocsTopic(nodeOf(address)),
  migrations: [stepsOfVolumes],
  effects: {
    prepareAlloc: lasting((call) => worker.prepare(call)),
    recoverAlloc: lasting((call) => worker.recover(call)),
    releaseAlloc: lasting((call) => worker.release(call)),
  },
});

interface ContextV1 {
  volumes: AllocVolume[];
  mounts: AllocMount[] | null;
  generations: Record<string, number>;
  waits: Record<string, string>;
  failure: CallFailure | null;
  isDropped: boolean;
}

/** Version 2 keeps the step of each volume, and as a state whether a release was asked for or follows a failure. */
export const stepsOfVolumes: Migration = {
  name: 'each volume has its steps',
  from: '1',
  to: '2',
  migrate: ({ value, context, ...snapshot }) => {
    // Records of version 1 have this shape; no type of ours describes it.
    const { mounts, generations, waits, isDropped, ...kept } = context as ContextV1;
    const partOf = ({ name }: AllocVolume): VolumePart => {
      const generation = generations[name];
      const mount = mounts?.find((one) => one.name === name);
      const reason = waits[name];
      return {
        at: stepIn(value, generation !== undefined),
        ...(generation !== undefined && { generation }),
        ...(mount && { mount }),
        ...(reason !== undefined && { reason }),
      };
    };
    const parts = Object.fromEntries(kept.volumes.map((volume) => [volume.name, partOf(volume)]));
    const hasFailed = kept.failure !== null && !isDropped;
    return { ...snapshot, value: valueIn(value, hasFailed), context: { ...kept, parts } };
  },
};

function valueIn(value: StateValue, hasFailed: boolean): StateValue {
  if (typeof value === 'string') return value;
  const { recovering, releasing } = value;
  if (recovering === 'waiting') return { recovering: 'awaiting-prepare' };
  return releasing === undefined ? value : { releasing: { [hasFailed ? 'undoing' : 'asked-for']: releasing } };
}

/** Step that the volume has reached for certain: the next run repeats the others. */
function stepIn(value: StateValue, isClaimed: boolean): VolumePart['at'] {
  if (value === 'prepared') return 'mounted';
  if (typeof value === 'string') return 'released';
  if (value.recovering !== undefined) return value.recovering === 'waiting' ? 'lost-at-reboot' : 'confirming-claim';
  if (value.releasing !== undefined) return 'releasing.unmounting';
  return isClaimed ? 'preparing.publishing' : 'preparing.claiming';
}
