/**
 * Does things with places beside, or on, a dead mount, in a process that can be killed where it hangs. Its arguments: the
 * data directory, a volume of the alloc `alloc`, and what to do. Says what came of each.
 */
import { lstatSync } from 'node:fs';
import { systemClock } from '../../src/engine/clock.js';
import { readMountTable } from '../../src/host/mount-info.js';
import { isWithin, MountTable } from '../../src/host/mount-table.js';
import { hostTool } from '../../src/mounts/host-tool.js';
import { hostMountDirectories, type MountDirectories } from '../../src/mounts/mount-directories.js';
import { mountPaths } from '../../src/mounts/paths.js';

const [dataDir = '', id = '', ...tasks] = process.argv.slice(2);
const paths = mountPaths({ dataDir, socketRoot: dataDir });
const place = paths.target('disk', { namespace: 'default', id }, 'alloc');

/** As it was before anything was mounted at the place. */
async function earlierTable(): Promise<MountTable> {
  const { entries } = await readMountTable();
  return new MountTable(entries.filter(({ path }) => !isWithin(path, place.path)));
}

const placesWith = (readTable: () => Promise<MountTable>): MountDirectories =>
  hostMountDirectories({ root: paths.root, readTable, tool: hostTool(systemClock, 1_000) });
const places = placesWith(readMountTable);
const late = placesWith(earlierTable);

const known: Record<string, () => unknown> = {
  table: async () => (await readMountTable()).at(place.path).map(({ path, fsType }) => ({ path, fsType })),
  makeParent: () => places.makeParent(place),
  makeStaging: () => places.makeStaging(place),
  remove: () => places.remove(place),
  'late makeParent': () => late.makeParent(place),
  'late makeStaging': () => late.makeStaging(place),
  'late remove': () => late.remove(place),
  touch: () => lstatSync(place.path).mode,
};
const results: unknown[] = [];
for (const task of tasks) results.push((await known[task]?.()) ?? null);
console.log(JSON.stringify(results));
