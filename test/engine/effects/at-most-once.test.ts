/** Effects with `atMostOnce`: after a restart, or a result that crashed the machine, they end as interrupted. */
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import { fragileKind, unbearable } from '../fragile.js';
import { historyOf, journalOf, Lab, type Life } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { workerKind } from '../worker.js';

const address = 'worker/a';
const error = 'xstate.error.actor.work';

describe('effects that are not repeated', () => {
  let lab: Lab;
  let life: Life;
  let work: ManualEffect;
  let listen: ManualEffect;

  beforeEach(async () => {
    lab = new Lab();
    work = Object.assign(manualEffect(60_000), { atMostOnce: true as const });
    listen = manualEffect('loop');
    await restart();
  });

  const restart = async (): Promise<void> => {
    life = await lab.start([workerKind({ work, listen }), fragileKind({ work, listen })]);
  };
  const ask = (event: AnyEventObject, to = address): Promise<unknown> => life.engine.ask(to, event);
  const results = (): unknown => life.engine.peek(address)?.context;

  it('runtime ends during a run: the next one does not run it; the machine gets INTERRUPTED', async () => {
    await ask({ type: 'work', job: 'dig' });
    await restart();
    await lab.rest();
    expect(work.calls).to.have.length(1);
    expect(await historyOf(life.engine, address)).to.deep.equal(['event work', `event ${error}`]);
    const [, entry] = await journalOf(life.engine, address);
    expect(entry?.source).to.deep.equal({ kind: 'effect', id: 'work', seq: 1 });
    expect(results()).to.have.nested.property('results[0].code', 'INTERRUPTED');
  });

  it('machine asks again: a new effect, which runs', async () => {
    await ask({ type: 'work', job: 'dig' });
    await restart();
    await lab.rest();
    await ask({ type: 'work', job: 'dig' });
    expect(work.calls).to.have.length(2);
    expect(work.last).to.include({ attempt: 1, recovered: false });
  });

  for (const moment of ['before', 'after'] as const)
    it(`runtime killed just ${moment} that commit: the next one reports the same, once`, async () => {
      await ask({ type: 'work', job: 'dig' });
      await lab.crash();
      const store = lab.store();
      store.hold('commit', moment);
      const engine = lab.engine([workerKind({ work, listen })], store);
      await engine.open();
      await engine.restore(['']);
      await lab.rest();
      await restart();
      await lab.rest();
      expect(work.calls).to.have.length(1);
      expect(await historyOf(life.engine, address)).to.deep.equal(['event work', `event ${error}`]);
    });

  it('result crashes the machine: not run again, ends as interrupted', async () => {
    await ask({ type: 'work' }, 'fragile/a');
    work.last.finish(unbearable);
    await lab.clock.advance(2_000);
    expect(work.calls).to.have.length(1);
    expect(life.engine.peek('fragile/a')?.context).to.have.nested.property('results[0].code', 'INTERRUPTED');
  });

  it('state left before the next runtime gets to it: no event', async () => {
    await ask({ type: 'work', job: 'dig' });
    await lab.crash();
    const engine = lab.engine([workerKind({ work, listen })], lab.store());
    await engine.open();
    await Promise.all([engine.restore(['']), engine.ask(address, { type: 'leave' })]);
    await lab.rest();
    expect(work.calls).to.have.length(1);
    const kinds: string[] = [];
    for await (const { kind, event } of engine.journals.entries(address)) kinds.push(`${kind} ${event?.type}`);
    expect(kinds.filter((one) => one.startsWith('event') && one !== `event ${error}`)).to.deep.equal([
      'event work',
      'event leave',
    ]);
    await engine.stop();
  });

  it('more interrupted at once than the gate admits: each machine gets its event, once', async () => {
    const all = Array.from({ length: 150 }, (_, at) => `worker/${at}`);
    for (const to of all) await ask({ type: 'work', job: 'dig' }, to);
    await restart();
    await lab.clock.advance(10_000);
    expect(work.calls).to.have.length(150);
    for (const to of all) expect(await historyOf(life.engine, to)).to.deep.equal(['event work', `event ${error}`]);
  });
});
