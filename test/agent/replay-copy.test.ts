/** `stagecraft replay` and `journal export` on the store of an agent that does not run, and on a copy of it. */
import { execFile } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { openJournal } from '../../src/journal/journal-file.js';
import { redisStore } from '../../src/stores/index.js';
import { lmdbStore } from '../../src/stores/lmdb/lmdb.js';
import { freshPrefix, sharedUrl, sweep } from '../redis/shared.js';
import { mainPath } from '../scenarios/agent-process.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

const address = 'volume/default/data';

describe('replay on a data directory', () => {
  let house: VolumeHouse;
  let dataDir: string;

  beforeEach(async () => {
    house = new VolumeHouse();
    dataDir = join(house.directory, 'data');
    house.store = lmdbStore(join(dataDir, 'state'));
    await house.furnish();
    const creating = house.volumes.create(spec('data'));
    await creating;
    await house.volumes.publish({ id: 'data' }, 'a');
  });

  afterEach(() => house.dispose());

  const cli = (...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> =>
    new Promise((resolve) => {
      const child = execFile(process.execPath, [mainPath, ...args], (_, stdout, stderr) =>
        resolve({ code: child.exitCode, stdout, stderr }),
      );
    });

  it('J2 a copy: the same moments as of the live runtime; its store stays as it was', async () => {
    const { last } = await house.runtime.journal.range(address);
    const live = await house.runtime.journal.replay(address, { to: last - 1 });
    await house.runtime.close();
    const copy = join(house.directory, 'copy');
    cpSync(dataDir, copy, { recursive: true });
    const before = readFileSync(join(copy, 'state', 'data.mdb'));
    const { code, stdout } = await cli('replay', 'volume', 'data', '--to', `${last - 1}`, '--data-dir', copy, '--json');
    expect(code).to.equal(0);
    expect(JSON.parse(stdout).snapshot).to.deep.equal({ value: live.snapshot?.value, context: live.snapshot?.context });
    expect(readFileSync(join(copy, 'state', 'data.mdb')).equals(before)).to.equal(true);
    await house.open();
  });

  it('J4 an export of it: all actors, as the runtime would export them', async () => {
    await house.runtime.close();
    const path = join(house.directory, 'all.ndjson');
    expect(await cli('journal', 'export', '--data-dir', dataDir, '--output', path)).to.include({ code: 0 });
    const journal = await openJournal(path);
    expect(journal.actors.map((actor) => actor.address)).to.include.members([
      address,
      'node/a',
      'registry/controller-1',
    ]);
    await house.open();
    expect(await journal.replay(address)).to.deep.equal(await house.runtime.journal.replay(address));
  });

  it('J2 J4 a store in Redis: the same moments as of the live runtime, and an export of it', async () => {
    await house.runtime.close();
    const url = await sharedUrl();
    const prefix = freshPrefix();
    house.store = redisStore({ url, prefix });
    await house.furnish();
    const creating = house.volumes.create(spec('data'));
    await house.rest();
    await creating;
    const live = await house.runtime.journal.replay(address);
    const at = ['--redis', url, '--redis-prefix', prefix];
    const { stdout } = await cli('replay', 'volume', 'data', ...at, '--json');
    expect(JSON.parse(stdout).snapshot).to.deep.equal({ value: live.snapshot?.value, context: live.snapshot?.context });
    const path = join(house.directory, 'redis.ndjson');
    expect(await cli('journal', 'export', ...at, '--output', path)).to.include({ code: 0 });
    expect(await (await openJournal(path)).replay(address)).to.deep.equal(live);
    const client = new Redis(url);
    await sweep(client, prefix);
    client.disconnect();
  });

  it('J2 a Redis that can not be used, or two stores: refused with what to do', async () => {
    const wrong = await cli('replay', address, '--redis', 'nowhere');
    expect(wrong).to.include({ code: 1 });
    expect(wrong.stderr).to.contain('url');
    const both = await cli('replay', address, '--redis', 'redis://127.0.0.1:1', '--data-dir', dataDir);
    expect(both.code).to.equal(2);
    expect(both.stderr).to.contain('name two stores: give one');
  });

  it('J2 while an agent has it, or where there is none: refused, with what to do', async () => {
    const locked = await cli('replay', address, '--data-dir', dataDir);
    expect(locked.code).to.equal(1);
    expect(locked.stderr).to.contain(String(process.pid));
    const none = await cli('replay', address, '--data-dir', house.directory);
    expect(none.stderr).to.contain('has no embedded store: name the data directory of an agent');
  });
});
