/** Timers of on-demand actors: they fire on time and once, though the actor is not in memory. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { AnyEventObject } from 'xstate';
import { fragileKind, nap } from '../fragile.js';
import { historyOf, journalOf, type Life } from '../lab.js';
import { PolicyLab } from '../policy-lab.js';

const address = 'fragile/a';
const minuteMs = 60_000;
/** Window and interval of reminders: src/engine/actor/passivation.ts. */
const [lookAheadMs, lookEachMs] = [10 * minuteMs, 5 * minuteMs];

describe('timers of kinds on demand', () => {
  let lab: PolicyLab;
  let life: Life;

  beforeEach(async () => {
    lab = new PolicyLab({ idleBytes: 0 });
    await restart();
  });

  const restart = async (): Promise<void> => {
    life = await lab.start([{ ...fragileKind(), onDemand: true }]);
  };
  const ask = async (event: AnyEventObject, to = address): Promise<void> => {
    await life.engine.ask(to, event);
    await lab.rest();
  };
  const stored = async (): Promise<{ naps: number }> =>
    JSON.parse((await lab.data.load(address))?.text ?? '{}').snapshot.context;
  const isHere = (): boolean => life.engine.has(address);
  const history = (): Promise<string[]> => historyOf(life.engine, address);

  for (const dueMs of [1_000, lookEachMs, lookAheadMs, lookAheadMs + 1, 3 * lookAheadMs + 7, 86_400_000]) {
    it(`nap of ${dueMs} ms: wakes on time, once, with or without restarts`, async () => {
      for (const [restarts, restMs] of [
        [0, dueMs],
        [3, dueMs / 4],
      ] as const) {
        const { naps } = restarts > 0 ? await stored() : { naps: 0 };
        await ask(nap(dueMs));
        expect(isHere()).to.equal(false);
        for (let time = 0; time < restarts; time += 1) {
          await lab.clock.advance(restMs);
          await restart();
        }
        await lab.clock.advance(restMs - 1);
        expect(await stored()).to.deep.include({ naps });
        await lab.clock.advance(1);
        expect(await stored()).to.deep.include({ naps: naps + 1 });
        expect(isHere()).to.equal(false);
      }
      await restart();
      await lab.clock.advance(2 * dueMs);
      expect((await stored()).naps).to.equal(2);
    });
  }

  it('due while no runtime runs: the next start wakes the actor, once', async () => {
    await ask(nap(1_000));
    await lab.crash();
    await lab.clock.advance(minuteMs);
    await restart();
    await lab.clock.advance(0);
    expect(await history()).to.deep.equal(['event nap', 'event xstate.after.nap.fragile.napping']);
  });

  it('nap cut short or begun again while armed: only the last one counts', async () => {
    await ask(nap(1_000));
    await ask({ type: 'rest' });
    await ask(nap(5_000));
    await ask(nap(3_000));
    await lab.clock.advance(2_999);
    expect(await stored()).to.deep.include({ naps: 0 });
    await lab.clock.advance(1);
    expect(await stored()).to.deep.include({ naps: 1 });
    await lab.clock.advance(lookAheadMs);
    expect(await history()).to.have.length(5);
  });

  it('nap beyond the window shortened into it between two looks: wakes on time', async () => {
    await ask(nap(3 * lookAheadMs));
    await lab.clock.advance(lookEachMs - 1);
    await ask(nap(2_000));
    await lab.clock.advance(1_999);
    expect(await stored()).to.deep.include({ naps: 0 });
    await lab.clock.advance(1);
    expect(await stored()).to.deep.include({ naps: 1 });
  });

  for (const moment of ['before', 'after'] as const) {
    it(`nap changes while a look is delayed ${moment} the store read: wakes on time`, async () => {
      await ask(nap(12 * minuteMs));
      const letGo = life.store.hold('due', moment, 1);
      await lab.clock.advance(lookEachMs);
      await ask(nap(minuteMs));
      letGo();
      await lab.clock.advance(minuteMs - 1);
      expect(await stored()).to.deep.include({ naps: 0 });
      await lab.clock.advance(1);
      expect(await stored()).to.deep.include({ naps: 1 });
      await lab.clock.advance(lookAheadMs * 2);
      expect(await stored()).to.deep.include({ naps: 1 });
    });
  }

  it('actor has left when the look says that it is due: loaded in vain, nothing happens', async () => {
    await ask(nap(lookEachMs - 1));
    const letGo = life.store.hold('due', 'after', 1);
    await lab.clock.advance(lookEachMs);
    await ask({ type: 'rest' });
    letGo();
    await lab.clock.advance(lookAheadMs);
    expect((await stored()).naps).to.equal(1);
    expect(isHere()).to.equal(false);
  });

  for (const moment of ['before', 'after'] as const) {
    it(`runtime dies just ${moment} the commit of the wake-up: wakes once`, async () => {
      await ask(nap(1_000));
      life.store.hold('commit', moment);
      await lab.clock.advance(1_000);
      await restart();
      await lab.clock.advance(minuteMs);
      expect(await history()).to.have.length(2);
      expect(await stored()).to.deep.include({ naps: 1 });
    });
  }

  it('random naps, restarts and late looks: each nap ends at its exact moment, once', async () => {
    const name = fc.constantFrom('fragile/a', 'fragile/b', 'fragile/c');
    const ms = fc.constantFrom(
      1,
      1_000,
      minuteMs,
      lookEachMs - 1,
      lookEachMs,
      lookAheadMs,
      lookAheadMs + 1,
      40 * minuteMs,
    );
    const move = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant('nap' as const), name, ms }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('rest' as const, 'read' as const), name, ms }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), name, ms }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('restart' as const, 'hold' as const), name, ms }) },
    );
    const property = fc.asyncProperty(
      fc.array(move, { maxLength: 30 }),
      fc.constantFrom(0, 300),
      async (history, idleBytes) => {
        lab = new PolicyLab({ idleBytes });
        await restart();
        let letGo = (): void => {};
        for (const { do: what, name: of, ms: forMs } of history) {
          if (what === 'wait') await lab.clock.advance(forMs);
          else if (what === 'restart') await restart();
          else if (what === 'hold') letGo = life.store.hold('due', 'after', 1);
          else await ask({ type: what, ms: forMs }, of);
          if (what !== 'hold' && what !== 'wait') letGo();
        }
        await lab.clock.advance(80 * minuteMs);
        for (const of of ['fragile/a', 'fragile/b', 'fragile/c']) await expectOnTime(of);
      },
    );
    await fc.assert(property, { seed: 5, numRuns: 100 });
  });

  /** Checks that each nap in the journal ends on time, unless another event came first. */
  const expectOnTime = async (of: string): Promise<void> => {
    let dueAtMs: number | undefined;
    for (const { event, at } of await journalOf(life.engine, of)) {
      if (event?.type === 'read') continue;
      if (event?.type.startsWith('xstate.after')) expect(at).to.equal(dueAtMs);
      else if (dueAtMs !== undefined) expect(at).to.be.at.most(dueAtMs);
      dueAtMs = event?.type === 'nap' ? at + Number(event.ms) : undefined;
    }
    expect(dueAtMs).to.equal(undefined);
  };
});
