/** The watch over the data directory of a running agent. */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { whenGone } from '../../src/agent/data-dir-gone.js';
import { StagecraftError } from '../../src/errors.js';
import { type DataDir, openDataDir } from '../../src/host/data-dir.js';
import { takeLock } from '../../src/host/lock-file.js';
import { type SimulatedClock, simulatedClock } from '../../src/testing/index.js';
import { until } from '../until.js';

describe('a data directory that is watched', () => {
  let directory: string;
  let dataDir: DataDir;
  let lock: string;
  let warnings: string[];
  let gone: StagecraftError | undefined;
  let ended: AbortController;
  let clock: SimulatedClock;

  beforeEach(async () => {
    clock = simulatedClock();
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-watch-'));
    dataDir = openDataDir(join(directory, 'data'));
    lock = join(dataDir.path, 'lock');
    warnings = [];
    gone = undefined;
    ended = new AbortController();
    const { signal } = ended;
    const pause = (delayMs: number): Promise<void> =>
      new Promise((done) => {
        clock.after(delayMs, done);
      });
    const watch = whenGone(dataDir.path, { warn: (line) => warnings.push(line), signal, pause });
    void watch.then((reason) => {
      gone = reason;
    });
    await until(() => clock.pending > 0);
  });
  afterEach(() => {
    ended.abort();
    dataDir.unlock();
    rmSync(directory, { recursive: true, force: true });
  });

  const look = async (isSeen: () => boolean): Promise<void> => {
    await clock.advance(2_000);
    await until(isSeen);
  };

  it('34.19 the lock file removed: made again with the pid, said once, and nobody else gets in', async () => {
    rmSync(lock);
    expect(() => openDataDir(dataDir.path)).to.throw(StagecraftError, 'in use by the agent with pid unknown');
    await look(() => warnings.length > 0);
    expect(warnings).to.deep.equal([`${lock} was removed or replaced: it is made again; leave it to the agent`]);
    expect(readFileSync(lock, 'utf8').trim()).to.equal(String(process.pid));
    await until(() => clock.pending > 0);
    expect(gone).to.equal(undefined);
    expect(() => openDataDir(dataDir.path)).to.throw(StagecraftError, `this very process (pid ${process.pid})`);
  });

  it('34.19 the lock file removed and made by somebody: a second opening is refused all the same', () => {
    rmSync(lock);
    writeFileSync(lock, '');
    expect(() => openDataDir(dataDir.path)).to.throw(StagecraftError, 'in use by the agent with pid unknown');
  });

  it('34.19 the lock file of another holder in its place: gone, naming that one', async () => {
    rmSync(lock);
    const other = takeLock(lock);
    writeFileSync(lock, '77\n');
    await look(() => gone !== undefined);
    expect(gone).to.include({ code: 'DATA_DIR_GONE' });
    expect(gone?.message).to.include('is locked by the agent with pid 77, too');
    if ('unlock' in other) other.unlock();
  });

  it('34.19 the directory replaced by another one: gone', async () => {
    renameSync(dataDir.path, join(directory, 'moved'));
    openDataDir(dataDir.path).unlock();
    await look(() => gone !== undefined);
    expect(gone?.message).to.include('was removed or replaced');
  });
});
