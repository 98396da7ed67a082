/** Limits of a wait. */
import { expect } from 'chai';
import { timeLeft } from '../../src/requests/await-options.js';

describe('the time that is left', () => {
  it('34 is in whole milliseconds, as messages name it, and never below 0', () => {
    let now = 100;
    const left = timeLeft({ monotonicMs: () => now }, 20_000);
    now += 22.472889000084;
    expect(left()).to.equal(19_978);
    now += 30_000;
    expect(left()).to.equal(0);
    expect(timeLeft({ monotonicMs: () => now }, undefined)()).to.equal(undefined);
  });
});
