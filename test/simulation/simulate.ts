/** All histories of one random system, told by one seed; and what to print where one of them goes wrong. */
import fc from 'fast-check';
import { systems } from './arbitraries.js';
import { history } from './history.js';
import { type HostedSystem, hosted as hostedOf } from './hosted-system.js';
import { judgementOf } from './judgement.js';
import { type Model, modelOf } from './model.js';
import { outcomeOf } from './outcome.js';
import { type Plan, undisturbed } from './plan.js';
import { type Passed, plansOf } from './plans.js';
import { replayFaults } from './replays.js';
import { memory, type SubjectKind } from './stores.js';
import { isOrderly, type System } from './system.js';

interface Scene {
  hosted: HostedSystem;
  model: Model;
  stores: SubjectKind;
}

/** A history that broke a promise. */
export class BrokenHistory extends Error {
  readonly system: System;
  readonly plan: Plan;
  readonly faults: string[];

  constructor(system: System, plan: Plan, faults: string[]) {
    super(faults[0]);
    this.system = system;
    this.plan = plan;
    this.faults = faults;
  }
}

/** Counts the histories that were run, shrunk ones too. */
interface Count {
  histories: number;
}

interface Sample {
  /** How many of the plans of each system are run; default all. */
  plansEach?: number;
}

/** @throws BrokenHistory */
export async function simulate(
  system: System,
  stores: SubjectKind,
  count: Count,
  { plansEach }: Sample = {},
): Promise<void> {
  const hosted = hostedOf(system);
  const scene: Scene = { hosted, model: modelOf(hosted), stores };
  const first = await lived(scene, undisturbed);
  count.histories += 1;
  const plans = plansOf(system.seed, first).filter(({ leaseTtlMs }) => stores.keepsTime || leaseTtlMs > aDayMs);
  const step = plansEach === undefined ? 1 : Math.max(1, plans.length / plansEach);
  for (let at = 0; at < plans.length; at += step) {
    const plan = plans[Math.floor(at)];
    if (!plan) break;
    const { outcome } = await lived(scene, plan);
    count.histories += 1;
    if (isOrderly(system) && outcome !== first.outcome)
      throw new BrokenHistory(system, plan, [difference(first.outcome, outcome)]);
  }
}

const aDayMs = 86_400_000;

interface Lived extends Passed {
  outcome: string;
}

/** @throws BrokenHistory */
async function lived({ hosted, model, stores }: Scene, plan: Plan): Promise<Lived> {
  return history({ hosted, plan, stores }, async (end) => {
    const { faults, pasts } = await judgementOf(end, { hosted, model, refusalsAreTrue: !isLying(plan) });
    if (plan === undisturbed) faults.push(...(await replayFaults(hosted, pasts)));
    if (faults.length > 0) throw new BrokenHistory(hosted.system, plan, faults);
    const [first] = end.lives;
    return { outcome: outcomeOf(end.world, pasts), storeCalls: first?.storeCalls ?? 0, effects: first?.effects ?? 0 };
  });
}

const isLying = ({ lives }: Plan): boolean =>
  lives.some(({ outages = [] }) =>
    outages.some(({ moods }) => moods.some((mood) => mood.answer === 'refused' && mood.isDone)),
  );

function difference(expected: string, found: string): string {
  const lines = expected.split('\n');
  const at = found.split('\n').findIndex((line, n) => line !== lines[n]);
  return `it ends otherwise than undisturbed: ${found.split('\n')[at]?.trim()}, expected ${lines[at]?.trim()}`;
}

/** Everything that happened in a history that is lived once more. */
export async function transcriptOf({ system, plan }: BrokenHistory, stores: SubjectKind = memory): Promise<string[]> {
  const hosted = hostedOf(system);
  return history({ hosted, plan, stores, isTold: true }, ({ world }) => world.transcript);
}

/** The system of a seed. */
export function systemOf(seed: number): System {
  const [system] = fc.sample(systems, { seed, numRuns: 1 });
  if (!system) throw new Error('fast-check gave no sample');
  return system;
}
