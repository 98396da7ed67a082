/**
 * Sockets of real drivers as they come, go, fall silent and change hands: what is said of each, and that a look follows
 * what happens, not a timer. With real processes where a process is what dies or stands still.
 */
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { openChannels } from '../../src/csi/channel.js';
import { serveFaulty } from '../../src/testing/index.js';
import { impatient, inRealScenes, often, onlyIfStirred } from './real-scene.js';

describe('instances of real drivers: sockets, looked at only when something happens', () => {
  const scenes = inRealScenes(onlyIfStirred);

  it('I10 missing: said so, and healthy as soon as the socket comes', async () => {
    const { scene } = scenes;
    await scene.register();
    await scene.seenUnhealthy(new RegExp(`no socket at ${scene.socketPath}: is the plugin running\\?$`));
    await scene.server();
    await scene.seenHealthy();
  });

  it('I10 missing with its directory: healthy as soon as both have come', async () => {
    const { scene } = scenes;
    const socketPath = join(scene.folder, 'drivers', 'disk', 'csi.sock');
    await scene.runtime.plugins.register(scene.instance('csi-node', { connection: { socketPath } }));
    await scene.seenUnhealthy(/no socket at/);
    mkdirSync(dirname(socketPath), { recursive: true });
    const dataDir = join(scene.folder, 'own');
    const server = await serveFaulty({ socketPath, nodeId: 'node-1', dataDir, mounts: 'memory' });
    scene.finally(() => server.stop());
    await scene.seenHealthy();
  });

  it('I10 taken away while its driver lives on: unhealthy at once; put back: healthy at once', async () => {
    const { scene } = scenes;
    await scene.server();
    await scene.register();
    await scene.seenHealthy();
    renameSync(scene.socketPath, `${scene.socketPath}.away`);
    await scene.seenUnhealthy(/no socket at /);
    renameSync(`${scene.socketPath}.away`, scene.socketPath);
    await scene.seenHealthy();
  });

  it('I10, 34 below /tmp of another user: not called, and said why', async () => {
    const { scene } = scenes;
    const shared = join(scene.folder, 'tmp');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    const socketPath = join(shared, 'csi.sock');
    const dataDir = join(scene.folder, 'own');
    const server = await serveFaulty({ socketPath, nodeId: 'node-1', dataDir, mounts: 'memory' });
    scene.finally(() => server.stop());
    chownSync(socketPath, 12_345, 12_345);
    await scene.runtime.plugins.register(scene.instance('csi-node', { connection: { socketPath } }));
    await scene.seenUnhealthy(new RegExp(`it is not called: every user can write ${shared}`));
    expect(openChannels()).to.equal(0);
  });

  it('I10 a file that is no socket: said so', async () => {
    const { scene } = scenes;
    writeFileSync(scene.socketPath, '');
    await scene.register();
    await scene.seenUnhealthy(/csi\.sock is not a socket: is this the plugin's path\?$/);
    rmSync(scene.socketPath);
    await scene.seenUnhealthy(/no socket at/);
  });

  it('I10 killed: unhealthy at once, with the reason; started again: healthy at once, and identified again', async () => {
    const { scene } = scenes;
    const driver = await scene.driver({ vendorVersion: '1.0.0' });
    await scene.register();
    await scene.seenHealthy();
    await driver.kill();
    await scene.seenUnhealthy(/^GetPluginInfo: stale socket at .*ECONNREFUSED/);
    const asked = (): number => driver.calls().filter(({ rpc }) => rpc === 'GetPluginInfo').length;
    const before = asked();
    await driver.start();
    await scene.seenHealthy();
    expect(asked()).to.be.greaterThan(before);
  });

  it('I8 I10 another process replaces the socket while the first lives: the new one counts', async () => {
    const { scene } = scenes;
    const first = await scene.driver();
    await scene.register();
    expect((await scene.seenHealthy()).fingerprint.nodeId).to.equal('node-1');
    const second = await scene.driver({ takesOver: true });
    await scene.seen(({ fingerprint }) => fingerprint.nodeId === 'node-2');
    expect((await scene.told(2, ({ kind }) => kind === 'node-info')).at(-1)).to.contain('node-2');
    expect(openChannels()).to.equal(1);
    const before = first.calls().length;
    await first.stop();
    second.script('Probe', { code: 'INTERNAL', text: 'the second says so' }, { times: 'always' });
    await second.replaceSocket();
    await scene.seenUnhealthy(/the second says so/);
    expect(first.calls()).to.have.lengthOf(before);
  });

  it('I9 I10 each is told, once', async () => {
    const { scene } = scenes;
    const server = await scene.server();
    await scene.register();
    await scene.seenHealthy();
    await server.stop();
    await scene.seenUnhealthy(/no socket at/);
    await scene.server();
    await scene.seenHealthy();
    expect((await scene.told(4)).map((event) => event.replace(/: .*no socket.*/, ': no socket'))).to.deep.equal([
      'registered a1',
      'a1 unknown → true: ready',
      'a1 healthy → false: no socket',
      'a1 unhealthy → true: ready',
    ]);
  });
});

describe('instances of real drivers: sockets that change where nothing tells of it', () => {
  const scenes = inRealScenes(often);

  it('I8 I10 a link above the directory is turned to another driver: asked anew who it is', async () => {
    const { scene } = scenes;
    const link = join(scene.folder, 'current');
    for (const version of ['v1', 'v2']) {
      mkdirSync(join(scene.folder, version, 'run'), { recursive: true });
      await scene.server({}, { socketPath: join(scene.folder, version, 'run', 'csi.sock') });
    }
    symlinkSync('v1', link);
    const connection = { socketPath: join(link, 'run', 'csi.sock') };
    await scene.runtime.plugins.register(scene.instance('csi-node', { connection }));
    expect((await scene.seenHealthy()).fingerprint.nodeId).to.equal('node-1');
    symlinkSync('v2', `${link}.new`);
    renameSync(`${link}.new`, link);
    await scene.seen(({ fingerprint }) => fingerprint.nodeId === 'node-2');
    expect((await scene.told(2, ({ kind }) => kind === 'node-info')).at(-1)).to.contain('node-2');
  });
});

describe('instances of real drivers: sockets without an answer', () => {
  const scenes = inRealScenes(impatient);

  it('I1 a round without an answer ends within its limit, its call is cancelled, and the next one is asked', async () => {
    const { scene } = scenes;
    const server = await scene.server();
    await scene.register();
    await scene.seenHealthy();
    server.script('Probe', { hang: 'before' }, { times: 'always' });
    await scene.seenUnhealthy(/^no answer within 300 ms$/);
    server.clear();
    const hung = server.calls().find(({ step }) => step !== undefined);
    expect((await server.waitForGone(hung?.number ?? 0)).end?.how).to.not.equal('answered');
    await scene.seenHealthy();
  });

  it('I10 a socket that accepts and stays silent: unhealthy after the time-out; with a driver: healthy', async () => {
    const { scene } = scenes;
    const accepted: Socket[] = [];
    const mute = createServer((socket) => accepted.push(socket)).listen(scene.socketPath);
    scene.finally(() => {
      mute.close();
      // A channel that is closed while it connects leaves its end open.
      for (const socket of accepted) socket.destroy();
    });
    await once(mute, 'listening');
    await scene.register();
    await scene.seenUnhealthy(/^failed initial fingerprint: no answer within 300 ms$/);
    rmSync(scene.socketPath);
    await scene.seenUnhealthy(/no socket at/);
    await scene.server();
    await scene.seenHealthy();
  });

  it('I10 a process that stands still (SIGSTOP): unhealthy after its time, healthy when it goes on', async () => {
    const { scene } = scenes;
    const driver = await scene.driver();
    await scene.register();
    await scene.seenHealthy();
    await driver.freeze();
    await scene.seenUnhealthy(/^no answer within 300 ms$/);
    driver.thaw();
    await scene.seenHealthy();
    expect(openChannels()).to.equal(1);
  });
});
