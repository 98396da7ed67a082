/**
 * A process that runs systems by their seeds, as it is told to, and reports each. Started by fleet.ts.
 */

import { endServer } from './redis-subject.js';
import { BrokenHistory, simulate, systemOf } from './simulate.js';
import { fullPlanOf } from './snapshots-plan.js';
import { subjectKinds } from './stores.js';
import { volumesHistory } from './volumes-history.js';

export interface Task {
  seed: number;
  /** `volumes`: one history of volumes, on memory. */
  stores: string;
  plansEach?: number;
}

export interface Report {
  seed: number;
  histories: number;
  /** What went wrong, in a line. */
  broken?: string;
}

process.on('disconnect', () => void endServer().then(() => process.exit()));
process.on('message', (task: Task) => void work(task).then((report) => process.send?.(report)));

async function work({ seed, stores, plansEach }: Task): Promise<Report> {
  if (stores === 'volumes') return ofVolumes(seed);
  const count = { histories: 0 };
  const kind = subjectKinds.find(({ name }) => name === stores);
  if (!kind) throw new Error(`no store is called ${stores}`);
  try {
    await simulate(systemOf(seed), kind, count, plansEach === undefined ? {} : { plansEach });
    return { seed, ...count };
  } catch (error) {
    const plan = error instanceof BrokenHistory ? `${error.plan.name}: ` : '';
    return { seed, ...count, broken: plan + (error instanceof Error ? error.message : String(error)) };
  }
}

async function ofVolumes(seed: number): Promise<Report> {
  const { faults } = await volumesHistory(fullPlanOf(seed));
  const [broken] = faults;
  return { seed, histories: 1, ...(broken !== undefined && { broken }) };
}
