/** The Redis store while its server dies, hangs, loses writes or loses its connections. */

import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { plainCommit, rejectionOf } from '../../src/tools/store-suite/subject.js';
import { commitOne, insist, RedisLab, Writer } from '../redis/lab.js';
import { CuttingProxy } from '../redis/proxy.js';
import { standStill } from '../support/stand-still.js';
import { until } from '../until.js';

const durable = { config: ['appendonly yes', 'appendfsync always'] };

describe('redis store, faults', () => {
  const lab = new RedisLab();

  afterEach(() => lab.clear());

  it('the server is killed during commits: no acknowledged one is lost, each is written once', async () => {
    const server = await lab.server(durable);
    const { store, heard } = await lab.store(server.url);
    const writer = new Writer(store, 8);
    await writer.writeUpTo(20);
    const writing = writer.writeUpTo(150);
    await until(async () => writer.acknowledged.every((seq) => seq > 30));
    await server.kill();
    const before = [...writer.acknowledged];
    await server.run();
    const [first] = await Promise.all(before.map((_, actor) => insist(() => store.load(writer.address(actor)))));
    expect(first?.seq).to.be.at.least(before[0] ?? 0);
    await writing;
    await writer.check();
    expect(heard).to.have.lengthOf(1);
    expect(heard[0])
      .to.include(server.where)
      .and.match(/another process answers/);
  });

  it('an older dump under a live store: suspected before any answer, and lost commits can be repeated', async () => {
    const server = await lab.server();
    const { store, heard } = await lab.store(server.url);
    const dump = join(server.dir, 'dump.rdb');
    for (const seq of [0, 1, 2]) await commitOne(store, plainCommit('a', seq));
    await server.client().save();
    copyFileSync(dump, `${dump}.old`);
    for (const seq of [3, 4, 5]) await commitOne(store, plainCommit('a', seq));
    await server.kill();
    copyFileSync(`${dump}.old`, dump);
    await server.run();
    const record = await insist(() => store.load('a'));
    heard.push(`loaded ${record?.seq}`);
    expect(heard).to.have.lengthOf(2);
    expect(heard[0]).to.match(/^suspect: /);
    expect(heard[1]).to.equal('loaded 3');
    expect(await commitOne(store, plainCommit('a', 6))).to.have.nested.property('stored.seq', 3);
    expect(await commitOne(store, plainCommit('a', 3, { seq: 7 }))).to.deep.equal({ status: 'done' });
    expect(await store.load('a')).to.include({ seq: 7 });
  });

  it('34.29 an answer that came while this process stood still counts, though the limit is over', async () => {
    const server = await lab.server();
    const { store } = await lab.store({ url: server.url, commandTimeoutMs: 200 });
    await commitOne(store, plainCommit('a', 0));
    const answer = store.load('a');
    await nextTurn(); // sent
    standStill(400);
    server.answerNow();
    expect(await answer).to.include({ seq: 1 });
  });

  it('a commit’s answer is lost with its connection: it rejects, and a repeat writes nothing twice', async () => {
    const server = await lab.server();
    const proxy = await CuttingProxy.to(server.port);
    try {
      const { store, heard } = await lab.store({ host: '127.0.0.1', port: proxy.port });
      const commit = plainCommit('a', 0, { outbox: 'o' });
      proxy.cutNextAnswer();
      expect((await rejectionOf(commitOne(store, commit))).message).to.match(/gave no answer/);
      expect(await insist(() => commitOne(store, commit))).to.deep.equal({ status: 'done' });
      expect(await store.load('a')).to.include({ seq: 1 });
      expect(await store.readJournal('a', 0, 10)).to.have.lengthOf(1);
      expect(heard).to.deep.equal([]);
      await store.close();
    } finally {
      proxy.close();
    }
  });

  it('the server hangs: calls reject when their time is up, and the work goes on once it wakes', async () => {
    const server = await lab.server();
    const { store } = await lab.store({ url: server.url, commandTimeoutMs: 200 });
    server.signal('SIGSTOP');
    const commit = plainCommit('a', 0);
    expect((await rejectionOf(commitOne(store, commit))).message).to.match(/no answer within 200 ms/);
    server.signal('SIGCONT');
    expect(await insist(() => commitOne(store, commit))).to.deep.equal({ status: 'done' });
    expect(await store.readJournal('a', 0, 10)).to.have.lengthOf(1);
  });

  it('the server hangs under many calls: all reject, and Node warns of no leak of listeners', async () => {
    const server = await lab.server();
    const { store } = await lab.store({ url: server.url, commandTimeoutMs: 200 });
    const warnings: string[] = [];
    const keep = (warning: Error): void => void warnings.push(warning.message);
    process.on('warning', keep);
    try {
      server.signal('SIGSTOP');
      const calls = Array.from({ length: 30 }, (_, at) => rejectionOf(store.load(`a/${at}`)));
      for (const { message } of await Promise.all(calls)) expect(message).to.match(/no answer|not connected/);
      await nextTurn();
      expect(warnings).to.deep.equal([]);
    } finally {
      process.off('warning', keep);
      server.signal('SIGCONT');
    }
  });

  it('the server is gone: calls reject at once with its address and the reason', async () => {
    const server = await lab.server();
    const { store } = await lab.store(server.url);
    await server.kill();
    await until(async () => /ECONNREFUSED/.test((await rejectionOf(store.load('a'))).message));
    const { message } = await rejectionOf(commitOne(store, plainCommit('a', 0)));
    expect(message).to.include(server.where).and.include('not connected');
  });

  it('the server has forgotten the scripts: they are sent again', async () => {
    const server = await lab.server();
    const { store } = await lab.store(server.url);
    await server.client().script('FLUSH');
    const results = await store.commit([0, 1, 2].map((seq) => plainCommit('a', seq)));
    expect(results.map(({ status }) => status)).to.deep.equal(['done', 'done', 'done']);
  });

  it('a store that is closed while its server is gone stays closed', async () => {
    const server = await lab.server();
    const { store } = await lab.store(server.url);
    const pending = commitOne(store, plainCommit('a', 0)).catch(() => undefined);
    await server.kill();
    await store.close();
    await pending;
    expect((await rejectionOf(store.load('a'))).message).to.match(/closed/);
  });
});

