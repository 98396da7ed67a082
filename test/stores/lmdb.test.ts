/** The LMDB store under the contract of all stores, and what is its own: the directory, and sudden ends. */

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { CommitResult, Store } from '../../src/engine/store.js';
import { lmdbStore } from '../../src/stores/lmdb/lmdb.js';
import { type Environment, openEnvironment } from '../../src/stores/lmdb/lmdb-environment.js';
import { applyCommit, lastGrants } from '../../src/stores/lmdb/lmdb-rows.js';
import { type StoreHarness, storeSuite } from '../../src/tools/store-suite/store-suite.js';
import { plainCommit, rejectionOf } from '../../src/tools/store-suite/subject.js';
import { builtProgram } from '../built.js';

async function harness(): Promise<StoreHarness> {
  const path = await mkdtemp(join(tmpdir(), 'stagecraft-lmdb-'));
  let nowMs = 0;
  let store: Store;
  const open = async (): Promise<Store> => {
    store = lmdbStore(path, { monotonicMs: () => nowMs });
    await store.open();
    return store;
  };
  const reopen = async (): Promise<Store> => {
    await store.close();
    return open();
  };
  const dispose = async () => {
    await store.close();
    await rm(path, { recursive: true });
  };
  const elapse = (ms: number) => {
    nowMs += ms;
  };
  return { store: await open(), reopen, dispose, elapse };
}

storeSuite('lmdb', harness);

