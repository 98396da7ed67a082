/** Reports of steps on simulated time: which of them are sent together, and when. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { NamedStep } from '../../machines/alloc/types.js';
import { StepReport } from '../../src/allocs/step-report.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';

const published = { type: 'volume.published' } as const;
const taken = { type: 'claim.taken', generation: 1 } as const;

function scene() {
  const clock = simulatedClock();
  const sent: NamedStep[][] = [];
  const report = new StepReport({ send: (event) => void sent.push(event.steps) }, clock);
  const said = (): string[] => sent.map((steps) => steps.map(({ name, type }) => `${name} ${type}`).join(', '));
  return { clock, report, sent, said };
}

describe('the report of the steps of an alloc', () => {
  it('H1 claims are reported in the turn in which one of their volumes is published, before the mount', async () => {
    const { report, said } = scene();
    report.of('data').step(taken);
    report.of('log').step(taken);
    await turn();
    expect(said()).to.deep.equal([]);
    report.of('data').step(published);
    expect(said()).to.deep.equal(['data claim.taken, log claim.taken, data volume.published']);
    report.of('log').step(published);
    report.of('db').step(taken);
    await turn();
    expect(said()).to.have.length(1);
    report.of('db').step(published);
    expect(said().slice(1)).to.deep.equal(['log volume.published, db claim.taken, db volume.published']);
  });

  it('H1 of a volume whose claim is known, another step waits for the next one that is sent', async () => {
    const { report, said } = scene();
    report.of('data').step({ type: 'claim.confirmed' });
    report.of('data').step(published);
    await turn();
    expect(said()).to.deep.equal([]);
    report.of('log').waits('its plugin is away');
    await turn();
    expect(said()).to.deep.equal(['data claim.confirmed, data volume.published, log volume.waits']);
  });

  it('H1 no step waits longer than a second', async () => {
    const { report, said, clock } = scene();
    report.of('data').step(published);
    await clock.advance(600);
    report.of('log').step(published);
    await clock.advance(399);
    expect(said()).to.deep.equal([]);
    await clock.advance(1);
    expect(said()).to.deep.equal(['data volume.published, log volume.published']);
    await clock.advance(10_000);
    expect(said()).to.have.length(1);
  });

  it('H1 a reason to wait is reported at once and once; its end is reported with the next step', async () => {
    const { report, sent, said, clock } = scene();
    const data = report.of('data');
    data.waits('its plugin is away');
    data.waits('its plugin is away');
    await turn();
    expect(sent).to.deep.equal([[{ name: 'data', type: 'volume.waits', reason: 'its plugin is away' }]]);
    data.waits(null);
    data.step(taken);
    await clock.advance(1_000);
    data.waits('busy');
    data.waits(null);
    await turn();
    await clock.advance(1_000);
    expect(said().slice(1)).to.deep.equal(['data claim.taken', 'data volume.waits, data volume.waits']);
    expect(sent.at(-1)?.at(-1)).to.deep.include({ reason: null });
  });

  it('H4 whoever has the slot is told at once, and once', async () => {
    const { report, sent } = scene();
    const data = report.of('data');
    data.refuse('alloc db has it');
    data.refuse('alloc db has it');
    await turn();
    expect(sent).to.deep.equal([[{ name: 'data', type: 'claim.refused', reason: 'alloc db has it' }]]);
  });

  it('H1 the rest goes with the result of the run; after that nothing is sent', async () => {
    const { report, said, clock } = scene();
    report.of('data').step(published);
    report.of('data').step(taken);
    expect(report.rest().map(({ type }) => type)).to.deep.equal(['volume.published', 'claim.taken']);
    report.of('data').waits('late');
    await turn();
    await clock.advance(2_000);
    expect(said()).to.deep.equal([]);
    expect(clock.pending).to.equal(0);
  });

  it('H1 that a run was started again is news to nobody: it goes with the first step', async () => {
    const { report, said, clock } = scene();
    report.of('data').step({ type: 'restart' });
    await clock.advance(10_000);
    expect(said()).to.deep.equal([]);
    report.of('data').step(taken);
    report.of('data').step(published);
    expect(said()).to.deep.equal(['data restart, data claim.taken, data volume.published']);
  });
});
