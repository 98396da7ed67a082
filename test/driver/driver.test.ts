/** The bundled driver, over a real socket: what it answers, and how it takes and leaves its socket. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openChannels } from '../../src/csi/channel.js';
import { CsiClient } from '../../src/csi/client.js';
import { csiDispensers } from '../../src/csi-plugins/dispenser.js';
import { StagecraftError } from '../../src/errors.js';
import { checkSocketPath, maxSocketPathBytes } from '../../src/host/socket-path.js';
import { type ServedDriverOptions, startDriver } from '../../src/tools/driver/driver.js';
import { driverName } from '../../src/tools/driver/identity.js';
import type { Serving } from '../../src/tools/driver/serve.js';
import { listen } from '../../src/tools/driver/socket.js';
import { FakePlugin, stopFakePlugins } from '../csi/fake-plugin.js';
import { refusalOf } from '../refusal.js';

let folder: string;
let socketPath: string;
let drivers: Serving[];
let client: CsiClient;

/** Each test in a folder of its own, where it leaves nothing open. */
function isolated(): void {
  let umask: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'driver-'));
    socketPath = join(folder, 'csi.sock');
    drivers = [];
    client = new CsiClient({ socketPath });
    umask = process.umask();
  });

  afterEach(async () => {
    client.close();
    await Promise.all(drivers.map((driver) => driver.stop()));
    await stopFakePlugins();
    rmSync(folder, { recursive: true });
    expect(openChannels()).to.equal(0);
    expect(process.umask()).to.equal(umask);
  });
}

async function start(options: Partial<ServedDriverOptions> = {}): Promise<Serving> {
  const driver = await startDriver({
    endpoint: `unix://${socketPath}`,
    nodeId: 'node-1',
    dataDir: join(folder, 'data'),
    ...options,
  });
  drivers.push(driver);
  return driver;
}

describe('bundled driver: answers', () => {
  isolated();

  it('says who it is, where, and that it is ready', async () => {
    await start({ vendorVersion: '9.9' });
    const manifest = { 'stagecraft.scope': 'host' };
    expect(await client.getPluginInfo()).to.deep.equal({ name: driverName, vendorVersion: '9.9', manifest });
    expect(await client.getPluginCapabilities()).to.deep.equal([
      'CONTROLLER_SERVICE',
      'GROUP_CONTROLLER_SERVICE',
      'VOLUME_ACCESSIBILITY_CONSTRAINTS',
      'VOLUME_EXPANSION_ONLINE',
    ]);
    expect(await client.probe()).to.deep.equal({ ready: true });
    expect(await client.nodeGetInfo()).to.include({ nodeId: 'node-1', maxVolumesPerNode: 0 });
  });

  it('has the version of the package, unless told another', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    await start();
    expect((await client.getPluginInfo()).vendorVersion).to.equal(version);
  });

  it('answers UNIMPLEMENTED to what it does not offer', async () => {
    await start();
    const publish = client.controllerPublishVolume({ volumeId: 'a', nodeId: 'b' });
    expect(await refusalOf(publish)).to.include({ grpcCode: 'UNIMPLEMENTED', final: true });
  });

  for (const type of ['csi-node', 'csi-controller'] as const) {
    it(`I1 is a healthy ${type} plugin`, async () => {
      await start();
      const info = { type, name: 'hostpath', allocId: 'a-1', connection: { socketPath } };
      const seen = await csiDispensers()[type].fingerprint(client, { info, signal: new AbortController().signal });
      expect(seen).to.include({ healthy: true, description: 'ready' });
    });
  }

  for (const nodeId of ['', 'n'.repeat(257), 'constructor', 'a\n']) {
    it(`refuses a node id of ${nodeId.length} bytes: ${JSON.stringify(nodeId.slice(0, 20))}`, async () => {
      expect((await refusalOf(start({ nodeId }))).code).to.equal('INVALID_ARGUMENT');
    });
  }
});

