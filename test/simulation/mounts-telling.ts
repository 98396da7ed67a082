/** A broken history of mounts, for a person to read: as few steps as can be, and all that happened. */
import { mountsHistory } from './mounts-history.js';
import { type MountsPlan, mountsPlanOf } from './mounts-plan.js';

const mostTries = 400;

const isBroken = async (plan: MountsPlan): Promise<boolean> => (await mountsHistory(plan)).faults.length > 0;

/** Leaves out steps, many at once and then one by one, as long as something is still broken. */
export async function shrunkMounts(seed: number): Promise<MountsPlan | undefined> {
  let plan = mountsPlanOf(seed);
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

export async function transcriptOfMounts(plan: MountsPlan): Promise<string> {
  const { transcript, faults } = await mountsHistory(plan, { isTold: true });
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
