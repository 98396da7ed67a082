/**
 * `npm run test:simulate`: a million histories over all cores. In its environment:
 * HISTORIES how many, 1 for those of one seed; SEED where to begin, else a fresh one; STORES memory, lmdb or redis;
 * OF=volumes for histories of volumes, snapshots and nodes, OF=limits for those on nodes that take few volumes, OF=mounts for those
 * of mounts, all on memory.
 */
import { randomInt } from 'node:crypto';
import { voyage } from './fleet.js';
import { limitsPlanOf } from './limits-plan.js';
import { shrunkMounts, transcriptOfMounts } from './mounts-telling.js';
import { fullPlanOf } from './snapshots-plan.js';
import { subjectKinds } from './stores.js';
import { shrunk, tellingOf } from './telling.js';
import { shrunkVolumes, tellingOfVolumes } from './volumes-telling.js';

const { HISTORIES = '1000000', SEED, OF, STORES = 'memory' } = process.env;
const planOf = OF === 'volumes' ? fullPlanOf : OF === 'limits' ? limitsPlanOf : undefined;
const isOfMounts = OF === 'mounts';
if (OF !== undefined && !planOf && !isOfMounts)
  throw new Error(`OF is volumes, limits or mounts, or left out, not ${OF}`);
const stores = subjectKinds.find(({ name }) => name === STORES);
if (!stores) throw new Error(`STORES is one of ${subjectKinds.map(({ name }) => name).join(', ')}, not ${STORES}`);
const seed = SEED === undefined ? randomInt(2 ** 32) : Number(SEED);
const histories = Number(HISTORIES);
const begunAtMs = performance.now();
console.log(`${histories} histories${OF === undefined ? '' : ` of ${OF}`} on ${STORES}, from SEED=${seed}`);

let toldAtMs = begunAtMs;
const done = await voyage({
  seed,
  histories,
  stores: OF ?? STORES,
  progress({ systems, histories: run, broken }) {
    const nowMs = performance.now();
    if (nowMs - toldAtMs < 10_000) return;
    toldAtMs = nowMs;
    const perSecond = Math.round((run * 1_000) / (nowMs - begunAtMs));
    console.log(`${run} histories of ${systems} systems, ${perSecond}/s, ${broken.length} broken`);
  },
});

for (const report of done.broken) console.log(`SEED=${report.seed} is broken: ${report.broken}`);
const [first] = done.broken;
if (first && planOf) {
  const plan = await shrunkVolumes(planOf(first.seed));
  if (plan) console.log(await tellingOfVolumes(plan));
  console.log(`to see this again: OF=${OF} SEED=${first.seed} HISTORIES=1 npm run test:simulate`);
  process.exitCode = 1;
} else if (first && isOfMounts) {
  const plan = await shrunkMounts(first.seed);
  if (plan) console.log(await transcriptOfMounts(plan));
  console.log(`to see this again: OF=mounts SEED=${first.seed} HISTORIES=1 npm run test:simulate`);
  process.exitCode = 1;
} else if (first) {
  const broken = await shrunk(first.seed, stores);
  if (broken) console.log(await tellingOf(broken, stores));
  console.log(`to see this again: SEED=${first.seed} HISTORIES=1 STORES=${STORES} npm run test:simulate`);
  process.exitCode = 1;
}
const seconds = (performance.now() - begunAtMs) / 1_000;
console.log(`${done.histories} histories of ${done.systems} systems in ${seconds.toFixed(0)} s, from SEED=${seed}`);
