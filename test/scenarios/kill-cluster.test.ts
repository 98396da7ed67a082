/**
 * SIGKILL and SIGSTOP of one of several agents on a Redis, at each moment of a request: who asked, who works on volumes, who
 * makes the call. All cells with `MATRIX=whole`, of those the ones whose titles match `CELLS`; else some.
 */
import { allCells, type Cell, CellRun, takeovers, titleOf } from './kill-cluster-cells.js';

const isWhole = process.env.MATRIX === 'whole';

const sample: Cell[] = [
  { moment: 'asked and not read', victim: 'owner', how: 'killed' },
  { moment: 'its call is at the driver, made here', victim: 'owner', how: 'frozen' },
  { moment: 'its call is at the driver, made far', victim: 'owner', how: 'killed' },
  { moment: 'its call is at the driver, made far', victim: 'callee', how: 'killed' },
  { moment: 'committed, and its answer is lost', victim: 'owner', how: 'killed' },
  { moment: 'the owner ends in order, its call is at the driver', victim: 'owner', how: 'killed' },
];

const cells = (isWhole ? allCells : sample).filter((cell) => new RegExp(process.env.CELLS ?? '').test(titleOf(cell)));

describe('one of several agents is struck', function () {
  this.timeout(180_000);

  for (const cell of cells) it(titleOf(cell), () => CellRun.play(cell));

  after(() => {
    const times = takeovers.map((ms) => `${Math.round(ms)} ms`);
    if (isWhole) console.log(`another agent led after ${times.join(', ')}`);
  });
});
