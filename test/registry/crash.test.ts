/**
 * A runtime that dies at any write: what the next one makes of what is there. `npm test` plays a third of the writes. On
 * other stores: restart-crash.test.ts
 */
import { expect } from 'chai';
import { thirdOf } from '../support/third.js';
import { checkSuccessor, runUntilCut } from './crash-scenario.js';
import { steps } from './crash-story.js';
import { inMemory } from './kept-data.js';

describe('plugins after a crash', () => {
  for (const rests of [true, false]) {
    for (const done of [true, false]) {
      const when = `${rests ? 'between quiet requests' : 'between hasty requests'}, ${done ? 'after' : 'before'} it was done`;

      it(`R11 cut off at any write, ${when}: no answered request is lost, each event comes once, all instances run`, async () => {
        const { writes } = await runUntilCut(inMemory(), undefined, rests);
        expect(writes).to.be.greaterThan(2 * steps.length);
        for (const afterWrites of thirdOf([...Array(writes).keys()])) {
          const data = inMemory();
          const { answered, isCut } = await runUntilCut(data, { afterWrites, done }, rests);
          expect(isCut, `cut after ${afterWrites} of ${writes} writes`).to.equal(true);
          await checkSuccessor(data, answered).catch((error: unknown) => {
            throw new Error(`cut after ${afterWrites} writes: ${String(error)}`, { cause: error });
          });
        }
      });
    }
  }
});
