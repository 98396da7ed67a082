/** Warnings of an agent on Redis about the embedded store that it used before. */
import { mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { leftStore } from '../../src/agent/left-store.js';
import { lmdbStore } from '../../src/stores/lmdb/lmdb.js';
import { commitOf } from '../../src/testing/store-suite/subject.js';

describe('the embedded store of an agent on Redis', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'stagecraft-left-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true }));

  const fill = async (...addresses: string[]): Promise<void> => {
    const store = lmdbStore(join(dataDir, 'state'));
    await store.open();
    await store.commit(addresses.map((address) => commitOf(address, 0)));
    await store.close();
  };

  it('34.36 none, or one without volumes: nothing to say', async () => {
    expect(await leftStore(dataDir)).to.equal(undefined);
    await fill('node/a', 'plugin/a/csi-node/disk/1');
    expect(await leftStore(dataDir)).to.equal(undefined);
  });

  it('34.36 with volumes: says how many there are, and what to do', async () => {
    await fill('volume/default/a', 'volume/default/b', 'node/a');
    expect(await leftStore(dataDir)).to.match(/state has 2 volumes that the Redis .* does not know: .*store\.redis/);
  });

  it('34.36 damaged: said, and no reason to end', async () => {
    await fill('volume/default/a');
    truncateSync(join(dataDir, 'state', 'data.mdb'), 9_000);
    expect(await leftStore(dataDir))
      .to.include("can't be read")
      .and.include('is damaged');
  });
});
