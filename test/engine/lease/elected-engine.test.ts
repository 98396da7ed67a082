/** Elected engine over several terms: what it keeps for senders, callers and observers. */
import { expect } from 'chai';
import type { ActorRow } from '../../../src/engine/actor-system.js';
import type { StorePage } from '../../../src/engine/store.js';
import { deskKind, deskTopic, note, noteTo, say, tell } from '../desk.js';
import { failureOf, type Lab, leaseTtlMs, topicOf, watched } from '../lab.js';
import { leads, notes, type Side, Sides } from '../sides.js';

describe('an elected engine', () => {
  let sides: Sides;
  let lab: Lab;
  let left: Side;
  let right: Side;

  beforeEach(async () => {
    sides = new Sides();
    ({ lab } = sides);
    await lab.data.open();
    left = await sides.side('left');
    right = await sides.side('right');
  });

  it('message to the leader in the same process: applied, and its reply comes back', async () => {
    await left.own.ask('desk/left/a', tell(noteTo('desk/shared/a', 'there')));
    await left.elected.ask('desk/shared/a', tell(noteTo('desk/left/a', 'and back')));
    await lab.rest();
    expect(await notes(left, 'desk/shared/a')).to.deep.equal(['there']);
    expect(await notes(left, 'desk/left/a')).to.deep.equal(['and back']);
    expect((await lab.data.unsettled({ prefix: '', limit: 10 })).rows).to.deep.equal([]);
  });

  it('fit side refused: the unfit one releases the lease, and stands by while the fit one leads', async () => {
    await left.elected.ask('desk/shared/a', note('one'));
    sides.fit.add('right');
    await lab.clock.advance(leaseTtlMs);
    expect([leads(left), leads(right)]).to.deep.equal([false, true]);
    expect(left.resigned.map(({ message }) => message)).to.deep.equal(['another one is to lead']);
    expect(await notes(right, 'desk/shared/a')).to.deep.equal(['one']);
    await lab.clock.advance(20 * leaseTtlMs);
    expect([left.elections, right.elections].map(({ length }) => length)).to.deep.equal([1, 1]);
  });

  it('fit side waits for the lease: an unfit one that gets it first begins no term', async () => {
    sides.fit.add('left').add('right');
    const third = await sides.side('third');
    await lab.clock.advance(1_000);
    await sides.stop(left);
    await lab.clock.advance(5_000);
    expect([leads(right), leads(third)]).to.deep.equal([true, false]);
    expect(third.elections).to.deep.equal([]);
  });

  it('waiting fit side is gone: the unfit one goes on leading, or leads again', async () => {
    sides.fit.add('right');
    await lab.clock.advance(leaseTtlMs);
    await sides.stop(right);
    await lab.clock.advance(2 * leaseTtlMs);
    expect(leads(left)).to.equal(true);
    expect(left.elections).to.have.length(2);
  });

  it('message while another process leads: owed, then applied in order, once, when this one leads', async () => {
    for (const text of ['one', 'two']) await right.own.ask('desk/right/a', tell(noteTo('desk/shared/a', text)));
    await lab.clock.advance(5_000);
    expect((await lab.data.unsettled({ prefix: 'desk/right/', limit: 10 })).rows).to.have.length(2);
    expect(await failureOf(right.elected.ask('desk/shared/a', note('no')))).to.include({ code: 'NOT_LEADER' });
    await sides.stop(left);
    await right.own.ask('desk/right/a', tell(noteTo('desk/shared/a', 'three')));
    await lab.clock.advance(1_000);
    expect(await notes(right, 'desk/shared/a')).to.deep.equal(['one', 'two', 'three']);
    expect((await lab.data.unsettled({ prefix: '', limit: 10 })).rows).to.deep.equal([]);
  });

  it('message not applied in its term: applied in the next one; applied messages are not repeated', async () => {
    await left.own.ask('desk/left/a', tell(noteTo('desk/shared/a', 'one')));
    await lab.rest();
    const speak = (['renewLease', 'acquireLease'] as const).map((method) => left.store.hold(method));
    await lab.clock.advance(leaseTtlMs + 2_000);
    expect(right.elections).to.have.length(1);
    // The side does not know yet that its term is over.
    await left.own.ask('desk/left/a', tell(noteTo('desk/shared/a', 'two')));
    for (const release of speak) release();
    await lab.clock.advance(leaseTtlMs);
    expect(left.resigned.map(({ code }) => code)).to.deep.equal(['NOT_LEADER']);
    expect(await notes(right, 'desk/shared/a')).to.deep.equal(['one']);
    await sides.stop(right);
    await lab.clock.advance(leaseTtlMs);
    expect(left.elections).to.have.length(2);
    expect(await notes(left, 'desk/shared/a')).to.deep.equal(['one', 'two']);
  });

  it('observers see the commits of each term, and followers all broadcasts', async () => {
    const seen: string[] = [];
    right.elected.observe(({ address, seq }) => void seen.push(`${address} ${seq}`));
    await left.elected.ask('desk/shared/a', say('by the left'));
    await sides.stop(left);
    await lab.clock.advance(1_000);
    await right.elected.ask('desk/shared/a', say('by the right'));
    await lab.rest();
    expect(seen).to.deep.equal(['desk/shared/a 2']);
    expect(await topicOf(lab, deskTopic)).to.have.length(2);
  });

  it('while another side leads: reads come from the store, and no actor is in memory', async () => {
    await left.elected.ask('desk/shared/a', note('one'));
    expect(right.elected.has('desk/shared/a')).to.equal(false);
    expect(await right.elected.read('desk/shared/a')).to.deep.include({ seq: 1, state: 'open' });
    expect(await right.elected.read('desk/shared/none')).to.equal(undefined);
    const { rows } = await right.elected.page({ prefix: 'desk/shared/', limit: 10 });
    expect(rows.map(([address, { context }]) => [address, context])).to.deep.equal([
      ['desk/shared/a', { name: 'desk/shared/a', notes: ['one'] }],
    ]);
    expect(await failureOf((async () => right.elected.peek('desk/shared/a'))())).to.include({ code: 'NOT_LEADER' });
    expect([...right.own.views('')]).to.deep.equal([]);
  });

  /** The lease of the left side lapses, of which it learns nothing: the right one leads, and changes an actor. */
  async function lapse(whileLapsing: () => Promise<void> = async () => {}): Promise<() => void> {
    await left.elected.ask('desk/shared/a', note('one'));
    const speak = (['renewLease', 'acquireLease'] as const).map((method) => left.store.hold(method));
    await lab.clock.advance(leaseTtlMs - 1_000);
    await whileLapsing();
    await lab.clock.advance(2_000);
    await right.elected.ask('desk/shared/a', note('two'));
    await right.elected.ask('desk/shared/b', note('new'));
    return () => speak.forEach((release) => void release());
  }
  const rowsOf = ({ rows }: StorePage<ActorRow>): unknown[] =>
    rows.map(([address, { context }]) => [address, Reflect.get(context, 'notes')]);
  const now = [
    ['desk/shared/a', ['one', 'two']],
    ['desk/shared/b', ['new']],
  ];
  const all = { prefix: 'desk/shared/', limit: 10 };

  it('O1, 34.29 lease lapsed, and another side leads unnoticed: what is read comes from the store', async () => {
    const speak = await lapse();
    const { elected } = left;
    expect([elected.refusal, elected.uncertainty?.code]).to.deep.equal([undefined, 'NOT_LEADER']);
    expect(elected.readNow('desk/shared/a')).to.equal(undefined);
    for (const read of [elected.read('desk/shared/a'), elected.inspect('desk/shared/a')])
      expect((await read)?.context).to.deep.include({ notes: ['one', 'two'] });
    expect(rowsOf(await elected.page(all))).to.deep.equal(now);
    expect(await elected.engine.journals.range('desk/shared/a')).to.deep.equal({ first: 1, last: 2 });
    speak();
  });

  it('O1, 34.29 lease lapses during a read: what memory had is dropped, and the store is read', async () => {
    let release = (): void => {};
    let page: Promise<StorePage<ActorRow>> | undefined;
    const speak = await lapse(async () => {
      release = left.store.hold('list', 'after', 1);
      page = left.elected.page(all);
    });
    release();
    expect(page && rowsOf(await page)).to.deep.equal(now);
    speak();
  });

  it('O1, 34.29 lease lapsed: a read brings the actor into memory all the same, for those that wait', async () => {
    await left.elected.ask('desk/shared/a', note('one'));
    const third = await sides.side('third', { desk: { ...deskKind, onDemand: true } });
    for (const one of [right, left]) await sides.stop(one);
    await lab.clock.advance(1_000);
    const speak = (['renewLease', 'acquireLease'] as const).map((method) => third.store.hold(method));
    await lab.clock.advance(leaseTtlMs);
    expect([third.elected.uncertainty?.code, third.elected.has('desk/shared/a')]).to.deep.equal(['NOT_LEADER', false]);
    await third.elected.read('desk/shared/a');
    expect(third.elected.peek('desk/shared/a')?.context).to.deep.include({ notes: ['one'] });
    for (const release of speak) release();
  });

  it('restore fails: the lease is released, and the next attempt follows', async () => {
    await left.elected.ask('desk/shared/a', note('one'));
    right.store.fail('unsettled', 'before', 1);
    await sides.stop(left);
    expect(right.elections.length).to.be.at.least(2);
    expect(right.resigned.map(({ code }) => code)).to.deep.equal(['NOT_LEADER']);
    expect(await notes(right, 'desk/shared/a')).to.deep.equal(['one']);
  });

  it('D6 lease released, and a standby hears of that: it leads at once', async () => {
    await left.elected.ask('desk/shared/a', note('one'));
    await left.elected.stop();
    right.elected.hurry();
    await lab.rest();
    expect(leads(right)).to.equal(true);
    expect(await notes(right, 'desk/shared/a')).to.deep.equal(['one']);
  });

  it('D6 news of a released lease while this side leads: nothing changes', async () => {
    left.elected.hurry();
    await lab.clock.advance(leaseTtlMs);
    expect([leads(left), leads(right)]).to.deep.equal([true, false]);
    expect(left.elections).to.have.length(1);
  });

  it('D3 lease granted: no work begins before the term is prepared; stopped meanwhile, it is released', async () => {
    let prepared: () => void = () => {};
    sides.prepare = () => new Promise((resolve) => (prepared = resolve));
    await left.elected.stop();
    await lab.clock.advance(2_000);
    expect([leads(right), right.elections.length]).to.deep.equal([false, 0]);
    prepared();
    await lab.rest();
    expect(leads(right)).to.equal(true);
    const third = await sides.side('third');
    await sides.stop(right);
    await lab.clock.advance(2_000);
    const stopped = third.elected.stop();
    prepared();
    await lab.clock.advance(10_000);
    await stopped;
    const asked = { name: 'shared/0', owner: 'x', ttlMs: leaseTtlMs, holder: 'x' };
    expect((await lab.data.acquireLease(asked)).status).to.equal('granted');
  });

  it('stopped during the request for the lease: the lease is released', async () => {
    const release = right.store.hold('acquireLease', 'after');
    await sides.stop(left);
    await lab.clock.advance(500);
    const stopped = right.elected.stop();
    release();
    await lab.clock.advance(10_000);
    await stopped;
    const asked = { name: 'shared/0', owner: 'x', ttlMs: leaseTtlMs, holder: 'x' };
    expect((await lab.data.acquireLease(asked)).status).to.equal('granted');
  });

  for (const method of ['unsettled', 'due'] as const) {
    it(`stopped just after a takeover, while '${method}' is under way: the stop ends`, async () => {
      await left.elected.ask('desk/shared/a', note('one'));
      const release = right.store.hold(method, 'after');
      const leaving = left.elected.stop();
      await lab.clock.advance(2_000);
      expect(right.elections).to.have.length(1);
      await leaving;
      const stopped = watched(right.elected.stop());
      release();
      await lab.clock.advance(30_000);
      expect(stopped.state).to.equal('answered');
      const asked = { name: 'shared/0', owner: 'x', ttlMs: leaseTtlMs, holder: 'x' };
      expect((await lab.data.acquireLease(asked)).status).to.equal('granted');
    });
  }

  it('all stopped: no timer remains', async () => {
    await left.elected.ask('worker/a', { type: 'work', job: 'dig' });
    left.work.last.finish('gold');
    for (const one of [left, right]) {
      await sides.stop(one);
      await lab.stop(one.own);
    }
    expect(lab.clock.pending).to.equal(0);
  });
});
