/** Nodes that do not know a volume yet that is published to them. */
import { expect } from 'chai';
import { until } from '../until.js';
import { MountHouse, many } from './mount-house.js';

describe('a volume that is published, and that the node plugin does not find', () => {
  let house: MountHouse;
  beforeEach(async () => {
    house = await MountHouse.start({ attach: true });
    await house.make('data', many);
  });
  afterEach(() => house.end());

  const prepare = () => house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
  const stages = (): number => house.nodeCalls().filter((call) => call === 'Stage').length;

  for (const rpc of ['NodeStageVolume', 'NodePublishVolume'] as const)
    it(`H1, 34.28 ${rpc} answers NOT_FOUND twice: it is tried again, and the alloc is prepared`, async () => {
      house.driver.script(rpc, { code: 'NOT_FOUND', text: 'no such device yet' }, { times: 2 });
      await prepare();
      expect(house.mounted()).to.have.length(2);
      expect(house.driver.calls().filter((call) => call.rpc === rpc)).to.have.length(3);
      expect(house.violations()).to.deep.equal([]);
    });

  it('H1 H2, 34.28 it is never found: the alloc says why it waits, and its release undoes all', async () => {
    house.driver.script('NodeStageVolume', { code: 'NOT_FOUND', text: 'no such device' }, { times: 'always' });
    const prepared = prepare().catch((error: unknown) => error);
    await until(() => stages() > 2);
    const waiting = await house.allocIs('web', ({ waits }) => waits.data?.includes('no such device') === true);
    expect(waiting.state).to.equal('preparing');
    await house.runtime.allocations.release('web');
    await prepared;
    expect((await house.runtime.volumes.get({ id: 'data' }))?.claims).to.deep.equal([]);
    expect([house.mounted(), house.leftovers(), house.violations()]).to.deep.equal([[], [], []]);
  });
});
