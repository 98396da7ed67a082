/** A broken history, told to a person: made as small as it can be, with all that happened and how to see it again. */
import fc from 'fast-check';
import { systems } from './arbitraries.js';
import { BrokenHistory, simulate, systemOf, transcriptOf } from './simulate.js';
import type { SubjectKind } from './stores.js';
import type { System } from './system.js';

const shrinkMs = 20_000;

/** The smallest system with a broken history that can be found in a while, or what that seed gives by itself. */
export async function shrunk(seed: number, stores: SubjectKind): Promise<BrokenHistory | undefined> {
  let smallest: BrokenHistory | undefined;
  const property = fc.asyncProperty(systems, async (system) => {
    try {
      await simulate(system, stores, { histories: 0 });
    } catch (error) {
      if (!(error instanceof BrokenHistory)) throw error;
      smallest = error; // fast-check goes on from each failure to smaller ones only
      throw error;
    }
  });
  await fc.check(property, { examples: [[systemOf(seed)]], numRuns: 1, seed, interruptAfterTimeLimit: shrinkMs });
  return smallest;
}

export async function tellingOf(broken: BrokenHistory, stores: SubjectKind): Promise<string> {
  const { system, plan, faults } = broken;
  const transcript = await transcriptOf(broken, stores);
  return [
    'the system, as small as it could be made:',
    ...described(system),
    `the history: ${plan.name} (${JSON.stringify(plan)})`,
    'what happened:',
    ...transcript,
    'what must not be:',
    ...faults.map((fault) => `  ${fault}`),
  ].join('\n');
}

/** One line for each state and request. */
function* described({ kinds, requests, ...rest }: System): Generator<string> {
  yield JSON.stringify(rest);
  for (const [at, kind] of kinds.entries()) {
    yield `k${at}: ${kind.style}, ${kind.style === 'wild' ? `begins: ${kind.begins}` : `brief: ${kind.isBrief}`}`;
    const regions = kind.style === 'wild' ? kind.regions : [kind.steps];
    for (const [region, states] of regions.entries())
      for (const [state, one] of states.entries()) yield `  r${region}s${state} ${JSON.stringify(one)}`;
  }
  for (const [n, request] of requests.entries()) yield `r${n} ${JSON.stringify(request)}`;
}
