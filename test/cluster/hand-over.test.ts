/** An agent that works on volumes ends in order. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { pluginName, spec } from '../volumes/volume-house.js';
import { type Member, World } from './world.js';

describe('an owner that ends in order', () => {
  let world: World;
  let owner: Member;
  let next: Member;
  let asker: Member;

  beforeEach(async () => {
    world = new World(1);
    owner = await world.start('owner', true);
    next = await world.start('next', true);
    asker = await world.start('asker', false);
    await world.report(owner);
    await world.clock.advance(3_000);
  });
  afterEach(() => world.dispose());

  it('D6 one with controllers leads as soon as the lease is given back, and does what was asked meanwhile', async () => {
    expect(owner.agent.runtime.leadership.isOurs).to.equal(true);
    await world.end(owner);
    const created = asker.agent.runtime.volumes.create(spec('data'));
    // Sooner than it would ask for the lease by itself.
    await world.clock.advance(100);
    expect(next.agent.runtime.leadership.isOurs).to.equal(true);
    await world.clock.advance(500);
    expect((await created).state).to.equal('created');
    expect(owner.agent.logged.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
  it('D6 a plugin goes just before its agent ends: the end is in order', async () => {
    const { plugins } = owner.agent.runtime;
    const gone = plugins.deregister('csi-controller', pluginName, 'disk-1');
    await world.clock.advance(100);
    await gone;
    await world.end(owner);
    await world.clock.advance(3_000);
    expect(next.agent.runtime.leadership.isOurs).to.equal(true);
    expect(owner.agent.logged.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('D5 a deletion is asked again of the next owner: the volume that has the id by then stays', async () => {
    const first = next.agent.runtime.volumes.create(spec('data'));
    await world.clock.advance(1_000);
    const { uid } = await first;
    world.wires.cut('asker/');
    const deleted = asker.agent.runtime.volumes.delete({ id: 'data' });
    await world.clock.advance(1_000);
    expect(world.plugin.volumes.size).to.equal(0);
    owner.die();
    world.members.delete(owner.nodeId);
    await world.clock.advance(8_000);
    const again = next.agent.runtime.volumes.create(spec('data'));
    await world.clock.advance(1_000);
    expect((await again).uid).not.to.equal(uid);
    world.wires.heal();
    await world.clock.advance(10_000);
    expect(await deleted).to.equal(undefined);
    expect((await next.agent.runtime.volumes.get({ id: 'data' }))?.state).to.equal('created');
    expect(world.plugin.volumes.size).to.equal(1);
  });

  it('D2 an agent takes over what it was asked for: the time limit counts from the question', async () => {
    world.workMs = () => 9_000;
    const began = world.clock.monotonicMs();
    let endedMs: number | undefined;
    const created = refusalOf(next.agent.runtime.volumes.create(spec('data'), { timeoutMs: 10_000 })).finally(() => {
      endedMs = world.clock.monotonicMs() - began;
    });
    owner.die();
    world.members.delete(owner.nodeId);
    for (let seconds = 0; seconds < 30; seconds += 1) await world.clock.advance(1_000);
    expect(await created).to.include({ code: 'TIMEOUT' });
    expect(endedMs).to.be.within(10_000, 10_500);
    expect((await next.agent.runtime.volumes.get({ id: 'data' }))?.state).to.equal('created');
  });
});
