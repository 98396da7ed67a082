/** What a plugin may put into directories that it can write to: nothing outside of them is read, written or given another mode. */
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../src/engine/clock.js';
import { readMountTable } from '../../src/host/mount-info.js';
import { hostTool } from '../../src/mounts/host-tool.js';
import { mountPaths } from '../../src/mounts/paths.js';
import { hostPlaces } from '../../src/mounts/places.js';
import { refusalOf } from '../refusal.js';

describe('places in directories that a plugin can write to', () => {
  let folder: string;
  let outside: string;
  const prepare = () => {
    const paths = mountPaths({ dataDir: folder, socketRoot: folder });
    const places = hostPlaces({ root: paths.root, readTable: readMountTable, tool: hostTool(systemClock) });
    const staging = paths.staging('disk', { namespace: 'default', id: 'data' });
    mkdirSync(dirname(staging.path), { recursive: true });
    return { places, staging };
  };

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'stagecraft-links-')));
    outside = join(folder, 'outside');
    writeFileSync(outside, 'precious');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const asText = (path: string): string => readFileSync(path, 'utf8');

  for (const name of ['json.new', 'json']) {
    it(`M12 a link as .${name} in the place of an index file: what it leads to stays, and the index is a file`, async () => {
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

  it('M12 a pipe in the place of an index file holds nobody up', async () => {
    const { places, staging } = prepare();
    const pipe = `${staging.path}.json`;
    execFileSync('mkfifo', [pipe]);
    // Whoever would wait for it gets this to read, so that the test fails, not hangs.
    const writer = spawn('sh', ['-c', 'echo "{}" > "$1"', 'sh', pipe], { stdio: 'ignore' });
    try {
      await places.makeStaging(staging);
      expect(JSON.parse(asText(pipe))).to.deep.equal(staging.subject);
    } finally {
      writer.kill('SIGKILL');
    }
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
