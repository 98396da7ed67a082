/** Histories of volumes on nodes that take few of them: what happens is as without a limit. */
import { fullPlanOf } from './snapshots-plan.js';
import type { VolumesPlan } from './volumes-plan.js';

export function limitsPlanOf(seed: number): VolumesPlan {
  const { traits, ...plan } = fullPlanOf(seed);
  return { ...plan, traits: { ...traits, limit: 1 + (seed % 2) } };
}
