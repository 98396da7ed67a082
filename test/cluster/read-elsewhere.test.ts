/** Records of a newer version than an agent reads: it asks the agent that works on volumes, and leaves them out of lists. */
import { expect } from 'chai';
import { nodeAddress, volumeAddress } from '../../machines/kit/addresses.js';
import { refusalOf } from '../refusal.js';
import { spec } from '../volumes/volume-house.js';
import { type Member, World } from './world.js';

const key = { id: 'data' };
const address = volumeAddress('default', 'data');

describe('an agent of an older version than a record', () => {
  let world: World;
  let owner: Member;
  let older: Member;

  beforeEach(async () => {
    world = new World(1);
    owner = await world.start('owner', true);
    older = await world.start('older', true);
    await world.report(owner);
    await answered(owner.agent.runtime.volumes.create(spec('data')));
    for (const one of [address, nodeAddress('a')]) await raise(one);
  });
  afterEach(() => world.dispose());

  const answered = async <T>(work: Promise<T>): Promise<T> => {
    await world.clock.advance(2_000);
    return work;
  };

  /** Writes the record as a later version of the machine would; the owner has the actor in memory. */
  async function raise(at: string): Promise<void> {
    const stored = await world.data.load(at);
    if (!stored) throw new Error(`there is no ${at}`);
    const { seq, epoch, owner: by, text } = stored;
    const later = JSON.stringify({ ...JSON.parse(text), version: '99' });
    const commit = {
      address: at,
      commitId: `later ${at}`,
      expectedSeq: seq,
      epoch,
      owner: by,
      text: later,
      journal: '{}',
    };
    expect(await world.data.commit([commit])).to.deep.equal([{ status: 'done' }]);
  }

  it('O4, 34.7 a volume, an actor and a node that only the owner can read: it is asked, and answers', async () => {
    const { volumes, actors, nodes } = older.agent.runtime;
    const there = owner.agent.runtime;
    expect(await answered(volumes.get(key))).to.deep.equal(await there.volumes.get(key));
    expect(await answered(nodes.status('a'))).to.deep.equal(await there.nodes.status('a'));
    expect(await answered(actors.inspect(address))).to.include({ address, state: 'created' });
  });

  it('O4, 34.7 a list leaves it out, and says how many', async () => {
    expect(await older.agent.runtime.volumes.list()).to.deep.include({ items: [], skipped: 1 });
  });

  it('O4, 34.7 the owner does not answer: refused within some seconds, with the reason', async () => {
    owner.freeze();
    const got = refusalOf(older.agent.runtime.volumes.get(key));
    await world.clock.advance(5_500);
    expect((await got).message)
      .to.include('only the agent that leads can read volume/default/data')
      .and.include('update');
    owner.thaw();
  });
});
