/** What the Redis store says of servers that refuse, or that are set up otherwise than it needs. */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { redisStore } from '../../src/stores/redis/redis.js';
import { type RedisStoreOptions, redisSettings } from '../../src/stores/redis/redis-options.js';
import { RedisServer } from '../../src/stores/redis/redis-servers.js';
import { done, plainCommit, rejectionOf } from '../../src/tools/store-suite/subject.js';
import { commitOne, RedisLab } from '../redis/lab.js';
import { freePort, RedisProcess } from '../redis/servers.js';
import { until } from '../until.js';

/** As documented at redisStore. */
const rights =
  '~stagecraft:* +evalsha +eval +script|load +hmget +hget +hset +hdel +hincrby +xadd +xdel +xtrim +xrange +xread +xlen ' +
  '+xinfo|stream +zadd +zrem +zrange +zcard +zscore +get +set +del +exists +pexpire +pttl +scan +info +wait +time ' +
  '+config|get';

const allKinds = { outbox: 'o', wakeAtMs: 1, consumed: [1] };

describe('redis store, servers that refuse', () => {
  const lab = new RedisLab();
  let server: RedisProcess;

  before(async () => {
    server = await RedisProcess.start();
  });

  after(() => server.remove());
  beforeEach(() => server.client().flushall());
  afterEach(() => lab.clear());

  for (const protocol of [2, 3] as const) {
    it(`memory is full: commits are refused with the reason until there is room; reads go on (RESP${protocol})`, async () => {
      const { store } = await lab.store({ url: server.url, protocol });
      await commitOne(store, plainCommit('a', 0));
      await server.client().config('SET', 'maxmemory', '1');
      const items = ['a', 'b'].map((address) => plainCommit(address, address === 'a' ? 1 : 0, allKinds));
      const refused = await store.commit(items);
      await server.client().config('SET', 'maxmemory', '0');
      expect(refused.map(({ status }) => status)).to.deep.equal(['refused', 'refused']);
      expect(refused[0]).to.have.property('reason').that.matches(/^OOM/);
      expect(await store.load('a')).to.include({ seq: 1 });
      expect(await store.load('b')).to.equal(undefined);
      expect(await store.commit(items)).to.deep.equal([done, done]);
    });
  }

  it('memory is full: the repeat of what was written is done all the same', async () => {
    const { store } = await lab.store(server.url);
    await commitOne(store, plainCommit('a', 0));
    await server.client().config('SET', 'maxmemory', '1');
    const repeated = await commitOne(store, plainCommit('a', 0));
    await server.client().config('SET', 'maxmemory', '0');
    expect(repeated).to.deep.equal(done);
  });

  it('a server that becomes a replica refuses commits; once promoted it is suspected, and takes them', async () => {
    const { store, heard } = await lab.store(server.url);
    await commitOne(store, plainCommit('a', 0));
    await server.client().replicaof('127.0.0.1', await freePort());
    const refused = await commitOne(store, plainCommit('a', 1));
    expect(refused)
      .to.have.property('reason')
      .that.matches(/^READONLY/);
    expect(await store.load('a')).to.include({ seq: 1 });
    await server.client().replicaof('NO', 'ONE');
    expect(await commitOne(store, plainCommit('a', 1))).to.deep.equal(done);
    expect(heard).to.have.lengthOf(1);
    expect(heard[0]).to.match(/another history/);
  });

  it('too few replicas confirm: the call rejects, and so does its repeat', async () => {
    const { store } = await lab.store({ url: server.url, durability: { replicas: 1, timeoutMs: 20 } });
    for (const _ of ['first', 'repeat']) {
      const { message } = await rejectionOf(commitOne(store, plainCommit('a', 0)));
      expect(message).to.match(/1 replicas are to confirm .* got 0 within 20 ms/);
    }
    expect(await store.load('a')).to.include({ seq: 1 });
  });

  it('stores of two prefixes on one server share nothing', async () => {
    const [one, other] = await Promise.all(['one[*]:', 'two:'].map((prefix) => lab.store({ url: server.url, prefix })));
    await one?.store.commit([plainCommit('a', 0, allKinds)]);
    await one?.store.appendTopic('t', [{ source: 'a', seq: 1, index: 0, text: 'x' }]);
    expect(await other?.store.load('a')).to.equal(undefined);
    const all = { prefix: '', limit: 10 };
    expect(await other?.store.list(all)).to.deep.equal({ rows: [] });
    expect(await other?.store.unsettled(all)).to.deep.equal({ rows: [] });
    expect(await other?.store.readTopic('t', 0, 10)).to.include({ newest: 0 });
    expect(await other?.store.acquireLease({ name: 'l', owner: 'b', ttlMs: 1_000, holder: 'b' })).to.include({
      status: 'granted',
    });
  });

  it('two stores race for one address and one lease: each is won once', async () => {
    const rivals = await Promise.all(['x', 'y'].map(async (owner) => ({ owner, ...(await lab.store(server.url)) })));
    for (let seq = 0; seq < 20; seq += 1) {
      const results = await Promise.all(
        rivals.map(({ owner, store }) => commitOne(store, plainCommit('a', seq, { commitId: `${owner}${seq}` }))),
      );
      expect(results.map((result) => result?.status).sort()).to.deep.equal(['conflict', 'done']);
    }
    const leases = await Promise.all(
      rivals.map(({ owner, store }) => store.acquireLease({ name: 'l', owner, ttlMs: 9_000, holder: owner })),
    );
    expect(leases.map(({ status }) => status).sort()).to.deep.equal(['granted', 'held']);
  });

  it('a lease is held on the server for its term and no longer', async () => {
    const { store } = await lab.store(server.url);
    await store.acquireLease({ name: 'l', owner: 'x', ttlMs: 9_000, holder: 'x' });
    const [key = ''] = await server.client().keys('*:h:l');
    expect(await server.client().pttl(key)).to.be.within(1, 9_000);
  });

  it('what another version wrote is refused', async () => {
    const { store } = await lab.store(server.url);
    await store.close();
    await server.client().hset('stagecraft:{0}:meta', 'format', '2');
    expect((await rejectionOf(store.open())).message).to.match(/has format 2 .* reads format 1/);
  });
});

