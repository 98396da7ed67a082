/** The histories of one seed, and their report. Spread over processes by fleet.ts, or run one after the other in this one. */
import { limitsPlanOf } from './limits-plan.js';
import { mountsHistory } from './mounts-history.js';
import { mountsPlanOf } from './mounts-plan.js';
import { BrokenHistory, simulate, systemOf } from './simulate.js';
import { fullPlanOf } from './snapshots-plan.js';
import { subjectKinds } from './stores.js';
import { volumesHistory } from './volumes-history.js';

export interface Task {
  seed: number;
  /** `volumes`, `limits` or `mounts`: one history of volumes, of volumes on nodes that take few, or of mounts, on memory. */
  stores: string;
  plansEach?: number;
}

export interface Report {
  seed: number;
  histories: number;
  /** What went wrong, in a line. */
  broken?: string;
}

/** Runs the histories of one seed; a broken one is reported, not thrown. */
export async function runTask({ seed, stores, plansEach }: Task): Promise<Report> {
  if (stores === 'volumes') return reportOf(seed, await volumesHistory(fullPlanOf(seed)));
  if (stores === 'limits') return reportOf(seed, await volumesHistory(limitsPlanOf(seed)));
  if (stores === 'mounts') return reportOf(seed, await mountsHistory(mountsPlanOf(seed)));
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

function reportOf(seed: number, { faults: [broken] }: { faults: string[] }): Report {
  return { seed, histories: 1, ...(broken !== undefined && { broken }) };
}
