/** Tests the limit of a plugin for volumes on a node. */
import { expect } from 'chai';
import { pluginName, spec, VolumeHouse } from '../volumes/volume-house.js';

describe('a node with a limit for volumes', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    await limit(2);
    for (let at = 0; at < 6; at += 1) await house.volumes.create(spec(`v${at}`));
  });
  afterEach(() => house.dispose());

  const limit = (maxVolumes: number): Promise<void> =>
    house.runtime.nodes.report({ id: 'a', plugins: [{ name: pluginName, nodeId: 'csi-a', maxVolumes }] });

  const publish = (at: number, nodeId = 'a'): Promise<string> =>
    house.volumes.publish({ id: `v${at}` }, nodeId).then(
      () => 'there',
      (error: { code: string; message: string }) => (error.code === 'NODE_FULL' ? error.message : error.code),
    );

  const full = `node a has 2 volumes of plugin 'disk', and takes 2: unpublish one there, or take another node`;

  it('V18 full node: refuses, naming count and limit; another node, or a free slot, takes the volume', async () => {
    expect([await publish(0), await publish(1), await publish(2)]).to.deep.equal(['there', 'there', full]);
    expect(await publish(1)).to.equal('there');
    expect(await publish(2, 'b')).to.equal('there');
    await house.volumes.unpublish({ id: 'v0' }, 'a');
    expect(await publish(3)).to.equal('there');
    expect(house.plugin.wrongs).to.deep.equal([]);
  });

  it('V18 concurrent requests: as many succeed as there is room for', async () => {
    const outcomes = await Promise.all([0, 1, 2, 3, 4, 5].map((at) => publish(at)));
    expect(outcomes).to.deep.equal(['there', 'there', full, full, full, full]);
  });

  it('V18 publishes and unpublishes under way count', async () => {
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    await publish(0);
    house.plugin.script = () => ({ before: gate });
    const coming = publish(1);
    const leaving = house.volumes.unpublish({ id: 'v0' }, 'a');
    await house.rest();
    expect(await publish(2)).to.equal(full);
    go();
    await Promise.all([coming, leaving]);
    expect(await publish(2)).to.equal('there');
  });

  it('V18 restart: the limit holds at once, also for concurrent requests', async () => {
    await publish(0);
    await house.restart();
    const outcomes = await Promise.all([1, 2, 3].map((at) => publish(at)));
    expect(outcomes).to.deep.equal(['there', full, full]);
  });

  it('V18 limit reported later: present volumes count; a lower limit removes none', async () => {
    await house.runtime.nodes.report({ id: 'a', plugins: [{ name: pluginName, nodeId: 'csi-a' }] });
    for (const at of [0, 1, 2]) expect(await publish(at)).to.equal('there');
    await limit(2);
    expect(await publish(3)).to.equal(full.replace('has 2', 'has 3'));
    expect((await house.volumes.get({ id: 'v2' }))?.publications.a?.state).to.equal('published');
    await limit(4);
    expect(await publish(3)).to.equal('there');
  });

  it('V18 refused publish: takes no room', async () => {
    await house.volumes.setAvailability({ id: 'v0' }, 'pause');
    expect(await publish(0)).to.equal('VOLUME_UNAVAILABLE');
    expect([await publish(1), await publish(2)]).to.deep.equal(['there', 'there']);
  });
});
