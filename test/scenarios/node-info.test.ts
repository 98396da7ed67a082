/** A driver that comes back as another one: real processes on one socket, watched by a runtime on real time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  type FaultDriver,
  type FaultDriverOptions,
  faultDriver,
} from '../../dist/src/tools/fault-driver/fault-driver.js';
import type { PluginInfo } from '../../machines/plugin/plugin.js';
import { createRuntime, type PluginEvent, type PluginStatus, type Runtime } from '../../src/index.js';

const topologyOf = (nodeId: string): Record<string, string> => ({ 'topology.hostpath.csi.stagecraft/node': nodeId });

describe('a driver that comes back', () => {
  let directory: string;
  let runtime: Runtime;
  let events: AsyncIterator<PluginEvent>;
  let drivers: FaultDriver[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-node-'));
    drivers = [];
    runtime = await createRuntime({ nodeId: 'n1', dataDir: join(directory, 'data') });
    events = runtime.plugins.updates()[Symbol.asyncIterator]();
  });
  afterEach(async () => {
    await runtime.close();
    await Promise.all(drivers.map((driver) => driver.stop()));
    rmSync(directory, { recursive: true });
  });

  const infoOf = (allocId: string): PluginInfo => ({
    type: 'csi-node',
    name: 'disks',
    allocId,
    connection: { socketPath: join(directory, `${allocId}.sock`) },
  });

  async function start(allocId: string, options: Partial<FaultDriverOptions>): Promise<FaultDriver> {
    const dataDir = join(directory, `driver-${drivers.length}`);
    const { socketPath } = infoOf(allocId).connection;
    const driver = await faultDriver({ socketPath, nodeId: 'i-1', dataDir, ...options });
    drivers.push(driver);
    return driver;
  }

  const status = (): PluginStatus => runtime.plugins.status('csi-node', 'disks');

  /** Reads on until the health of the plugin is told; all that came, without place and time. */
  async function untilHealth(): Promise<object[]> {
    const seen: object[] = [];
    for (;;) {
      const { value, done } = await events.next();
      if (done) throw new Error(`no word of health, after ${JSON.stringify(seen)}`);
      const { id: _, at: __, info, description: ___, ...rest } = value;
      seen.push({ ...rest, allocId: info.allocId });
      if (value.kind === 'health') return seen;
    }
  }

  const healthy = (was: string) => ({ allocId: 'a1', kind: 'health', was, healthy: true });
  const lost = { allocId: 'a1', kind: 'health', was: 'healthy', healthy: false };
  const first = { nodeId: 'i-1', topology: topologyOf('i-1') };

  async function registered(): Promise<FaultDriver> {
    const driver = await start('a1', { vendorVersion: '1' });
    await runtime.plugins.register(infoOf('a1'));
    expect(await untilHealth()).to.deep.equal([
      { allocId: 'a1', kind: 'registered' },
      { allocId: 'a1', kind: 'node-info', ...first },
      healthy('unknown'),
    ]);
    return driver;
  }

  it('I8 another node id, topology and limit: told with what was before, then its health', async () => {
    const old = await registered();
    await old.kill();
    expect(await untilHealth()).to.deep.equal([lost]);
    await start('a1', { nodeId: 'i-2', maxVolumesPerNode: 7 });
    expect(await untilHealth()).to.deep.equal([
      { allocId: 'a1', kind: 'node-info', nodeId: 'i-2', topology: topologyOf('i-2'), maxVolumes: 7, before: first },
      healthy('unhealthy'),
    ]);
    const { snapshot } = await runtime.journal.replay('plugin/n1/csi-node/disks/a1');
    expect(snapshot).to.deep.include({ value: 'healthy' });
    expect(JSON.stringify(snapshot)).to.include('"node":{"nodeId":"i-2"');
    expect(status().fingerprint).to.deep.include({ nodeId: 'i-2', topology: topologyOf('i-2'), maxVolumes: 7 });
  });

  it('I8 another vendor version on the same node: read again, and nothing is told of the node', async () => {
    const old = await registered();
    await old.stop();
    expect(await untilHealth()).to.deep.equal([lost]);
    const driver = await start('a1', { vendorVersion: '2' });
    expect(await untilHealth()).to.deep.equal([healthy('unhealthy')]);
    expect(status().fingerprint.vendorVersion).to.equal('2');
    expect(driver.calls().map(({ rpc }) => rpc)).to.include.members(['GetPluginInfo', 'NodeGetInfo']);
  });

  it('I8 another node id while the runtime was away: told when it is back', async () => {
    const old = await registered();
    await runtime.close();
    await old.kill();
    await start('a1', { nodeId: 'i-2' });
    runtime = await createRuntime({ nodeId: 'n1', dataDir: join(directory, 'data') });
    events = runtime.plugins.updates('csi-node', { from: '0' })[Symbol.asyncIterator]();
    expect(await untilHealth()).to.have.lengthOf(3);
    const { value } = await events.next();
    expect(value).to.deep.include({ kind: 'node-info', nodeId: 'i-2', before: first });
  });

  it('I8 a new instance in front, on another node: told as its own, without what was before', async () => {
    await registered();
    await start('a2', { nodeId: 'i-2' });
    await runtime.plugins.register(infoOf('a2'));
    expect(await untilHealth()).to.deep.equal([
      { allocId: 'a2', kind: 'registered' },
      { allocId: 'a2', kind: 'node-info', nodeId: 'i-2', topology: topologyOf('i-2') },
      { ...healthy('unknown'), allocId: 'a2' },
    ]);
  });
});
