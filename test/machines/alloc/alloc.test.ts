/** The alloc machine under plain XState: what is done for it ends as the test says. */
import { expect } from 'chai';
import { createActor, fromPromise, SimulatedClock } from 'xstate';
import { type AllocWork, allocMachine } from '../../../machines/alloc/alloc.js';
import { mountsOf, reasonsOf } from '../../../machines/alloc/parts.js';
import type { AllocChanged, AllocOutcome, AllocVolume, NamedStep } from '../../../machines/alloc/types.js';
import type { AllocMount } from '../../../machines/alloc/volume-steps.js';
import type { ErrorCode } from '../../../machines/kit/error-table.js';
import { Runs, stamped } from '../stamped.js';

const volumes: AllocVolume[] = [
  {
    ...{ name: 'data', volume: { namespace: 'default', id: 'data' }, mode: 'write', readOnly: false, taskPath: '/d' },
    ...{ accessMode: 'single-node-writer', attachmentMode: 'file-system' },
  },
];
const mount: AllocMount = {
  ...{ name: 'data', volume: { namespace: 'default', id: 'data' }, hostPath: '/h', taskPath: '/d' },
  ...{ readOnly: false, isDevice: false },
};
const name = 'data';
const prepare = { type: 'alloc.prepare', volumes, untilMs: null, bootId: 'b' } as const;
const published: NamedStep[] = [
  { name, type: 'volume.published' },
  { name, type: 'volume.mounted', mount },
];
const done = (...steps: NamedStep[]): AllocOutcome => ({ status: 'done', steps });
/** All that there is to be done, and what is left of it once it is claimed. */
const had = done({ name, type: 'claim.taken', generation: 7 }, ...published);
const hadAfterClaim = done(...published);
const hadStill = done({ name, type: 'volume.mounted', mount });
const gone = done({ name, type: 'volume.unmounted' }, { name, type: 'claim.released' }, { name, type: 'slot.freed' });
const claimed = (generation: number): { type: 'alloc.progress'; steps: NamedStep[] } => ({
  type: 'alloc.progress',
  steps: [{ name, type: 'claim.taken', generation }],
});
const refused = (code: ErrorCode): AllocOutcome => ({
  status: 'failed',
  failure: { code, message: 'no', final: true },
  name,
});

function scene() {
  const clock = new SimulatedClock();
  const runs = {
    prepare: new Runs<AllocWork, AllocOutcome>(),
    recover: new Runs<AllocWork, AllocOutcome>(),
    release: new Runs<AllocWork, AllocOutcome>(),
  };
  const machine = allocMachine.provide({
    actors: {
      prepareAlloc: fromPromise(runs.prepare.begin),
      recoverAlloc: fromPromise(runs.recover.begin),
      releaseAlloc: fromPromise(runs.release.begin),
    },
  });
  const told: AllocChanged['type'][] = [];
  const actor = createActor(
    stamped(machine, () => ({ at: clock.now(), random: 0.5 })),
    {
      input: { node: 'n', allocId: 'web' },
      clock,
    },
  );
  actor.on('*', ({ type }) => told.push(type));
  actor.start();
  const state = (): unknown => {
    const { value } = actor.getSnapshot();
    return typeof value === 'string' ? value : Object.keys(value)[0];
  };
  const turn = async (): Promise<void> => {
    for (let n = 0; n < 6; n += 1) await Promise.resolve();
  };
  return { actor, clock, runs, told, state, turn };
}

