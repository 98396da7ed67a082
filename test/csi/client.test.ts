/** CsiClient and its channels, against real servers on real sockets: what it answers, and what it survives. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { openChannels } from '../../src/csi/channel.js';
import { CsiClient, type CsiClientOptions } from '../../src/csi/client.js';
import type { CallOptions } from '../../src/csi/csi-calls.js';
import { Run } from '../../src/engine/effects/effect-runner.js';
import { StagecraftError } from '../../src/errors.js';
import { csi } from '../generated/csi.js';
import { google } from '../generated/google/protobuf/wrappers.js';
import { refusalOf } from '../refusal.js';
import { FakePlugin, stopFakePlugins } from './fake-plugin.js';

/** Above every capability that CSI has given out. */
const fromTheFuture: number = 99;

let folder: string;
let socketPath: string;
let clients: CsiClient[];

/** Each test in a folder of its own, where it leaves nothing open. */
function isolated(): void {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'csi-client-'));
    socketPath = join(folder, 'csi.sock');
    clients = [];
  });

  afterEach(async () => {
    for (const client of clients) client.close();
    await stopFakePlugins();
    rmSync(folder, { recursive: true });
    expect(openChannels()).to.equal(0);
  });
}

function newClient(options: Partial<CsiClientOptions> = {}): CsiClient {
  const client = new CsiClient({ socketPath, ...options });
  clients.push(client);
  return client;
}

const nameAt = async (client: CsiClient): Promise<string> => (await client.getPluginInfo()).name;

describe('csi client: answers', () => {
  isolated();

  it('gives the plugin information as plain data', async () => {
    const manifest = new Map([['url', 'https://example.org']]);
    const answer = new csi.v1.GetPluginInfoResponse({ name: 'a.b.c', vendor_version: '2', manifest });
    (await FakePlugin.listen(socketPath)).set('GetPluginInfo', { answer });
    expect(await newClient().getPluginInfo()).to.deep.equal({
      name: 'a.b.c',
      vendorVersion: '2',
      manifest: { url: 'https://example.org' },
    });
  });

  it('gives the node information as plain data', async () => {
    const topology = new csi.v1.Topology({ segments: new Map([['zone', 'z1']]) });
    const answer = new csi.v1.NodeGetInfoResponse({
      node_id: 'n-1',
      max_volumes_per_node: '16',
      accessible_topology: topology,
    });
    (await FakePlugin.listen(socketPath)).set('NodeGetInfo', { answer });
    const expected = { nodeId: 'n-1', maxVolumesPerNode: 16, topology: { zone: 'z1' } };
    expect(await newClient().nodeGetInfo()).to.deep.equal(expected);
  });

  it('I5 absent max_volumes is 0 and absent topology stays absent', async () => {
    await FakePlugin.listen(socketPath);
    expect(await newClient().nodeGetInfo()).to.deep.equal({ nodeId: 'node-1', maxVolumesPerNode: 0 });
  });

  it('I5 a max_volumes beyond what numbers hold exactly becomes the greatest of them', async () => {
    const answer = new csi.v1.NodeGetInfoResponse({ node_id: 'n', max_volumes_per_node: '9223372036854775807' });
    (await FakePlugin.listen(socketPath)).set('NodeGetInfo', { answer });
    expect((await newClient().nodeGetInfo()).maxVolumesPerNode).to.equal(Number.MAX_SAFE_INTEGER);
  });

  it('I4 a plugin is ready when it says so or says nothing, and not when it says no', async () => {
    const plugin = await FakePlugin.listen(socketPath);
    const client = newClient();
    expect(await client.probe()).to.deep.equal({ ready: true });
    for (const value of [true, false]) {
      const ready = new google.protobuf.BoolValue({ value });
      plugin.set('Probe', { answer: new csi.v1.ProbeResponse({ ready }) });
      expect(await client.probe()).to.deep.equal({ ready: value });
    }
  });

  it('I6 unknown, empty and repeated capabilities are left out, in one order', async () => {
    const { ControllerServiceCapability, NodeServiceCapability, PluginCapability } = csi.v1;
    const { Type } = NodeServiceCapability.RPC;
    const nodeTypes = [Type.VOLUME_CONDITION, Type.UNKNOWN, fromTheFuture, Type.EXPAND_VOLUME, Type.EXPAND_VOLUME];
    const capabilities = nodeTypes.map(
      (type) => new NodeServiceCapability({ rpc: new NodeServiceCapability.RPC({ type }) }),
    );
    capabilities.push(new NodeServiceCapability());
    const controllerRpc = new ControllerServiceCapability.RPC({ type: fromTheFuture });
    const service = new PluginCapability.Service({ type: PluginCapability.Service.Type.CONTROLLER_SERVICE });
    const expansion = new PluginCapability.VolumeExpansion({ type: PluginCapability.VolumeExpansion.Type.ONLINE });
    (await FakePlugin.listen(socketPath))
      .set('NodeGetCapabilities', { answer: new csi.v1.NodeGetCapabilitiesResponse({ capabilities }) })
      .set('ControllerGetCapabilities', {
        answer: new csi.v1.ControllerGetCapabilitiesResponse({
          capabilities: [new ControllerServiceCapability({ rpc: controllerRpc })],
        }),
      })
      .set('GetPluginCapabilities', {
        answer: new csi.v1.GetPluginCapabilitiesResponse({
          capabilities: [new PluginCapability({ volume_expansion: expansion }), new PluginCapability({ service })],
        }),
      });
    const client = newClient();
    expect(await client.nodeGetCapabilities()).to.deep.equal(['EXPAND_VOLUME', 'VOLUME_CONDITION']);
    expect(await client.controllerGetCapabilities()).to.deep.equal([]);
    expect(await client.getPluginCapabilities()).to.deep.equal(['CONTROLLER_SERVICE', 'VOLUME_EXPANSION_ONLINE']);
  });
});

