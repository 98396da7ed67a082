/** A publication that is asked for anew: under the name that its node has now, and with nothing left of what was before. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { gate, inOrder } from './scripts.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };

describe('publishing a volume that was asked for before', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    await house.volumes.create(spec('data'));
    house.plugin.calls.length = 0;
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });

  const attached = (): string[] => [...house.plugin.volumes.values()].flatMap((one) => [...one.attached]);
  const rename = (): Promise<void> =>
    house.runtime.nodes.report({ id: 'a', plugins: [{ name: pluginName, nodeId: 'renamed' }] });

  it('V7 V11 failed for good, its node having another name since: published under that', async () => {
    house.plugin.script = ({ nodeId }) => (nodeId === 'csi-a' ? { code: 'NOT_FOUND' } : undefined);
    await refusalOf(house.volumes.publish(key, 'a'));
    await rename();
    await house.volumes.publish(key, 'a');
    expect(attached()).to.deep.equal(['renamed']);
    expect((await house.volumes.get(key))?.publications.a?.csiNodeId).to.equal('renamed');
  });

  it('V7 V8 tried again and again, its outcome unknown: undone under the name of before, then published', async () => {
    house.plugin.script = ({ rpc, nodeId }) =>
      rpc === 'ControllerPublishVolume' && nodeId === 'csi-a' ? { code: 'DEADLINE_EXCEEDED', work: true } : undefined;
    const first = house.volumes.publish(key, 'a');
    await house.rest();
    await rename();
    const second = house.volumes.publish(key, 'a');
    await house.clock.advance(60_000);
    await Promise.all([first, second]);
    expect(house.plugin.told().slice(-2)).to.deep.equal([
      'ControllerUnpublishVolume csi-a: OK',
      'ControllerPublishVolume renamed: OK',
    ]);
    expect(attached()).to.deep.equal(['renamed']);
  });

  it('V7 waiting for its plugin: the name of before is never sent', async () => {
    house.plugin.health = { healthy: false, description: 'initialising' };
    await house.clock.advance(31_000);
    const first = house.volumes.publish(key, 'a');
    await house.rest();
    await rename();
    const second = house.volumes.publish(key, 'a');
    await house.rest();
    house.plugin.health = { healthy: true, description: 'ready' };
    await house.clock.advance(31_000);
    await Promise.all([first, second]);
    expect(house.plugin.told()).to.deep.equal(['ControllerPublishVolume renamed: OK']);
  });

  it('V1 V8 asked to go as its call is in flight: each of its states is told once', async () => {
    const held = gate();
    inOrder(house.plugin, 'ControllerPublishVolume', [{ before: held.passed }]);
    const asked = refusalOf(house.volumes.publish(key, 'a'));
    await house.rest();
    const gone = house.volumes.unpublish(key, 'a');
    await house.rest();
    held.open();
    await Promise.all([asked, gone]);
    const told = (await house.events()).flatMap((event) => (event.kind === 'publication' ? [event.state] : []));
    expect(told).to.deep.equal(['pending-publish', 'pending-unpublish', 'removed']);
  });
});