function errorOf(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('expected an error, but all went well');
}

describe('redis store, settings', () => {
  const lab = new RedisLab();

  afterEach(() => lab.clear());

  const warningsOf = async (config: string[]) => {
    const server = await lab.server({ config });
    return (await lab.store(server.url)).warnings.join('\n');
  };

  it('a server without append-only file, which may evict, is warned of with what to set', async () => {
    const warnings = await warningsOf(['maxmemory-policy allkeys-lru', 'maxmemory 100mb']);
    expect(warnings).to.match(/allkeys-lru.*set maxmemory-policy noeviction/);
    expect(warnings).to.match(/set appendonly yes/);
  });

  it('a file that is synced every second is warned of; one that always is, is not', async () => {
    expect(await warningsOf(['appendonly yes'])).to.match(/last second .* set appendfsync always/);
    expect(await warningsOf(['appendonly yes', 'appendfsync always'])).to.equal('');
  });

  it('34.28 settings that change under an open store are warned of, once, and again after they were mended', async () => {
    const server = await lab.server({ config: ['appendonly yes', 'appendfsync always'] });
    const warnings: string[] = [];
    const events = { warn: (line: string) => void warnings.push(line), suspect: () => {} };
    const servers = new RedisServer(redisSettings(server.url), events, 5);
    await servers.open();
    try {
      const client = server.client();
      const looks = async (): Promise<number> => Number(/cmdstat_info:calls=(\d+)/.exec(await client.info('all'))?.[1]);
      const looked = async (): Promise<void> => {
        const before = await looks();
        await until(async () => (await looks()) > before + 10);
      };
      for (let round = 1; round <= 2; round += 1) {
        await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
        await looked();
        expect(warnings).to.have.length(round);
        expect(warnings.at(-1)).to.include('allkeys-lru');
        await client.config('SET', 'maxmemory-policy', 'noeviction');
        await looked();
      }
      await client.config('SET', 'appendonly', 'no');
      await until(async () => warnings.some((line) => line.includes('set appendonly yes')));
    } finally {
      servers.close();
    }
  });

  it('a user with the documented rights can do all; a missing right is refused at open', async () => {
    const server = await lab.server({
      config: [
        `user sc on >secret ${rights}`,
        'user reader on >secret ~* +@read +info +script +evalsha +wait',
        'user half on >secret ~* +@all -zadd',
      ],
    });
    const { store } = await lab.store({ url: server.url, username: 'sc', password: 'secret' });
    await store.appendInbox('a', ['x']);
    expect(await commitOne(store, plainCommit('a', 0, allKinds))).to.deep.equal(done);
    expect(await commitOne(store, plainCommit('a', 1, { gone: true }))).to.deep.equal(done);
    await store.settle([{ address: 'a', seq: 1 }]);
    await store.appendTopic('t', [{ source: 'a', seq: 1, index: 0, text: 'x' }]);
    await store.readTopic('t', 0, 10);
    await store.trimTopic('t', 1);
    await store.trimJournal('a', 1);
    await store.readJournal('a', 0, 10);
    const stop = new AbortController();
    const heard = new Promise((resolve) =>
      store.wire?.listen('i', resolve, stop.signal).then(() => store.wire?.post('i', 'x')),
    );
    expect(await heard).to.equal('x');
    stop.abort();
    await store.wire?.beat({ nodeId: 'n', run: '1', awayAfterMs: 1, entry: 'x' });
    await store.wire?.roster(0);
    await store.wire?.leave('n', '1');
    const granted = await store.acquireLease({ name: 'l', owner: 'x', ttlMs: 1_000, holder: 'x' });
    if (granted.status !== 'granted') throw new Error('not granted');
    await store.renewLease(granted.lease);
    await store.releaseLease(granted.lease);
    await store.due({ prefix: '', limit: 10, untilMs: 5 });
    await store.unsettled({ prefix: '', limit: 10 });
    await store.close();
    await server.client().del('stagecraft:{0}:counts');
    await store.open();
    const reader = redisStore({ url: server.url, username: 'reader', password: 'secret', prefix: 'other:' });
    expect((await rejectionOf(reader.open())).message).to.match(/redisStore names the commands that it needs/);
    const halfWriter = redisStore({ url: server.url, username: 'half', password: 'secret', prefix: 'other:' });
    expect((await rejectionOf(halfWriter.open())).message).to.match(/redisStore names the commands that it needs/);
  });

  it('no password, or a wrong one, is said at open', async () => {
    const server = await lab.server({ config: ['requirepass secret'], client: { password: 'secret' } });
    for (const given of [{}, { password: 'wrong' }]) {
      const { message } = await rejectionOf(redisStore({ url: server.url, ...given }).open());
      expect(message)
        .to.include(server.where)
        .and.match(/Are user name and password right/);
    }
    await lab.store(`redis://:secret@${server.where}`);
  });

  it('another database is used if it exists; one that the server lacks is refused at open', async () => {
    const server = await lab.server();
    const url = new URL(server.url);
    const other = await lab.store({ host: url.hostname, port: Number(url.port), db: 3 });
    await other.store.commit([plainCommit('a', 0)]);
    const first = await lab.store({ host: url.hostname, port: Number(url.port) });
    expect(await first.store.load('a')).to.equal(undefined);
    const lacking = lab.store({ host: url.hostname, port: Number(url.port), db: 99 });
    expect((await rejectionOf(lacking)).message).to.match(/SELECT.*out of range/);
  });

  it('nobody listening is said at open', async () => {
    const port = await freePort();
    const { message } = await rejectionOf(redisStore(`redis://127.0.0.1:${port}`).open());
    expect(message)
      .to.include(`127.0.0.1:${port}`)
      .and.match(/ECONNREFUSED.*is the server running/);
  });

  it('TLS with the right authority works; without it, and without TLS at all, what to check is said', async () => {
    const port = await freePort();
    const dir = (await lab.server()).dir;
    const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const request = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
    ];
    execFileSync('openssl', [...request, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
    const files = [`tls-cert-file ${cert}`, `tls-key-file ${key}`, `tls-ca-cert-file ${cert}`, 'tls-auth-clients no'];
    await lab.server({ config: [`tls-port ${port}`, ...files] });
    const url = `rediss://127.0.0.1:${port}`;
    const { store } = await lab.store({ url, tls: { ca: readFileSync(cert) } });
    expect(await commitOne(store, plainCommit('a', 0))).to.deep.equal(done);
    expect((await rejectionOf(redisStore(url).open())).message).to.match(/certificate.*Is TLS on at both sides/);
    const plain = redisStore({ url: `redis://127.0.0.1:${port}`, commandTimeoutMs: 300 });
    expect((await rejectionOf(plain.open())).message).to.include(`127.0.0.1:${port}`);
  });

  const url = 'redis://localhost';
  const oneServer = 'give exactly one of url, host, path, sentinels and cluster';
  const useless: [what: string, options: unknown, fault: string][] = [
    ['a url of another kind', 'http://127.0.0.1:6379', 'url: must be redis://'],
    ['no url', 'localhost', 'url: must be redis://'],
    ['a path that is no database', 'redis://localhost/one', 'url: must be redis://'],
    ['a password that is not encoded', 'redis://:100%@localhost', 'url: must be redis://'],
    ['nothing', undefined, 'the options: '],
    ['no server', {}, oneServer],
    ['a server named twice', { url, host: 'localhost' }, oneServer],
    ['a prefix with braces', { url, prefix: 'a{b}:' }, 'prefix: must have no brace'],
    ['sentinels without a name', { sentinels: [{ host: 'a', port: 1 }] }, 'give both, sentinels and name'],
    ['a name without sentinels', { url, name: 'main' }, 'give both, sentinels and name'],
    ['a cluster of no nodes', { cluster: [] }, 'cluster: '],
    ['a cluster with a database', { cluster: [{ host: 'a', port: 1 }], db: 1 }, 'db: '],
    ['no replicas to wait for', { url, durability: { replicas: 0, timeoutMs: 1 } }, 'durability.replicas: '],
    ['a durability of another kind', { url, durability: 'all' }, "durability: must be 'server', or { replicas"],
    ['a protocol that there is not', { url, protocol: 4 }, 'protocol: must be 2 or 3'],
    ['TLS that is only switched on', { url, tls: true }, 'tls: must be an object'],
  ];
  for (const [what, options, fault] of useless) {
    it(`${what} is a TypeError that says so`, () => {
      expect(() => redisStore(options as RedisStoreOptions)).to.throw(TypeError, fault);
    });
  }

  it('all faults are told at once, each with its path, and no value', () => {
    const options: object = {
      host: 'localhost',
      port: '6379',
      passwordFile: 'secret',
      password: 12_345,
      durability: undefined,
      cluster: [{ host: 'a', prt: 1 }],
    };
    const failure = errorOf(() => redisStore(options));
    for (const path of ['port: ', 'passwordFile: unknown key; allowed here: url, host', 'password: ', oneServer])
      expect(failure.message).to.include(path);
    expect(failure.message).to.include('cluster.0.port: ').and.include('cluster.0.prt: unknown key');
    expect(failure.message).not.to.match(/durability: |secret|12345/);
  });
});