describe('redis store, indexes that an operator deleted', () => {
  const lab = new RedisLab();

  afterEach(() => lab.clear());

  for (const [what, patterns] of [
    ['the indexes', ['*:index', '*:due', '*:owed']],
    ['the indexes and their counts', ['*:index', '*:due', '*:owed', '*:counts']],
    ['the indexes of one bucket', ['*{5}:index']],
    ['the counts', ['*:counts']],
  ] as const) {
    it(`${what} are made again at the next open`, async () => {
      const server = await lab.server();
      const { store } = await lab.store(server.url);
      const addresses = Array.from({ length: 300 }, (_, i) => `actor/${String(i).padStart(3, '0')}`);
      await store.commit(addresses.map((address) => plainCommit(address, 0, { wakeAtMs: 5, outbox: 'o' })));
      await store.commit([plainCommit('actor/007', 1, { gone: true })]);
      await store.close();
      const client = server.client();
      for (const pattern of patterns) await client.del(...(await client.keys(pattern)));
      await store.open();
      const rest = addresses.filter((address) => address !== 'actor/007');
      const all = { prefix: '', limit: 1_000 };
      expect((await store.list(all)).rows.map(({ address }) => address)).to.deep.equal(rest);
      expect((await store.due({ ...all, untilMs: 5 })).rows.map(({ address }) => address)).to.deep.equal(rest);
      expect((await store.unsettled(all)).rows.map(({ address }) => address)).to.deep.equal(addresses);
    });
  }

  it('what is listed without a record is struck', async () => {
    const server = await lab.server();
    const { store } = await lab.store(server.url);
    await store.commit([
      plainCommit('a', 0, { wakeAtMs: 1, outbox: 'o' }),
      plainCommit('b', 0, { wakeAtMs: 1, outbox: 'o' }),
    ]);
    await store.close();
    const client = server.client();
    await client.del(...(await client.keys('*:?:a')));
    await client.hset((await client.keys('*:counts'))[0] ?? '', 'index', '9');
    await store.open();
    const all = { prefix: '', limit: 10 };
    expect((await store.list(all)).rows.map(({ address }) => address)).to.deep.equal(['b']);
    expect(await store.due({ ...all, untilMs: 5 })).to.deep.equal({ rows: [{ address: 'b', wakeAtMs: 1 }] });
    expect((await store.unsettled(all)).rows).to.have.lengthOf(1);
  });
});