describe('csi client: errors', () => {
  isolated();

  it('an error of the plugin has its rpc, the name of its code, its text, and whether it is final', async () => {
    const plugin = await FakePlugin.listen(socketPath);
    const client = newClient();
    plugin.set('Probe', { code: status.FAILED_PRECONDITION, details: 'no kernel module' });
    expect(await refusalOf(client.probe())).to.include({
      code: 'CSI_ERROR',
      rpc: 'Probe',
      grpcCode: 'FAILED_PRECONDITION',
      final: false,
      message: 'Probe: FAILED_PRECONDITION: no kernel module',
    });
    plugin.unset('NodeGetCapabilities');
    expect(await refusalOf(client.nodeGetCapabilities())).to.include({ grpcCode: 'UNIMPLEMENTED', final: true });
  });

  it('34 an error of the plugin without a text: the message says that there is no reason', async () => {
    const plugin = await FakePlugin.listen(socketPath);
    for (const details of ['', ' \n']) {
      plugin.set('Probe', { code: status.FAILED_PRECONDITION, details });
      expect((await refusalOf(newClient().probe())).message).to.equal(
        'Probe: FAILED_PRECONDITION: the driver gives no reason',
      );
    }
  });

  it('a long text of the plugin is cut to 4 KiB, not within a character', async () => {
    const details = 'é'.repeat(5000);
    (await FakePlugin.listen(socketPath)).set('Probe', { code: status.INTERNAL, details });
    const { message } = await refusalOf(newClient().probe());
    const text = message.slice('Probe: INTERNAL: '.length);
    expect(text).to.match(/^é+$/);
    expect(Buffer.byteLength(message)).to.be.within(4096, 4096 + 'Probe: '.length);
  });

  it("the plugin's own UNAVAILABLE and DEADLINE_EXCEEDED are told in its own words", async () => {
    const plugin = await FakePlugin.listen(socketPath);
    const client = newClient();
    for (const code of [status.UNAVAILABLE, status.DEADLINE_EXCEEDED]) {
      plugin.set('Probe', { code, details: 'backend asleep' });
      expect((await refusalOf(client.probe())).message).to.equal(`Probe: ${status[code]}: backend asleep`);
    }
  });

  it('an answer that is no protobuf is an error, not a crash', async () => {
    const plugin = await FakePlugin.listen(socketPath);
    plugin.set('GetPluginInfo', { answer: { serialize: () => Uint8Array.of(0x0a, 0xff, 0xff) } });
    expect(await refusalOf(newClient().getPluginInfo())).to.include({ code: 'CSI_ERROR', final: false });
  });

  it('a path that is relative or too long is refused before anything is opened', () => {
    const refusals = {
      'csi.sock': 'SOCKET_PATH_RELATIVE',
      [`/${'x'.repeat(107)}`]: 'SOCKET_PATH_TOO_LONG',
      '/a\0b': 'INVALID_ARGUMENT',
    };
    for (const [bad, code] of Object.entries(refusals)) {
      expect(() => new CsiClient({ socketPath: bad }))
        .to.throw(StagecraftError)
        .with.property('code', code);
    }
  });
});

