/** The agent opens its page: at the address of its configuration, at another port if that is taken, or not at all. */

import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { openInspector } from '../../src/agent/open-inspector.js';
import { VolumeHouse } from '../volumes/volume-house.js';

describe('the page of an agent', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });
  afterEach(() => house.dispose());

  it('X2 another process has the port: a free one is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const inspector = await openInspector(house.runtime, { listen: `127.0.0.1:${port}` }, () => {});
    expect(new URL(inspector?.url ?? '').port).not.to.equal(String(port));
    await inspector?.close();
    other.close();
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
