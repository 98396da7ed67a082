/** Things that only one may have: who is refused while another is about to have one. */
import { expect } from 'chai';
import { StagecraftError } from '../../src/errors.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { ExclusiveRequests } from '../../src/volumes/exclusive-requests.js';
import { gate } from './scripts.js';

const unknown = new StagecraftError('STORE_UNAVAILABLE', 'no answer', { outcome: 'unknown' });

describe('things that only one may have', () => {
  /** What the store answers to those who want to know what became of a request. */
  let answers: (() => Promise<void>)[];
  let clock: ReturnType<typeof simulatedClock>;
  let holders: ExclusiveRequests;

  const take = (address: string, work: () => Promise<void>, ...things: string[]): Promise<void> =>
    holders.within(
      { address, things, refusal: (thing, holder) => new StagecraftError('VOLUME_EXISTS', `${holder} has ${thing}`) },
      work,
    );
  const outcome = (work: Promise<void>): Promise<string> =>
    work.then(
      () => 'done',
      (error: Error) => error.message,
    );
  const at = async (): Promise<void> => {};

  beforeEach(() => {
    answers = [];
    clock = simulatedClock();
    holders = new ExclusiveRequests({ engine: { ask: async () => answers.shift()?.() }, clock });
  });

  it('V16 N1 while one is about to have it, another is refused, also for all else that it wants; then it may look', async () => {
    const held = gate();
    const first = take('one', () => held.passed, 'x', 'y');
    const again = take('one', () => held.passed, 'x');
    expect(await outcome(take('two', at, 'z', 'y'))).to.equal('one has y');
    expect(await outcome(take('two', at, 'z'))).to.equal('done');
    held.open();
    await Promise.all([first, again]);
    expect(await outcome(take('two', at, 'x', 'y'))).to.equal('done');
  });

  it('V16 N1 one whose work fails has nothing', async () => {
    const failing = take('one', () => Promise.reject(new Error('no')), 'x');
    expect(await outcome(failing)).to.equal('no');
    expect(await outcome(take('two', at, 'x'))).to.equal('done');
  });

  it('V16 N1 one of which the store has not said what became of it may have it, until the store says', async () => {
    const said = gate();
    answers = [() => Promise.reject(unknown), () => said.passed];
    expect(await outcome(take('one', () => Promise.reject(unknown), 'x'))).to.equal('no answer');
    await clock.advance(10_000);
    expect(await outcome(take('two', at, 'x'))).to.equal('one has x');
    said.open();
    await clock.advance(0);
    expect(await outcome(take('two', at, 'x'))).to.equal('done');
  });
});
