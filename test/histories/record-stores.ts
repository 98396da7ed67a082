/**
 * Records whole stores of the present version, with calls in flight: `node --import=tsx test/histories/record-stores.ts
 * [histories] [moments]`. Chooses the moments at which the most different work was under way. See README.md
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { volumeMachine } from '../../machines/volume/volume.js';
import { fullPlanOf } from '../simulation/snapshots-plan.js';
import { volumesHistory } from '../simulation/volumes-history.js';
import { type Moment, momentText } from '../simulation/volumes-moment.js';
import type { Write } from '../simulation/writes.js';
import { momentsFile, shownBy } from './moments.js';

const [count = '600', most = '16'] = process.argv.slice(2);
/** A store that keeps more than this is not worth its room. */
const mostWrites = 250;

interface Candidate {
  seed: number;
  /** Number of the commit after which all is killed. */
  commit: number;
  shows: string[];
}

async function candidatesOf(seed: number): Promise<Candidate[]> {
  const shown = new Map<string, string[]>();
  const candidates: Candidate[] = [];
  let commit = 0;
  await volumesHistory(fullPlanOf(seed), {
    committed: (item, run) => {
      commit += 1;
      shown.set(item.address, shownBy(item));
      const calls = run.moment([], []).driver.calls.map(({ rpc }) => `driver: goes on with ${rpc}`);
      candidates.push({ seed, commit, shows: [...new Set([...calls, ...[...shown.values()].flat()])].sort() });
    },
  });
  return candidates.filter(({ commit }) => commit * 2 < mostWrites);
}

async function recordedAt({ seed, commit, shows }: Candidate): Promise<Moment> {
  const writes: Write[] = [];
  let moment: Moment | undefined;
  let passed = 0;
  await volumesHistory(fullPlanOf(seed), {
    written: (write) => writes.push(write),
    committed: (_, run) => {
      passed += 1;
      if (passed === commit) moment = structuredClone(run.moment(shows, writes));
    },
  });
  if (!moment) throw new Error(`seed ${seed} has no commit ${commit}`);
  return moment;
}

const candidates: Candidate[] = [];
for (let seed = 1; seed <= Number(count); seed += 1) candidates.push(...(await candidatesOf(seed)));
const shown = new Map<string, number>();
const chosen: Candidate[] = [];
/** What is shown for the first time counts most; what only one moment shows counts, too. */
const worthOf = ({ shows }: Candidate): number =>
  shows.reduce((sum, one) => sum + 1 / (1 + (shown.get(one) ?? 0)) ** 2, 0);
while (chosen.length < Number(most)) {
  let best: Candidate | undefined;
  for (const one of candidates)
    if (chosen.every(({ seed }) => seed !== one.seed) && (!best || worthOf(one) > worthOf(best))) best = one;
  if (!best) break;
  for (const one of best.shows) shown.set(one, (shown.get(one) ?? 0) + 1);
  chosen.push(best);
}
const lines: string[] = [];
for (const one of chosen) lines.push(momentText(await recordedAt(one)));
const packed = gzipSync(`${lines.join('\n')}\n`, { level: 9 });
mkdirSync(new URL(`${volumeMachine.version}/`, import.meta.url), { recursive: true });
writeFileSync(momentsFile(volumeMachine.version ?? ''), packed);
const all = new Set(candidates.flatMap(({ shows }) => shows));
console.log(
  `${chosen.length} stores, ${packed.length} bytes; never shown: ${[...all].filter((one) => !shown.has(one)).join(', ')}`,
);
for (const [one, times] of [...shown].sort()) console.log(`${times}  ${one}`);
