/** Socket files as they come and go, in a real directory: what is noticed, and that it leads to a look at once. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { watchSocket } from '../../src/registry/socket-watch.js';
import { healthy, unhealthy } from './fake-kind.js';
import { device, House } from './house.js';

describe('sockets', () => {
  let directory: string;
  let path: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
    path = join(directory, 'csi.sock');
  });

  afterEach(() => rmSync(directory, { recursive: true, force: true }));

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

    it('I10 several in one directory: each hears of its own file, also once another is let go of', async () => {
      const [one, same] = [watched(), watched()];
      path = join(directory, 'other.sock');
      const other = watched();
      writeFileSync(path, '');
      await other.called;
      expect([one.calls(), same.calls()]).to.deep.equal([0, 0]);
      other.end();
      one.end();
      writeFileSync(join(directory, 'csi.sock'), '');
      await same.called;
      expect(one.calls()).to.equal(0);
      same.end();
    });

    it('I10 a directory that took the place of another is watched, with somebody left at the old one', async () => {
      const old = watched();
      rmSync(directory, { recursive: true });
      mkdirSync(directory);
      const { called, end } = watched();
      writeFileSync(path, '');
      await called;
      end();
      old.end();
    });

    it('I10 where no directory is, nothing is called and nothing thrown', () => {
      path = join(directory, 'none', 'csi.sock');
      watched().end();
    });
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

    it('I10 comes in a directory that was not there when it was registered: seen from the next round on', async () => {
      const below = join(directory, 'later');
      house.kind.find = () => unhealthy;
      await house.register(device('a1', { connection: { socketPath: join(below, 'csi.sock') } }));
      mkdirSync(below);
      await house.clock.advance(500);
      await house.clock.advance(400);
      house.kind.find = () => healthy;
      writeFileSync(join(below, 'csi.sock'), '');
      await house.plugins.waitFor('device', 'gpu');
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
