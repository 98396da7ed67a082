/** Wires in Redis: the contract of all wires on one server and on a cluster, then what only real servers do. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { onAbort } from '../../src/abort.js';
import { systemClock } from '../../src/engine/clock.js';
import type { StoreEvents, Wire } from '../../src/engine/store.js';
import { RedisKeys } from '../../src/stores/redis/redis-keys.js';
import { type RedisStoreOptions, redisSettings } from '../../src/stores/redis/redis-options.js';
import { RedisServer } from '../../src/stores/redis/redis-servers.js';
import { redisWire } from '../../src/stores/redis/redis-wire.js';
import { builtProgram } from '../built.js';
import { RedisLab } from '../redis/lab.js';
import { RedisProcess, startCluster } from '../redis/servers.js';
import { eventually } from '../until.js';
import { redisWireHarness, wireOf } from './redis-wire-harness.js';
import { wireSuite } from './wire-suite.js';

describe('on one server', () => {
  let server: RedisProcess;
  before(async () => {
    server = await RedisProcess.start();
  });
  after(() => server.remove());
  for (const protocol of [2, 3] as const)
    wireSuite(`one Redis server (RESP${protocol})`, () => redisWireHarness({ url: server.url, protocol }, [server]));
});

describe('on a cluster', () => {
  let nodes: RedisProcess[] = [];
  before(async () => {
    nodes = await startCluster();
  });
  after(() => Promise.all(nodes.map((node) => node.remove())));
  wireSuite('three masters of a cluster', () =>
    redisWireHarness({ cluster: nodes.map(({ port }) => ({ host: '127.0.0.1', port })) }, nodes),
  );
});

describe('wire, Redis servers that fail', () => {
  const lab = new RedisLab();
  let stop: AbortController;

  beforeEach(() => {
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await lab.clear();
  });

  const opened = async (options: RedisStoreOptions): Promise<Wire> => wireOf((await lab.store(options)).store);

  it('D5 the server is killed and comes back: what is sent then is heard, and old texts are of unknown age', async () => {
    const server = await lab.server({ config: ['appendonly yes', 'appendfsync always'] });
    const wire = await opened({ url: server.url });
    const heard: [string, number][] = [];
    await wire.listen('a', (text, ageMs) => heard.push([text, ageMs]), stop.signal);
    await wire.post('a', 'before');
    await eventually('it is heard', () => heard.length === 1);
    await server.kill();
    expect(await wire.post('a', 'lost').catch(() => 'refused')).to.equal('refused');
    await server.run();
    await eventually('it can be sent again', () => wire.post('a', 'after').catch(() => false));
    await eventually('it is heard', () => heard.some(([text]) => text === 'after'));
    expect(heard[1]).to.deep.equal(['before', Infinity]);
    await wire.post('a', 'later');
    await eventually('its age is known', () => heard.some(([text, ageMs]) => text === 'later' && ageMs < Infinity));
  });

  it('D5 a connection is cut: nothing is lost, and each text is heard in order after it', async () => {
    const server = await lab.server();
    const wire = await opened({ url: server.url });
    const heard: string[] = [];
    await wire.listen('a', (text) => heard.push(text), stop.signal);
    await eventually('it reads', async () => String(await server.client().client('LIST')).includes('cmd=xread'));
    await server.client().call('client', 'kill', 'type', 'normal', 'skipme', 'yes');
    for (let at = 0; at < 20; at += 1) await eventually('sent', () => wire.post('a', String(at)).catch(() => false));
    await eventually('all is heard', () => heard.includes('19'));
    const latest = heard.slice(heard.lastIndexOf('0'));
    expect(latest.filter((text, at) => at === 0 || text !== latest[at - 1])).to.deep.equal(
      Array.from({ length: 20 }, (_, at) => String(at)),
    );
  });

  it('D7 a reader is frozen: it believes what it finds to be at least as old as it is', async () => {
    const server = await lab.server();
    const wire = await opened({ url: server.url });
    const child = await readerOf(server.url, 'a');
    await wire.post('a', 'before');
    await eventually('it is heard', () => child.ageOf('before') !== undefined);
    child.process.kill('SIGSTOP');
    await wire.post('a', 'while frozen');
    const putMs = performance.now();
    // The time in which nothing happens is what this is about.
    await sleep(1_500);
    const frozenMs = performance.now() - putMs;
    child.process.kill('SIGCONT');
    await eventually('it is heard', () => child.ageOf('while frozen') !== undefined);
    expect(child.ageOf('while frozen')).to.be.at.least(frozenMs);
    const gone = once(child.process, 'exit');
    child.process.kill('SIGKILL');
    await gone;
  });

  it('D5 a server is frozen while a text is on its way: the text is not put in once its time is over', async () => {
    const server = await lab.server();
    const connect = async (): Promise<RedisServer> => {
      const made = new RedisServer(redisSettings({ url: server.url, commandTimeoutMs: 200 }), silent);
      onAbort(stop.signal, () => made.close());
      await made.open();
      return made;
    };
    const servers = await connect();
    const keys = new RedisKeys('p:');
    const options = { keys, servers: () => servers, reading: connect, clock: systemClock, withinMs: 400 };
    const wire = redisWire(options);
    const heard: string[] = [];
    await (await opened({ url: server.url, prefix: 'p:' })).listen('a', (text) => heard.push(text), stop.signal);
    expect(await wire.post('a', 'before')).to.equal(true);
    server.signal('SIGSTOP');
    const lost = await wire.post('a', 'lost').catch(() => 'no answer');
    // The time in which nothing happens is what this is about.
    await sleep(600);
    server.signal('SIGCONT');
    expect(lost).to.equal('no answer');
    await eventually('it can be sent again', () => wire.post('a', 'after').catch(() => false));
    await eventually('it is heard', () => heard.includes('after'));
    expect(heard).to.deep.equal(['before', 'after']);
  });

  it('D5 a server that has only an older entry of a node: its next beat is refused, so that it gives the entry', async () => {
    const server = await lab.server();
    const [wire, reader] = [await opened({ url: server.url }), await opened({ url: server.url })];
    const beat = (entry?: string): Promise<boolean> =>
      wire.beat({ nodeId: 'a', run: '1', awayAfterMs: 6_000, ...(entry !== undefined && { entry }) });
    await beat('old');
    await beat('new');
    const [entries = ''] = new RedisKeys('stagecraft:').roster();
    await server.client().hset(entries, 'entry:a', 'old');
    expect(await beat()).to.equal(false);
    expect(await beat('new')).to.equal(true);
    expect((await reader.roster(0)).changed).to.deep.equal([{ nodeId: 'a', run: '1', entry: 'new' }]);
  });

  it('D10 an idle reader asks once in a while, and for nothing else', async () => {
    const server = await lab.server();
    const client = server.client();
    const wire = await opened({ url: server.url });
    await wire.listen('a', () => {}, stop.signal);
    await eventually('it has read', async () => (await callsOf(client)).get('xread') === 2);
    const before = await callsOf(client);
    await eventually('it has read again', async () => (await callsOf(client)).get('xread') === 4);
    const after = await callsOf(client);
    for (const name of ['info', 'xread']) for (const calls of [before, after]) calls.delete(name);
    expect(after).to.deep.equal(before);
  });

  it('D10 who listens no more asks the server nothing', async () => {
    const server = await lab.server();
    const wire = await opened({ url: server.url });
    await wire.listen('a', () => {}, stop.signal);
    stop.abort();
    await eventually(
      'its connection is closed',
      async () => !String(await server.client().client('LIST')).includes('cmd=xread'),
    );
  });

  describe('with a clock of its own', () => {
    let server: RedisProcess;
    let client: Redis;
    let wire: Wire;
    let nowMs: number;
    let suspect: () => void;
    const key = new RedisKeys('p:').wire('a');

    beforeEach(async () => {
      server = await lab.server();
      client = server.client();
      nowMs = 0;
      const connect = async (suspect = (): void => {}): Promise<RedisServer> => {
        const settings = redisSettings({ url: server.url, commandTimeoutMs: 1_500 });
        const made = new RedisServer(settings, { ...silent, suspect });
        await made.open();
        onAbort(stop.signal, () => made.close());
        return made;
      };
      const servers = await connect();
      wire = redisWire({
        keys: new RedisKeys('p:'),
        servers: () => servers,
        reading: (told) => {
          suspect = told;
          return connect(told);
        },
        clock: { monotonicMs: () => nowMs },
      });
    });

    it('D10 an inbox expires without its reader, which renews it and drops what was heard', async () => {
      const heard: string[] = [];
      await wire.listen('a', (text) => heard.push(text), stop.signal);
      for (const text of ['x', 'y', 'z']) await wire.post('a', text);
      await eventually('all is heard', () => heard.length === 3);
      expect(await client.pttl(key)).to.be.within(1, 600_000);
      await client.pexpire(key, 30_000);
      nowMs += 60_000;
      await eventually('it is renewed', async () => (await client.pttl(key)) > 30_000);
      expect(await client.xlen(key)).to.equal(1);
      expect(heard).to.deep.equal(['x', 'y', 'z']);
    });

    it('D5 an inbox that has expired is made again at the next renewal', async () => {
      await wire.listen('a', () => {}, stop.signal);
      await client.del(key);
      expect(await wire.post('a', 'text')).to.equal(false);
      nowMs += 60_000;
      await eventually('it is back', () => wire.post('a', 'text'));
    });

    it('D7 a text is as old as the last read that emptied the inbox, however many reads it takes to get there', async () => {
      const heard: number[] = [];
      await wire.listen('a', (_, ageMs) => heard.push(ageMs), stop.signal);
      await wire.post('a', 'first');
      await eventually('it is heard', () => heard.length === 1);
      await eventually('it waits', async () => String(await client.client('LIST')).includes('cmd=xread'));
      nowMs += 5_000;
      const pipeline = client.multi();
      for (let at = 0; at < 1_200; at += 1) pipeline.xadd(key, '*', 't', String(at));
      await pipeline.exec();
      await eventually('all are heard', () => heard.length === 1_201);
      expect(new Set(heard.slice(1))).to.deep.equal(new Set([5_000]));
    });

    it('D5 the clock of the server is far ahead of what it was: texts are put in all the same', async () => {
      await wire.listen('a', () => {}, stop.signal);
      nowMs = 60_000;
      await wire.post('a', 'x');
      // As if the server's clock were a minute ahead now.
      nowMs = 0;
      expect(await wire.post('a', 'y')).to.equal(true);
    });

    it('D7 other data may answer: what was heard comes again, of unknown age', async () => {
      const heard: [string, number][] = [];
      await wire.listen('a', (text, ageMs) => heard.push([text, ageMs]), stop.signal);
      await wire.post('a', 'x');
      await eventually('it is heard', () => heard.length === 1);
      suspect();
      await eventually('it is heard again', () => heard.length === 2);
      expect(heard[1]).to.deep.equal(['x', Infinity]);
    });
  });
});

const silent: StoreEvents = { warn: () => {}, suspect: () => {} };

/** How often each command was called. */
async function callsOf(client: Redis): Promise<Map<string, number>> {
  const lines = (await client.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm);
  return new Map([...lines].map(([, name = '', calls]) => [name, Number(calls)]));
}

async function readerOf(
  url: string,
  inbox: string,
): Promise<{ process: ChildProcess; ageOf(text: string): number | undefined }> {
  const child = fork(builtProgram(new URL('./wire-reader.ts', import.meta.url)), [url, inbox], { execArgv: [] });
  const ages = new Map<string, number>();
  // JSON has no Infinity.
  child.on('message', ({ text, ageMs }: { text: string; ageMs: number | null }) => ages.set(text, ageMs ?? Infinity));
  await eventually('it listens', () => {
    if (child.exitCode !== null) throw new Error('the reader ended');
    return ages.has('listening');
  });
  return { process: child, ageOf: (text) => ages.get(text) };
}
