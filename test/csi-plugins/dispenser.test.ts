/** The fingerprints of csi-node and csi-controller, against a real server whose answers are scripted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { expect } from 'chai';
import type { PluginBasics, PluginInfo } from '../../machines/plugin/plugin.js';
import { openChannels } from '../../src/csi/channel.js';
import { type CsiPluginType, csiDispensers } from '../../src/csi-plugins/dispenser.js';
import { StagecraftError } from '../../src/errors.js';
import type { Looked } from '../../src/registry/dispenser.js';
import { FakePlugin, type Script, stopFakePlugins } from '../csi/fake-plugin.js';
import { csi } from '../generated/csi.js';
import { google } from '../generated/google/protobuf/wrappers.js';

const dispensers = csiDispensers({ timeoutMs: 10_000 });
const initialFailure = 'failed initial fingerprint: ';
const notReady = new google.protobuf.BoolValue({ value: false });

const nodeBasics: PluginBasics = {
  pluginName: 'fake.csi.test',
  vendorVersion: '1.0.0',
  pluginCapabilities: [],
  nodeId: 'node-1',
};

let folder: string;
let socketPath: string;
let ends: Array<() => void>;

/** Each test in a folder of its own, where it leaves nothing open. */
function isolated(): void {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'csi-dispenser-'));
    socketPath = join(folder, 'csi.sock');
    ends = [];
  });

  afterEach(async () => {
    for (const end of ends) end();
    await stopFakePlugins();
    rmSync(folder, { recursive: true });
    expect(openChannels()).to.equal(0);
  });
}

interface LookOptions {
  basic?: PluginBasics;
  signal?: AbortSignal;
}

/** One instance; each call is one round. */
function instance(type: CsiPluginType): (options?: LookOptions) => Promise<Looked> {
  const info: PluginInfo = { type, name: 'fake', allocId: 'a-1', connection: { socketPath } };
  const dispenser = dispensers[type];
  const client = dispenser.connect(info);
  ends.push(() => client.close());
  return ({ signal = new AbortController().signal, basic } = {}) =>
    dispenser.fingerprint(client, { info, signal, ...(basic && { basic }) });
}

const failing = (details: string): Script => ({ code: status.INTERNAL, details });

const nodeInfo = (fields: { node_id?: string; max_volumes_per_node?: string }): Script => ({
  answer: new csi.v1.NodeGetInfoResponse(fields),
});

describe('csi dispensers: a good round', () => {
  isolated();

  it('I2 the first round of a node reads all, in order', async () => {
    const plugin = await FakePlugin.listen(socketPath);
    const { Type } = csi.v1.NodeServiceCapability.RPC;
    const rpc = new csi.v1.NodeServiceCapability.RPC({ type: Type.STAGE_UNSTAGE_VOLUME });
    const capabilities = [new csi.v1.NodeServiceCapability({ rpc })];
    plugin.set('NodeGetCapabilities', { answer: new csi.v1.NodeGetCapabilitiesResponse({ capabilities }) });
    expect(await instance('csi-node')()).to.deep.equal({
      healthy: true,
      description: 'ready',
      basic: nodeBasics,
      capabilities: ['STAGE_UNSTAGE_VOLUME'],
    });
    const basics = ['GetPluginInfo', 'GetPluginCapabilities', 'NodeGetInfo'];
    expect(plugin.calls).to.deep.equal([...basics, 'Probe', 'NodeGetCapabilities']);
  });

  it('I2 a controller is not asked for a node', async () => {
    const plugin = await FakePlugin.listen(socketPath);
    const { nodeId: _, ...basic } = nodeBasics;
    const expected = { healthy: true, description: 'ready', basic, capabilities: [] };
    expect(await instance('csi-controller')()).to.deep.equal(expected);
    const basics = ['GetPluginInfo', 'GetPluginCapabilities'];
    expect(plugin.calls).to.deep.equal([...basics, 'Probe', 'ControllerGetCapabilities']);
  });

  it('I2 a later round only probes and reads the capabilities', async () => {
    const plugin = await FakePlugin.listen(socketPath);
    const look = instance('csi-node');
    expect(await look({ basic: nodeBasics })).to.include({ healthy: true, basic: nodeBasics });
    expect(plugin.calls).to.deep.equal(['Probe', 'NodeGetCapabilities']);
  });

  it('I5 max_volumes and topology are kept, a max_volumes of 0 is no limit', async () => {
    const accessible_topology = new csi.v1.Topology({ segments: new Map([['zone', 'z1']]) });
    const answer = new csi.v1.NodeGetInfoResponse({ node_id: 'n', max_volumes_per_node: '8', accessible_topology });
    const plugin = (await FakePlugin.listen(socketPath)).set('NodeGetInfo', { answer });
    const look = instance('csi-node');
    expect((await look()).basic).to.deep.include({ nodeId: 'n', maxVolumes: 8, topology: { zone: 'z1' } });
    plugin.set('NodeGetInfo', nodeInfo({ node_id: 'n', max_volumes_per_node: '0' }));
    expect((await look()).basic).to.not.have.any.keys('maxVolumes', 'topology');
  });
});

