/** Results of effects: outputs, errors, and effects that take too long. */
import { expect } from 'chai';
import { flattened } from '../../../src/engine/effects/effect-runner.js';
import { defaultDeadlineMs, type Effect, type EffectCall } from '../../../src/engine/effects/effects.js';
import { StagecraftError } from '../../../src/errors.js';
import { historyOf, journalOf, Lab, type Life } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { workerKind } from '../worker.js';

const address = 'worker/a';

describe('effect results', () => {
  let lab: Lab;
  let life: Life;

  beforeEach(() => {
    lab = new Lab();
  });

  const startWork = async (work: Effect): Promise<void> => {
    life = await lab.start([workerKind({ work })]);
    await life.engine.ask(address, { type: 'work', job: 'dig' });
    await lab.rest();
  };
  const results = (): unknown => life.engine.peek(address)?.context;

  describe('errors', () => {
    class Odd extends Error {
      override readonly name = 'Odd';
      constructor(
        readonly code: unknown,
        readonly final: unknown,
      ) {
        super('odd');
      }
    }
    const nameless = Object.create(null);
    const thrown: [string, unknown, object][] = [
      ['an Error', new Error('no'), { name: 'Error', message: 'no', code: 'EFFECT_FAILED', final: false }],
      [
        'a StagecraftError',
        new StagecraftError('CSI_ERROR', 'no', { final: true }),
        { name: 'StagecraftError', message: 'no', code: 'CSI_ERROR', final: true },
      ],
      ['a code that is a number', new Odd(14, false), { name: 'Odd', message: 'odd', code: '14', final: false }],
      ['a final that is not a boolean', new Odd('X', 1), { name: 'Odd', message: 'odd', code: 'X', final: false }],
      ['a text', 'no', { name: 'Error', message: 'no', code: 'EFFECT_FAILED', final: false }],
      ['nothing', undefined, { name: 'Error', message: 'undefined', code: 'EFFECT_FAILED', final: false }],
      [
        'a value without text',
        nameless,
        { name: 'Error', message: 'unknown error', code: 'EFFECT_FAILED', final: false },
      ],
      [
        'a code without text',
        new Odd(nameless, false),
        { name: 'Odd', message: 'odd', code: 'unknown error', final: false },
      ],
      [
        'a message that is no text',
        Object.assign(new Error('x'), { message: 10n }),
        { name: 'Error', message: '10', code: 'EFFECT_FAILED', final: false },
      ],
    ];
    for (const [what, error, data] of thrown) {
      it(`effect throws ${what}: the machine gets plain data`, async () => {
        expect(flattened(error)).to.deep.equal(data);
        await startWork({
          run: async () => {
            throw error;
          },
        });
        const [, result] = await journalOf(life.engine, address);
        expect(result?.event).to.deep.include({ type: 'xstate.error.actor.work', error: data });
        expect(result?.kind).to.equal('event');
      });
    }

    it('effect throws before it returns a promise: counts as its error too', async () => {
      await startWork({
        run: () => {
          throw new Error('at once');
        },
      });
      expect(results()).to.deep.include({ results: [{ code: 'EFFECT_FAILED', message: 'at once', final: false }] });
    });
  });

  describe('outputs that JSON cannot hold', () => {
    const cyclic: { self?: object } = {};
    cyclic.self = cyclic;
    for (const [what, output] of [
      ['a bigint', 10n],
      ['a cycle', cyclic],
    ] as const) {
      it(`effect resolves with ${what}: an error of the effect`, async () => {
        await startWork({ run: async () => ({ output }) });
        expect(await historyOf(life.engine, address)).to.deep.equal(['event work', 'event xstate.error.actor.work']);
      });
    }

    it('effect sends an event that JSON cannot hold: the effect gets the exception', async () => {
      await startWork({
        run: async ({ send }) => {
          try {
            send({ type: 'nap', much: 10n });
            return 'sent';
          } catch {
            return 'refused';
          }
        },
      });
      expect(results()).to.deep.include({ results: ['refused'] });
    });

    it('output of more than plain data: reaches the machine as the journal keeps it', async () => {
      await startWork({ run: async () => new Date(0) });
      expect(results()).to.deep.include({ results: ['1970-01-01T00:00:00.000Z'] });
    });
  });

  describe('deadlines', () => {
    let work: ManualEffect;

    it('deadline passes: the machine gets TIMEOUT, the effect is aborted, and its late result is dropped', async () => {
      work = manualEffect(1_000);
      await startWork(work);
      await lab.clock.advance(999);
      expect(work.last.signal.aborted).to.equal(false);
      await lab.clock.advance(1);
      expect(work.last.signal.reason).to.include({ code: 'TIMEOUT' });
      expect(results()).to.deep.include({
        results: [{ code: 'TIMEOUT', message: 'work took too long; it may still go on', final: false }],
      });
      work.last.finish('late');
      await lab.rest();
      expect(await historyOf(life.engine, address)).to.have.length(2);
    });

    it('no deadline set: two minutes', async () => {
      let signal: AbortSignal | undefined;
      await startWork({
        run: (call) => {
          signal = call.signal;
          return new Promise(() => {});
        },
      });
      await lab.clock.advance(defaultDeadlineMs - 1);
      expect(signal?.aborted).to.equal(false);
      await lab.clock.advance(1);
      expect(signal?.aborted).to.equal(true);
    });

    it('deadline that depends on the input: applied', async () => {
      let signal: AbortSignal | undefined;
      await startWork({
        deadlineMs: ({ job }: { job: string }) => job.length * 10,
        run: (call: EffectCall) => {
          signal = call.signal;
          return new Promise(() => {});
        },
      });
      await lab.clock.advance(29);
      expect(signal?.aborted).to.equal(false);
      await lab.clock.advance(1);
      expect(signal?.aborted).to.equal(true);
    });

    it('deadline function throws: an error of the effect, which never ran', async () => {
      let ran = false;
      await startWork({
        deadlineMs: () => {
          throw new Error('how long?');
        },
        run: async () => {
          ran = true;
        },
      });
      expect(results()).to.deep.include({ results: [{ code: 'EFFECT_FAILED', message: 'how long?', final: false }] });
      expect(ran).to.equal(false);
    });

    for (const end of ['finish', 'leave'] as const) {
      it(`effect with a deadline ends by '${end}': the deadline has no consequence`, async () => {
        work = manualEffect(1_000);
        await startWork(work);
        if (end === 'finish') work.last.finish('gold');
        else await life.engine.ask(address, { type: 'leave' });
        await lab.rest();
        const ended = await historyOf(life.engine, address);
        await lab.clock.advance(5_000);
        expect(await historyOf(life.engine, address)).to.deep.equal(ended);
      });
    }
  });
});
