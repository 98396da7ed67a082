/** Repeated failures are logged at their start, at pauses that double up to an hour, and at their end. */
import { expect } from 'chai';
import { NoAnswer } from '../../../src/engine/storage/timed-store.js';
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

  const away = (cause: unknown): StagecraftError => new StagecraftError('STORE_UNAVAILABLE', 'away', { cause });
  const fail = (task: unknown = 'a', subject = 'the disk', cause: unknown = new Error('no')): void =>
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

  it('34 trouble of two days: after the first hour it is logged once an hour', async () => {
    for (let minute = 0; minute < 48 * 60; minute += 1) {
      fail();
      await clock.advance(60_000);
    }
    expect(lines).to.have.length.within(50, 54);
  });

  it('34 another trouble of the same subject is logged within a minute, however long the pause is', async () => {
    for (let minute = 0; minute < 10; minute += 1) {
      fail();
      await clock.advance(60_000);
    }
    lines.length = 0;
    fail('a', 'the disk', new Error('it is broken'));
    fail('a', 'the disk', new Error('it is gone'));
    await clock.advance(60_000);
    fail('a', 'the disk', new Error('it is gone'));
    expect(lines.map((line) => line.replace(/ since.*/, ''))).to.deep.equal(
      [11, 13].map((count) => `the disk refuses a (${count} failures`),
    );
  });

  it('34 other numbers, or a call without an answer beside another one, are no other trouble', async () => {
    for (const ms of [1_000, 2_000]) fail('a', 'the disk', new Error(`late by ${ms} ms`));
    for (const call of ['load', 'list']) fail('b', 'the store', new NoAnswer(call, 10_000));
    await clock.advance(60_000);
    fail('a', 'the disk', new Error('late by 3 ms'));
    fail('c', 'the disk', away(new NoAnswer('commit', 1_000)));
    await clock.advance(60_000);
    fail('a', 'the disk', new Error('late by 4 ms'));
    fail('c', 'the disk', away(new NoAnswer('load', 1_000)));
    expect(lines.filter((line) => !line.includes('failures'))).to.deep.equal([
      'the disk refuses a',
      'the store refuses b',
    ]);
    expect(lines).to.have.length(4);
  });

  it('34 ever new trouble of one subject: ten lines more in an hour', async () => {
    for (let minute = 0; minute < 60; minute += 1) {
      fail('a', 'the disk', new Error(`${'x'.repeat(minute + 1)} is broken`));
      await clock.advance(60_000);
    }
    expect(lines).to.have.length.within(12, 16);
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
    fail('a', 'the disk', away(new Error('no')));
    fail('b', 'the network', away(new Error('no')));
    for (const task of ['a', 'b']) troubles.over(task);
    expect(lines).to.deep.equal(['the disk refuses a', 'the store: in order again after 0 s and 2 failures']);
  });

  it('task that fails for another reason than before begins the other trouble', () => {
    fail('a', 'the disk', away(undefined));
    fail('a', 'the disk');
    troubles.over('a');
    expect(lines).to.deep.equal([
      'the disk refuses a',
      'the disk refuses a',
      'the disk: in order again after 0 s and 1 failure',
    ]);
  });
});
