/** Rounds over many plugins: one that hangs, or whose list has no end, is in nobody's way. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { FakePlugin } from './fake-plugin.js';
import { always } from './scripts.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

const intervalMs = 300_000;

describe('rounds of comparing', () => {
  let house: VolumeHouse;
  beforeEach(() => {
    house = new VolumeHouse();
  });
  afterEach(() => house.dispose());

  const attachedTo = (plugin: FakePlugin): string[] =>
    [...plugin.volumes.values()].flatMap(({ attached }) => [...attached]);
  const detach = (plugin: FakePlugin): void => {
    for (const { attached } of plugin.volumes.values()) attached.clear();
  };

  it('V20 a plugin that hangs as it is asked: the others are compared at each interval, and it is not asked again', async () => {
    const tape = new FakePlugin();
    house.plugin.connect = ({ name }) => (name === 'tape' ? tape : house.plugin);
    await house.furnish();
    const connection = { socketPath: '/nowhere/tape.sock' };
    await house.runtime.plugins.register({ type: 'csi-controller', name: 'tape', allocId: 'tape-1', connection });
    const reported = [pluginName, 'tape'].map((name) => ({ name, nodeId: 'csi-a' }));
    await house.runtime.nodes.report({ id: 'a', plugins: reported });
    await house.volumes.create(spec('data'));
    await house.volumes.create(spec('more', { plugin: 'tape' }));
    await house.volumes.publish({ id: 'more' }, 'a');
    house.plugin.calls.splice(0);
    always(house.plugin, 'ListVolumes', { before: new Promise(() => {}) });
    for (let round = 1; round <= 3; round += 1) {
      detach(tape);
      await house.clock.advance(intervalMs);
      expect(attachedTo(tape)).to.deep.equal(['csi-a']);
    }
    expect(house.plugin.calls.map(({ rpc }) => rpc)).to.deep.equal(['ListVolumes']);
  });

  it('V20 a plugin whose pages never end is told by name, and asked no longer', async () => {
    await house.furnish();
    await house.volumes.create(spec('data'));
    const listVolumes = house.plugin.listVolumes.bind(house.plugin);
    let pages = 0;
    house.plugin.listVolumes = async (request) => {
      pages += 1;
      // Two tokens in turn, for long enough to tell that nothing else ends it.
      return { ...(await listVolumes(request)), nextToken: pages < 1_000 ? `page ${pages % 2}` : '' };
    };
    const refusal = await refusalOf(house.volumes.reconcile(pluginName));
    expect(refusal).to.include({ code: 'CSI_ERROR', rpc: 'ListVolumes', answerClass: 'driver-bug' });
    expect(refusal.message).to.include('page 1').and.to.include('again');
    expect(pages).to.equal(3);
  });
});
