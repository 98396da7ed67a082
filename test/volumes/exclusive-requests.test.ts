/** Tests requests for unique things: a second request is refused while the first is open. */
import { expect } from 'chai';
import { StagecraftError } from '../../src/errors.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { ExclusiveRequests } from '../../src/volumes/exclusive-requests.js';
import { gate } from './scripts.js';

const unknown = new StagecraftError('STORE_UNAVAILABLE', 'no answer', { outcome: 'unknown' });

describe('requests for unique things', () => {
  /** Answers of the store to questions about the outcome of a request. */
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

  it('V16 N1 a second actor is refused as a whole while the first request is open, and may try afterwards', async () => {
    const held = gate();
    const first = take('one', () => held.passed, 'x', 'y');
    const again = take('one', () => held.passed, 'x');
    expect(await outcome(take('two', at, 'z', 'y'))).to.equal('one has y');
    expect(await outcome(take('two', at, 'z'))).to.equal('done');
    held.open();
    await Promise.all([first, again]);
    expect(await outcome(take('two', at, 'x', 'y'))).to.equal('done');
  });

  it('V16 N1 a failed request reserves nothing', async () => {
    const failing = take('one', () => Promise.reject(new Error('no')), 'x');
    expect(await outcome(failing)).to.equal('no');
    expect(await outcome(take('two', at, 'x'))).to.equal('done');
  });

  it('V16 N1 a request with an unknown outcome keeps its things until the store answers', async () => {
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
