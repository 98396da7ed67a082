/** What is made and removed on the host around mounts, with real directories, files and bind mounts. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../src/engine/clock.js';
import { readMountTable } from '../../src/host/mount-info.js';
import { MountTable } from '../../src/host/mount-table.js';
import { type HostTool, hostTool } from '../../src/mounts/host-tool.js';
import { hostMountDirectories, type MountDirectories } from '../../src/mounts/mount-directories.js';
import { type MountPaths, mountPaths } from '../../src/mounts/paths.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';

const key = { namespace: 'default', id: 'data' };
const other = { namespace: 'default', id: 'other' };

describe('places of mounts', () => {
  let folder: string;
  let paths: MountPaths;
  let places: MountDirectories;
  let ran: string[];
  const mounted: string[] = [];

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'stagecraft-places-')));
    paths = mountPaths({ dataDir: folder, socketRoot: folder });
    ran = [];
    const tool = hostTool(systemClock);
    const counting: HostTool = {
      ...tool,
      run(name, args) {
        ran.push(name);
        return tool.run(name, args);
      },
    };
    places = hostMountDirectories({ root: paths.root, readTable: readMountTable, tool: counting });
  });
  afterEach(() => {
    for (const path of mounted.splice(0).reverse()) execFileSync('umount', ['--lazy', path]);
    rmSync(folder, { recursive: true });
  });

  const bind = (target: string): void => {
    const source = mkdtempSync(join(folder, 'source-'));
    execFileSync('mount', ['--bind', source, target]);
    mounted.push(target);
  };

  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

  /** All that there is below the root. */
  const left = (): string[] => readdirSync(paths.root, { recursive: true, encoding: 'utf8' }).sort();

  /** What stays for the next volume of the plugin. */
  const ofPlugin = (part: string): string[] => {
    const own = relative(paths.root, paths.pluginRoot('disk'));
    return [own, `${own}.json`, join(own, part)].sort();
  };

  const underUmask = async (mask: number, work: () => Promise<void>): Promise<void> => {
    const before = process.umask(mask);
    await work().finally(() => process.umask(before));
  };

  for (const mask of [0o022, 0o077, 0o000]) {
    it(`M1 staging is for root only, its parents can be passed, under the umask 0${mask.toString(8)}`, async () => {
      const place = paths.staging('disk', key);
      await underUmask(mask, () => places.makeStaging(place));
      expect(modeOf(place.path)).to.equal('700');
      for (const path of [paths.root, ...place.parents.map((parent) => parent.path)])
        expect(modeOf(path)).to.equal('711');
      expect(modeOf(`${place.path}.json`)).to.equal('600');
    });
  }

  it('M1 of a target all is made but the target, with files that say what is what', async () => {
    const place = paths.target('disk', key, 'alloc/1');
    await places.makeParent(place);
    await places.makeParent(place);
    expect(existsSync(place.path)).to.equal(false);
    expect(modeOf(dirname(place.path))).to.equal('711');
    const said = [place, ...place.parents.filter(({ subject }) => subject)].map(({ path }) =>
      JSON.parse(readFileSync(`${path}.json`, 'utf8')),
    );
    expect(said).to.deep.equal([key, { plugin: 'disk' }, { allocId: 'alloc/1' }]);
    expect(modeOf(`${place.path}.json`)).to.equal('600');
  });

  it('M1 a parent with another mode is set right', async () => {
    mkdirSync(paths.root, { mode: 0o700 });
    await places.makeStaging(paths.staging('disk', key));
    expect(modeOf(paths.root)).to.equal('711');
  });

  it('M12 a place whose file names somebody else is refused with that named, and stays as it is', async () => {
    const place = paths.staging('disk', key);
    await places.makeStaging(place);
    const holder = '{"namespace":"default","id":"somebody"}\n';
    writeFileSync(`${place.path}.json`, holder);
    for (const make of [places.makeStaging, places.makeParent]) {
      const { code, message } = await refusalOf(make(place));
      expect(code).to.equal('CLAIM_CONFLICT');
      expect(message).to.include(`is the place of ${holder.trim()}`).and.include('"id":"data"');
    }
    expect(readFileSync(`${place.path}.json`, 'utf8')).to.equal(holder);
  });

  for (const [what, text] of [
    ['empty', ''],
    ['cut off', '{"namespace":"def'],
    ['full of what a crash of the host leaves', '\0'.repeat(40)],
  ] as const) {
    it(`M12 an index file that is ${what} is written again`, async () => {
      const place = paths.target('disk', key, 'a');
      await places.makeParent(place);
      writeFileSync(`${place.path}.json`, text);
      writeFileSync(`${place.path}.json.new`, '{"half');
      await places.makeParent(place);
      expect(JSON.parse(readFileSync(`${place.path}.json`, 'utf8'))).to.deep.equal(key);
      expect(existsSync(`${place.path}.json.new`)).to.equal(false);
    });
  }

  it('M1 where a file stands in the place of a directory, it is refused by name and stays', async () => {
    const place = paths.staging('disk', key);
    await places.makeParent(place);
    writeFileSync(place.path, 'mine');
    const atPlace = await refusalOf(places.makeStaging(place));
    expect([atPlace.code, atPlace.message]).to.deep.equal([
      'DATA_DIR_UNUSABLE',
      `${place.path} is no directory: move it away`,
    ]);
    expect(readFileSync(place.path, 'utf8')).to.equal('mine');

    const parent = paths.target('disk', key, 'a').parents.at(-1)?.path ?? '';
    mkdirSync(dirname(parent));
    symlinkSync(folder, parent);
    const atParent = await refusalOf(places.makeParent(paths.target('disk', key, 'a')));
    expect(atParent.message).to.equal(`${parent} is no directory: move it away`);
  });

  it('M6 a staging directory with something mounted there is left alone', async () => {
    const place = paths.staging('disk', key);
    await places.makeStaging(place);
    bind(place.path);
    execFileSync('chmod', ['0755', place.path]);
    await places.makeStaging(place);
    expect(modeOf(place.path)).to.equal('755');
  });

  it('M6 what is mounted between the look at the table and the making is left alone too', async () => {
    const place = paths.staging('disk', key);
    await places.makeStaging(place);
    bind(place.path);
    execFileSync('chmod', ['0755', place.path]);
    const before = new MountTable((await readMountTable()).entries.filter(({ path }) => path !== place.path));
    const late = hostMountDirectories({ root: paths.root, readTable: async () => before, tool: hostTool(systemClock) });
    await late.makeStaging(place);
    expect(modeOf(place.path)).to.equal('755');
    expect(await late.remove(place)).to.deep.equal({ path: place.path, why: 'something is mounted there' });
    expect(existsSync(`${place.path}.json`)).to.equal(true);
  });

  it('M6 a mount over a directory of ours is refused, and nothing is made in it or removed', async () => {
    const place = paths.target('disk', key, 'a');
    await places.makeParent(place);
    const over = paths.pluginRoot('disk');
    bind(over);
    const { code, message } = await refusalOf(places.makeParent(place));
    expect([code, message]).to.deep.equal([
      'HOST_UNFIT',
      `something is mounted at ${over}, a directory of Stagecraft: unmount it`,
    ]);
    expect(await places.remove(place)).to.deep.equal({ path: over, why: 'something is mounted there' });
    expect(readdirSync(over)).to.deep.equal([]);
  });

  it('M9 all of a staged volume goes, without a process; the directories of the plugin stay as they are', async () => {
    const place = paths.staging('disk', key);
    await places.makeStaging(place);
    const { ino } = statSync(dirname(place.path));
    expect(await places.remove(place)).to.equal(undefined);
    expect(left()).to.deep.equal(ofPlugin('staging'));
    expect(statSync(dirname(place.path)).ino).to.equal(ino);
    expect(ran).to.deep.equal([]);
  });

  for (const [what, leave, tools] of [
    ['nothing', () => {}, []],
    ['an empty directory', (path: string) => mkdirSync(path), []],
    ['an empty file', (path: string) => writeFileSync(path, ''), ['stat']],
  ] as const) {
    it(`M9 of a target that the plugin left as ${what} nothing is left, and removing it again is no error`, async () => {
      const place = paths.target('disk', key, 'a');
      await places.makeParent(place);
      leave(place.path);
      expect(await places.remove(place)).to.equal(undefined);
      expect(left()).to.deep.equal(ofPlugin('per-alloc'));
      expect(ran).to.deep.equal(tools);
      expect(await places.remove(place)).to.equal(undefined);
    });
  }

  it('M9 the directory of an alloc goes with its last volume', async () => {
    const [one, two] = [paths.target('disk', key, 'a'), paths.target('disk', other, 'a')];
    await places.makeParent(one);
    await places.makeParent(two);
    expect(await places.remove(one)).to.equal(undefined);
    expect(existsSync(`${two.path}.json`)).to.equal(true);
    expect(await places.remove(two)).to.equal(undefined);
    expect(left()).to.deep.equal(ofPlugin('per-alloc'));
  });

  for (const [what, leave, why] of [
    [
      'a directory that is not empty',
      (path: string) => {
        mkdirSync(path);
        writeFileSync(join(path, 'file'), '');
      },
      'it is not empty',
    ],
    ['a file that is not empty', (path: string) => writeFileSync(path, 'x'), 'it is a regular file that is not empty'],
    ['a file that is all hole', (path: string) => holeAt(path), 'it is a regular file that is not empty'],
    ['a symlink to nothing', (path: string) => symlinkSync('/nowhere', path), 'it is a symbolic link'],
    ['a symlink to an empty directory', (path: string) => linkAway(path, 'dir'), 'it is a symbolic link'],
    ['a symlink to an empty file', (path: string) => linkAway(path, 'file'), 'it is a symbolic link'],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path]), 'it is a fifo'],
  ] as const) {
    it(`M9 ${what} stays, and is told with its place and why`, async () => {
      const place = paths.target('disk', key, 'a');
      await places.makeParent(place);
      leave(place.path);
      const before = readdirSync(folder, { recursive: true });
      expect(await places.remove(place)).to.deep.equal({ path: place.path, why });
      expect(readdirSync(folder, { recursive: true })).to.deep.equal(before);
    });
  }

  function holeAt(path: string): void {
    writeFileSync(path, '');
    truncateSync(path, 4_096);
  }

  function linkAway(path: string, what: 'dir' | 'file'): void {
    const elsewhere = join(folder, 'elsewhere');
    if (what === 'dir') mkdirSync(elsewhere);
    else writeFileSync(elsewhere, '');
    symlinkSync(elsewhere, path);
  }

  it('M9 what is mounted at a target, or below it, keeps it', async () => {
    const place = paths.target('disk', key, 'a');
    await places.makeParent(place);
    const below = join(place.path, 'below');
    mkdirSync(below, { recursive: true });
    bind(below);
    expect(await places.remove(place)).to.deep.equal({ path: below, why: 'something is mounted there' });
    bind(place.path);
    const said = await places.remove(place);
    expect(said?.why).to.equal('something is mounted there');
    expect(existsSync(`${place.path}.json`)).to.equal(true);
  });

  it('M9 what a stranger put beside targets keeps the directory of the alloc, and is told', async () => {
    const place = paths.target('disk', key, 'a');
    await places.makeParent(place);
    writeFileSync(join(dirname(place.path), 'note'), '');
    expect(await places.remove(place)).to.deep.equal({ path: dirname(place.path), why: 'it is not empty' });
    rmSync(join(dirname(place.path), 'note'));
    expect(await places.remove(place)).to.equal(undefined);
    expect(left()).to.deep.equal(ofPlugin('per-alloc'));
  });

  it('M9 removal that was cut off at any point is finished by the next one', async () => {
    const place = paths.target('disk', key, 'a');
    const alloc = dirname(place.path);
    const cuts: (() => void)[] = [
      () => rmSync(`${place.path}.json`),
      () => rmSync(alloc, { recursive: true }),
      () => writeFileSync(`${place.path}.json.new`, '{'),
      () => writeFileSync(`${alloc}.json.new`, ''),
    ];
    for (const cut of cuts) {
      await places.makeParent(place);
      cut();
      expect(await places.remove(place)).to.equal(undefined);
      expect(left()).to.deep.equal(ofPlugin('per-alloc'));
    }
  });

  it('M9 a left-over file that does not answer stays once its time is over, and is removed when it does', async () => {
    const place = paths.target('disk', key, 'a');
    await places.makeParent(place);
    writeFileSync(place.path, '');
    const clock = simulatedClock();
    const tool = hostTool(clock, 10_000);
    const silent: HostTool = { ...tool, run: () => tool.run('sleep', ['infinity']) };
    const removed = hostMountDirectories({ root: paths.root, readTable: readMountTable, tool: silent }).remove(place);
    await until(() => clock.pending > 0);
    await clock.advance(10_000);
    expect(await removed).to.deep.equal({ path: place.path, why: 'it does not answer' });
    expect(await places.remove(place)).to.equal(undefined);
  });
});
