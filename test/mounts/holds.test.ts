/** Volumes mounted without a claim are not detached or deleted: through the bundled driver, real bind mounts and restarts. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';
import { MountHouse, many, node } from './mount-house.js';

const data = { id: 'data' };
const request = { volume: data, allocId: 'a', usage: many };

describe('mounts without a claim', () => {
  let house: MountHouse;
  beforeEach(async () => {
    house = await MountHouse.start({ attach: true });
    await house.make('data', many);
  });
  afterEach(() => house.end());

  const controllerCalls = (): string[] =>
    house.driver
      .calls()
      .map(({ rpc }) => rpc)
      .filter((rpc) => /^(ControllerPublish|ControllerUnpublish|Delete)Volume$/.test(rpc));
  const heldFor = async (): Promise<string[]> =>
    (await house.runtime.volumes.get(data))?.publications[node]?.heldFor ?? [];

  it('V5 unpublished under a mount without a claim: refused, naming the alloc; nothing is called', async () => {
    const { hostPath } = await house.runtime.mounts.mount(request);
    writeFileSync(join(hostPath, 'kept'), 'here');
    const error = await refusalOf(house.runtime.volumes.unpublish(data, node));
    expect([error.code, error.address]).to.deep.equal(['VOLUME_IN_USE', 'volume/default/data']);
    expect(error.message).to.contain(`alloc a on node ${node}`).and.to.contain('mounts.unmount');
    expect(await heldFor()).to.deep.equal(['a']);
    expect(controllerCalls()).to.deep.equal(['ControllerPublishVolume']);
    expect(readFileSync(join(hostPath, 'kept'), 'utf8')).to.equal('here');
  });

  it('V13 deleted under a mount without a claim: refused, naming the alloc; nothing is called', async () => {
    await house.runtime.mounts.mount(request);
    const error = await refusalOf(house.runtime.volumes.delete(data));
    expect(error.code).to.equal('VOLUME_IN_USE');
    expect(error.message).to.contain(`alloc a on node ${node}`).and.to.contain('unmount');
    expect([controllerCalls(), house.mounted().length]).to.deep.equal([['ControllerPublishVolume'], 2]);
  });

  it('V5 unmounted, it is unpublished and deleted as ever', async () => {
    await house.runtime.mounts.mount(request);
    await house.runtime.mounts.unmount(request);
    expect(await heldFor()).to.deep.equal([]);
    await house.runtime.volumes.unpublish(data, node);
    await house.runtime.volumes.delete(data);
    expect(controllerCalls()).to.deep.equal(['ControllerPublishVolume', 'ControllerUnpublishVolume', 'DeleteVolume']);
    expect([house.mounted(), house.leftovers(), house.violations()]).to.deep.equal([[], [], []]);
    expect(await house.runtime.mounts.list()).to.deep.equal([]);
  });

  it('V5 published before by somebody else: the mount holds it all the same', async () => {
    await house.runtime.volumes.publish(data, node);
    await house.runtime.mounts.mount(request);
    expect((await refusalOf(house.runtime.volumes.unpublish(data, node))).code).to.equal('VOLUME_IN_USE');
    await house.runtime.mounts.unmount(request);
    await house.runtime.volumes.unpublish(data, node);
    expect(controllerCalls()).to.deep.equal(['ControllerPublishVolume', 'ControllerUnpublishVolume']);
  });

  it('V5 of two that have it mounted, it is held until the second has let go', async () => {
    const other = { ...request, allocId: 'b' };
    await Promise.all([house.runtime.mounts.mount(request), house.runtime.mounts.mount(other)]);
    await house.runtime.mounts.unmount(request);
    expect(await heldFor()).to.deep.equal(['b']);
    expect((await refusalOf(house.runtime.volumes.unpublish(data, node))).message).to.contain('alloc b');
    await house.runtime.mounts.unmount(other);
    await house.runtime.volumes.unpublish(data, node);
    expect(house.mounted()).to.deep.equal([]);
  });

  it('M3 V5 a hold outlives the agent, and so does its release', async () => {
    await house.runtime.mounts.mount(request);
    await house.reopen();
    await house.healthy();
    expect((await refusalOf(house.runtime.volumes.unpublish(data, node))).code).to.equal('VOLUME_IN_USE');
    await house.runtime.mounts.unmount(request);
    await house.reopen();
    await house.healthy();
    await house.runtime.volumes.unpublish(data, node);
    expect(controllerCalls()).to.deep.equal(['ControllerPublishVolume', 'ControllerUnpublishVolume']);
  });

  it('M7 V5 a mount that could not be made is not held once that is told; a retry holds it again', async () => {
    house.driver.script('NodeStageVolume', { code: 'INVALID_ARGUMENT', text: 'no' });
    expect((await refusalOf(house.runtime.mounts.mount(request))).code).to.equal('CSI_ERROR');
    expect(await heldFor()).to.deep.equal([]);
    await house.runtime.volumes.unpublish(data, node);
    const [mount] = await house.runtime.mounts.list();
    expect(mount?.users.map(({ state }) => state)).to.deep.equal(['failed']);
    await house.runtime.mounts.retry(data);
    expect(await heldFor()).to.deep.equal(['a']);
    await until(() => house.mounted().length === 2);
    expect((await refusalOf(house.runtime.volumes.unpublish(data, node))).code).to.equal('VOLUME_IN_USE');
  });

  it('V5 given up before it was published: its hold goes with an unmount, though nothing is here', async () => {
    house.driver.script('ControllerPublishVolume', { delayMs: 300 });
    const giveUp = new AbortController();
    const mounting = refusalOf(house.runtime.mounts.mount(request, { signal: giveUp.signal }));
    await until(() => controllerCalls().length === 1);
    giveUp.abort();
    expect((await mounting).code).to.equal('ABORTED');
    await house.runtime.volumes.publish(data, node);
    expect(await heldFor()).to.deep.equal(['a']);
    expect((await refusalOf(house.runtime.volumes.unpublish(data, node))).code).to.equal('VOLUME_IN_USE');
    await house.runtime.mounts.unmount(request);
    await house.runtime.volumes.unpublish(data, node);
    expect(house.nodeCalls()).to.deep.equal([]);
  });

  it('V5 unmounted as it is being mounted: the mount hears so, and nothing is staged after that', async () => {
    house.driver.script('ControllerPublishVolume', { delayMs: 200 });
    const mounting = refusalOf(house.runtime.mounts.mount(request));
    await until(() => controllerCalls().length === 1);
    await house.runtime.mounts.unmount(request);
    const error = await mounting;
    expect([error.code, error.message]).to.deep.equal([
      'ABORTED',
      'volume default/data was unmounted for alloc a meanwhile',
    ]);
    await house.runtime.volumes.publish(data, node);
    await house.runtime.volumes.unpublish(data, node);
    expect([house.nodeCalls(), await heldFor()]).to.deep.equal([[], []]);
  });

  it('C6 a claim released while another alloc mounts without one: detached only once both let go', async () => {
    const volumes = [house.wanted('data', many)];
    for (let round = 0; round < 5; round += 1) {
      await house.runtime.allocations.prepare('web', volumes);
      const released = house.runtime.allocations.release('web');
      const mounted = house.runtime.mounts.mount(request);
      const { hostPath } = await mounted;
      const shown = house.mounted().map(({ path }) => path);
      expect(shown).to.include(hostPath);
      expect((await house.runtime.volumes.get(data))?.publications[node]?.state).to.be.oneOf([
        'published',
        'pending-node-unpublish',
      ]);
      await house.runtime.mounts.unmount(request);
      await released;
      expect(house.mounted()).to.deep.equal([]);
    }
    expect(house.violations()).to.deep.equal([]);
  });

  it('M2 C6 asked for again while a claim there waits for its hold: the same, and the claim is released', async () => {
    const volumes = [house.wanted('data', many)];
    await house.runtime.allocations.prepare('web', volumes);
    const { hostPath } = await house.runtime.mounts.mount(request);
    const released = house.runtime.allocations.release('web');
    while ((await house.runtime.volumes.get(data))?.publications[node]?.state !== 'pending-node-unpublish')
      await new Promise(setImmediate);
    expect((await house.runtime.mounts.mount(request, { timeoutMs: 5_000 })).hostPath).to.equal(hostPath);
    expect(await heldFor()).to.deep.equal(['a']);
    await house.runtime.mounts.unmount(request);
    await released;
    expect([house.mounted(), house.violations()]).to.deep.equal([[], []]);
  });
});
