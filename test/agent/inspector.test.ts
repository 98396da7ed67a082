/** The agent opens its page: at the address of its configuration, at another port if that is taken, or not at all. */

import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { openInspector } from '../../src/agent/open-inspector.js';
import { VolumeHouse } from '../volumes/volume-house.js';

describe('the page of an agent', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });
  afterEach(() => house.dispose());

  it('X2, 34 another process has the port: a free one is taken, and a line says so', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const lines: string[] = [];
    const inspector = await openInspector(house.runtime, { listen: `127.0.0.1:${port}` }, (line) => lines.push(line));
    expect(lines.join()).to.contain(`another program listens at 127.0.0.1:${port}`);
    expect(new URL(inspector?.url ?? '').port).not.to.equal(String(port));
    await inspector?.close();
    other.close();
  });

  it('X6, 34.12 another process has the port: it may know the token, so the page gets another one', async () => {
    const open = async (listen: string): Promise<string> => {
      const inspector = await openInspector(house.runtime, { listen }, (line) => lines.push(line));
      await inspector?.close();
      return inspector?.token ?? '';
    };
    const lines: string[] = [];
    const known = await open('127.0.0.1:0');
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const next = await open(`127.0.0.1:${port}`);
    other.close();
    expect(lines.join('\n')).to.include('a new token');
    const last = await open(`127.0.0.1:${port}`);
    expect(new Set([known, next, last])).to.have.property('size', 3);
    expect(await open(`127.0.0.1:${port}`)).to.equal(last);
  });

  it('X6, 34.12 the token stays over a restart, in a file of the agent alone', async () => {
    const open = async (): Promise<string> => {
      const inspector = await openInspector(house.runtime, { listen: '127.0.0.1:0' }, () => {});
      await inspector?.close();
      return inspector?.token ?? '';
    };
    const token = await open();
    expect(await open()).to.equal(token);
    const file = join(house.runtime.dataDir, 'page-token');
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    for (const damage of ['', 'short', 'not a token, but a sentence']) {
      writeFileSync(file, damage);
      const next = await open();
      expect(next, damage).not.to.equal(token);
      expect(readFileSync(file, 'utf8').trim(), damage).to.equal(next);
    }
  });

  it('X2 turned off: nothing listens', async () => {
    expect(await openInspector(house.runtime, { listen: false }, () => {})).to.equal(undefined);
  });

  it('X2 an address that this host does not have: says so, and the agent runs on', async () => {
    const lines: string[] = [];
    const listen = 'localhost:99999';
    expect(await openInspector(house.runtime, { listen }, (line) => lines.push(line))).to.equal(undefined);
    expect(lines.join()).to.contain(listen);
  });
});
