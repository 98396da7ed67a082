/** CsiClient against plugins that are real processes: stopped, going on, killed in a call, replaced, two at one path. */
import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { openChannels } from '../../src/csi/channel.js';
import type { CsiClient } from '../../src/csi/client.js';
import { refusalOf } from '../refusal.js';
import { PluginProcess } from './plugin-process.js';
import { awaited, Served } from './served.js';

const nameAt = async (client: CsiClient): Promise<string> => (await client.getPluginInfo()).name;

describe('csi transport: real plugins', () => {
  let served: Served;
  let client: CsiClient;
  let plugins: PluginProcess[];

  beforeEach(() => {
    served = new Served();
    client = served.client();
    plugins = [];
  });

  afterEach(async () => {
    await Promise.all(plugins.map((plugin) => plugin.kill()));
    served.end();
  });

  async function start(name: string): Promise<PluginProcess> {
    const plugin = await PluginProcess.start(served.socketPath, name);
    plugins.push(plugin);
    return plugin;
  }

  it('stopped: a call ends at its deadline; going on: one in flight is answered, on the same connection', async () => {
    const plugin = await start('one');
    let losses = 0;
    client.onDisconnect(() => {
      losses += 1;
    });
    expect(await nameAt(client)).to.equal('one');
    plugin.freeze();
    const patient = client.createVolume({ name: 'data' });
    const failure = await refusalOf(client.probe({ timeoutMs: 100 }));
    expect(failure).to.include({ grpcCode: 'DEADLINE_EXCEEDED', answerClass: 'unknown', final: false });
    expect(failure.message).to.contain('does the plugin hang?');
    plugin.thaw();
    expect((await patient).volume?.volumeId).to.equal('one/data');
    expect(await client.probe()).to.deep.equal({ ready: true });
    expect([losses, openChannels()]).to.deep.equal([0, 1]);
  });

  it('stopped before the first call: that ends at its deadline, and going on it answers', async () => {
    const plugin = await start('one');
    plugin.freeze();
    expect(await refusalOf(client.probe({ timeoutMs: 100 }))).to.include({ grpcCode: 'DEADLINE_EXCEEDED' });
    const patient = client.createVolume({ name: 'data' });
    plugin.thaw();
    expect((await patient).volume?.volumeId).to.equal('one/data');
  });

  it('stopped: a call can be given up', async () => {
    const plugin = await start('one');
    await client.probe();
    plugin.freeze();
    const abort = new AbortController();
    const failures = [refusalOf(client.probe({ signal: abort.signal })), refusalOf(client.nodeGetInfo())];
    abort.abort();
    expect(await failures[0]).to.include({ code: 'ABORTED' });
    client.close();
    expect((await failures[1])?.message).to.contain('is closed');
  });

  it('stopped in a stream, going on, the stream does too', async () => {
    const plugin = await start('one');
    const stream = client.getMetadataAllocated({});
    let next = 0n;
    const readUntil = async (end: bigint): Promise<void> => {
      for (; next < end; next += 1n) {
        const { value } = await stream.next();
        expect(value?.blockMetadata[0]?.byteOffset).to.equal(next);
      }
    };
    await readUntil(10n);
    plugin.freeze();
    const rest = readUntil(3_000n);
    expect(await refusalOf(client.probe({ timeoutMs: 100 }))).to.include({ grpcCode: 'DEADLINE_EXCEEDED' });
    plugin.thaw();
    await rest;
    await stream.return();
  });

  it('killed during a call: outcome unknown, the loss is reported, and the next call finds nobody listening', async () => {
    const plugin = await start('one');
    const lost = awaited();
    client.onDisconnect(lost.resolve);
    const failure = refusalOf(client.createVolume({ name: 'hang' }));
    await plugin.says('hanging');
    await plugin.kill();
    expect(await failure).to.include({ code: 'CSI_ERROR', grpcCode: 'UNAVAILABLE', answerClass: 'unknown' });
    await lost.promise;
    const next = await refusalOf(client.probe());
    expect(next.message).to.contain('stale socket').and.contain('start it again');
  });

  it('killed while stopped: the call is of unknown outcome at once', async () => {
    const plugin = await start('one');
    await client.probe();
    plugin.freeze();
    const failure = refusalOf(client.createVolume({ name: 'data' }));
    await plugin.kill();
    expect(await failure).to.include({ code: 'CSI_ERROR', grpcCode: 'UNAVAILABLE', answerClass: 'unknown' });
  });

  it('killed in a stream: what came before stays, then it is of unknown outcome', async () => {
    const plugin = await start('one');
    const stream = client.getMetadataAllocated({});
    expect((await stream.next()).done).to.equal(false);
    await plugin.kill();
    const drain = async (): Promise<void> => {
      for await (const _ of stream);
    };
    expect(await refusalOf(drain())).to.include({ grpcCode: 'UNAVAILABLE', answerClass: 'unknown' });
  });

  it('killed and started again: the very next call is answered, again and again', async () => {
    for (const name of ['one', 'two', 'three']) {
      const plugin = await start(name);
      expect(await nameAt(client)).to.equal(name);
      await plugin.kill();
      expect(await refusalOf(client.probe())).to.include({ grpcCode: 'UNAVAILABLE' });
    }
    expect(openChannels()).to.equal(1);
  });

  it('a second one takes over the live socket: new calls go there, one in flight stays with the first', async () => {
    const first = await start('first');
    const inFlight = refusalOf(client.createVolume({ name: 'hang' }));
    await first.says('hanging');
    await start('second');
    expect(await nameAt(client)).to.equal('second');
    expect((await client.createVolume({ name: 'data' })).volume?.volumeId).to.equal('second/data');
    await first.kill();
    const failure = await inFlight;
    expect(failure).to.include({ grpcCode: 'UNAVAILABLE', answerClass: 'unknown' });
    expect(failure.message).to.contain('was replaced during the call');
    expect(await nameAt(client)).to.equal('second');
  });

  it('a second one takes over from one that is stopped: new calls go there at once', async () => {
    const first = await start('first');
    expect(await nameAt(client)).to.equal('first');
    first.freeze();
    await start('second');
    expect(await nameAt(client)).to.equal('second');
  });

  it('two clients of one socket both move when it was replaced, and both hear when the new one ends', async () => {
    await start('first');
    const other = served.client();
    const losses = [awaited(), awaited()];
    expect([await nameAt(client), await nameAt(other)]).to.deep.equal(['first', 'first']);
    const second = await start('second');
    expect([await nameAt(client), await nameAt(other)]).to.deep.equal(['second', 'second']);
    client.onDisconnect(losses[0]?.resolve ?? (() => {}));
    other.onDisconnect(losses[1]?.resolve ?? (() => {}));
    await second.kill();
    await Promise.all(losses.map(({ promise }) => promise));
  });

  it('one that is idle hears that the plugin was replaced as soon as another client has found it', async () => {
    await start('first');
    const idle = served.client();
    await idle.probe();
    await client.probe();
    const lost = awaited();
    idle.onDisconnect(lost.resolve);
    await start('second');
    expect(await nameAt(client)).to.equal('second');
    await lost.promise;
    expect(await nameAt(idle)).to.equal('second');
  });

  for (const [title, meanwhile] of [
    ['replaced', async () => {}],
    [
      'removed, then there again',
      async () => {
        rmSync(served.socketPath);
        expect(await refusalOf(client.probe())).to.include({ grpcCode: 'UNAVAILABLE' });
      },
    ],
  ] satisfies [string, () => Promise<void>][]) {
    it(`I8 ${title}: the one that finds it hears it too, since there may be another plugin`, async () => {
      await start('first');
      await client.probe();
      await meanwhile();
      const lost = awaited();
      client.onDisconnect(lost.resolve);
      await start('second');
      expect(await nameAt(client)).to.equal('second');
      await lost.promise;
    });
  }

  it('the file is removed under a live one: calls say that there is no socket', async () => {
    await start('one');
    await client.probe();
    rmSync(served.socketPath);
    const failure = await refusalOf(client.probe());
    expect(failure.message).to.equal(`Probe: no socket at ${served.socketPath}: is the plugin running?`);
    expect(openChannels()).to.equal(0);
  });
});