describe('lmdb store', () => {
  let home: string;
  let path: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'stagecraft-lmdb-'));
    path = join(home, 'store.d');
  });

  afterEach(() => rm(home, { recursive: true }));

  /** Runs `use` on the store in `path`, and closes it. */
  async function withStore<T>(use: (store: Store) => Promise<T>): Promise<T> {
    const store = lmdbStore(path);
    await store.open();
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  }

  it('a directory that is missing is made for its owner alone, with its parents', async () => {
    path = join(home, 'deep/er/store.v1');
    await withStore((store) => store.commit([plainCommit('a', 0)]));
    for (const directory of ['deep', 'deep/er', 'deep/er/store.v1']) {
      const { mode } = await stat(join(home, directory));
      expect(mode & 0o777, directory).to.equal(0o700);
    }
  });

  it('a path where no directory can be is refused by name', async () => {
    await writeFile(path, 'a file');
    for (const taken of [path, join(path, 'below')]) {
      const error = await rejectionOf(lmdbStore(taken).open());
      expect(error).to.include({ code: 'STORE_UNUSABLE' });
      expect(error.message).to.include(taken);
    }
  });

  it('a directory with something else under the name of the database is refused by name', async () => {
    await withStore(async () => undefined);
    const database = join(path, 'data.mdb');
    for (const content of ['no', 'no database'.repeat(1_000)]) {
      await writeFile(database, content);
      expect((await rejectionOf(lmdbStore(path).open())).message).to.include(database);
    }
    await rm(database);
    await mkdir(database);
    expect((await rejectionOf(lmdbStore(path).open())).message).to.include(database);
  });

  it('a lease of a former process is void, and its epoch counts on', async () => {
    const request = { name: 'node/n1', ttlMs: 60_000, holder: 'a' };
    const first = await withStore((store) => store.acquireLease({ ...request, owner: 'a' }));
    if (first.status !== 'granted') throw new Error('not granted');
    await withStore(async (store) => {
      expect(await store.renewLease(first.lease)).to.equal(false);
      const second = await store.acquireLease({ ...request, owner: 'b' });
      expect(second).to.have.nested.property('lease.epoch', 2);
    });
  });

  it('a lease is void once its store was closed, also where the same object opens it again', async () => {
    const asked = { name: 'node/n1', ttlMs: 60_000, holder: 'a' };
    const store = lmdbStore(path);
    await store.open();
    const waiting = store.acquireLease({ ...asked, owner: 'a' });
    await store.close();
    expect(await waiting).to.include({ status: 'granted' });
    await store.open();
    expect(await store.acquireLease({ ...asked, owner: 'b' })).to.include({ status: 'granted', since: 2 });
    await store.close();
  });

  /** Writes a raw row into one of the databases, past the store. */
  async function damage<Row extends 'records' | 'tombstones' | 'outbox' | 'topics' | 'marks' | 'holders' | 'counters'>(
    name: Row,
    key: Parameters<Environment[Row]['putSync']>[0],
    value: string,
  ): Promise<void> {
    const env = await openEnvironment(path);
    const table: { putSync(key: unknown, value: string): unknown } = env[name];
    table.putSync(key, value);
    await env.root.close();
  }

  it('a record whose head is damaged is handed on unreadable, never overwritten, and hides no other', async () => {
    const envelope = '{"format":1}';
    for (const value of ['no head', `{"seq":\n${envelope}`, `{}\n${envelope}`, `null\n${envelope}`, envelope, '']) {
      await rm(path, { recursive: true, force: true });
      await withStore((store) => store.commit([plainCommit('a', 0), plainCommit('b', 0), plainCommit('c', 0)]));
      await damage('records', 'b', value);
      await withStore(async (store) => {
        const { rows } = await store.list({ prefix: '', limit: 10 });
        expect(rows.map(({ address, seq }) => [address, seq])).to.deep.equal(Object.entries({ a: 1, b: 0, c: 1 }));
        const found = await store.load('b');
        expect(found).to.deep.equal(rows[1]);
        expect(found?.text).to.satisfy((text: string) => text.endsWith(value));
        expect(() => JSON.parse(found?.text ?? '{}')).to.throw(SyntaxError);
        const results = await store.commit([0, 1].map((seq) => plainCommit('b', seq, { epoch: 9 })));
        expect(results.map(({ status }) => status)).to.deep.equal(['conflict', 'conflict']);
        expect(await store.load('b')).to.deep.equal(found);
      });
    }
  });

  it('a damaged tombstone is never overwritten', async () => {
    await damage('tombstones', 'a', 'no head');
    await withStore(async (store) => {
      expect(await store.commit([plainCommit('a', 0)])).to.have.nested.property('0.status', 'conflict');
      expect(await store.load('a')).to.include({ seq: 0, text: 'unreadable row: no head' });
    });
  });

  it('what a commit that never happened would owe is not owed, nor is it after another commit of that seq', async () => {
    await withStore((store) => store.commit([plainCommit('a', 0, { outbox: 'first' })]));
    await damage('outbox', ['a', 2], 'never');
    await damage('outbox', ['b', 1], 'never');
    const first = [{ address: 'a', seq: 1, text: 'first' }];
    await withStore(async (store) => {
      expect((await store.unsettled({ prefix: '', limit: 10 })).rows).to.deep.equal(first);
      await store.commit([plainCommit('a', 1), plainCommit('b', 0)]);
      expect((await store.unsettled({ prefix: '', limit: 10 })).rows).to.deep.equal(first);
    });
  });

  it('a damaged event is refused by topic and cursor, and other pages and topics are read', async () => {
    const entries = [1, 2, 3].map((seq) => ({ source: 'a', seq, index: 0, text: `e${seq}` }));
    await withStore(async (store) => {
      for (const topic of ['news', 'weather']) await store.appendTopic(topic, entries);
    });
    await damage('topics', ['news', 2], '{"source":"a"}\ne2');
    await withStore(async (store) => {
      expect((await rejectionOf(store.readTopic('news', 0, 10))).message).to.include('cursor 2 of topic news');
      expect((await store.readTopic('news', 2, 10)).rows).to.have.lengthOf(1);
      expect((await store.readTopic('weather', 0, 10)).rows).to.have.lengthOf(3);
    });
  });

  it('a damaged mark or counter refuses what would be appended, whole, and nothing else', async () => {
    const entryOf = (source: string, seq: number) => ({ source, seq, index: 0, text: `${source}${seq}` });
    await withStore((store) => store.appendTopic('news', [entryOf('a', 1), entryOf('b', 1)]));
    await damage('marks', ['news', 'b'], '{}');
    await damage('counters', ['topic', 'weather'], 'many');
    await withStore(async (store) => {
      const error = await rejectionOf(store.appendTopic('news', [entryOf('a', 2), entryOf('b', 2)]));
      expect(error.message).to.include('topic news').and.to.include('of b').and.to.include('cursor 2');
      await store.appendTopic('news', [entryOf('a', 2)]);
      const { rows, newest } = await store.readTopic('news', 0, 10);
      expect(rows.map(({ text }) => text)).to.deep.equal(['a1', 'b1', 'a2']);
      expect(newest).to.equal(3);
      expect((await rejectionOf(store.appendTopic('weather', [entryOf('a', 1)]))).message).to.include('weather');
    });
  });

  it('commits under way or waiting when the store closes are written before it is closed', async () => {
    const calls: Promise<CommitResult[]>[] = [];
    await withStore(async (store) => {
      for (let seq = 0; seq < 100; seq++) {
        calls.push(store.commit([plainCommit('a', seq)]));
        // A turn each, so that some come while a transaction is on its way to disk and wait for the next one.
        await nextTurn();
      }
    });
    expect((await Promise.all(calls)).flat()).to.deep.equal(Array(100).fill({ status: 'done' }));
    await withStore(async (store) => expect(await store.load('a')).to.include({ seq: 100 }));
  });

  it('an event that waits for what comes along when the store closes is written before it is closed', async () => {
    let appended: Promise<number> | undefined;
    await withStore(async (store) => {
      appended = store.appendTopic('weather', [{ source: 'a', seq: 1, index: 0, text: '{}' }]);
    });
    expect(await appended).to.equal(1);
    await withStore(async (store) => expect((await store.readTopic('weather', 0, 10)).rows).to.have.length(1));
  });

  it('a process killed amid a burst of commits loses nothing that it was told is done', async () => {
    const child = startWriter(path);
    const acknowledged = await collect(child, (lines) => {
      if (lines === 400) child.kill('SIGKILL');
    });
    expect(child.signalCode).to.equal('SIGKILL');
    await expectKept(acknowledged);
    await withStore(async (store) => {
      const lease = { name: 'node/writer', epoch: 2, owner: 'next', ttlMs: 60_000 };
      const asked = { name: 'node/writer', owner: 'next', ttlMs: 60_000, holder: 'next' };
      expect(await store.acquireLease(asked)).to.deep.equal({ status: 'granted', lease, since: 2 });
    });
  });

  it('a file that may not grow any more is a failure with a reason, and what was done stays', async () => {
    const child = startWriter(path, 'ulimit -f 2048; ');
    let failure = '';
    const acknowledged = await collect(child, (_, line) => {
      if (line.startsWith('failed:')) failure = line;
    });
    expect(child.exitCode).to.equal(0);
    expect(failure)
      .to.include(path)
      // The latter where the limit cuts a write in two.
      .and.to.match(/could not write: (File too large|its disk gave an input\/output error, or took only a part)/);
    await expectKept(acknowledged);
  });

  it('rows of a commit whose record could not be put are hidden, and gone with the next commits', async () => {
    await withStore(async (store) => {
      await store.commit([plainCommit('a', 0), plainCommit('a', 1)]);
    });
    const env = await openEnvironment(path);
    const putSync = (): never => {
      throw new Error('no room');
    };
    const records = Object.assign(Object.create(env.records), { putSync });
    const threeSteps = plainCommit('a', 2, {
      seq: 5,
      journalBefore: ['lost', 'lost'],
      journal: 'lost',
      outbox: 'lost',
    });
    await env.root.transaction(() => {
      expect(() => applyCommit({ ...env, records }, threeSteps, lastGrants(env))).to.throw('no room');
    });
    await env.root.close();
    await withStore(async (store) => {
      expect(await store.readJournal('a', 2, 10)).to.deep.equal([{ seq: 2, text: 'j2' }]);
      await store.commit([plainCommit('a', 2)]);
      expect(await store.readJournal('a', 3, 10)).to.deep.equal([{ seq: 3, text: 'j3' }]);
      await store.commit([plainCommit('a', 3, { seq: 9 })]);
      expect(await store.readJournal('a', 4, 10)).to.deep.equal([{ seq: 9, text: 'j9' }]);
      expect((await store.unsettled({ prefix: 'a', limit: 9 })).rows).to.deep.equal([]);
    });
  });

  /** What was acknowledged is there; what came after it may be, whole. */
  async function expectKept(acknowledged: Map<string, number>): Promise<void> {
    expect(acknowledged.size).to.equal(20);
    await withStore(async (store) => {
      for (const [address, seq] of acknowledged) {
        const record = await store.load(address);
        const kept = record?.seq ?? 0;
        expect(kept, address).to.be.within(seq, seq + 3);
        const journal = await store.readJournal(address, 1, 100_000);
        const entries = Array.from({ length: kept }, (_, at) => ({ seq: at + 1, text: `j${at + 1}` }));
        expect(journal, address).to.deep.equal(entries);
        const { rows } = await store.unsettled({ prefix: `${address}`, limit: 100_000 });
        const owed = rows.filter((row) => row.address === address).map((row) => row.seq);
        // Of five steps, three share a commit.
        const commits = entries.filter((entry) => entry.seq % 5 !== 3 && entry.seq % 5 !== 4);
        expect(owed, address).to.deep.equal(commits.map((entry) => entry.seq));
      }
    });
  }
});

type Writer = ChildProcessByStdio<null, Readable, null>;

function startWriter(path: string, before = ''): Writer {
  const script = builtProgram(new URL('lmdb-writer.ts', import.meta.url));
  const command = `${before}exec "$@"`;
  const args = ['-c', command, 'sh', process.execPath, script, path];
  return spawn('sh', args, { stdio: ['ignore', 'pipe', 'ignore'] });
}

/** The highest acknowledged seq of each actor, once the process has ended. */
async function collect(child: Writer, onLine: (lines: number, line: string) => void): Promise<Map<string, number>> {
  const acknowledged = new Map<string, number>();
  const closed = once(child, 'close');
  let lines = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [, address, seq] = /^(actor\/\d+) (\d+)$/.exec(line) ?? [];
    if (address !== undefined) acknowledged.set(address, Number(seq));
    lines += 1;
    onLine(lines, line);
  }
  await closed;
  return acknowledged;
}
