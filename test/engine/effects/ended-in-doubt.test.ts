/** Effects that end while their requests may go on (`mayGoOn`): what undoes them waits, in this run and in the next. */
import { expect } from 'chai';
import { setup } from 'xstate';
import { type Stamped, unbound } from '../../../machines/kit/host.js';
import { decodeRecord } from '../../../src/engine/actor/actor-record.js';
import { pause } from '../../../src/engine/clock.js';
import type { Effect } from '../../../src/engine/effects/effects.js';
import { Lab, type Life } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';

const effect = unbound<void, object>();

/** Lamp machine: `off` undoes `on`. */
const lampMachine = setup({
  types: {} as { events: { type: 'on' | 'off' } & Stamped },
  actors: { on: effect, off: effect },
}).createMachine({
  id: 'lamp',
  initial: 'still',
  on: { on: '.turningOn', off: '.turningOff' },
  states: {
    still: {},
    turningOn: { invoke: { id: 'on', src: 'on', input: {}, onDone: 'still', onError: 'still' } },
    turningOff: { invoke: { id: 'off', src: 'off', input: {}, onDone: 'still', onError: 'still' } },
  },
});

const sentLimitMs = 20_000;
const address = 'lamp/a';

describe('effects that end in doubt', () => {
  let lab: Lab;
  let life: Life;
  let on: ManualEffect;
  let off: ManualEffect;

  const restart = async (): Promise<void> => {
    const turnOff: Effect = {
      ...{ sentDeadlineMs: 5_000, compensates: ['on'] },
      run: async (call) => {
        const clearInMs = call.clearInMs();
        if (clearInMs > 0) await pause(lab.clock, clearInMs, call.signal);
        call.signal.throwIfAborted();
        call.sent();
        return off.run(call);
      },
    };
    // An admission takes its time; the limit of the request begins with `sent`.
    const turnOn: Effect = { sentDeadlineMs: sentLimitMs, run: (call) => on.run(call) };
    life = await lab.start([{ machine: lampMachine, effects: { on: turnOn, off: turnOff }, begin: () => ({}) }]);
  };
  beforeEach(async () => {
    lab = new Lab();
    on = manualEffect();
    off = manualEffect();
    await restart();
  });
  const ask = (type: 'on' | 'off'): Promise<unknown> => life.engine.ask(address, { type });

  /** Sends the request of `on` after a second, and ends the effect a second later. */
  async function endOn(how: (call: ManualEffect['last']) => void): Promise<void> {
    await ask('on');
    await lab.clock.advance(1_000);
    on.last.sent();
    await lab.clock.advance(1_000);
    how(on.last);
    await lab.rest();
  }
  const inDoubt = (call: ManualEffect['last']): void => {
    call.mayGoOn();
    call.fail(new Error('nothing was heard'));
  };

  async function waits(ms: number): Promise<void> {
    await lab.clock.advance(ms - 1);
    expect(off.calls).to.have.lengthOf(0);
    await lab.clock.advance(1);
    expect(off.calls).to.have.lengthOf(1);
  }

  it('failed without doubt: the undoing effect starts at once', async () => {
    await endOn((call) => call.fail(new Error('refused')));
    await ask('off');
    expect(off.calls).to.have.lengthOf(1);
  });

  it('failed in doubt: the undoing effect waits until the limit that began with the request', async () => {
    await endOn(inDoubt);
    await ask('off');
    await waits(sentLimitMs - 1_000);
  });

  it('succeeded in doubt: waits as well', async () => {
    await endOn((call) => {
      call.mayGoOn();
      call.finish();
    });
    await ask('off');
    await waits(sentLimitMs - 1_000);
  });

  it('made again meanwhile, and that one ended: the doubt about the first stays', async () => {
    await endOn(inDoubt);
    await ask('on');
    on.last.sent();
    on.last.finish();
    await lab.rest();
    await ask('off');
    await waits(sentLimitMs - 1_000);
  });

  it('restart: waits the whole limit from there on, as no clock tells what has passed', async () => {
    await endOn(inDoubt);
    await restart();
    await lab.clock.advance(3_000);
    await ask('off');
    await waits(sentLimitMs - 3_000);
  });

  it('two restarts, the second during the wait: waits the whole limit again', async () => {
    await endOn(inDoubt);
    await restart();
    await ask('off');
    await lab.clock.advance(5_000);
    await restart();
    await waits(sentLimitMs);
  });

  it('limit over, and a commit since: the record forgets it, and the next run does not wait', async () => {
    await endOn(inDoubt);
    const doubts = async () => decodeRecord((await lab.store().load(address))?.text ?? '').doubts;
    expect(await doubts()).to.have.property('on');
    await lab.clock.advance(sentLimitMs);
    await ask('off');
    off.last.finish();
    await lab.rest();
    expect(await doubts()).to.equal(undefined);
    await restart();
    await ask('off');
    expect(off.calls).to.have.lengthOf(2);
  });

  it('declared before the request is sent: says nothing, and nothing waits', async () => {
    await ask('on');
    inDoubt(on.last);
    await lab.rest();
    await ask('off');
    expect(off.calls).to.have.lengthOf(1);
  });

  it('replay of the journal leads to the state as it is stored', async () => {
    await endOn(inDoubt);
    await ask('off');
    await lab.clock.advance(sentLimitMs);
    off.last.finish();
    await lab.rest();
    const stored = decodeRecord((await lab.store().load(address))?.text ?? '');
    const { snapshot } = await life.engine.journals.replay(address);
    expect(snapshot).to.deep.equal(stored.snapshot);
  });
});
