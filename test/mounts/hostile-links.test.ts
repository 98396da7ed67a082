/** What a plugin may put into directories that it can write to: nothing outside of them is read, written or given another mode. */
import { execFile, execFileSync } from 'node:child_process';
import fs, {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { systemClock } from '../../src/engine/clock.js';
import { readMountTable } from '../../src/host/mount-info.js';
import { hostTool } from '../../src/mounts/host-tool.js';
import { hostMountDirectories } from '../../src/mounts/mount-directories.js';
import { mountPaths } from '../../src/mounts/paths.js';
import { builtProgram } from '../built.js';
import { refusalOf } from '../refusal.js';

describe('places in directories that a plugin can write to', () => {
  let folder: string;
  let outside: string;
  const prepare = () => {
    const paths = mountPaths({ dataDir: folder, socketRoot: folder });
    const places = hostMountDirectories({ root: paths.root, readTable: readMountTable, tool: hostTool(systemClock) });
    const staging = paths.staging('disk', { namespace: 'default', id: 'data' });
    const target = paths.target('disk', { namespace: 'default', id: 'data' }, 'alloc');
    mkdirSync(dirname(staging.path), { recursive: true });
    return { places, staging, target };
  };

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'stagecraft-links-')));
    outside = join(folder, 'outside');
    writeFileSync(outside, 'precious');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** By this process so far. */
  const readBytes = (): number => Number(/^rchar: (\d+)$/m.exec(asText('/proc/self/io'))?.[1]);
  const asText = (path: string): string => readFileSync(path, 'utf8');

  for (const name of ['json.new', 'json']) {
    it(`M12 a link as .${name} instead of an index file: its target stays, and the index becomes a file`, async () => {
      const { places, staging } = prepare();
      symlinkSync(outside, `${staging.path}.${name}`);
      await places.makeStaging(staging);
      expect(asText(outside)).to.equal('precious');
      expect(lstatSync(`${staging.path}.json`).isFile()).to.equal(true);
      expect(JSON.parse(asText(`${staging.path}.json`))).to.deep.equal(staging.subject);
    });
  }

  it('M12 a link to what others may not read, as an index file: nothing of that is told', async () => {
    const { places, staging } = prepare();
    writeFileSync(outside, '{"password":"s3cret"}');
    symlinkSync(outside, `${staging.path}.json`);
    await places.makeStaging(staging);
    expect(JSON.parse(asText(`${staging.path}.json`))).to.deep.equal(staging.subject);
    expect(asText(outside)).to.equal('{"password":"s3cret"}');
  });

  it('M12 a link that is put in the place of an index file as that is being written: it is not followed', async () => {
    const { places, staging } = prepare();
    const half = `${staging.path}.json.new`;
    const { unlinkSync } = fs;
    fs.unlinkSync = (path) => {
      try {
        unlinkSync(path);
      } finally {
        if (path === half) symlinkSync(outside, half);
      }
    };
    syncBuiltinESMExports();
    try {
      await places.makeStaging(staging).catch(() => {});
    } finally {
      fs.unlinkSync = unlinkSync;
      syncBuiltinESMExports();
    }
    expect([lstatSync(half).isSymbolicLink(), asText(outside)]).to.deep.equal([true, 'precious']);
    await places.makeStaging(staging);
    expect(JSON.parse(asText(`${staging.path}.json`))).to.deep.equal(staging.subject);
  });

  it('M12 a pipe in the place of an index file holds nobody up', async () => {
    const { target } = prepare();
    const pipe = `${target.path}.json`;
    mkdirSync(dirname(pipe), { recursive: true });
    execFileSync('mkfifo', [pipe]);
    // In a process that can be killed: one that waits for a pipe would never say so.
    const made = [builtProgram(new URL('places-process.ts', import.meta.url)), folder, 'data', 'makeParent'];
    const { stdout } = await promisify(execFile)(process.execPath, made, {
      timeout: 20_000,
      killSignal: 'SIGKILL',
    });
    expect(JSON.parse(stdout)).to.deep.equal([null]);
    expect(JSON.parse(asText(pipe))).to.deep.equal(target.subject);
  });

  for (const name of ['json', 'json.new']) {
    it(`M9 a directory as .${name} instead of an index file: unmounted paths go, it stays and is reported`, async () => {
      const { places, staging, target } = prepare();
      const alloc = dirname(target.path);
      for (const [place, beside, gone] of [
        [staging, staging.path, [staging.path]],
        [target, target.path, []],
        [target, alloc, [target.path, `${target.path}.json`, alloc]],
      ] as const) {
        if (place === staging) await places.makeStaging(place);
        else await places.makeParent(place);
        const path = `${beside}.${name}`;
        rmSync(path, { force: true });
        mkdirSync(path);
        writeFileSync(join(path, 'file'), 'precious');
        for (let times = 0; times < 2; times += 1)
          expect(await places.remove(place)).to.deep.equal({ path, why: 'it is a directory' });
        expect(gone.filter((one) => existsSync(one))).to.deep.equal([]);
        expect(existsSync(name === 'json' ? `${path}.new` : `${beside}.json`)).to.equal(false);
        expect(asText(join(path, 'file'))).to.equal('precious');
        rmSync(path, { recursive: true });
        expect(await places.remove(place)).to.equal(undefined);
      }
    });

    it(`M12 a directory as .${name} in the place of an index file is refused by name, and stays`, async () => {
      const { places, staging } = prepare();
      const path = `${staging.path}.${name}`;
      mkdirSync(path);
      for (const make of [places.makeStaging, places.makeParent]) {
        const { code, message } = await refusalOf(make(staging));
        expect([code, message]).to.deep.equal([
          'DATA_DIR_UNUSABLE',
          `${path} is in the way of a file of Stagecraft (it is a directory): move it away`,
        ]);
      }
      rmSync(path, { recursive: true });
      await places.makeStaging(staging);
    });

    it(`M6 a mount at .${name} instead of an index file is refused by name, and reported at removal`, async () => {
      const { places, staging } = prepare();
      const path = `${staging.path}.${name}`;
      await places.makeStaging(staging);
      if (name === 'json.new') writeFileSync(path, '');
      execFileSync('mount', ['--bind', outside, path]);
      try {
        const { code, message } = await refusalOf(places.makeStaging(staging));
        expect([code, message]).to.deep.equal([
          'HOST_UNFIT',
          `something is mounted at ${path}, a file of Stagecraft: unmount it`,
        ]);
        expect(await places.remove(staging)).to.deep.equal({ path, why: 'something is mounted there' });
        expect(asText(outside)).to.equal('precious');
      } finally {
        execFileSync('umount', ['--lazy', path]);
      }
      expect(await places.remove(staging)).to.equal(undefined);
    });
  }

  it('M12 a file larger than any index file is not read: it is refused, and stays', async () => {
    const { places, staging } = prepare();
    const path = `${staging.path}.json`;
    writeFileSync(path, '');
    const sizeBytes = 64 * 2 ** 20;
    truncateSync(path, sizeBytes);
    const before = readBytes();
    const { code, message } = await refusalOf(places.makeStaging(staging));
    expect([code, message]).to.deep.equal([
      'DATA_DIR_UNUSABLE',
      `${path} is in the way of a file of Stagecraft (it has more than 16384 bytes): move it away`,
    ]);
    expect(readBytes() - before).to.be.below(sizeBytes);
    expect(statSync(path).size).to.equal(sizeBytes);
  });

  it('M1 a link in the place of a directory is refused by name, and what it leads to keeps its mode', async () => {
    const { places, staging } = prepare();
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    chmodSync(elsewhere, 0o700);
    rmSync(dirname(staging.path), { recursive: true });
    symlinkSync(elsewhere, dirname(staging.path));
    const error = await refusalOf(places.makeStaging(staging));
    expect([error.code, error.message]).to.deep.equal([
      'DATA_DIR_UNUSABLE',
      `${dirname(staging.path)} is no directory: move it away`,
    ]);
    expect(statSync(elsewhere).mode & 0o777).to.equal(0o700);
  });
});
