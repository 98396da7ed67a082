import { expect } from 'chai';
import { indexAt, markedSteps, markOf, pausesOf, percentOf } from '../../src/page/actor/scrubber.js';

const step = (at: number, tone: 'plain' | 'failed' = 'plain', from = 'timer') => ({ at, tone, from });

describe('track of the scrubber', () => {
  it('J3 every step has a place, from which it is found again', () => {
    for (const count of [1, 2, 19, 1000])
      for (let index = 0; index < count; index += 1) expect(indexAt(percentOf(index, count), count)).to.equal(index);
    expect(indexAt(-20, 19)).to.equal(0);
    expect(indexAt(140, 19)).to.equal(18);
  });

  it('J3 pauses of three seconds and more are written, the longest ones where room is short', () => {
    expect(pausesOf([step(0), step(2999), step(5999)]).map(({ ms }) => ms)).to.deep.equal([3000]);
    const many = Array.from({ length: 101 }, (_, index) => step(index * 4000 + (index > 50 ? 60_000 : 0)));
    const pauses = pausesOf(many);
    expect(pauses.length).to.be.below(16);
    expect(pauses.map(({ ms }) => ms)).to.include(64_000);
  });

  it('J3 a step is marked by its tone, a request as such', () => {
    expect(markOf(step(0, 'failed'))).to.equal('failed');
    expect(markOf(step(0, 'plain', 'caller'))).to.equal('request');
    expect(markOf(step(0))).to.equal('tick');
  });

  it('J3 of a thousand steps those with a failure keep their marks', () => {
    const steps = Array.from({ length: 1000 }, (_, index) => step(index, index === 503 ? 'failed' : 'plain'));
    const marked = markedSteps(steps);
    expect(marked).to.include(503);
    expect(marked.length).to.equal(120);
    expect(markedSteps(steps.slice(0, 20))).to.have.lengthOf(20);
  });
});
