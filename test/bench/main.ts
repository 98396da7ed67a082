/** `npm run bench`: every figure as a ratio to something measured in the same run. docs/benchmarks.md */
import { cpus, totalmem } from 'node:os';
import { commitRates } from './commits.js';
import { busySteps, plainSteps } from './engine-steps.js';
import { byTurns, report } from './measure.js';
import { starts } from './start.js';

const [cpu] = cpus();
console.log(
  `node ${process.version}, ${cpus().length} × ${cpu?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
);
report('engine steps, a plain machine', 'steps/s', await byTurns(plainSteps));
report('engine steps, an effect and a timer in each state', 'steps/s', await byTurns(busySteps));
report('durable commits (fdatasync), bursts of 1,000', 'commits/s', await byTurns(commitRates));
report('agent start', 'starts/s', await byTurns(starts));
