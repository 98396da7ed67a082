/** What a runtime finds of mounts and allocs when it comes back: after a fence, another boot, beside a dead mount. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Store } from '../../src/engine/store.js';
import { bootId } from '../../src/host/boot-id.js';
import type { ClaimClient } from '../../src/mounts/claim-client.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';
import { type DeadMount, deadMount } from './dead-fuse.js';
import { MountHouse, many, node, plugin, single } from './mount-house.js';

/** The same store, as if all that is in it were of another boot of this host. */
function ofAnotherBoot(store: Store): Store {
  const aged = <T extends { text: string }>(record: T): T => ({
    ...record,
    text: record.text.replaceAll(bootId(), '00000000-another-boot'),
  });
  return new Proxy(store, {
    get(target, key: keyof Store) {
      if (key === 'load')
        return async (address: string) => {
          const record = await target.load(address);
          return record && 'text' in record ? aged(record) : record;
        };
      if (key === 'list')
        return async (...range: Parameters<Store['list']>) => {
          const page = await target.list(...range);
          return { ...page, rows: page.rows.map(aged) };
        };
      const value = target[key];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe('mounts after a restart', () => {
  let house: MountHouse;
  let dead: DeadMount | undefined;
  afterEach(async () => {
    dead?.end();
    dead = undefined;
    await house.end();
  });

  it('N3 H3 the node was fenced meanwhile: its mounts are undone, its alloc is informed, nothing is mounted again', async () => {
    house = await MountHouse.start({ attach: true });
    await house.make('data', single);
    await house.make('kept', single);
    await house.runtime.allocations.prepare('web', [house.wanted('data', single)]);
    await house.runtime.allocations.prepare('other', [house.wanted('kept', single)]);
    // As an agent that leads, and hears nothing of this node.
    await house.runtime.nodes.fence(node, 'its power is cut');
    while (!(await house.runtime.nodes.status(node)).fence?.isDone) await new Promise(setImmediate);
    const before = house.driver.calls().length;
    await house.reopen();
    await house.allocIs('web', ({ state }) => state === 'failed');
    await house.allocIs('other', ({ state }) => state === 'failed');
    const { error } = await house.runtime.allocations.status('web');
    expect([error?.code, house.mounted()]).to.deep.equal(['CLAIM_LOST', []]);
    const rpcs = house.driver
      .calls()
      .slice(before)
      .map(({ rpc }) => rpc);
    expect(rpcs.filter((rpc) => /^Node(Stage|Publish)Volume/.test(rpc))).to.deep.equal([]);
  });

  it('N3 H2 an alloc whose claim was lost here takes nothing from the claim that it has on another node', async () => {
    house = await MountHouse.start({ attach: true });
    await house.make('data', single);
    await house.runtime.allocations.prepare('web', [house.wanted('data', single)]);
    const topology = { 'topology.hostpath.csi.stagecraft/node': node };
    await house.runtime.nodes.report({ id: 'node-b', plugins: [{ name: plugin, nodeId: 'node-b', topology }] });
    await house.runtime.nodes.fence(node, 'its power is cut');
    const claims = async () => (await house.runtime.volumes.get({ id: 'data' }))?.claims;
    while ((await claims())?.length) await new Promise(setImmediate);
    const elsewhere = { allocId: 'web', nodeId: 'node-b', mode: 'write', ...single } as const;
    const claim = await house.runtime.volumes.claim({ id: 'data' }, elsewhere);
    await house.reopen();
    await house.healthy();
    await house.allocIs('web', ({ state }) => state === 'failed');
    expect(house.mounted()).to.deep.equal([]);
    expect(await claims()).to.deep.equal([claim]);
  });

  it('N3 H3 fenced while running: once its plugin is back, the alloc is informed and its mounts are undone', async () => {
    house = await MountHouse.start({ attach: true });
    await house.make('data', single);
    await house.runtime.allocations.prepare('web', [house.wanted('data', single)]);
    await house.runtime.nodes.fence(node, 'its power is cut');
    while (!(await house.runtime.nodes.status(node)).fence?.isDone) await new Promise(setImmediate);
    const connection = { socketPath: `${house.folder}/csi.sock` };
    await house.runtime.plugins.register({ type: 'csi-node', name: plugin, allocId: 'disk-2', connection });
    await house.allocIs('web', ({ state }) => state === 'failed');
    const { error } = await house.runtime.allocations.status('web');
    expect([error?.code, house.mounted()]).to.deep.equal(['CLAIM_LOST', []]);
    // Calls that its replacement cuts off are made again.
    expect([...new Set(house.nodeCalls())]).to.deep.equal(['Stage', 'Publish', 'Unpublish', 'Unstage']);
  });

  it('N3 H1 fenced while its volume is being published: undone, and never mounted', async () => {
    house = await MountHouse.start({ attach: true });
    await house.make('data', single);
    house.driver.script('ControllerPublishVolume', { code: 'ABORTED', text: 'busy' }, { times: 'always' });
    const prepared = refusalOf(house.runtime.allocations.prepare('web', [house.wanted('data', single)]));
    await house.driver.waitForCall('ControllerPublishVolume');
    await house.runtime.nodes.fence(node, 'its power is cut');
    while (!(await house.runtime.nodes.status(node)).fence?.isDone) await new Promise(setImmediate);
    house.driver.script('ControllerPublishVolume', {});
    const topology = { 'topology.hostpath.csi.stagecraft/node': node };
    await house.runtime.nodes.report({ id: node, plugins: [{ name: plugin, nodeId: node, topology }] });
    expect(await prepared).to.include({ code: 'CLAIM_LOST' });
    await house.allocIs('web', ({ state }) => state === 'failed');
    expect([house.nodeCalls(), house.mounted()]).to.deep.equal([[], []]);
    const volume = await house.runtime.volumes.get({ id: 'data' });
    expect([volume?.claims, volume?.publications]).to.deep.equal([[], {}]);
  });

  it('N3 H1 killed while it is prepared, its claim lost meanwhile: it takes no other one, and is undone', async () => {
    house = await MountHouse.start({ attach: true });
    await house.make('data', many);
    house.driver.script('NodeStageVolume', { code: 'ABORTED', text: 'busy' }, { times: 'always' });
    const cut = refusalOf(house.runtime.allocations.prepare('web', [house.wanted('data', many)]));
    await house.driver.waitForCall('NodeStageVolume');
    await house.runtime.close();
    await cut;
    const asked: string[] = [];
    const never = (name: string) => () => {
      asked.push(name);
      return new Promise<never>(() => {});
    };
    const known = { uid: 'u', plugin: 'disk', capabilities: [many], secrets: {} };
    const others = { look: async () => ({ ...known, claims: [] }), claim: never('claim'), publish: never('publish') };
    const claims: ClaimClient = {
      ...{ ...others, unstaged: never('unstaged'), expanded: never('expanded'), holdReleased: never('holdReleased') },
      holds: async () => false,
      release: async () => ({}),
    };
    await house.open({ claims });
    const { error } = await house.allocIs('web', ({ state }) => state === 'failed');
    expect([error?.code, house.mounted()]).to.deep.equal(['CLAIM_LOST', []]);
    expect(asked).to.deep.equal([]);
  });

  it('H3 after another boot an alloc waits until asked for again; then its volume is mounted with its data', async () => {
    const store = memoryStore();
    house = await MountHouse.start({ store });
    await house.make('data', many);
    const volumes = [house.wanted('data', many)];
    const [mount] = await house.runtime.allocations.prepare('web', volumes);
    writeFileSync(join(mount?.hostPath ?? '', 'file'), 'kept');
    await house.runtime.close();
    for (const { path } of house.mounted().reverse()) execFileSync('umount', [path]);
    await house.open({ store: ofAnotherBoot(store) });
    await house.healthy();
    const { state } = await house.runtime.allocations.status('web');
    expect([state, house.mounted()]).to.deep.equal(['recovering', []]);
    expect(house.nodeCalls()).to.deep.equal(['Stage', 'Publish']);
    const [again] = await house.runtime.allocations.prepare('web', volumes);
    expect(readFileSync(join(again?.hostPath ?? '', 'file'), 'utf8')).to.equal('kept');
    await house.runtime.allocations.release('web');
    expect([house.mounted(), house.leftovers()]).to.deep.equal([[], []]);
  });

  describe('where a call may last an hour, and what undoes it waits as long', () => {
    beforeEach(async () => {
      house = await MountHouse.start({ calls: { nodeTimeoutMs: 3_600_000 } });
      await house.make('data', many);
    });

    it('H4 M3 a release says that, and until when, where the runtime before ended with a stage under way', async () => {
      house.driver.script('NodeStageVolume', { hang: 'before' });
      house.runtime.allocations.prepare('web', [house.wanted('data', many)]).catch(() => {});
      await until(
        () => house.nodeCalls().includes('Stage'),
        () => house.nodeCalls().join(),
      );
      await house.reopen();
      await house.healthy();
      house.runtime.allocations.release('web').catch(() => {});
      const { waits } = await house.allocIs('web', (alloc) => alloc.waits.data?.includes('undoes') ?? false);
      expect(waits.data).to.match(
        /an earlier call .* may still be under way at the plugin, until \d{4}-\S+Z at the latest$/,
      );
      expect(house.nodeCalls()).to.not.include('Unstage');
    });

    it('H4 a release does not wait for a stage that only waited for its plugin', async () => {
      house.driver.script('NodeStageVolume', { code: 'ABORTED', text: 'busy' }, { times: 'always' });
      house.runtime.allocations.prepare('web', [house.wanted('data', many)]).catch(() => {});
      await house.told('failed');
      await deregister();
      await waitsForPlugin();
      house.runtime.allocations.release('web').catch(() => {});
      await house.allocIs('web', ({ state }) => state === 'releasing');
      await waitsForPlugin();
      await house.reopen();
      house.driver.clear('NodeStageVolume');
      await house.register();
      await house.runtime.allocations.release('web');
      expect((await house.runtime.volumes.get({ id: 'data' }))?.claims).to.deep.equal([]);
      expect([house.nodeCalls().at(-1), house.mounted()]).to.deep.equal(['Unstage', []]);
    });

    it('M3 what the controller side of its volume waits for is told of an alloc', async () => {
      await deregister();
      const prepared = house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
      await waitsForPlugin();
      await house.register();
      await prepared;
      expect((await house.runtime.allocations.status('web')).waits).to.deep.equal({});
    });
  });

  async function deregister(): Promise<void> {
    for (const type of ['csi-controller', 'csi-node']) await house.runtime.plugins.deregister(type, plugin, 'disk-1');
  }

  const waitsForPlugin = (): Promise<unknown> =>
    house.allocIs('web', (alloc) => alloc.waits.data?.includes('not registered') ?? false);

  it('M6 beside a mount that never answers a runtime starts, prepares and releases others, and ends', async () => {
    house = await MountHouse.start();
    await house.make('data', many);
    await house.make('other', many);
    const [mount] = await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
    const { hostPath } = mount ?? { hostPath: '' };
    // What serves it is gone silent: as one of FUSE that hangs in its own storage.
    dead = deadMount(hostPath);
    await house.reopen();
    await house.healthy();
    await house.allocIs('web', ({ state }) => state === 'prepared');
    for (let round = 0; round < 5; round += 1) {
      await house.runtime.allocations.prepare('second', [house.wanted('other', many)]);
      await house.runtime.allocations.release('second');
    }
    // What hides the volume is no mount of ours.
    const [status] = await house.runtime.mounts.list();
    expect([status?.state, status?.users[0]?.message?.includes('fuse')]).to.deep.equal(['published', true]);
    expect(await house.runtime.mounts.has({ volume: { id: 'data' }, allocId: 'web', usage: many })).to.equal(false);
  });
});
