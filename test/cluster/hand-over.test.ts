/** An agent that works on volumes ends in order. */
import { expect } from 'chai';
import { spec } from '../volumes/volume-house.js';
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
});