describe('csi client: time limits and giving up', () => {
  isolated();

  it('a silent plugin: the call ends at its deadline and says so', async () => {
    (await FakePlugin.listen(socketPath)).set('Probe', 'hang');
    const failure = await refusalOf(newClient({ timeoutMs: 50 }).probe());
    expect(failure).to.include({ grpcCode: 'DEADLINE_EXCEEDED', final: false });
    expect(failure.message).to.equal(`Probe: no answer at ${socketPath} within 50 ms: does the plugin hang?`);
  });

  it('I10 a socket that accepts and says nothing at all is silent too', async () => {
    const accepted: Socket[] = [];
    const mute = createServer((socket) => accepted.push(socket)).listen(socketPath);
    await once(mute, 'listening');
    expect((await refusalOf(newClient({ timeoutMs: 50 }).probe())).message).to.contain('no answer at');
    for (const socket of accepted) socket.destroy();
    mute.close();
    await once(mute, 'close');
  });

  it('calls to the Node service get at least 60 s, others 30 s, unless told otherwise', async () => {
    const { timeoutsMs, ...plugin } = await FakePlugin.listen(socketPath);
    const client = newClient();
    await client.probe();
    await client.nodeGetInfo();
    expect(timeoutsMs.Probe).to.be.within(20_000, 30_000);
    expect(timeoutsMs.NodeGetInfo).to.be.within(50_000, 60_000);
    await client.nodeGetInfo({ timeoutMs: 7_000 });
    expect(timeoutsMs.NodeGetInfo).to.be.within(1, 7_000);
    expect(plugin.calls).to.deep.equal(['Probe', 'NodeGetInfo', 'NodeGetInfo']);
  });

  it('a time limit longer than timers take is the longest that they take', async () => {
    const plugin = (await FakePlugin.listen(socketPath)).set('Probe', 'hang');
    const arrived = plugin.arrival('Probe');
    const probe = newClient().probe({ timeoutMs: 1e12 });
    await arrived;
    expect(plugin.timeoutsMs.Probe).to.be.greaterThan(1_900_000_000);
    plugin.release('Probe', new csi.v1.ProbeResponse());
    expect(await probe).to.deep.equal({ ready: true });
  });

  it('a time limit of nothing is a mistake of the programmer', async () => {
    let thrown: unknown;
    await newClient()
      .probe({ timeoutMs: 0 })
      .catch((error: unknown) => {
        thrown = error;
      });
    expect(thrown).to.be.instanceOf(TypeError);
  });

  it('an aborted call ends at once with the reason and its code', async () => {
    const plugin = (await FakePlugin.listen(socketPath)).set('Probe', 'hang');
    const abort = new AbortController();
    const arrived = plugin.arrival('Probe');
    const failure = refusalOf(newClient().probe({ signal: abort.signal }));
    await arrived;
    abort.abort(new StagecraftError('TIMEOUT', 'the round is over'));
    expect(await failure).to.include({
      code: 'TIMEOUT',
      rpc: 'Probe',
      message: 'Probe was given up: the round is over',
    });
  });

  it('a signal that is aborted already makes no call', async () => {
    const plugin = await FakePlugin.listen(socketPath);
    const failure = await refusalOf(newClient().probe({ signal: AbortSignal.abort() }));
    expect(failure.code).to.equal('ABORTED');
    expect(plugin.calls).to.deep.equal([]);
  });

  describe('for a run of an effect', () => {
    let run: Run;
    beforeEach(() => {
      const live = { id: 'call', src: 'call', input: {}, seq: 1 };
      run = new Run({ address: 'volume/a', live, effect: undefined, recovered: false }, () => {});
    });
    const options = (): CallOptions => ({ onAbort: (callback) => run.onAbort(callback) });

    it('it is given up: the call ends at once with the reason and its code', async () => {
      const plugin = (await FakePlugin.listen(socketPath)).set('Probe', 'hang');
      const arrived = plugin.arrival('Probe');
      const failure = refusalOf(newClient().probe(options()));
      await arrived;
      run.abort(new StagecraftError('ABORTED', 'the state was left'));
      expect(await failure).to.include({ code: 'ABORTED', message: 'Probe was given up: the state was left' });
    });

    it('it was given up before: no call is made', async () => {
      const plugin = await FakePlugin.listen(socketPath);
      run.abort(new StagecraftError('ABORTED', 'the state was left'));
      const failure = await refusalOf(newClient().probe(options()));
      expect(failure).to.include({ code: 'ABORTED', message: 'Probe was given up: the state was left' });
      expect(plugin.calls).to.deep.equal([]);
    });
  });

  it('I11 closing ends calls in flight, and later ones are refused', async () => {
    const plugin = (await FakePlugin.listen(socketPath)).set('Probe', 'hang');
    const client = newClient();
    const arrived = plugin.arrival('Probe');
    const failures = [refusalOf(client.probe()), refusalOf(client.probe())];
    await arrived;
    client.close();
    client.close();
    for (const failure of [...(await Promise.all(failures)), await refusalOf(client.probe())]) {
      expect(failure).to.include({
        code: 'ABORTED',
        message: `Probe was given up: the client of ${socketPath} is closed`,
      });
    }
  });
});