describe('redis store, records that were damaged', () => {
  const lab = new RedisLab();

  afterEach(() => lab.clear());

  for (const [what, damage] of [
    ['a seq that is no number', { seq: 'seven' }],
    ['no seq', { seq: null }],
    ['an epoch that is no number', { epoch: 'x' }],
    ['no epoch', { epoch: null }],
    ['neither seq nor epoch', { seq: null, epoch: null }],
    ['a text only', { seq: null, epoch: null, owner: null, commitId: null, gone: null, wake: null }],
    ['no text', { text: null }],
    ['a wake-up that is missing', { wake: null }],
  ] satisfies [string, Record<string, string | null>][]) {
    it(`${what}: handed on unreadable, never overwritten, and hides no other`, async () => {
      const server = await lab.server();
      const { store } = await lab.store(server.url);
      await store.commit([plainCommit('a', 0), plainCommit('b', 0), plainCommit('c', 0)]);
      const client = server.client();
      const [key = ''] = await client.keys('*:r:b');
      for (const [field, value] of Object.entries(damage)) {
        await (value === null ? client.hdel(key, field) : client.hset(key, field, value));
      }
      const damaged = await client.hgetall(key);
      const { rows } = await store.list({ prefix: '', limit: 10 });
      expect(rows.map(({ address, seq }) => [address, seq])).to.deep.equal(Object.entries({ a: 1, b: 0, c: 1 }));
      const found = await store.load('b');
      expect(found).to.deep.equal(rows[1]);
      expect(() => JSON.parse(found?.text ?? '{}')).to.throw(SyntaxError);
      const commits = [plainCommit('b', 0, { commitId: 'another' }), plainCommit('b', 7), plainCommit('c', 1)];
      expect((await store.commit(commits)).map(({ status }) => status)).to.deep.equal(['conflict', 'conflict', 'done']);
      expect(await client.hgetall(key)).to.deep.equal(damaged);
    });
  }

  it('34.15 keys of another type: unreadable in each list, never overwritten, and they harm no other', async () => {
    const server = await lab.server();
    const { store } = await lab.store(server.url);
    const owing = ['a', 'b', 'c'].map((address) => plainCommit(address, 0, { outbox: `of ${address}`, wakeAtMs: 7 }));
    await store.commit(owing);
    const client = server.client();
    const keys = (await client.keys('*:[rjo]:b')).sort();
    for (const key of keys) {
      await client.del(key);
      await client.rpush(key, 'x');
    }
    const [due = ''] = await client.keys('*:due');
    await client.zadd(due, 0, 'garbage');

    const unreadable = (text: string | undefined): boolean => text?.startsWith('unreadable row: WRONGTYPE') === true;
    const { rows } = await store.list({ prefix: '', limit: 10 });
    expect(rows.map(({ address, seq }) => [address, seq])).to.deep.equal(Object.entries({ a: 1, b: 0, c: 1 }));
    expect(unreadable((await store.load('b'))?.text)).to.equal(true);
    const outboxes = (await store.unsettled({ prefix: '', limit: 10 })).rows;
    expect(outboxes.map(({ address, text }) => [address, unreadable(text)])).to.deep.equal(
      Object.entries({ a: false, b: true, c: false }),
    );
    const [entry] = await store.readJournal('b', 1, 10);
    expect(unreadable(entry?.text)).to.equal(true);
    const reminders = (await store.due({ prefix: '', limit: 10, untilMs: 10 })).rows;
    expect(reminders.map(({ address }) => address)).to.deep.equal(['a', 'b', 'c']);
    const commits = [plainCommit('b', 0, { commitId: 'another' }), plainCommit('c', 1)];
    expect((await store.commit(commits)).map(({ status }) => status)).to.deep.equal(['conflict', 'done']);
    for (const key of keys) expect(await client.type(key)).to.equal('list');
  });

  it('34.15 a record of another type, and indexes that are rebuilt: opened, and the record is listed', async () => {
    const server = await lab.server();
    const { store } = await lab.store(server.url);
    await store.commit([plainCommit('a', 0), plainCommit('b', 0)]);
    const client = server.client();
    const [key = ''] = await client.keys('*:r:b');
    await client.del(key);
    await client.rpush(key, 'x');
    await client.del(...(await client.keys('*:index')));
    await store.close();
    const again = await lab.store(server.url);
    const { rows } = await again.store.list({ prefix: '', limit: 10 });
    expect(rows.map(({ address, seq }) => [address, seq])).to.deep.equal(Object.entries({ a: 1, b: 0 }));
  });

  for (const [what, field, value] of [
    ['an epoch that is no number', 'epoch', 'x'],
    ['no owner', 'owner', null],
    ['a wake-up that is missing', 'wake', null],
  ] satisfies [string, string, string | null][]) {
    it(`${what}, under the seq that is expected: not overwritten either, and it harms no other in its batch`, async () => {
      const server = await lab.server();
      const { store } = await lab.store(server.url);
      await store.commit([plainCommit('b', 0), plainCommit('c', 0)]);
      const client = server.client();
      const [key = ''] = await client.keys('*:r:b');
      await (value === null ? client.hdel(key, field) : client.hset(key, field, value));
      const damaged = await client.hgetall(key);
      const results = await store.commit([plainCommit('b', 1), plainCommit('c', 1)]);
      expect(results.map(({ status }) => status)).to.deep.equal(['conflict', 'done']);
      expect(await client.hgetall(key)).to.deep.equal(damaged);
    });
  }
});
