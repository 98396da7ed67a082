/** Socket files as they come and go, in a real directory: what is noticed, and that it leads to a look at once. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync, symlinkSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Clock } from '../../src/engine/clock.js';
import { watchedDirectories, watchSocket } from '../../src/registry/socket-watch.js';
import { until } from '../until.js';
import { healthy, unhealthy } from './fake-kind.js';
import { device, House } from './house.js';

describe('sockets', () => {
  let directory: string;
  let path: string;
  /** Runtimes of other tests that were cut off in the middle of things hold theirs for ever. */
  let before: number;

  beforeEach(() => {
    before = watchedDirectories();
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
    path = join(directory, 'csi.sock');
  });

  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
    expect(watchedDirectories()).to.equal(before);
  });

  describe('watched', () => {
    /** Resolves when it is called; afterwards, further calls are counted only. */
    function watched(): { called: Promise<void>; calls: () => number; end: () => void } {
      let calls = 0;
      let end = (): void => {};
      const called = new Promise<void>((resolve) => {
        end = watchSocket(path, () => {
          calls += 1;
          resolve();
        });
      });
      return { called, calls: () => calls, end: () => end() };
    }

    for (const [title, stir] of [
      ['made', () => writeFileSync(path, '')],
      [
        'moved to its place',
        () => {
          writeFileSync(`${path}.new`, '');
          renameSync(`${path}.new`, path);
        },
      ],
    ] satisfies [string, () => void][]) {
      it(`I10 a file that is ${title} is noticed`, async () => {
        const { called, end } = watched();
        stir();
        await called;
        end();
      });
    }

    for (const [title, stir] of [
      ['removed', () => rmSync(path)],
      [
        'replaced',
        () => {
          writeFileSync(`${path}.new`, '');
          renameSync(`${path}.new`, path);
        },
      ],
    ] satisfies [string, () => void][]) {
      it(`I10 a file that is ${title} is noticed`, async () => {
        writeFileSync(path, '');
        const { called, end } = watched();
        stir();
        await called;
        end();
      });
    }

    it('I10 another file in the same directory is not noticed', async () => {
      const { called, calls, end } = watched();
      const other = watch(directory);
      writeFileSync(join(directory, 'other.sock'), '');
      await once(other, 'change');
      other.close();
      expect(calls()).to.equal(0);
      writeFileSync(path, '');
      await called;
      end();
    });

    it('I10 ended, it calls no more; twice is once', async () => {
      const { calls, end } = watched();
      end();
      end();
      const other = watch(directory);
      writeFileSync(path, '');
      await once(other, 'change');
      other.close();
      expect(calls()).to.equal(0);
    });

    it('I10 many in one directory have one watcher, which goes with the last; each hears of its own only', async () => {
      const calls: number[] = [];
      const sockets = Array.from({ length: 50 }, (_, n) => `${n % 25}.sock`);
      const ends = sockets.map((name, n) => watchSocket(join(directory, name), () => void calls.push(n)));
      expect(watchedDirectories()).to.equal(before + 1);
      const { called, end } = watched();
      writeFileSync(join(directory, '7.sock'), '');
      writeFileSync(path, '');
      await called;
      expect([...new Set(calls)]).to.deep.equal([7, 32]);
      for (const endOne of [...ends, end]) {
        expect(watchedDirectories()).to.equal(before + 1);
        endOne();
      }
      expect(watchedDirectories()).to.equal(before);
    });

    it('I10 a directory that comes is noticed, step by step down to the file', async () => {
      path = join(directory, 'a', 'b', 'csi.sock');
      for (const stir of [
        () => mkdirSync(join(directory, 'a')),
        () => mkdirSync(join(directory, 'a', 'b')),
        () => writeFileSync(path, ''),
      ]) {
        const { called, end } = watched();
        stir();
        await called;
        end();
      }
    });

    for (const [title, stir] of [
      ['removed', (inner) => rmSync(inner, { recursive: true })],
      ['moved away', (inner) => renameSync(inner, `${inner}.old`)],
    ] satisfies [string, (inner: string) => void][]) {
      it(`I10 a directory that is ${title} is noticed, and so is a file in the next one at its path`, async () => {
        const inner = join(directory, 'inner');
        mkdirSync(inner);
        path = join(inner, 'csi.sock');
        const first = watched();
        const other = watched();
        stir(inner);
        await Promise.all([first.called, other.called]);
        first.end();
        mkdirSync(inner);
        const next = watched();
        writeFileSync(path, '');
        await next.called;
        next.end();
        other.end();
      });
    }
  });

  describe('watched, in a directory that is made anew', () => {
    for (const [title, remake] of [
      [
        'while the one before lives on elsewhere',
        (inner) => {
          renameSync(inner, `${inner}.old`);
          mkdirSync(inner);
        },
      ],
      [
        'with the inode number of the one before, where the file system gives it again',
        (inner) => {
          rmdirSync(inner);
          mkdirSync(inner);
        },
      ],
    ] satisfies [string, (inner: string) => void][]) {
      for (const isHeard of [false, true]) {
        it(`I10 ${title}${isHeard ? ', after a notice' : ''}: a file in the new one is noticed, also once the old watch has ended`, async () => {
          const inner = join(directory, 'inner');
          mkdirSync(inner);
          let isTold = false;
          const endFirst = watchSocket(join(inner, 'one.sock'), () => {
            isTold = true;
          });
          remake(inner);
          if (isHeard) await until(() => isTold);
          let isNoticed = false;
          const endSecond = watchSocket(join(inner, 'two.sock'), () => {
            isNoticed = true;
          });
          endFirst();
          expect(watchedDirectories()).to.equal(before + 1);
          writeFileSync(join(inner, 'two.sock'), '');
          await until(() => isNoticed);
          endSecond();
        });
      }
    }
  });

  it('I10 watched through a link that silently changes its target: the next watch sees the new directory', async () => {
    const link = join(directory, 'link');
    for (const name of ['v1', 'v2']) mkdirSync(join(directory, name));
    symlinkSync('v1', link);
    const endFirst = watchSocket(join(link, 'csi.sock'), () => {});
    rmSync(link);
    symlinkSync('v2', link);
    let isNoticed = false;
    const endSecond = watchSocket(join(link, 'csi.sock'), () => {
      isNoticed = true;
    });
    writeFileSync(join(link, 'csi.sock'), '');
    await until(() => isNoticed);
    endFirst();
    endSecond();
  });

  describe('of a registered instance', () => {
    let house: House;

    beforeEach(async () => {
      house = await new House().open();
    });

    afterEach(() => house.dispose());

    it('I10 comes: an unhealthy instance is looked at without waiting for the next round', async () => {
      house.kind.find = () => unhealthy;
      await house.register(device('a1', { connection: { socketPath: path } }));
      await house.clock.advance(125_000);
      const { length } = house.kind.looks;
      house.kind.find = () => healthy;
      writeFileSync(path, '');
      await house.plugins.waitFor('device', 'gpu');
      expect(house.kind.looks.length).to.equal(length + 1);
    });

    it('I10 comes, but is not ready yet: retries begin with short gaps again', async () => {
      house.kind.find = () => unhealthy;
      await house.register(device('a1', { connection: { socketPath: path } }));
      await house.clock.advance(125_000);
      const { length } = house.kind.looks;
      writeFileSync(path, '');
      await house.kind.looked(length + 1);
      house.kind.find = () => healthy;
      await house.clock.advance(500);
      expect(house.plugins.status('device', 'gpu').healthy).to.equal(true);
    });

    it('I10 goes: a healthy instance is found unhealthy at once', async () => {
      writeFileSync(path, '');
      await house.register(device('a1', { connection: { socketPath: path } }));
      await house.clock.advance(1_000);
      house.kind.find = () => ({ healthy: false, description: 'no socket' });
      const events = house.plugins.updates()[Symbol.asyncIterator]();
      rmSync(path);
      const { value } = await events.next();
      expect(value).to.include({ kind: 'health', healthy: false, description: 'no socket' });
    });

    it('I10 comes in a directory that was not there when it was registered: looked at without waiting', async () => {
      const below = join(directory, 'not', 'yet');
      house.kind.find = () => unhealthy;
      await house.register(device('a1', { connection: { socketPath: join(below, 'csi.sock') } }));
      await house.clock.advance(125_000);
      mkdirSync(below, { recursive: true });
      const { length } = house.kind.looks;
      await house.kind.looked(length + 1); // for the first of the two directories, and it watches the second
      await house.clock.advance(1_000);
      house.kind.find = () => healthy;
      writeFileSync(join(below, 'csi.sock'), '');
      await house.plugins.waitFor('device', 'gpu');
    });

    it('I8 I10 replaced just when a round is due: one more round follows, which identifies the plugin again', async () => {
      await house.runtime.close();
      const intervalMs = 12_345;
      let fallDue = (): void => {};
      const { clock } = house;
      const after: Clock['after'] = (delayMs, callback) => {
        if (delayMs !== intervalMs) return clock.after(delayMs, callback);
        fallDue = callback;
        return () => {};
      };
      await house.open({ clock: { ...clock, after }, fingerprint: { intervalMs } });
      house.kind.find = () => ({ ...healthy, basic: { pluginName: 'gpu', vendorVersion: '1' } });
      await house.register(device('a1', { connection: { socketPath: path } }));
      await clock.advance(1_000);
      writeFileSync(path, '');
      fallDue(); // before anybody can have heard of the file
      await until(() => {
        void clock.advance(100);
        return house.kind.looks.length === 3;
      });
      expect(house.kind.looks.map(({ request }) => request.basic !== undefined)).to.deep.equal([false, true, false]);
    });

    it('I10 stirs once more while it is looked at: one more look follows', async () => {
      const release = house.kind.hold();
      await house.register(device('a1', { connection: { socketPath: path } }));
      await house.clock.advance(1_000);
      const other = watch(directory);
      writeFileSync(path, '');
      await once(other, 'change');
      other.close();
      release(unhealthy);
      await house.kind.looked(2);
    });
  });
});