describe('csi dispensers: not healthy', () => {
  isolated();

  it('I4 a first Probe that says not ready is not yet healthy, and later ready is', async () => {
    const plugin = await FakePlugin.listen(socketPath);
    plugin.set('Probe', { answer: new csi.v1.ProbeResponse({ ready: notReady }) });
    const look = instance('csi-node');
    const first = await look();
    expect(first).to.deep.equal({
      healthy: false,
      description: 'initialising: the plugin says it is not ready yet',
      basic: nodeBasics,
    });
    plugin.set('Probe', { answer: new csi.v1.ProbeResponse() });
    expect(await look({ basic: nodeBasics })).to.include({ healthy: true });
  });

  for (const code of [status.FAILED_PRECONDITION, status.UNKNOWN, status.UNIMPLEMENTED]) {
    it(`I4 a Probe that answers ${status[code]} is unhealthy with the reason`, async () => {
      (await FakePlugin.listen(socketPath)).set('Probe', { code, details: 'no kernel module' });
      const seen = await instance('csi-node')({ basic: nodeBasics });
      expect(seen).to.deep.equal({
        healthy: false,
        description: `Probe: ${status[code]}: no kernel module`,
        basic: nodeBasics,
      });
    });
  }

  it('I3 a first round that fails reports what was read before, and the next reads it all again', async () => {
    const plugin = (await FakePlugin.listen(socketPath)).set('NodeGetInfo', failing('no metadata service'));
    const look = instance('csi-node');
    const { nodeId: _, ...partial } = nodeBasics;
    const first = await look();
    const description = `${initialFailure}NodeGetInfo: INTERNAL: no metadata service`;
    expect(first).to.deep.equal({ healthy: false, description, basic: partial });
    plugin.set('NodeGetInfo', nodeInfo({ node_id: 'node-1' }));
    expect(await look({ basic: partial })).to.deep.include({ healthy: true, basic: nodeBasics });
  });

  it('I3 a first round that reaches nobody knows nothing, and says why', async () => {
    const description = `${initialFailure}GetPluginInfo: no socket at ${socketPath}: is the plugin running?`;
    expect(await instance('csi-node')()).to.deep.equal({ healthy: false, description });
  });

  it('I3 a round that fails earlier than the one before keeps what that one read', async () => {
    const { nodeId: _, ...partial } = nodeBasics;
    const seen = await instance('csi-node')({ basic: partial });
    expect(seen.basic).to.deep.equal(partial);
  });

  it('I6 capabilities that could not be read are left out, not empty, and what is known stays', async () => {
    (await FakePlugin.listen(socketPath)).set('NodeGetCapabilities', failing('oops'));
    expect(await instance('csi-node')({ basic: nodeBasics })).to.deep.equal({
      healthy: false,
      description: 'NodeGetCapabilities: INTERNAL: oops',
      basic: nodeBasics,
    });
  });

  const badBasics: Array<[what: string, rpc: string, script: Script, reason: string]> = [
    [
      'an empty name',
      'GetPluginInfo',
      { answer: new csi.v1.GetPluginInfoResponse({ vendor_version: '1' }) },
      'the plugin name is empty',
    ],
    [
      'a name of 64 bytes',
      'GetPluginInfo',
      { answer: new csi.v1.GetPluginInfoResponse({ name: 'é'.repeat(32), vendor_version: '1' }) },
      'the plugin name is 64 bytes long, but CSI allows 63',
    ],
    ['an empty node id', 'NodeGetInfo', nodeInfo({}), 'the node id is empty'],
    [
      'a node id of 257 bytes',
      'NodeGetInfo',
      nodeInfo({ node_id: 'n'.repeat(257) }),
      'the node id is 257 bytes long, but CSI allows 256',
    ],
  ];
  for (const [what, rpc, script, reason] of badBasics) {
    it(`I5 ${what} is unhealthy with that reason until another is given`, async () => {
      const plugin = (await FakePlugin.listen(socketPath)).set(rpc, script);
      const look = instance('csi-node');
      const first = await look();
      expect(first).to.include({ healthy: false, description: `${initialFailure}${reason}` });
      expect(plugin.calls).to.not.include('Probe');
      plugin.set('GetPluginInfo', {
        answer: new csi.v1.GetPluginInfoResponse({ name: 'fake.csi.test', vendor_version: '1.0.0' }),
      });
      plugin.set('NodeGetInfo', nodeInfo({ node_id: 'node-1' }));
      const known = first.basic ? { basic: first.basic } : {};
      expect(await look(known)).to.deep.include({ healthy: true, basic: nodeBasics });
    });
  }

  it('I5 a name of 63 bytes and a node id of 256 are good', async () => {
    const answer = new csi.v1.GetPluginInfoResponse({ name: 'n'.repeat(63), vendor_version: '1' });
    const plugin = (await FakePlugin.listen(socketPath)).set('GetPluginInfo', { answer });
    plugin.set('NodeGetInfo', nodeInfo({ node_id: 'n'.repeat(256) }));
    expect(await instance('csi-node')()).to.include({ healthy: true });
  });

  it('I11 a round that is aborted ends with the reason', async () => {
    const plugin = (await FakePlugin.listen(socketPath)).set('Probe', 'hang');
    const abort = new AbortController();
    const arrived = plugin.arrival('Probe');
    const seen = instance('csi-node')({ signal: abort.signal, basic: nodeBasics });
    await arrived;
    abort.abort(new StagecraftError('TIMEOUT', 'the round took too long'));
    const description = 'Probe was given up: the round took too long';
    expect(await seen).to.deep.equal({ healthy: false, description, basic: nodeBasics });
  });
});

