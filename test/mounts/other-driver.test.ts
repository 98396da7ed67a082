/** Another driver is registered under the name of the plugin that has mounted volumes here: it is asked for none of them. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';
import { MountHouse, node, plugin, single } from './mount-house.js';

const first = 'first.example';
const other = 'other.example';
const key = { id: 'data' };

describe('another driver under the name of a plugin, on a node', () => {
  let house: MountHouse;
  let name: string;
  let runs: number;
  let asked: number;

  beforeEach(async () => {
    name = first;
    runs = 1;
    asked = 0;
    house = await MountHouse.start({
      handlers: { GetPluginInfo: async () => ({ name, vendorVersion: '1', manifest: {} }) },
    });
    await house.make('data', single);
  });
  afterEach(() => house.end());

  /** The sides that are named are another driver from here on. */
  async function becomes(driver: string, types = ['csi-controller', 'csi-node']): Promise<void> {
    asked = house.nodeCalls().length;
    name = driver;
    const before = `disk-${runs}`;
    runs += 1;
    const connection = { socketPath: `${house.folder}/csi.sock` };
    for (const type of types) {
      await house.runtime.plugins.register({ type, name: plugin, allocId: `disk-${runs}`, connection });
      await house.runtime.plugins.deregister(type, plugin, before).catch(() => {});
    }
    await until(() => types.every((type) => driverOf(type) === driver));
  }
  /** The Node calls that have changed something since another driver came. */
  const nodeCalls = (): string[] => house.nodeCalls().slice(asked);
  const driverOf = (type: string): string | undefined =>
    house.runtime.plugins.status(type, plugin).fingerprint.pluginName;
  const prepare = () => house.runtime.allocations.prepare('one', [house.wanted('data', single)]);
  const trouble = async (): Promise<string> => (await house.runtime.mounts.list())[0]?.error?.message ?? '';
  /** Resolves once the mount says so. */
  async function says(what: string): Promise<string> {
    for (;;) {
      const said = await trouble();
      if (said.includes(what)) return said;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('V6 the alloc is released: nothing is unmounted by the other, and it says so; then the first goes on', async () => {
    const [mount] = await prepare();
    await becomes(other);
    const released = house.runtime.allocations.release('one');
    released.catch(() => {});
    expect(await says(other))
      .to.include(first)
      .and.include(`--accept-driver ${other}`);
    expect(nodeCalls()).to.deep.equal([]);
    expect(house.mounted().map(({ path }) => path)).to.include(mount?.hostPath);
    await becomes(first);
    await released;
    expect(nodeCalls()).to.deep.equal(['Unpublish', 'Unstage']);
    expect(house.mounted()).to.deep.equal([]);
  });

  it('V6 the other is accepted for the mount: it is asked to unmount it, also after a restart', async () => {
    await prepare();
    await becomes(other);
    house.runtime.allocations.release('one').catch(() => {});
    await says(other);
    await house.runtime.mounts.retry(key, { acceptDriver: other });
    await house.runtime.volumes.retry(key, { acceptDriver: other });
    await house.reopen();
    await house.runtime.allocations.release('one');
    // A call that the restart has cut off is made again.
    expect([...new Set(nodeCalls())]).to.deep.equal(['Unpublish', 'Unstage']);
    expect(house.mounted()).to.deep.equal([]);
  });

  it('V6 only the node side is another driver: nothing is staged by it, and the alloc says why', async () => {
    await becomes(other, ['csi-node']);
    const refusal = await refusalOf(prepare());
    expect(refusal).to.include({ code: 'OTHER_DRIVER' });
    expect(refusal.message).to.include(first).and.include(other);
    expect(nodeCalls()).to.deep.equal([]);
    expect((await house.runtime.volumes.get(key))?.publications[node]?.state ?? 'gone').to.not.equal('failed');
  });

  it('V6 its usage is not asked of the other', async () => {
    await prepare();
    await becomes(other, ['csi-node']);
    expect(await refusalOf(house.runtime.mounts.stats(key))).to.include({ code: 'OTHER_DRIVER' });
    await becomes(first, ['csi-node']);
    expect((await house.runtime.mounts.stats(key)).usage).to.not.equal(undefined);
  });
});
