/** Steps per second of the engine on the memory store, against XState's bare transition with a reused scope. */
import { apart } from './apart.js';
import { byTurns, report } from './measure.js';

async function reportTurns(title: string, names: string[]): Promise<void> {
  const contenders = names.map((name) => apart(name, new URL('steps-process.ts', import.meta.url)));
  try {
    report(title, 'steps/s', await byTurns(contenders));
  } finally {
    for (const contender of contenders) contender.stop();
  }
}

/** What the live feed costs: unwatched, with a viewer that reads, and with one that never does. */
export async function reportFeed(): Promise<void> {
  for (const name of ['engine plain', 'engine busy, signals unused'])
    await reportTurns(`live feed, ${name}`, [name, `${name}, one viewer`, `${name}, a stuck viewer`]);
}

export async function reportSteps(): Promise<void> {
  await reportTurns('engine steps, a plain machine', ['bare plain', 'engine plain']);
  const busy = ['bare busy', 'engine busy', 'engine busy, signals unused'];
  await reportTurns('engine steps, an effect and a timer in each state', busy);
}
