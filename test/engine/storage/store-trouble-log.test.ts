/**
 * Log lines of an engine while its store is away: one at the start, some at pauses that double, one at the end, for any number of
 * actors.
 */
import { expect } from 'chai';
import type { StoreMethod } from '../../support/faulty-store.js';
import { deskKind, note, say } from '../desk.js';
import { Lab, type Life } from '../lab.js';

const all: StoreMethod[] = ['load', 'commit', 'list', 'due', 'unsettled', 'appendTopic', 'renewLease', 'acquireLease'];
const actors = 40;

describe('the log of a store that is away', () => {
  let lab: Lab;
  let life: Life;

  beforeEach(async () => {
    lab = new Lab();
    life = await lab.start([deskKind]);
    for (let at = 0; at < actors; at += 1) await life.engine.ask(`desk/${at}`, note('before'));
    await lab.rest();
  });

  const lines = (): string[] => lab.logged.map(({ message }) => message);

  /** Triggers commits of actors in memory, loads of others, and events. */
  const askAll = (): void => {
    const ask = (address: string, event: ReturnType<typeof note>): void =>
      void life.engine.ask(address, event).catch(() => {});
    for (let at = 0; at < actors; at += 1) {
      ask(`desk/${at}`, at % 2 === 0 ? note('meanwhile') : say('meanwhile'));
      ask(`desk/new-${at}`, note('meanwhile'));
    }
  };

  const hang = (): (() => void) => {
    const releases = all.map((method) => life.store.hold(method));
    return () => {
      for (const release of releases) release();
    };
  };
  const refuse = (): (() => void) => {
    for (const method of all) life.store.fail(method, 'before', Number.POSITIVE_INFINITY);
    return () => {
      for (const method of all) life.store.fail(method, 'before', 0);
    };
  };

  // Each method refuses in words of its own, and other words are logged within a minute.
  for (const [how, begin, most] of [
    ['hangs', hang, 2],
    ['refuses', refuse, 3],
  ] as const) {
    it(`store ${how} for 25 s under many actors: one line at the start, one at the end`, async () => {
      const end = begin();
      askAll();
      await lab.clock.advance(25_000);
      expect(lines()).to.have.length(1);
      end();
      await lab.clock.advance(30_000);
      expect(lines()).to.have.length(2);
      expect(lines()[1]).to.match(/^the store: in order again after \d+ s and \d+ failures$/);
    });

    it(`store ${how} for three minutes: ${most} lines between at most, with the count`, async () => {
      const end = begin();
      askAll();
      await lab.clock.advance(185_000);
      end();
      await lab.clock.advance(30_000);
      const [first, ...rest] = lines();
      const last = rest.pop();
      expect(first).not.to.match(/failures/);
      expect(rest.length).to.be.within(1, most);
      for (const line of rest) expect(line).to.match(/\(\d+ failures since .*\)$/);
      expect(last).to.match(/^the store: in order again/);
    });
  }

  it('engine stopped while its store is away: logs no end', async () => {
    const end = refuse();
    askAll();
    await lab.clock.advance(25_000);
    await lab.stop(life.engine);
    end();
    expect(lines()).to.have.length(1);
  });
});