describe('csi client: sockets that come and go', () => {
  isolated();

  it('I10 no socket: says so, and the next call works once there is one', async () => {
    const client = newClient();
    const failure = await refusalOf(client.probe());
    expect(failure).to.include({ code: 'CSI_ERROR', grpcCode: 'UNAVAILABLE', final: false });
    expect(failure.message).to.equal(`Probe: no socket at ${socketPath}: is the plugin running?`);
    await FakePlugin.listen(socketPath);
    expect(await client.probe()).to.deep.equal({ ready: true });
  });

  it('I10 a file that is no socket is told as such', async () => {
    writeFileSync(socketPath, '');
    expect((await refusalOf(newClient().probe())).message).to.contain('is not a socket');
  });

  it('I10 a stale socket: says that nobody listens', async () => {
    await (await FakePlugin.listen(socketPath)).kill();
    const failure = await refusalOf(newClient().probe());
    expect(failure).to.include({ grpcCode: 'UNAVAILABLE', final: false });
    expect(failure.message).to.contain(`stale socket at ${socketPath}`).and.contain('ECONNREFUSED');
  });

  it('I10 a replaced socket: the next answer comes from the new server, though the old one lives', async () => {
    const old = await FakePlugin.listen(socketPath, 'old');
    const client = newClient();
    expect(await nameAt(client)).to.equal('old');
    rmSync(socketPath);
    await FakePlugin.listen(socketPath, 'new');
    expect(await nameAt(client)).to.equal('new');
    expect(openChannels()).to.equal(1);
    expect(old.calls).to.have.length(1);
  });

  it('I10 a call in flight on a replaced socket still ends where it began', async () => {
    const old = (await FakePlugin.listen(socketPath, 'old')).set('Probe', 'hang');
    const client = newClient();
    const arrived = old.arrival('Probe');
    const probe = client.probe();
    await arrived;
    rmSync(socketPath);
    await FakePlugin.listen(socketPath, 'new');
    expect(await nameAt(client)).to.equal('new');
    old.release('Probe', new csi.v1.ProbeResponse());
    expect(await probe).to.deep.equal({ ready: true });
  });

  it('I10 a plugin that was killed and came back answers the very next call', async () => {
    const client = newClient();
    for (const name of ['first', 'second', 'third']) {
      const plugin = await FakePlugin.listen(socketPath, name);
      expect(await nameAt(client)).to.equal(name);
      await plugin.kill();
      rmSync(socketPath);
    }
  });

  it('I10 the same after calls have failed, without waiting for any backoff', async () => {
    const client = newClient();
    await (await FakePlugin.listen(socketPath)).kill();
    for (const _attempt of [1, 2, 3]) expect((await refusalOf(client.probe())).message).to.contain('stale');
    rmSync(socketPath);
    await FakePlugin.listen(socketPath, 'back');
    expect(await nameAt(client)).to.equal('back');
  });

  it('I10 a plugin killed in a call: the call fails as of unknown outcome', async () => {
    const plugin = (await FakePlugin.listen(socketPath)).set('Probe', 'hang');
    const arrived = plugin.arrival('Probe');
    const failure = refusalOf(newClient().probe());
    await arrived;
    await plugin.kill();
    expect(await failure).to.include({ code: 'CSI_ERROR', final: false });
  });

  it('I10 a lost connection is told at once, without a call, until asked no more', async () => {
    const client = newClient();
    const plugin = await FakePlugin.listen(socketPath);
    await client.probe();
    let stopListening = (): void => {};
    const lost = new Promise<void>((resolve) => {
      stopListening = client.onDisconnect(resolve);
    });
    await plugin.kill();
    await lost;
    stopListening();
  });
});

