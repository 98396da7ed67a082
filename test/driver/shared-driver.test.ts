/** Drivers of several hosts on one data directory. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CsiClient } from '../../src/csi/client.js';
import { startDriver } from '../../src/tools/driver/driver.js';
import type { Serving } from '../../src/tools/driver/serve.js';
import { refusalOf } from '../refusal.js';
import { codeOf, mi, mounted } from './driver-lab.js';

describe('driver: hosts that share a data directory', () => {
  let folder: string;
  const drivers: Serving[] = [];
  const clients: CsiClient[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'driver-'));
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    for (const driver of drivers.splice(0)) await driver.stop();
    rmSync(folder, { recursive: true });
  });

  async function host(nodeId: string): Promise<CsiClient> {
    const socketPath = join(folder, `${nodeId}.sock`);
    const options = { nodeId, dataDir: join(folder, 'data'), attach: true, isShared: true };
    drivers.push(await startDriver({ endpoint: `unix://${socketPath}`, ...options }));
    const client = new CsiClient({ socketPath });
    clients.push(client);
    return client;
  }

  const request = (name: string) => ({
    name,
    capacityRange: { requiredBytes: mi },
    volumeCapabilities: [mounted()],
  });
  const published = (volumeId: string, nodeId: string) => ({ volumeId, nodeId, volumeCapability: mounted() });

  it('a volume made by one host is known, published and deleted by the driver of another', async () => {
    const [one, two] = [await host('a'), await host('b')];
    const { volume } = await one.createVolume(request('data'));
    const volumeId = volume?.volumeId ?? '';
    expect(volume?.accessibleTopology).to.deep.equal([]);
    expect((await two.createVolume(request('data'))).volume?.volumeId).to.equal(volumeId);
    await two.controllerPublishVolume(published(volumeId, 'a'));
    expect(await codeOf(one.controllerPublishVolume(published(volumeId, 'b')))).to.equal('FAILED_PRECONDITION');
    expect(await codeOf(one.deleteVolume({ volumeId }))).to.equal('FAILED_PRECONDITION');
    await one.controllerUnpublishVolume({ volumeId, nodeId: 'a' });
    await one.controllerPublishVolume(published(volumeId, 'b'));
    await one.controllerUnpublishVolume({ volumeId, nodeId: 'b' });
    await two.deleteVolume({ volumeId });
    expect((await one.listVolumes({})).entries).to.deep.equal([]);
  });

  it('calls of two hosts at once wait for each other, and none is lost', async () => {
    const hosts = [await host('a'), await host('b')];
    const names = Array.from({ length: 6 }, (_, i) => `v${i}`);
    await Promise.all(names.map((name, i) => hosts[i % 2]?.createVolume(request(name))));
    const listed = await Promise.all(hosts.map(async (one) => (await one.listVolumes({})).entries.length));
    expect(listed).to.deep.equal([6, 6]);
  });

  it('its volumes are those of all hosts: no scope, no topology', async () => {
    const one = await host('a');
    expect((await one.getPluginInfo()).manifest).to.deep.equal({});
    expect((await one.nodeGetInfo()).topology ?? {}).to.deep.equal({});
    expect(await one.getPluginCapabilities()).not.to.include('VOLUME_ACCESSIBILITY_CONSTRAINTS');
  });

  it('without attach it is refused: two hosts could use one volume', async () => {
    const options = { nodeId: 'a', dataDir: join(folder, 'data'), isShared: true };
    const starting = startDriver({ endpoint: `unix://${join(folder, 'a.sock')}`, ...options });
    expect((await refusalOf(starting)).code).to.equal('INVALID_ARGUMENT');
  });
});
