/** Runs shared by concurrent callers. */
import { expect } from 'chai';
import { oneAtATime } from '../../src/engine/one-at-a-time.js';

describe('shared runs, one at a time', () => {
  const turn = (): Promise<void> => new Promise(setImmediate);
  let ends: ((number: number) => void)[];
  let fail: (error: Error) => void;
  let ask: () => Promise<number>;

  beforeEach(() => {
    ends = [];
    ask = oneAtATime(
      () =>
        new Promise<number>((resolve, reject) => {
          ends.push(resolve);
          fail = reject;
        }),
    );
  });

  it('calls at the same time share a run; calls during a run share the next one', async () => {
    const first = [ask(), ask()];
    await turn();
    expect(ends).to.have.length(1);
    const second = [ask(), ask(), ask()];
    await turn();
    expect(ends, 'one at a time').to.have.length(1);
    ends[0]?.(1);
    expect(await Promise.all(first)).to.deep.equal([1, 1]);
    await turn();
    expect(ends).to.have.length(2);
    ends[1]?.(2);
    expect(await Promise.all(second)).to.deep.equal([2, 2, 2]);
  });

  it('run fails: all its callers get the error, and the next run still happens', async () => {
    const first = ask().catch((error: unknown) => error);
    await turn();
    const second = ask();
    fail(new Error('no'));
    expect(await first).to.have.property('message', 'no');
    await turn();
    ends[1]?.(2);
    expect(await second).to.equal(2);
  });
});
