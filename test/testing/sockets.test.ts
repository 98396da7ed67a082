/** Where a fault driver listens: on paths as long as the kernel takes them, and never in another's place. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { CsiClient } from '../../src/csi/client.js';
import { maxSocketPathBytes } from '../../src/host/socket-path.js';
import { type FaultyServer, serveFaulty } from '../../src/testing/index.js';
import { refusalOf } from '../refusal.js';
import { inScenes } from './scene.js';

describe('fault driver: its sockets', () => {
  const scenes = inScenes();
  let servers: FaultyServer[];

  beforeEach(() => {
    servers = [];
  });
  afterEach(async () => {
    for (const server of servers) await server.stop();
  });

  /** A path of so many bytes that is in a directory of its own. */
  function pathOf(bytes: number, name: string): string {
    const { folder } = scenes.scene;
    const directory = 'd'.repeat(bytes - folder.length - name.length - 2);
    mkdirSync(join(folder, directory));
    return join(folder, directory, name);
  }

  async function serve(socketPath: string): Promise<FaultyServer> {
    const { folder } = scenes.scene;
    const dataDir = join(folder, `data-${servers.length}`);
    const server = await serveFaulty({ socketPath, nodeId: `node-${servers.length}`, dataDir });
    servers.push(server);
    return server;
  }

  async function nodeAt(socketPath: string): Promise<string> {
    const client = new CsiClient({ socketPath });
    try {
      return (await client.nodeGetInfo()).nodeId;
    } finally {
      client.close();
    }
  }

  it('a path of as many bytes as the kernel takes: it is served, replaced, and left empty', async () => {
    const path = pathOf(maxSocketPathBytes, 'c.sck');
    const server = await serve(path);
    expect(await nodeAt(path)).to.equal('node-0');
    await server.replaceSocket();
    expect(await nodeAt(path)).to.equal('node-0');
    await server.stop();
    expect(readdirSync(dirname(path))).to.deep.equal([]);
  });

  it('a path beside which no name fits: refused before anything is made', async () => {
    const path = pathOf(maxSocketPathBytes, 's');
    expect((await refusalOf(serve(path))).code).to.equal('SOCKET_PATH_TOO_LONG');
    expect(readdirSync(dirname(path))).to.deep.equal([]);
  });

  it('closed after another took its path: that is still there, and answers', async () => {
    const { scene } = scenes;
    const server = await serve(scene.socketPath);
    await scene.driver({ nodeId: 'taker', takesOver: true });
    await server.stop();
    expect(existsSync(scene.socketPath)).to.equal(true);
    expect(await nodeAt(scene.socketPath)).to.equal('taker');
  });

  it('a path where somebody answers: refused, and nothing is left beside it', async () => {
    const path = pathOf(90, 'csi.sock');
    await serve(path);
    expect((await refusalOf(serve(path))).code).to.equal('SOCKET_IN_USE');
    expect(readdirSync(dirname(path))).to.deep.equal(['csi.sock']);
  });
});
