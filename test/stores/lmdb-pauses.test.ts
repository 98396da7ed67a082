/** When the LMDB store tries to write again after a failure, and what it says until then. */
import { constants } from 'node:os';
import { expect } from 'chai';
import { WritePauses } from '../../src/stores/lmdb/lmdb-pauses.js';

const failureOf = (code: keyof typeof constants.errno): Error =>
  Object.assign(new Error(`words of LMDB for ${code}`), { code: constants.errno[code] });

describe('pauses between attempts to write', () => {
  let nowMs: number;
  let freeBytes: number;
  let pauses: WritePauses;
  beforeEach(() => {
    nowMs = 0;
    freeBytes = 0;
    pauses = new WritePauses({ path: '/d/state', monotonicMs: () => nowMs, freeBytes: async () => freeBytes });
  });

  /** Milliseconds until the next attempt, in steps of a second. */
  async function pauseMs(): Promise<number> {
    const from = nowMs;
    while (await pauses.reason()) nowMs += 1_000;
    return nowMs - from;
  }

  it('34 they double up to five minutes, and begin anew after a success', async () => {
    const all: number[] = [];
    for (let attempt = 0; attempt < 11; attempt += 1) {
      await pauses.failed(failureOf('ENOSPC'));
      all.push(await pauseMs());
    }
    expect(all.map((ms) => ms / 1_000)).to.deep.equal([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    pauses.written();
    await pauses.failed(failureOf('ENOSPC'));
    expect(await pauseMs()).to.equal(1_000);
  });

  it('34 a full disk: room ends the pause, more than there was when it failed', async () => {
    freeBytes = 10_000;
    for (let attempt = 0; attempt < 9; attempt += 1) await pauses.failed(failureOf('ENOSPC'));
    expect((await pauses.reason())?.message).to.equal(
      'The store in /d/state could not write: its disk is full. Make room there: it goes on by itself then',
    );
    freeBytes = 80_000;
    expect(await pauses.reason()).to.be.an('error');
    freeBytes = 100_000;
    expect(await pauses.reason()).to.equal(undefined);
  });

  const others = {
    EDQUOT: 'the quota of its disk is used up. Raise it, or make room: it is tried again within five minutes',
    EIO: 'its disk gave an input/output error, or took only a part. See the log of the kernel (dmesg); it is tried again within five minutes',
    EROFS: 'its file system is read-only. Mount it for writing: it is tried again within five minutes',
    EFBIG: 'words of LMDB for EFBIG',
  } as const;
  for (const [code, reason] of Object.entries(others))
    it(`34 ${code} on a disk with room: is no full disk, says what it is, and room ends no pause`, async () => {
      freeBytes = 1e9;
      const failure = await pauses.failed(failureOf(code as keyof typeof others));
      expect(failure.message).to.equal(`The store in /d/state could not write: ${reason}`);
      freeBytes = 1e12;
      expect(await pauses.reason()).to.equal(failure);
      expect(await pauseMs()).to.equal(1_000);
    });

  it('34 a write that LMDB says was cut short, on a disk without room: the disk is full', async () => {
    freeBytes = 4_096;
    expect((await pauses.failed(failureOf('EIO'))).message).to.include('its disk is full');
    freeBytes = 1e9;
    expect(await pauses.reason()).to.equal(undefined);
  });

  it('34 room that did not do for another failure is not what a full disk waits for', async () => {
    freeBytes = 1e9;
    await pauses.failed(failureOf('EIO'));
    freeBytes = 0;
    await pauses.failed(failureOf('ENOSPC'));
    freeBytes = 1e6;
    expect(await pauses.reason()).to.equal(undefined);
  });

  it('34 LMDB begins no transaction after a failure: that one is named, too', async () => {
    freeBytes = 1e9;
    await pauses.failed(failureOf('EIO'));
    for (let attempt = 0; attempt < 3; attempt += 1)
      expect((await pauses.failed(new Error('LMDB begins no transaction'))).message).to.match(
        /^The store in \/d\/state could not write: LMDB begins no transaction \(at first: its disk gave an input[^(]*\(dmesg\)[^(]*\)$/,
      );
  });
});
