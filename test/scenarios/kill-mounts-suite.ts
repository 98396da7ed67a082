/**
 * The fault matrix of mounts and allocs. A run without faults tells which commits and calls there are; each of them is a
 * cell for everyone who can be killed there, before it and after it, and of a call with its answer lost or late. All of them
 * with `MATRIX=whole`, of those the ones whose titles match `CELLS`; else a third of some, which `SEED` chooses. What is a step:
 * kill-mounts-agent.ts; what has to be so after a cell: kill-mounts-stage.ts
 */
import { expect } from 'chai';
import { Test } from 'mocha';
import { isWhole, thirdOf } from '../support/third.js';
import { cellsOf, Dealer, type Phase, titleOf } from './kill-mounts-cells.js';
import type { DrivenBy, VolumeId } from './kill-mounts-scene.js';
import { Stage } from './kill-mounts-stage.js';

/** What an alloc has, and who drives that. */
interface Setting {
  ids: VolumeId[];
  drivenBy: DrivenBy;
}

const settings: Setting[] = [
  { ids: ['shared', 'block'], drivenBy: 'script' },
  { ids: ['files', 'more'], drivenBy: 'script' },
  { ids: ['files', 'block'], drivenBy: 'task' },
];

const phases: Phase[] = ['prepare', 'abandon', 'release'];

const isWanted = (title: string): boolean => new RegExp(process.env.CELLS ?? '').test(title);
const seed = Number(process.env.SEED ?? 20261121);
/** The record of calls is judged as a whole: a scene that is used for long has a long one. */
const cellsPerStage = 40;

/** The cells of one phase. */
export function faultMatrix(phase: Phase): void {
  const dealer = new Dealer(seed);
  // A sample has each setting in one phase.
  const isPlayed = (at: number): boolean => isWhole || at === (seed + phases.indexOf(phase)) % settings.length;
  for (const [at, setting] of settings.entries()) if (isPlayed(at)) inSetting(phase, setting, dealer);
}

function inSetting(phase: Phase, { ids, drivenBy }: Setting, dealer: Dealer): void {
  const by = drivenBy === 'task' ? ', with the driver as a task' : '';
  const suite = describe(`${phase} of an alloc with ${ids.join(' and ')}${by}`, () => {
    let stage: Stage | undefined;

    before(async () => {
      stage = await Stage.start(phase, ids, drivenBy);
      const matrix = { phase, isScripted: drivenBy === 'script' };
      const cells = isWhole ? cellsOf(matrix, stage.steps) : thirdOf(dealer.deal(matrix, stage.steps));
      for (const cell of cells) {
        const title = titleOf(cell);
        if (!isWanted(title)) continue;
        const test = new Test(title, async () => {
          if (!stage || stage.cells >= cellsPerStage) {
            await stage?.end();
            stage = await Stage.start(phase, ids, drivenBy);
          }
          const present = stage;
          stage = undefined; // one in which something went wrong is not gone on with
          try {
            await present.play(cell);
            stage = present;
          } finally {
            if (!stage) await present.end();
          }
        });
        suite.addTest(test);
      }
    });
    after(() => stage?.end());

    it('without a fault it is done as it is to be', () => {
      expect(stage).not.to.equal(undefined);
    });
  });
}
