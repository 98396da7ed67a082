/** Who waits hears once that what it waits for was given up, by a signal or by a run of an effect. */
import { expect } from 'chai';
import { type Abortable, onAbort } from '../src/abort.js';
import { Run } from '../src/engine/effects/effect-runner.js';
import { StagecraftError } from '../src/errors.js';

const reason = new StagecraftError('ABORTED', 'given up');

function aRun(): { abortable: Abortable; abort(): void } {
  const live = { id: 'work', src: 'work', input: {}, seq: 1 };
  const run = new Run({ address: 'worker/a', live, effect: undefined, recovered: false }, () => {});
  return { abortable: run, abort: () => run.abort(reason) };
}

function aSignal(): { abortable: Abortable; abort(): void } {
  const controller = new AbortController();
  return { abortable: controller.signal, abort: () => controller.abort(reason) };
}

for (const [name, made] of Object.entries({ 'a signal': aSignal, 'a run of an effect': aRun })) {
  describe(`who waits for the end of ${name}`, () => {
    it('it is given up: called once, with the reason', () => {
      const { abortable, abort } = made();
      const told: unknown[] = [];
      onAbort(abortable, (why) => told.push(why));
      abort();
      abort();
      expect(told).to.deep.equal([reason]);
    });

    it('it was given up before: called at once', () => {
      const { abortable, abort } = made();
      abort();
      const told: unknown[] = [];
      onAbort(abortable, (why) => told.push(why));
      expect(told).to.deep.equal([reason]);
    });

    it('unsubscribed: not called', () => {
      const { abortable, abort } = made();
      const told: unknown[] = [];
      onAbort(abortable, (why) => told.push(why))();
      abort();
      expect(told).to.deep.equal([]);
    });
  });
}
