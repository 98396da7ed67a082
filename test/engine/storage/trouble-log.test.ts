/** Repeated failures are logged at their start, once a minute, and at their end. */
import { expect } from 'chai';
import { TroubleLog } from '../../../src/engine/storage/trouble-log.js';
import { StagecraftError } from '../../../src/errors.js';
import { type SimulatedClock, simulatedClock } from '../../../src/testing/index.js';

describe('TroubleLog', () => {
  let clock: SimulatedClock;
  let lines: string[];
  let troubles: TroubleLog;

  beforeEach(() => {
    clock = simulatedClock();
    lines = [];
    troubles = new TroubleLog({ clock, logger: { warn: (_, message) => void lines.push(message) } });
  });

  const fail = (task: unknown = 'a', subject = 'the disk', cause?: unknown): void =>
    troubles.failed(task, { subject, message: `${subject} refuses ${task}`, cause });

  it('failure logged at once; repeats within a minute are not', async () => {
    for (let second = 0; second < 60; second += 1) {
      fail();
      await clock.advance(1_000);
    }
    expect(lines).to.deep.equal(['the disk refuses a']);
  });

  it('34 trouble of an hour logged in six lines, with the count and the start', async () => {
    const since = new Date(clock.now()).toISOString();
    for (let second = 0; second < 3_600; second += 1) {
      fail();
      await clock.advance(1_000);
    }
    expect(lines).to.deep.equal([
      'the disk refuses a',
      ...[1, 3, 7, 15, 31].map((minute) => `the disk refuses a (${minute * 60 + 1} failures since ${since})`),
    ]);
  });

  it('end logged once, with the duration and the number of failures', async () => {
    fail();
    fail();
    await clock.advance(25_000);
    troubles.over('a');
    troubles.over('a');
    expect(lines).to.deep.equal(['the disk refuses a', 'the disk: in order again after 25 s and 2 failures']);
  });

  it('end without a start: not logged', () => {
    troubles.over('a');
    troubles.abandon('a');
    expect(lines).to.deep.equal([]);
  });

  it('many tasks with one trouble: starts with the first failure, ends with the last task', () => {
    for (const task of ['a', 'b', 'c']) fail(task);
    for (const task of ['b', 'a', 'c']) troubles.over(task);
    expect(lines).to.deep.equal(['the disk refuses a', 'the disk: in order again after 0 s and 3 failures']);
  });

  it('two subjects: lines of their own', () => {
    fail('a', 'the disk');
    fail('b', 'the network');
    troubles.over('a');
    expect(lines).to.deep.equal([
      'the disk refuses a',
      'the network refuses b',
      'the disk: in order again after 0 s and 1 failure',
    ]);
  });

  it('abandoned task ends its trouble without a line, and does not delay the end of others', () => {
    fail('a');
    fail('b');
    troubles.abandon('b');
    troubles.over('a');
    fail('c');
    troubles.abandon('c');
    expect(lines).to.deep.equal([
      'the disk refuses a',
      'the disk: in order again after 0 s and 2 failures',
      'the disk refuses c',
    ]);
  });

  it('STORE_UNAVAILABLE counts as trouble of the store, whatever task failed', () => {
    const away = new StagecraftError('STORE_UNAVAILABLE', 'no answer');
    fail('a', 'the disk', away);
    fail('b', 'the network', away);
    for (const task of ['a', 'b']) troubles.over(task);
    expect(lines).to.deep.equal(['the disk refuses a', 'the store: in order again after 0 s and 2 failures']);
  });

  it('task that fails for another reason than before begins the other trouble', () => {
    fail('a', 'the disk', new StagecraftError('STORE_UNAVAILABLE', 'no answer'));
    fail('a', 'the disk');
    troubles.over('a');
    expect(lines).to.deep.equal([
      'the disk refuses a',
      'the disk refuses a',
      'the disk: in order again after 0 s and 1 failure',
    ]);
  });
});
