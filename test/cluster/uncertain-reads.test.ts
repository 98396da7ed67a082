/** An agent that was frozen, and does not know yet that another one works on volumes: it tells nothing from its memory. */
import { expect } from 'chai';
import { volumeAddress } from '../../machines/kit/addresses.js';
import { refusalOf } from '../refusal.js';
import { spec } from '../volumes/volume-house.js';
import { type Member, World } from './world.js';

const key = { id: 'data' };
const address = volumeAddress('default', 'data');

describe('an owner that wakes up after its lease', () => {
  let world: World;
  let owner: Member;
  let next: Member;

  beforeEach(async () => {
    world = new World(1);
    owner = await world.start('owner', true);
    next = await world.start('next', true);
    await world.report(owner);
    await done(owner.agent.runtime.volumes.create(spec('data')));
    owner.freeze();
    await world.clock.advance(7_000);
    await done(next.agent.runtime.volumes.delete(key));
    owner.thaw();
  });
  afterEach(() => world.dispose());

  const done = async (work: Promise<unknown>): Promise<void> => {
    await world.clock.advance(2_000);
    await work;
  };

  it('O1, 34.29 volume deleted elsewhere meanwhile: none is told at once, in no list and by no address', async () => {
    const { volumes, actors } = owner.agent.runtime;
    const listed = actors.list().map((actor) => actor.address);
    const [got, page, inspected] = [volumes.get(key), volumes.list(), refusalOf(actors.inspect(address))];
    expect(listed).not.to.include(address);
    expect(await got).to.equal(undefined);
    expect((await page).items).to.deep.equal([]);
    expect(await inspected).to.include({ code: 'ACTOR_NOT_FOUND' });
  });

  it('O1, 34.29 it does not say that it leads, and the overview names the agent that does', async () => {
    const { leadership, cluster } = owner.agent.runtime;
    const told = { isOurs: leadership.isOurs, refusal: leadership.refusal };
    const [works, agents] = [cluster.owner(), cluster.agents()];
    expect(told.isOurs).to.equal(false);
    expect(told.refusal).to.include('lease of this agent has lapsed');
    await world.clock.advance(10);
    expect(await works).to.include({ nodeId: 'next' });
    expect((await agents).map(({ nodeId, ownsVolumes }) => [nodeId, ownsVolumes])).to.deep.equal([
      ['next', true],
      ['owner', false],
    ]);
  });
});
