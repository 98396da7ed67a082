/** A runtime that dies at any write: what the next one makes of what is there. On other stores: restart-crash.test.ts */
import { expect } from 'chai';
import { checkSuccessor, runUntilCut } from './crash-scenario.js';
import { steps } from './crash-story.js';
import { inMemory } from './kept-data.js';

describe('plugins after a crash', () => {
  for (const rests of [true, false]) {
    for (const done of [true, false]) {
      const when = `${rests ? 'between quiet requests' : 'between hasty requests'}, ${done ? 'after' : 'before'} it was done`;

      it(`R11 cut off at any write, ${when}: no answered request is lost, each event comes once, all instances run`, async () => {
        let cuts = 0;
        for (let afterWrites = 0; ; afterWrites += 1) {
          const data = inMemory();
          const { answered, isCut } = await runUntilCut(data, { afterWrites, done }, rests);
          if (!isCut) break;
          cuts += 1;
          await checkSuccessor(data, answered).catch((error: unknown) => {
            throw new Error(`cut after ${afterWrites} writes: ${String(error)}`, { cause: error });
          });
        }
        expect(cuts).to.be.greaterThan(2 * steps.length);
      });
    }
  }
});
