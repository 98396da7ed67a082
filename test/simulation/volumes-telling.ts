/** A broken history of volumes, told to a person: with as few steps as it can be, all that happened, and how to see it again. */

import { volumesHistory } from './volumes-history.js';
import type { VolumesPlan } from './volumes-plan.js';

const mostTries = 400;

const isBroken = async (plan: VolumesPlan): Promise<boolean> => (await volumesHistory(plan)).faults.length > 0;

/** Leaves out steps, many at once and then one by one, as long as something is still broken. */
export async function shrunkVolumes(whole: VolumesPlan): Promise<VolumesPlan | undefined> {
  let plan = whole;
  if (!(await isBroken(plan))) return undefined;
  let tries = 0;
  for (let size = Math.ceil(plan.steps.length / 2); size > 0; size = Math.floor(size / 2)) {
    for (let from = plan.steps.length - size; from >= 0 && tries < mostTries; from -= size) {
      tries += 1;
      const less = { ...plan, steps: plan.steps.filter((_, at) => at < from || at >= from + size) };
      if (await isBroken(less)) plan = less;
    }
  }
  return plan;
}

export async function tellingOfVolumes(plan: VolumesPlan): Promise<string> {
  const { transcript, faults } = await volumesHistory(plan, { isTold: true });
  return [
    `seed ${plan.seed}: ${JSON.stringify(plan.traits)}`,
    'the steps, as few as could be made:',
    ...plan.steps.map((step) => `  ${JSON.stringify(step)}`),
    'what happened:',
    ...transcript,
    'what must not be:',
    ...faults.map((fault) => `  ${fault}`),
  ].join('\n');
}