describe('the alloc machine', () => {
  it('H1 prepared, then released: each is asked for once', async () => {
    const { actor, runs, told, state, turn } = scene();
    actor.send(prepare);
    actor.send(prepare);
    runs.prepare.last.resolve(had);
    await turn();
    expect([state(), mountsOf(actor.getSnapshot().context)]).to.deep.equal(['prepared', [mount]]);
    actor.send({ type: 'alloc.release' });
    actor.send({ type: 'alloc.release' });
    runs.release.last.resolve(gone);
    await turn();
    expect([state(), runs.prepare.all.length, runs.release.all.length]).to.deep.equal(['released', 1, 1]);
    expect(told).to.deep.equal(['preparing', 'prepared', 'releasing', 'released']);
  });

  it('H1 what can not be had is undone, then failed with why; released after that, nothing is left of it', async () => {
    const { actor, runs, state, turn } = scene();
    actor.send(prepare);
    runs.prepare.last.resolve(refused('CSI_ERROR'));
    await turn();
    expect([state(), actor.getSnapshot().context.failure?.code]).to.deep.equal(['releasing', 'CSI_ERROR']);
    runs.release.last.resolve(gone);
    await turn();
    expect(state()).to.equal('failed');
    actor.send({ type: 'alloc.release' });
    expect([state(), actor.getSnapshot().context.volumes]).to.deep.equal(['released', []]);
  });

  it('H1 released while it is undone: it does not stay failed', async () => {
    const { actor, runs, state, turn } = scene();
    actor.send(prepare);
    actor.send({ type: 'alloc.abort', failure: { code: 'ABORTED', message: 'no', final: false } });
    actor.send({ type: 'alloc.release' });
    runs.release.last.resolve(gone);
    await turn();
    expect([state(), runs.prepare.last.signal.aborted]).to.deep.equal(['released', true]);
  });

  it('H4 its time is over: undone; asked for twice, it has the time of whoever waits longer', async () => {
    const { actor, clock, runs, state } = scene();
    actor.send({ ...prepare, untilMs: 1_000 });
    actor.send({ ...prepare, untilMs: 5_000 });
    clock.increment(1_000);
    expect([state(), runs.prepare.all.length]).to.deep.equal(['preparing', 1]);
    clock.increment(4_000);
    expect([state(), actor.getSnapshot().context.failure?.code]).to.deep.equal(['releasing', 'TIMEOUT']);
  });

  it('H3 after a restart it is recovered; it fails only where its claim is lost, which is told', async () => {
    const { actor, clock, runs, told, state, turn } = scene();
    actor.send(prepare);
    actor.send(claimed(7));
    runs.prepare.last.resolve(hadAfterClaim);
    await turn();
    actor.send({ type: 'alloc.recover', isNewBoot: false });
    runs.recover.last.reject(new Error('thrown'));
    await turn();
    expect(state()).to.equal('recovering');
    clock.increment(2_000);
    expect(runs.recover.last.input.generations).to.deep.equal({ data: 7 });
    runs.recover.last.resolve(refused('CLAIM_LOST'));
    await turn();
    expect([state(), told.slice(-2)]).to.deep.equal(['releasing', ['claim-lost', 'releasing']]);
  });

  it('N3 after a lost claim the alloc is released with the reason; a claim it no longer has changes nothing', async () => {
    const { actor, runs, told, state, turn } = scene();
    const lost = { type: 'alloc.lost', name: 'data', generation: 7 } as const;
    const failure = { code: 'CLAIM_LOST' as const, message: 'no', final: true };
    actor.send(prepare);
    actor.send(claimed(8));
    runs.prepare.last.resolve(hadAfterClaim);
    await turn();
    actor.send({ ...lost, failure });
    expect(state()).to.equal('prepared');
    actor.send({ ...lost, generation: 8, failure });
    expect([state(), told.slice(-2)]).to.deep.equal(['releasing', ['claim-lost', 'releasing']]);
    actor.send({ ...lost, generation: 8, failure });
    runs.release.last.resolve(gone);
    await turn();
    expect([state(), runs.release.all.length]).to.deep.equal(['failed', 1]);
    expect(actor.getSnapshot().context.failure?.code).to.equal('CLAIM_LOST');
  });

  for (const [at, recover] of [
    ['preparing', []],
    ['recovering', [{ type: 'alloc.recover', isNewBoot: false }]],
    ['recovering', [{ type: 'alloc.recover', isNewBoot: true }]],
  ] as const) {
    it(`N3 claim lost while ${at}${recover[0]?.isNewBoot ? ', after another boot' : ''}: reported once, and released`, async () => {
      const { actor, runs, told, state, turn } = scene();
      actor.send(prepare);
      actor.send(claimed(7));
      if (recover.length > 0) runs.prepare.last.resolve(hadAfterClaim);
      await turn();
      for (const event of recover) actor.send(event);
      expect(state()).to.equal(at);
      const failure = { code: 'CLAIM_LOST' as const, message: 'no', final: true };
      actor.send({ type: 'alloc.lost', name: 'data', generation: 7, failure });
      expect([state(), told.slice(-2)]).to.deep.equal(['releasing', ['claim-lost', 'releasing']]);
      expect(actor.getSnapshot().context.failure?.code).to.equal('CLAIM_LOST');
    });
  }

  it('N3 H1 restarted while preparing: prepared again with the claims it had by then; reported once', async () => {
    const { actor, runs, told, state } = scene();
    actor.send(prepare);
    actor.send(claimed(7));
    actor.send({ type: 'alloc.recover', isNewBoot: false });
    expect(runs.prepare.all.map(({ signal }) => signal.aborted)).to.deep.equal([true, false]);
    expect([state(), runs.prepare.last.input.generations]).to.deep.equal(['preparing', { data: 7 }]);
    expect(told).to.deep.equal(['preparing']);
  });

  it('H3 after another boot it waits until it is asked for again, and only with what it had', async () => {
    const { actor, runs, state, turn } = scene();
    actor.send(prepare);
    runs.prepare.last.resolve(had);
    await turn();
    actor.send({ type: 'alloc.recover', isNewBoot: true });
    expect([state(), runs.recover.all.length]).to.deep.equal(['recovering', 0]);
    actor.send({ ...prepare, volumes: [], bootId: 'b2' });
    expect(runs.recover.all).to.have.length(0);
    actor.send({ ...prepare, bootId: 'b2' });
    runs.recover.last.resolve(hadStill);
    await turn();
    expect([state(), actor.getSnapshot().context.bootId]).to.deep.equal(['prepared', 'b2']);
  });

  it('H3 recovered during a backoff, after another boot: waits until it is asked for again', async () => {
    const { actor, clock, runs, turn } = scene();
    actor.send(prepare);
    runs.prepare.last.resolve(had);
    await turn();
    actor.send({ type: 'alloc.recover', isNewBoot: false });
    runs.recover.last.reject(new Error('thrown'));
    await turn();
    actor.send({ type: 'alloc.recover', isNewBoot: true });
    clock.increment(60_000);
    expect([actor.getSnapshot().value, runs.recover.all.length]).to.deep.equal([{ recovering: 'awaiting-prepare' }, 1]);
  });

  it('H1 H3 never prepared before another boot, then asked for again: prepared within the new request’s time', () => {
    const { actor, clock, runs, told, state } = scene();
    actor.send(prepare);
    actor.send(claimed(7));
    actor.send({ type: 'alloc.recover', isNewBoot: true });
    actor.send({ ...prepare, untilMs: 1_000, bootId: 'b2' });
    const { context } = actor.getSnapshot();
    expect([state(), context.bootId, runs.recover.all.length]).to.deep.equal(['preparing', 'b2', 0]);
    expect(runs.prepare.last.input.generations).to.deep.equal({ data: 7 });
    clock.increment(1_000);
    expect([state(), actor.getSnapshot().context.failure?.code]).to.deep.equal(['releasing', 'TIMEOUT']);
    expect(told).to.deep.equal(['preparing', 'recovering', 'preparing', 'releasing']);
  });

  it('H1 released while it is undone: why it failed is kept for who waits, until it is gone', async () => {
    const { actor, runs, state, turn } = scene();
    actor.send(prepare);
    runs.prepare.last.resolve(refused('CSI_ERROR'));
    await turn();
    actor.send({ type: 'alloc.release' });
    expect([state(), actor.getSnapshot().context.failure?.code]).to.deep.equal(['releasing', 'CSI_ERROR']);
    runs.release.last.resolve(gone);
    await turn();
    expect([state(), actor.getSnapshot().context.failure]).to.deep.equal(['released', null]);
    actor.send(prepare);
    runs.prepare.last.resolve(refused('CSI_ERROR'));
    await turn();
    runs.release.last.resolve(gone);
    await turn();
    expect(state()).to.equal('failed');
  });

  it('H3 what a run before has waited for is not shown once another one begins', async () => {
    const { actor, clock, runs, turn } = scene();
    const waits = (reason: string) => {
      actor.send({ type: 'alloc.progress', steps: [{ name, type: 'volume.waits', reason }] });
      return () => reasonsOf(actor.getSnapshot().context);
    };
    actor.send(prepare);
    const shown = waits('its plugin is away');
    actor.send({ type: 'alloc.recover', isNewBoot: false });
    expect(shown()).to.deep.equal({});
    runs.prepare.last.resolve(had);
    await turn();
    actor.send({ type: 'alloc.recover', isNewBoot: false });
    waits('its plugin is away');
    runs.recover.last.reject(new Error('thrown'));
    await turn();
    clock.increment(2_000);
    expect(shown()).to.deep.equal({});
    actor.send({ type: 'alloc.release' });
    waits('busy');
    actor.send({ type: 'alloc.recover', isNewBoot: false });
    expect(shown()).to.deep.equal({});
  });

  it('H2 a release that throws is done again, after a while', async () => {
    const { actor, clock, runs, state, turn } = scene();
    actor.send(prepare);
    runs.prepare.last.resolve(had);
    await turn();
    actor.send({ type: 'alloc.release' });
    runs.release.last.reject(new Error('thrown'));
    await turn();
    clock.increment(2_000);
    runs.release.last.resolve(gone);
    await turn();
    expect([state(), runs.release.all.length]).to.deep.equal(['released', 2]);
  });
});
