/**
 * `npm run bench`, or `npm run bench -- <name>` for one of them: every rate as a ratio to something measured in the
 * same run. The figures: docs/benchmarks.md, and docs/maintainers/benchmark-history.md
 */
import { spawnSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { reportActors } from './actors.js';
import { broadcasts } from './broadcast.js';
import { reportBudget } from './budget.js';
import { reportBytes } from './bytes.js';
import { reportCluster } from './cluster.js';
import { commitRates } from './commits.js';
import { reportCsi } from './csi.js';
import { reportDeath } from './death.js';
import { reportDriver } from './driver.js';
import { reportFollowers } from './followers.js';
import { reportMailbox } from './mailbox.js';
import { byTurns, report } from './measure.js';
import { reportMounts } from './mounts.js';
import { reportPage } from './page.js';
import { reportPlugins } from './plugins.js';
import { withRedis } from './redis-commits.js';
import { reportReplay } from './replay.js';
import { reportStart } from './start.js';
import { reportFeed, reportSteps } from './steps.js';
import { reportVolumes } from './volumes.js';
import { reportVolumesCsi } from './volumes-csi.js';
import { reportWatch } from './watch.js';

const benches: Record<string, () => Promise<void>> = {
  steps: reportSteps,
  feed: reportFeed,
  async lmdb() {
    report('LMDB commits (fdatasync), bursts of 1,000', 'commits/s', await byTurns(commitRates));
  },
  async redis() {
    if (spawnSync('redis-server', ['--version']).status !== 0) {
      console.log('\nRedis commits: left out, there is no redis-server on the PATH');
      return;
    }
    await withRedis(async (contenders) => {
      report('Redis commits (fsync every second), bursts of 1,000', 'commits/s', await byTurns(contenders));
    });
  },
  async broadcast() {
    report('broadcast, append to for await', 'deliveries/s', await byTurns(broadcasts, 3));
  },
  actors: reportActors,
  budget: reportBudget,
  bytes: reportBytes,
  cluster: reportCluster,
  csi: reportCsi,
  driver: reportDriver,
  death: reportDeath,
  mailbox: reportMailbox,
  mounts: reportMounts,
  followers: reportFollowers,
  page: reportPage,
  plugins: reportPlugins,
  replay: reportReplay,
  volumes: reportVolumes,
  'volumes-csi': reportVolumesCsi,
  watch: reportWatch,
  start: reportStart,
};

const [cpu] = cpus();
console.log(
  `node ${process.version}, ${cpus().length} × ${cpu?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
);
const [only] = process.argv.slice(2);
const asked = only === undefined ? Object.values(benches) : [benches[only]];
for (const bench of asked) {
  if (!bench) throw new Error(`there is no bench '${only}': ${Object.keys(benches).join(', ')}`);
  await bench();
}
