/** Tests mounts of volumes that grow, or are made larger than their source: the part of the node. */
import { expect } from 'chai';
import { MountHouse, many, mib, plugin } from './mount-house.js';

describe('mounts of volumes that grow', () => {
  let house: MountHouse;
  beforeEach(async () => {
    house = await MountHouse.start();
  });
  afterEach(() => house.end());

  const grow = (id: string) => {
    house.driver.script('ControllerExpandVolume', {
      work: true,
      answer: { capacityBytes: 2 * mib, nodeExpansionRequired: true },
    });
    return house.runtime.volumes.expand({ id }, { requiredBytes: 2 * mib });
  };
  const isDue = async (id: string) => (await house.runtime.volumes.get({ id }))?.nodeExpansionRequired === true;

  it('the part of its node follows while it is mounted, and whoever has the volume knows', async () => {
    await house.make('data', many);
    await house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
    await grow('data');
    const { number, request } = await house.driver.waitForCall('NodeExpandVolume');
    expect(request).to.deep.include({ capacityRange: { requiredBytes: BigInt(2 * mib), limitBytes: 0n } });
    await house.driver.waitForEnd(number);
    expect(await house.told('expanded')).to.deep.include({ capacityBytes: 2 * mib });
    expect(await isDue('data')).to.equal(false);
    expect(house.violations()).to.deep.equal([]);
  });

  it('grown while it was mounted nowhere: it follows its next mount', async () => {
    await house.make('data', many);
    await grow('data');
    expect(await isDue('data')).to.equal(true);
    await house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
    await house.told('expanded');
    expect(await isDue('data')).to.equal(false);
  });

  it('grown while this runtime was about to end: it follows the next start', async () => {
    await house.make('data', many);
    await house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
    house.driver.script('NodeExpandVolume', { code: 'ABORTED', text: 'busy' }, { times: 'always' });
    await grow('data');
    await house.driver.waitForCall('NodeExpandVolume');
    await house.runtime.close();
    house.driver.clear('NodeExpandVolume');
    await house.open();
    await house.told('expanded');
    expect(await isDue('data')).to.equal(false);
  });

  it('V9 nothing is asked of its node while it is expanded', async () => {
    await house.make('data', many);
    await house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
    house.driver.script('ControllerExpandVolume', { hang: 'before' });
    const grown = house.runtime.volumes.expand({ id: 'data' }, { requiredBytes: 2 * mib });
    const { number } = await house.driver.waitForCall('ControllerExpandVolume');
    const before = house.nodeCalls().length;
    const second = house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'b', usage: many });
    while (!(await house.runtime.mounts.list())[0]?.error) await new Promise((resolve) => setImmediate(resolve));
    expect(house.nodeCalls()).to.have.length(before);
    house.driver.release(number);
    await Promise.all([grown, second]);
    expect(house.nodeCalls()).to.include('Publish');
  });

  it('V11, 34.25 refused for good: told, shown, and not tried again until that is asked for', async () => {
    await house.make('data', many);
    await house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
    house.driver.script('NodeExpandVolume', { code: 'FAILED_PRECONDITION', text: 'not while it is in use' });
    await grow('data');
    const told = await house.told('failed');
    expect(told).to.deep.include({ in: 'expand' });
    const [mount] = await house.runtime.mounts.list();
    expect(mount?.state).to.equal('published');
    expect(mount?.error).to.include({ code: 'CSI_ERROR', final: true });
    expect(mount?.error?.message).to.include("its file system can't be expanded").and.include('not while it is in use');
    await house.runtime.mounts.retry({ id: 'data' });
    await house.told('expanded');
    expect((await house.runtime.mounts.list())[0]).not.to.have.property('error');
  });

  it('V9, 34.25 a copy larger than its source: its file system is expanded with the first mount', async () => {
    await house.make('data', many);
    const source = { volume: { namespace: 'default', id: 'data' } };
    await house.runtime.volumes.create({
      ...{ id: 'copy', plugin, capabilities: [many], capacity: { requiredBytes: 2 * mib } },
      source,
    });
    expect(await isDue('copy')).to.equal(true);
    await house.runtime.mounts.mount({ volume: { id: 'copy' }, allocId: 'a', usage: many });
    const { request } = await house.driver.waitForCall('NodeExpandVolume');
    expect(request).to.deep.include({ capacityRange: { requiredBytes: BigInt(2 * mib), limitBytes: 0n } });
    await house.told('expanded');
    expect(await isDue('copy')).to.equal(false);
    expect(house.violations()).to.deep.equal([]);
  });
});
