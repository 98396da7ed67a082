/** Tests observed time, which counts for a node that is down. */
import { expect } from 'chai';
import type { Clock } from '../../src/engine/clock.js';
import { elapsed } from '../../src/nodes/node-kind.js';

describe('observed time', () => {
  it('N3 process suspended for hours: counts as one pause only', async () => {
    const looks: { delayMs: number; end(): void }[] = [];
    const clock: Clock = {
      now: () => 0,
      monotonicMs: () => 0,
      after: (delayMs, end) => {
        looks.push({ delayMs, end });
        return () => {};
      },
    };
    let isOver = false;
    const over = elapsed(clock, 12_000, new AbortController().signal).then(() => {
      isOver = true;
    });
    // Three pauses are needed, however late each of them ends by the clock outside.
    for (let at = 0; at < 3; at += 1) {
      expect(isOver).to.equal(false);
      looks[at]?.end();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await over;
    expect(looks.map(({ delayMs }) => delayMs)).to.deep.equal([5_000, 5_000, 2_000]);
  });
});
