/** The LMDB store under the contract of all stores, and what is its own: the directory, and sudden ends. */

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { CommitResult, Store } from '../../src/engine/store.js';
import { lmdbStore } from '../../src/stores/lmdb.js';
import { commitOf, failureOf } from '../suites/store/subject.js';
import { type StoreHarness, storeSuite } from '../suites/store.js';

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
    await withStore((store) => store.commit([commitOf('a', 0)]));
    for (const directory of ['deep', 'deep/er', 'deep/er/store.v1']) {
      const { mode } = await stat(join(home, directory));
      expect(mode & 0o777, directory).to.equal(0o700);
    }
  });

  it('a path where no directory can be is refused by name', async () => {
    await writeFile(path, 'a file');
    for (const taken of [path, join(path, 'below')]) {
      const error = await failureOf(lmdbStore(taken).open());
      expect(error.message).to.include(taken);
    }
  });

  it('a directory with something else under the name of the database is refused by name', async () => {
    await withStore(async () => undefined);
    const database = join(path, 'data.mdb');
    for (const content of ['no', 'no database'.repeat(1_000)]) {
      await writeFile(database, content);
      expect((await failureOf(lmdbStore(path).open())).message).to.include(database);
    }
    await rm(database);
    await mkdir(database);
    expect((await failureOf(lmdbStore(path).open())).message).to.include(database);
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

  it('commits under way or waiting when the store closes are written before it is closed', async () => {
    const calls: Promise<CommitResult[]>[] = [];
    await withStore(async (store) => {
      for (let seq = 0; seq < 100; seq++) {
        calls.push(store.commit([commitOf('a', seq)]));
        // A turn each, so that some come while a transaction is on its way to disk and wait for the next one.
        await nextTurn();
      }
    });
    expect((await Promise.all(calls)).flat()).to.deep.equal(Array(100).fill({ status: 'done' }));
    await withStore(async (store) => expect(await store.load('a')).to.include({ seq: 100 }));
  });

  it('a process killed amid a burst of commits loses nothing that it was told is done', async function () {
    this.timeout(30_000);
    const child = startWriter(path);
    const acknowledged = await collect(child, (lines) => {
      if (lines === 400) child.kill('SIGKILL');
    });
    expect(child.signalCode).to.equal('SIGKILL');
    await expectKept(acknowledged);
  });

  it('a file that may not grow any more is a failure with a reason, and what was done stays', async function () {
    this.timeout(30_000);
    const child = startWriter(path, 'ulimit -f 2048; ');
    let failure = '';
    const acknowledged = await collect(child, (_, line) => {
      if (line.startsWith('failed:')) failure = line;
    });
    expect(child.exitCode).to.equal(0);
    expect(failure)
      .to.include(path)
      .and.to.match(/could not write: File too large/);
    await expectKept(acknowledged);
  });

  /** What was acknowledged is there; what came after it may be, whole. */
  async function expectKept(acknowledged: Map<string, number>): Promise<void> {
    expect(acknowledged.size).to.equal(20);
    await withStore(async (store) => {
      for (const [address, seq] of acknowledged) {
        const record = await store.load(address);
        const kept = record?.seq ?? 0;
        expect(kept, address).to.be.within(seq, seq + 1);
        expect(await store.readJournal(address, 1, 100_000), address).to.have.lengthOf(kept);
        const owed = await store.unsettled({ prefix: `${address}`, limit: 100_000 });
        expect(
          owed.rows.filter((row) => row.address === address),
          address,
        ).to.have.lengthOf(kept);
      }
    });
  }
});

type Writer = ChildProcessByStdio<null, Readable, null>;

function startWriter(path: string, before = ''): Writer {
  const script = fileURLToPath(new URL('lmdb-writer.ts', import.meta.url));
  const command = `${before}exec "$@"`;
  const args = ['-c', command, 'sh', process.execPath, '--import=tsx', script, path];
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