describe('csi dispensers: drivers that lie', () => {
  isolated();

  const missing: Array<[type: CsiPluginType, rpc: string, service: string]> = [
    ['csi-controller', 'ControllerGetCapabilities', 'Controller'],
    ['csi-node', 'NodeGetCapabilities', 'Node'],
  ];
  for (const [type, rpc, service] of missing) {
    it(`I7 UNIMPLEMENTED ${rpc} means "not on this socket": shown, healthy, unknown`, async () => {
      (await FakePlugin.listen(socketPath)).unset(rpc);
      const seen = await instance(type)();
      expect(seen).to.include({
        healthy: true,
        description: `ready; no ${service} service on this socket (${rpc} is UNIMPLEMENTED)`,
      });
      expect(seen).to.not.have.property('capabilities');
    });
  }
});

describe('csi dispensers: connections', () => {
  isolated();

  it('I12 a node and a controller on one socket share one channel', async () => {
    await FakePlugin.listen(socketPath);
    await Promise.all([instance('csi-node')(), instance('csi-controller')()]);
    expect(openChannels()).to.equal(1);
  });

  it('I10 the loss of a connection is told without a round', async () => {
    const plugin = await FakePlugin.listen(socketPath);
    const info: PluginInfo = { type: 'csi-node', name: 'fake', allocId: 'a-1', connection: { socketPath } };
    const dispenser = dispensers['csi-node'];
    const client = dispenser.connect(info);
    ends.push(() => client.close());
    const lost = new Promise<void>((resolve) => dispenser.onDisconnect?.(client, resolve));
    await client.probe();
    await plugin.kill();
    await lost;
  });
});
