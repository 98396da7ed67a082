/** Warnings of a runtime on another store about the embedded store that it used before. */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createRuntime } from '../../src/runtime/runtime.js';
import { warnOfLeftStore } from '../../src/runtime/runtime-life.js';
import { lmdbStore } from '../../src/stores/lmdb/lmdb.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { plainCommit } from '../../src/tools/store-suite/subject.js';
import { until } from '../until.js';

describe('the embedded store of a runtime that has another store', () => {
  let home: string;
  let dataDir: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'stagecraft-left-'));
    dataDir = join(home, 'data');
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const fill = async (...addresses: string[]): Promise<void> => {
    const store = lmdbStore(join(dataDir, 'state'));
    await store.open();
    await store.commit(addresses.map((address) => plainCommit(address, 0)));
    await store.close();
  };

  const warnings = async (signal = new AbortController().signal): Promise<string[]> => {
    const lines: string[] = [];
    await warnOfLeftStore(dataDir, { warn: (line) => lines.push(line), signal });
    return lines;
  };

  /** Files of the store, each with its bytes and its time of writing. */
  const state = (): unknown[] =>
    readdirSync(join(dataDir, 'state')).map((name) => {
      const file = join(dataDir, 'state', name);
      return [name, statSync(file, { bigint: true }).mtimeNs, readFileSync(file).toString('base64')];
    });

  it('34.36 none, or one without volumes: nothing to say', async () => {
    expect(await warnings()).to.deep.equal([]);
    await fill('node/a', 'plugin/a/csi-node/disk/1');
    expect(await warnings()).to.deep.equal([]);
  });

  it('34.36 it is the store that this runtime uses: nothing to say', async () => {
    await fill('volume/default/a');
    const store = lmdbStore(join(dataDir, 'state'));
    await store.open();
    expect(await warnings()).to.deep.equal([]);
    await store.close();
    expect(await warnings()).to.have.lengthOf(1);
  });

  it('34.36 with volumes: says how many there are, and what to do', async () => {
    await fill('volume/default/a', 'volume/default/b', 'volume-snapshot/default/c', 'node/a');
    const [line, ...more] = await warnings();
    expect(line).to.match(/state has 2 volumes .* does not know: .*store\.redis/);
    expect(more).to.deep.equal([]);
  });

  for (const isClosed of [true, false])
    it(`34.36 ${isClosed ? 'closed' : 'not closed'} by its last user: counted, and nothing in it is changed`, async () => {
      await fill('volume/default/a');
      if (!isClosed) rmSync(join(dataDir, 'state', 'closed'));
      const before = state();
      expect(await warnings()).to.have.length(1);
      expect(state()).to.deep.equal(before);
    });

  it('34.36 damaged: said, and no reason to end', async () => {
    await fill('volume/default/a');
    truncateSync(join(dataDir, 'state', 'data.mdb'), 9_000);
    const [line] = await warnings();
    expect(line).to.include("can't be read").and.include('is damaged');
  });

  it('34.36 reading it never ends: the runtime starts, and ends, and that process with it', async () => {
    const pidFile = join(home, 'pid');
    const preload = join(home, 'preload.cjs');
    // Only the process that reads has its program on its command line.
    writeFileSync(
      preload,
      `if (process.execArgv.includes('--input-type=commonjs')) {
         require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
         Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
       }`,
    );
    const { NODE_OPTIONS } = process.env;
    process.env.NODE_OPTIONS = `${NODE_OPTIONS ?? ''} --require=${preload}`;
    try {
      await (await createRuntime({ nodeId: 'n1', dataDir })).close();
      await fill('volume/default/a');
      const runtime = await createRuntime({ nodeId: 'n1', dataDir, store: memoryStore() });
      await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '');
      await runtime.close();
    } finally {
      if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS;
      else process.env.NODE_OPTIONS = NODE_OPTIONS;
    }
    expect(() => process.kill(Number(readFileSync(pidFile, 'utf8')), 0)).to.throw('ESRCH');
  });
});
