/** Many volumes of few allocs at once: each keeps its place for as long as it has one, and in the end nothing is left. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { systemClock } from '../../src/engine/clock.js';
import { readMountTable } from '../../src/host/mount-info.js';
import { hostTool } from '../../src/mounts/host-tool.js';
import { hostMountDirectories, type MountDirectories } from '../../src/mounts/mount-directories.js';
import { type MountPath, type MountPaths, mountPaths } from '../../src/mounts/paths.js';

/** One use of a place; what the plugin made is still there when it is removed, or not. */
type Use = 'gone' | 'left' | 'left as a file';

interface User {
  allocId: string;
  id: string;
  uses: Use[];
  /** Whether the last use goes on. */
  isKept: boolean;
}

const user: fc.Arbitrary<User> = fc.record({
  allocId: fc.constantFrom('a', 'b'),
  id: fc.constantFrom('one', 'two', 'three'),
  uses: fc.array(fc.constantFrom<Use>('gone', 'left', 'left as a file'), { minLength: 1, maxLength: 4 }),
  isKept: fc.boolean(),
});
/** The calls of one volume are made one after the other, so it has one user here. */
const users = fc.uniqueArray(user, { selector: ({ allocId, id }) => `${allocId}/${id}`, minLength: 2, maxLength: 6 });

describe('places of many volumes', () => {
  let folder: string;
  let paths: MountPaths;
  let places: MountDirectories;

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'stagecraft-together-')));
    paths = mountPaths({ dataDir: folder, socketRoot: folder });
    places = hostMountDirectories({ root: paths.root, readTable: readMountTable, tool: hostTool(systemClock) });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const placeOf = ({ allocId, id }: User): MountPath => paths.target('disk', { namespace: 'default', id }, allocId);

  /** As a plugin does: it needs the parent to be there. */
  function publish({ path }: MountPath, use: Use): void {
    if (use === 'left as a file') writeFileSync(path, '');
    else mkdirSync(path);
  }

  async function live(user: User): Promise<void> {
    const place = placeOf(user);
    for (const [at, use] of user.uses.entries()) {
      await places.makeParent(place);
      publish(place, use);
      if (user.isKept && at === user.uses.length - 1) return;
      if (use === 'gone') rmdirSync(place.path);
      expect(await places.remove(place)).to.equal(undefined);
    }
  }

  it('M1 M9 volumes of one alloc come and go at once: what one needs is there, and goes with the last', async () => {
    await fc.assert(
      fc.asyncProperty(users, async (all) => {
        await Promise.all(all.map(live));
        const kept = all.filter(({ isKept }) => isKept);
        for (const each of all) {
          const { path } = placeOf(each);
          expect([existsSync(path), existsSync(`${path}.json`)]).to.deep.equal([each.isKept, each.isKept]);
        }
        for (const allocId of ['a', 'b']) {
          const directory = dirname(placeOf({ allocId, id: 'one', uses: [], isKept: false }).path);
          const isUsed = kept.some((each) => each.allocId === allocId);
          expect([existsSync(directory), existsSync(`${directory}.json`)]).to.deep.equal([isUsed, isUsed]);
        }
        const removed = await Promise.all(kept.map((each) => places.remove(placeOf(each))));
        expect(removed.every((left) => left === undefined)).to.equal(true);
        expect(readdirSync(join(paths.pluginRoot('disk'), 'per-alloc'))).to.deep.equal([]);
      }),
      { numRuns: 60 },
    );
  });
});
