/** An agent of the same node at another place: another data directory, on this host. Needs root. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { mountAddress, volumeAddress } from '../../machines/kit/addresses.js';
import type { Store } from '../../src/engine/store.js';
import { detailOf } from '../../src/inspector/actor-answers.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { topologyOf } from '../../src/tools/driver/identity.js';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';
import { MountHouse, many, node, single } from './mount-house.js';

describe('an agent takes over a node whose mounts were made at another place', () => {
  const key = { id: 'data' };
  let house: MountHouse;
  let other: string;
  let store: Store;
  let file: string;

  beforeEach(async () => {
    store = memoryStore();
    house = await MountHouse.start({ attach: true, store });
    other = join(house.folder, 'other');
    await house.make('data', single);
    const [mount] = await house.runtime.allocations.prepare('web', [house.wanted('data', single)]);
    file = join(mount?.hostPath ?? '', 'hello');
    writeFileSync(file, 'kept');
    await house.reopen({ dataDir: other });
    await house.healthy();
  });
  afterEach(() => house.end());

  /** Requests about the volume that the plugin got since the take-over. */
  const undone = (): string[] =>
    house.driver.calls().flatMap(({ rpc }) => (/^(Node|Controller)Un|^DeleteVolume/.test(rpc) ? [rpc] : []));
  const isNamed = (text: string | undefined): void => {
    expect(text).to.include(`mounted on node ${node} by the agent of ${house.dataDir} on host `);
    expect(text).to.match(/the same nodeId has replaced since \d{4}-.*Z/);
    expect(text).to.include(`fence node ${node}`);
  };

  it('D8, 34.32 its old mounts keep the volume, and each who waits is told of them by name', async () => {
    const { runtime } = house;
    isNamed((await refusalOf(runtime.allocations.release('web', { timeoutMs: 500 }))).message);
    isNamed((await runtime.allocations.status('web')).waits?.data);
    const [claim] = (await runtime.volumes.get(key))?.claims ?? [];
    expect(claim).to.include({ allocId: 'web', state: 'unpublishing' });
    const deletion = await refusalOf(runtime.volumes.delete(key));
    expect(deletion.code).to.equal('VOLUME_IN_USE');
    isNamed(deletion.message);
    const next = { name: 'disk', nodeId: 'next', topology: topologyOf(node).segments };
    await runtime.nodes.report({ id: 'next', plugins: [next] });
    const claimed = { allocId: 'next', nodeId: 'next', mode: 'write', ...single } as const;
    isNamed((await refusalOf(runtime.volumes.claim(key, claimed))).message);
    const report = { claimGeneration: claim?.generation ?? 0 };
    isNamed((await refusalOf(runtime.nodes.reportUnstaged(node, key, report))).message);
    for (const address of [volumeAddress('default', 'data'), mountAddress(node, 'default', 'data')]) {
      const [first] = detailOf(await runtime.actors.inspect(address)).trouble;
      isNamed(first?.why);
      expect(first?.command).to.equal(`stagecraft node fence ${node}`);
    }
    expect(undone()).to.deep.equal([]);
    expect(existsSync(file)).to.equal(true);
  });

  it('M15, 34.32 the list of mounts says so, with nothing that only the agent of that place could see', async () => {
    const { runtime } = house;
    const [mount] = await runtime.mounts.list();
    expect(mount?.error?.code).to.equal('MOUNT_ELSEWHERE');
    isNamed(mount?.error?.message);
    expect(mount?.users.map(({ allocId, message }) => [allocId, message])).to.deep.equal([['web', undefined]]);
    const { code, message } = await refusalOf(runtime.mounts.stats(key));
    expect(code).to.equal('MOUNT_ELSEWHERE');
    isNamed(message);
    expect(house.driver.calls().filter(({ rpc }) => rpc === 'NodeGetVolumeStats')).to.deep.equal([]);
  });

  it('M6, 34.32 its volumes are not mounted again there; others are', async () => {
    const { runtime } = house;
    const before = house.nodeCalls().length;
    isNamed((await house.allocIs('web', ({ waits }) => waits?.data?.includes('agent of') === true)).waits?.data);
    isNamed((await refusalOf(runtime.allocations.prepare('late', [house.wanted('data', single)]))).message);
    expect((await runtime.allocations.status('web')).state).to.equal('recovering');
    await house.make('mine', many);
    await runtime.allocations.prepare('own', [house.wanted('mine', many)]);
    await runtime.allocations.release('own');
    expect(house.nodeCalls().slice(before)).to.deep.equal(['Stage', 'Publish', 'Unpublish', 'Unstage']);
  });

  it('D8, 34.32 given up by a fence: its record goes without a call to the node, which is ready again', async () => {
    await house.reopen({ dataDir: other });
    await house.healthy();
    const { runtime } = house;
    await runtime.nodes.fence(node, 'nothing of it runs any more');
    await until(
      () => undone().includes('ControllerUnpublishVolume'),
      () => undone().join(),
    );
    await house.allocIs('web', ({ state }) => state === 'failed');
    let state = '';
    const look = async (): Promise<void> => {
      ({ state } = await runtime.nodes.status(node));
    };
    await until(
      () => {
        void look();
        return state === 'ready';
      },
      () => state,
    );
    expect(await runtime.mounts.list()).to.deep.equal([]);
    expect(undone()).to.deep.equal(['ControllerUnpublishVolume']);
    expect(detailOf(await runtime.actors.inspect(volumeAddress('default', 'data'))).trouble).to.deep.equal([]);
  });

  it('34.15, 34.32 a mount whose record could not be read is one of those, once it is repaired', async () => {
    const address = mountAddress(node, 'default', 'data');
    const { text = '' } = (await store.load(address)) ?? {};
    const plant = async (planted: string): Promise<void> => {
      const { seq = 0, epoch = 1, owner = '' } = (await store.load(address)) ?? {};
      const commit = {
        address,
        commitId: `planted.${seq}`,
        expectedSeq: seq,
        epoch,
        owner,
        text: planted,
        journal: '{}',
      };
      expect(await store.commit([commit])).to.deep.equal([{ status: 'done' }]);
    };
    await house.reopen();
    await house.runtime.close();
    await store.open();
    await plant(text.slice(0, 100));
    await house.open({ dataDir: join(house.folder, 'third') });
    await house.healthy();
    const { runtime } = house;
    await plant(text);
    await runtime.actors.release(address);
    isNamed((await refusalOf(runtime.allocations.release('web', { timeoutMs: 500 }))).message);
    expect(undone()).to.deep.equal([]);
  });

  it('M6, 34.32 back at its place, the first agent has its mounts as they were, and unmounts them', async () => {
    await house.make('mine', many);
    await house.runtime.allocations.prepare('own', [house.wanted('mine', many)]);
    await house.reopen();
    await house.healthy();
    const { runtime } = house;
    await house.allocIs('web', ({ state }) => state === 'prepared');
    await runtime.allocations.release('web');
    expect(existsSync(file)).to.equal(false);
    await runtime.volumes.delete(key);
    const { message } = await refusalOf(runtime.allocations.release('own', { timeoutMs: 500 }));
    expect(message).to.include(`by the agent of ${other} on host`);
  });
});