describe('csi client: channels', () => {
  isolated();

  it('I12 the two halves of a monolith share one channel, which closes with the last', async () => {
    await FakePlugin.listen(socketPath);
    const [node, controller] = [newClient(), newClient()];
    expect(openChannels()).to.equal(0);
    await Promise.all([node.probe(), controller.probe()]);
    expect(openChannels()).to.equal(1);
    node.close();
    expect(openChannels()).to.equal(1);
    expect(await controller.probe()).to.deep.equal({ ready: true });
    controller.close();
    expect(openChannels()).to.equal(0);
  });

  it('I12 both halves move to the new channel when the socket was replaced', async () => {
    await FakePlugin.listen(socketPath, 'old');
    const halves = [newClient(), newClient()];
    expect(await Promise.all(halves.map(nameAt))).to.deep.equal(['old', 'old']);
    rmSync(socketPath);
    await FakePlugin.listen(socketPath, 'new');
    expect(await Promise.all(halves.map(nameAt))).to.deep.equal(['new', 'new']);
    expect(openChannels()).to.equal(1);
  });

  it('I12 a newcomer gets no channel that already failed to connect', async () => {
    await (await FakePlugin.listen(socketPath)).kill();
    const [one, other] = [newClient(), newClient()];
    await refusalOf(one.probe());
    expect((await refusalOf(other.probe())).message).to.contain('stale');
    expect(openChannels()).to.equal(1);
  });

  it('I12 plugins on different sockets have a channel each', async () => {
    const otherPath = join(folder, 'other.sock');
    await FakePlugin.listen(socketPath, 'one');
    await FakePlugin.listen(otherPath, 'other');
    const names = await Promise.all([nameAt(newClient()), nameAt(newClient({ socketPath: otherPath }))]);
    expect(names).to.deep.equal(['one', 'other']);
    expect(openChannels()).to.equal(2);
  });
});
