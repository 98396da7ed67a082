/**
 * Records whole stores of the present version, with calls in flight: `node --import=tsx test/histories/record-stores.ts
 * volume|mount [histories] [moments]`. Chooses the moments at which the most different work was under way. See README.md
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { mountMachine } from '../../machines/mount/mount.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import type { Commit } from '../../src/engine/store.js';
import { momentText } from '../simulation/moment-text.js';
import { mountsHistory } from '../simulation/mounts-history.js';
import type { MountsMoment } from '../simulation/mounts-moment.js';
import { mountsPlanOf } from '../simulation/mounts-plan.js';
import { fullPlanOf } from '../simulation/snapshots-plan.js';
import { volumesHistory } from '../simulation/volumes-history.js';
import type { Moment } from '../simulation/volumes-moment.js';
import type { Write } from '../simulation/writes.js';
import { momentsFile, shownBy } from './moments.js';

/** Calls of the driver, by their names, and the whole moment. */
interface Seen {
  calls(): string[];
  moment(shows: string[], writes: Write[]): Moment | MountsMoment;
}

/** Runs the history of a seed. */
type Run = (
  seed: number,
  watching: { committed(commit: Commit, seen: Seen): void; written?(write: Write): void },
) => Promise<unknown>;

const ofVolumes: Run = (seed, { committed, ...rest }) =>
  volumesHistory(fullPlanOf(seed), {
    ...rest,
    committed: (commit, run) =>
      committed(commit, {
        calls: () => run.moment([], []).driver.calls.map(({ rpc }) => rpc),
        moment: (shows, writes) => run.moment(shows, writes),
      }),
  });

const ofMounts: Run = (seed, { committed, ...rest }) =>
  mountsHistory(mountsPlanOf(seed), {
    ...rest,
    wrote: (commit, run) =>
      committed(commit, {
        calls: () => run.moment([], []).calls.map(({ rpc }) => rpc),
        moment: (shows, writes) => run.moment(shows, writes),
      }),
  });

const [of = '', count = '600', most = '16'] = process.argv.slice(2);
if (of !== 'volume' && of !== 'mount') throw new Error(`known are volume and mount, not '${of}'`);
const [run, version = ''] = of === 'volume' ? [ofVolumes, volumeMachine.version] : [ofMounts, mountMachine.version];
/** A store that keeps more commits than this is not worth its room. */
const mostCommits = 125;

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
  await run(seed, {
    committed: (item, seen) => {
      commit += 1;
      shown.set(item.address, shownBy(item));
      const calls = seen.calls().map((rpc) => `driver: goes on with ${rpc}`);
      candidates.push({ seed, commit, shows: [...new Set([...calls, ...[...shown.values()].flat()])].sort() });
    },
  });
  return candidates.filter(({ commit }) => commit < mostCommits);
}

async function recordedAt({ seed, commit, shows }: Candidate): Promise<Moment | MountsMoment> {
  const writes: Write[] = [];
  let moment: Moment | MountsMoment | undefined;
  let passed = 0;
  await run(seed, {
    written: (write) => writes.push(write),
    committed: (_, seen) => {
      passed += 1;
      if (passed === commit) moment = structuredClone(seen.moment(shows, writes));
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
mkdirSync(new URL(`${version}/`, import.meta.url), { recursive: true });
writeFileSync(momentsFile(version, of), packed);
const all = new Set(candidates.flatMap(({ shows }) => shows));
console.log(
  `${chosen.length} stores, ${packed.length} bytes; never shown: ${[...all].filter((one) => !shown.has(one)).join(', ')}`,
);
for (const [one, times] of [...shown].sort()) console.log(`${times}  ${one}`);
