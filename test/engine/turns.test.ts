/** Long promise chains yield to the event loop, and go on in order. */
import { expect } from 'chai';
import type { Clock } from '../../src/engine/clock.js';
import { Engine } from '../../src/engine/engine.js';
import { Turns } from '../../src/engine/turns.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { seededRandom } from '../../src/testing/index.js';
import { faultyStore } from '../support/faulty-store.js';
import { deskKind, note } from './desk.js';

/** Clock on which each read takes 0.15 ms. */
function busyClock(): Clock {
  let nowMs = 0;
  return {
    now: () => nowMs,
    monotonicMs: () => {
      nowMs += 0.15;
      return nowMs;
    },
    after: () => () => {},
  };
}

describe('turns of the event loop', () => {
  it('work goes on in the order of its requests, with turns of the event loop in between', async () => {
    const turns = new Turns(busyClock());
    const done: number[] = [];
    let loops = 0;
    let isOver = false;
    const loop = (): void => {
      loops += 1;
      if (!isOver) setImmediate(loop);
    };
    setImmediate(loop);
    const works = Array.from({ length: 100 }, async (_, at) => {
      const turn = turns.next();
      if (turn) await turn;
      done.push(at);
    });
    await Promise.all(works);
    isOver = true;
    expect(done).to.deep.equal([...works.keys()]);
    expect(loops).to.be.at.least(10);
  });

  it('no time passes: nobody waits', () => {
    const turns = new Turns({ ...busyClock(), monotonicMs: () => 7 });
    const waited = Array.from({ length: 10_000 }, () => turns.next()).filter((turn) => turn !== undefined);
    expect(waited).to.deep.equal([]);
  });

  it('request in a later turn, and nobody waits: goes on at once', async () => {
    const turns = new Turns(busyClock());
    while (!turns.next());
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(turns.next()).to.equal(undefined);
  });

  it('very many requests at once: the first commits do not wait for the last loads', async () => {
    const clock = busyClock();
    const passed: string[] = [];
    const store = faultyStore(memoryStore({ monotonicMs: () => 0 }), {
      how: ({ method }, proceed) => {
        passed.push(method);
        return proceed();
      },
    });
    const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const lease = { name: 'node/n1', holder: 'the only one', ttlMs: 1_000_000 };
    const engine = new Engine({ store, clock, random: seededRandom(1), logger, lease }).host([deskKind]);
    await engine.open();
    await engine.restore(['']);
    await Promise.all(Array.from({ length: 1_000 }, (_, at) => engine.ask(`desk/${at}`, note('here'))));
    expect(passed.filter((call) => call === 'load')).to.have.length(1_000);
    expect(passed.indexOf('commit')).to.be.below(100);
    await engine.stop();
  });
});
