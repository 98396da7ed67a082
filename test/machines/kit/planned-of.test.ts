/** Who takes the steps: the compiled plan, or XState alone. */
import { expect } from 'chai';
import { createActor, createMachine } from 'xstate';
import { PlannedMachine, plannedOf } from '../../../machines/plan/planned-machine.js';

describe('STAGECRAFT_STEPS', () => {
  const before = process.env.STAGECRAFT_STEPS;
  afterEach(() => {
    if (before === undefined) delete process.env.STAGECRAFT_STEPS;
    else process.env.STAGECRAFT_STEPS = before;
  });

  const planned = (): PlannedMachine | undefined => {
    const machine = createMachine({ id: 'lamp' });
    const self = createActor(machine);
    return plannedOf(machine, { self, system: self.system });
  };

  it('absent: steps go by plan', () => {
    delete process.env.STAGECRAFT_STEPS;
    expect(planned()).to.be.instanceOf(PlannedMachine);
  });

  it('xstate: there is no plan, and XState takes every step', () => {
    process.env.STAGECRAFT_STEPS = 'xstate';
    expect(planned()).to.equal(undefined);
  });
});