describe('bundled driver: its socket', () => {
  isolated();

  for (const prefix of ['unix://', 'unix:', '']) {
    it(`listens at "${prefix}" and an absolute path`, async () => {
      await start({ endpoint: `${prefix}${socketPath}` });
      expect(await client.probe()).to.deep.equal({ ready: true });
    });
  }

  for (const endpoint of ['csi.sock', 'unix:csi.sock', 'unix://csi.sock', 'tcp://127.0.0.1:1', '']) {
    it(`refuses the endpoint "${endpoint}"`, async () => {
      expect((await refusalOf(start({ endpoint }))).code).to.equal('INVALID_ARGUMENT');
    });
  }

  it('refuses a path that the kernel would cut, and says what to do', async () => {
    const refusal = await refusalOf(start({ endpoint: `unix:///${'x'.repeat(maxSocketPathBytes)}` }));
    expect(refusal.code).to.equal('SOCKET_PATH_TOO_LONG');
    expect(refusal.message).to.contain('108 bytes').and.contain('shorter directory');
  });

  it('takes a path of 107 bytes, counted as bytes', () => {
    expect(() => checkSocketPath(`/${'x'.repeat(106)}`)).not.to.throw();
    expect(() => checkSocketPath(`/${'é'.repeat(54)}`)).to.throw(StagecraftError);
  });

  it('only its owner can connect', async () => {
    await start();
    expect(statSync(socketPath).mode & 0o777).to.equal(0o600);
  });

  it('takes the socket of a driver that died', async () => {
    await (await FakePlugin.listen(socketPath)).kill();
    await start();
    expect(await client.probe()).to.deep.equal({ ready: true });
  });

  it('leaves a socket alone where somebody answers', async () => {
    await FakePlugin.listen(socketPath, 'first');
    const refusal = await refusalOf(start());
    expect(refusal.code).to.equal('SOCKET_IN_USE');
    expect(refusal.message).to.contain(socketPath).and.contain('somebody answers there');
    expect((await client.getPluginInfo()).name).to.equal('first');
  });

  it('of two that start at once, one gets the socket and answers, and the umask is as before', async () => {
    const results = await Promise.allSettled([start({ nodeId: 'a' }), start({ nodeId: 'b' })]);
    expect(results.map(({ status }) => status)).to.have.members(['fulfilled', 'rejected']);
    expect(await client.probe()).to.deep.equal({ ready: true });
  });

  it('of two that find a dead socket at once, one gets it, and can be reached', async () => {
    await (await FakePlugin.listen(socketPath)).kill();
    const results = await Promise.allSettled([listen(socketPath), listen(socketPath)]);
    try {
      expect(results.map(({ status }) => status)).to.have.members(['fulfilled', 'rejected']);
      const connection = connect(socketPath);
      await once(connection, 'connect');
      connection.destroy();
    } finally {
      for (const result of results) if (result.status === 'fulfilled') result.value.close();
    }
  });

  it('stopped, it leaves the socket of who came in its place', async () => {
    const first = await start();
    rmSync(socketPath);
    await start({ dataDir: join(folder, 'other') });
    await first.stop();
    expect(await client.probe()).to.deep.equal({ ready: true });
  });

  it('leaves a file alone that is not a socket', async () => {
    writeFileSync(socketPath, 'precious');
    expect((await refusalOf(start())).code).to.equal('SOCKET_IN_USE');
    expect(readFileSync(socketPath, 'utf8')).to.equal('precious');
  });

  it('leaves a symbolic link alone', async () => {
    symlinkSync(join(folder, 'elsewhere'), socketPath);
    expect((await refusalOf(start())).code).to.equal('SOCKET_IN_USE');
  });

  it('refuses a directory that is not there', async () => {
    const refusal = await refusalOf(start({ endpoint: join(folder, 'nowhere', 'csi.sock') }));
    expect(refusal.code).to.equal('INVALID_ARGUMENT');
    expect(refusal.message).to.contain('is there such a directory');
  });

  it('stops also while somebody is connected who never reads', async () => {
    const driver = await start({ stopGraceMs: 20 });
    const mute = connect(socketPath);
    const closed = once(mute, 'close');
    await once(mute, 'connect');
    await driver.stop();
    mute.resume(); // else the end stays unread
    await closed;
  });

  it('stopped, it leaves no socket and can be started again; a second stop is the first', async () => {
    const driver = await start();
    await client.probe();
    await Promise.all([driver.stop(), driver.stop()]);
    expect(existsSync(socketPath)).to.equal(false);
    expect((await refusalOf(client.probe())).message).to.contain('no socket at');
    await start();
    expect(await client.probe()).to.deep.equal({ ready: true });
  });
});
