import { once } from 'node:events';
import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { bindPrivately } from '../../src/host/bind-privately.js';

describe('sockets for their owner only', () => {
  let folder: string;
  let umask: number;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'stagecraft-bind-'));
    umask = process.umask(0);
  });
  afterEach(() => {
    process.umask(umask);
    rmSync(folder, { recursive: true });
  });

  it('the socket is closed to others as soon as it is there, under any umask, and that stays as it was', async () => {
    const server = createServer();
    const path = join(folder, 'a.sock');
    bindPrivately(server, path);
    expect(lstatSync(path).mode & 0o777).to.equal(0o600);
    expect(process.umask()).to.equal(0);
    await once(server, 'listening');
    server.close();
  });

  it('where nothing can listen the umask stays as it was, and the server tells of it', async () => {
    const server = createServer();
    bindPrivately(server, join(folder, 'nowhere', 'a.sock'));
    expect(process.umask()).to.equal(0);
    const [error] = await once(server, 'error');
    expect(error).to.have.property('code', 'EACCES');
  });
});
