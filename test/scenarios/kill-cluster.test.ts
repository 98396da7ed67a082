/**
 * SIGKILL and SIGSTOP at each moment of a request: of one of several agents on a Redis (who asked, who works on volumes, who
 * makes the call), or of the master of that Redis. All cells with `MATRIX=whole`, of those the ones whose titles match `CELLS`;
 * else a third of some.
 */
import { isWhole, thirdOf } from '../support/third.js';
import { allCells, type Cell, CellRun, refused, takeovers, titleOf } from './kill-cluster-cells.js';

const sample: Cell[] = [
  { moment: 'asked and not read', victim: 'owner', how: 'killed', on: 'on one server' },
  { moment: 'its call is at the driver, made here', victim: 'owner', how: 'frozen', on: 'on one server' },
  { moment: 'its call is at the driver, made far', victim: 'callee', how: 'killed', on: 'on one server' },
  { moment: 'its call is at the driver, made here', victim: 'master', how: 'killed', on: 'under Sentinel' },
  { moment: 'committed, and its answer is lost', victim: 'owner', how: 'killed', on: 'on a cluster' },
];

const cells = (isWhole ? allCells : thirdOf(sample)).filter((cell) =>
  new RegExp(process.env.CELLS ?? '').test(titleOf(cell)),
);

describe('one of several agents, or their master of Redis, is struck', () => {
  for (const cell of cells) it(titleOf(cell), () => CellRun.play(cell));

  after(() => {
    if (!isWhole) return;
    const times = takeovers.map((ms) => `${Math.round(ms)} ms`);
    console.log(`another agent led after ${times.join(', ')}`);
    console.log(`refused without a master:\n${refused.join('\n')}`);
  });
});
