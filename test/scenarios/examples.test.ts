/** The examples in files of their own, run as their users would, and shown by the documents as they are. */
import { execFile } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Dispenser } from '../../src/registry/dispenser.js';
import { until } from '../until.js';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const page = readFileSync(join(docs, 'kinds-of-plugins.md'), 'utf8');

const kindPath = join(docs, 'examples', 'device', 'kind.mjs');

interface DeviceClient {
  ask(what: string, options?: { signal?: AbortSignal }): Promise<unknown>;
}

describe('the example of a kind of plugin', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-example-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('R15 a kind of its own: found healthy and used, seen to die and to come back; nothing is left of it', async () => {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [join(docs, 'examples', 'device', 'main.mjs')],
      { env: { ...process.env, TMPDIR: directory }, timeout: 25_000 },
    );
    expect(stderr).to.equal('');
    const [found = '', told = ''] = stdout.split('registered\n');
    expect(found.replace(/\s+/g, ' ')).to.equal(
      "healthy { pluginName: 'acme thermometer', vendorVersion: '1.4.0', capabilities: [ 'READ', 'CALIBRATE' ] } { celsius: 21.5 } ",
    );
    // Whether its daemon listens when it is first looked at is chance.
    expect(told).to.match(
      /^(?:unknown → healthy: ready\n|unknown → unhealthy: failed initial .*\nunhealthy → healthy: ready\n)healthy → unhealthy: .+\nunhealthy → healthy: ready\n\{ celsius: 21\.5 \}\n$/,
    );
    expect(readdirSync(directory)).to.deep.equal([]);
    const runs = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(directory));
    expect(runs).to.deep.equal([]);
  });

  it('R15 its daemon hangs: what is asked of it ends with its signal, and the next question begins anew', async () => {
    const { device }: { device: Dispenser<DeviceClient> } = await import(kindPath);
    const socketPath = join(directory, 'mute.sock');
    const connections: Socket[] = [];
    let isMute = true;
    const daemon = createServer((connection) => {
      connections.push(connection);
      connection.on('data', () => !isMute && connection.write('{"ready":true}\n'));
      connection.on('error', () => {});
    }).listen(socketPath);
    const client = device.connect({ type: 'device', name: 'd', allocId: 'a', connection: { socketPath } });
    try {
      await once(daemon, 'listening');
      for (const made of [1, 2]) {
        const limit = new AbortController();
        const asked = client.ask('status', { signal: limit.signal }).catch(({ message }: Error) => message);
        await until(() => connections.length === made);
        limit.abort(new Error('no answer'));
        expect(await asked).to.equal('no answer');
        await until(() => connections.every(({ destroyed }) => destroyed));
      }
      isMute = false;
      const { signal } = new AbortController();
      expect(await client.ask('status', { signal })).to.deep.equal({ ready: true });
      expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
    } finally {
      await device.close(client, { signal: new AbortController().signal });
      daemon.close();
    }
  });

  for (const file of readdirSync(join(docs, 'examples', 'device'))) {
    it(`R15 docs/kinds-of-plugins.md shows ${file} as it is`, () => {
      const [, block] = new RegExp(`\\]\\(examples/device/${file}\\)\n\n\`\`\`js\n(.*?)\`\`\``, 's').exec(page) ?? [];
      expect(block).to.equal(readFileSync(join(docs, 'examples', 'device', file), 'utf8'));
    });
  }
});

/** Empty where the process has gone meanwhile. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
