/** A volume deleted with force while it is mounted here: it is unmounted first, and whoever has it is told at once. */
import { expect } from 'chai';
import type { ClaimClient } from '../../src/mounts/claim-client.js';
import { localClaims } from '../../src/runtime/local-claims.js';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';
import { managerOf } from '../volumes/manager-of.js';
import { MountHouse, many, node } from './mount-house.js';

const data = { id: 'data' };
const request = { volume: data, allocId: 'a', usage: many };

describe('deleted with force while it is mounted', () => {
  let house: MountHouse;
  beforeEach(async () => {
    house = await MountHouse.start({ attach: true });
    await house.make('data', many);
  });
  afterEach(() => house.end());

  const undoing = (): string[] =>
    house.driver
      .calls()
      .map(({ rpc }) => rpc)
      .filter((rpc) => /Unpublish|Unstage|Delete/.test(rpc));
  const inOrder = ['NodeUnpublishVolume', 'NodeUnstageVolume', 'ControllerUnpublishVolume', 'DeleteVolume'];

  it('V13 for an alloc: unmounted, then detached, then deleted; the alloc has failed, and nothing is left', async () => {
    await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
    await house.runtime.volumes.delete(data, { force: true });
    expect(undoing()).to.deep.equal(inOrder);
    const { error } = await house.allocIs('web', ({ state }) => state === 'failed');
    expect(error?.code).to.equal('CLAIM_LOST');
    expect(error?.message).to.contain('deleted with force');
    expect([house.mounted(), house.leftovers(), house.violations()]).to.deep.equal([[], [], []]);
    expect(await house.runtime.volumes.get(data)).to.equal(undefined);
  });

  it('V13 mounted singly: the same', async () => {
    await house.runtime.mounts.mount(request);
    await house.runtime.volumes.delete(data, { force: true });
    expect(undoing()).to.deep.equal(inOrder);
    await until(() => house.mounted().length === 0);
    expect(await house.runtime.mounts.list()).to.deep.equal([]);
    expect(await house.runtime.volumes.get(data)).to.equal(undefined);
  });

  it('V13 by an alloc and singly: both are unmounted first', async () => {
    await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
    await house.runtime.mounts.mount(request);
    await house.runtime.volumes.delete(data, { force: true });
    expect(undoing()).to.deep.equal(['NodeUnpublishVolume', ...inOrder]);
    await house.allocIs('web', ({ state }) => state === 'failed');
    expect(await house.runtime.volumes.get(data)).to.equal(undefined);
  });

  it('V13 while its plugin does not unmount it: the alloc is not prepared any more, nothing is detached', async () => {
    await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
    house.driver.script('NodeUnpublishVolume', { code: 'INTERNAL', text: 'busy' }, { times: 'always' });
    const deleted = house.runtime.volumes.delete(data, { force: true });
    const { error } = await house.allocIs('web', ({ state }) => state === 'releasing');
    expect(error?.code).to.equal('CLAIM_LOST');
    await house.driver.waitForCall('NodeUnpublishVolume');
    const volume = await house.runtime.volumes.get(data);
    expect(volume?.error?.message).to.contain(`node ${node} has to unmount it for alloc web first`);
    expect(volume?.leftovers?.map(({ what, allocId }) => [what, allocId])).to.deep.equal([['staged', 'web']]);
    expect(
      (await refusalOf(house.runtime.allocations.prepare('web', [house.wanted('data', many)], { timeoutMs: 1 }))).code,
    ).to.equal('TIMEOUT');
    expect(undoing()).not.to.include('ControllerUnpublishVolume');
    house.driver.clear('NodeUnpublishVolume');
    await deleted;
    expect(undoing().slice(-3)).to.deep.equal(inOrder.slice(-3));
  });

  it('N3 fenced while something is mounted singly: unmounted at once, not mounted again', async () => {
    await house.runtime.mounts.mount(request);
    await house.runtime.nodes.fence(node, 'its power is cut');
    await until(() => house.mounted().length === 0);
    await until(() => undoing().includes('ControllerUnpublishVolume'));
    expect(house.nodeCalls().filter((call) => call === 'Stage')).to.have.length(1);
  });

  it('N3 fenced, then its agent is started again: a single mount is unmounted, never mounted again', async () => {
    await house.runtime.mounts.mount(request);
    await house.runtime.nodes.fence(node, 'its power is cut');
    while (!(await house.runtime.nodes.status(node)).fence?.isDone) await new Promise(setImmediate);
    await house.reopen();
    await until(() => undoing().includes('NodeUnstageVolume') && house.mounted().length === 0);
    expect(house.nodeCalls().filter((call) => call === 'Stage' || call === 'Publish')).to.have.length(2);
    let isHere = true;
    await until(() => {
      void house.runtime.mounts.list().then((mounts) => {
        isHere = mounts.length > 0;
      });
      return !isHere;
    });
  });

  it('V13 deleted as its mount is just about to be committed: unmounted first all the same', async () => {
    /** Claims of the runtime as it is now: it is reopened below. */
    const local = (): ClaimClient => localClaims(managerOf(house.runtime));
    let deleted: Promise<void> | undefined;
    const claimAndPublish: ClaimClient['claimAndPublish'] = async (key, wish, options) => {
      const published = await local().claimAndPublish?.(key, wish, options);
      if (!published) throw new Error('these claims are taken one by one');
      const updates = house.runtime.volumes.updates({ from: 'now' });
      deleted = house.runtime.volumes.delete(key, { force: true });
      for await (const { kind } of updates) if (kind === 'claim') break;
      for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
      return published;
    };
    const claims = new Proxy(local(), {
      get: (_, name) => (name === 'claimAndPublish' ? claimAndPublish : Reflect.get(local(), name)),
    });
    await house.reopen({ claims });
    await house.healthy();
    const error = await refusalOf(house.runtime.mounts.mount(request));
    expect(error.code).to.equal('CLAIM_LOST');
    await deleted;
    expect(undoing().slice(-2)).to.deep.equal(inOrder.slice(-2));
    expect([house.mounted(), house.violations()]).to.deep.equal([[], []]);
    expect(await house.runtime.volumes.get(data)).to.equal(undefined);
  });
});
