/** All volumes and snapshots that the driver lists: shows objects that a call created without reporting them. */

import { EndlessList, pagesOf } from '../../calls/page-walk.js';
import type {
  ListSnapshotsResponseEntry,
  ListVolumesResponseEntry,
  Snapshot,
  Volume,
} from '../../csi/generated/plain.js';
import type { DriverCalls } from './calls.js';
import type { Capabilities } from './capabilities.js';
import { callLine } from './report.js';
import type { CallReport } from './verdict.js';

export interface ListedVolume {
  volume: Volume;
  publishedNodeIds: string[];
}

export interface Inventory {
  /** By id; undefined: the driver offers no such list. */
  volumes: ReadonlyMap<string, ListedVolume> | undefined;
  snapshots: ReadonlyMap<string, Snapshot> | undefined;
  /** Reasons for missing lists. */
  gaps: string[];
}

interface Page<Entry> {
  value?: { entries: Entry[]; nextToken: string };
  report: CallReport;
}

/** @returns an inventory even if the driver lists nothing or fails meanwhile */
export async function readInventory(calls: DriverCalls, offers: Capabilities): Promise<Inventory> {
  const gaps: string[] = [];
  const read = async <Entry>(
    rpc: 'ListVolumes' | 'ListSnapshots',
    isOffered: boolean,
    page: (startingToken: string) => Promise<Page<Entry>>,
  ): Promise<Entry[] | undefined> => {
    const entries = isOffered ? await allPages(page) : `the driver does not offer ${rpc}`;
    if (typeof entries !== 'string') return entries;
    gaps.push(entries);
    return undefined;
  };
  const volumes = await read<ListVolumesResponseEntry>(
    'ListVolumes',
    offers.has('controller/LIST_VOLUMES'),
    (startingToken) => calls.ask('ListVolumes', { startingToken }),
  );
  const snapshots = await read<ListSnapshotsResponseEntry>(
    'ListSnapshots',
    offers.has('controller/LIST_SNAPSHOTS'),
    (startingToken) => calls.ask('ListSnapshots', { startingToken }),
  );
  return {
    volumes: volumes && new Map(volumes.flatMap(volumeOf)),
    snapshots: snapshots && new Map(snapshots.flatMap(snapshotOf)),
    gaps,
  };
}

const volumeOf = ({ volume, status }: ListVolumesResponseEntry): [string, ListedVolume][] =>
  volume?.volumeId ? [[volume.volumeId, { volume, publishedNodeIds: status?.publishedNodeIds ?? [] }]] : [];

const snapshotOf = ({ snapshot }: ListSnapshotsResponseEntry): [string, Snapshot][] =>
  snapshot?.snapshotId ? [[snapshot.snapshotId, snapshot]] : [];

/** @returns a text if the list could not be read: the reason */
async function allPages<Entry>(page: (startingToken: string) => Promise<Page<Entry>>): Promise<Entry[] | string> {
  const entries: Entry[] = [];
  const pages = pagesOf({
    async read(token) {
      const { value, report } = await page(token);
      if (!value) throw new UnreadPage(callLine(report));
      return value;
    },
    countOf: (value) => value.entries.length,
    monotonicMs: () => performance.now(),
  });
  try {
    for await (const value of pages) for (const entry of value.entries) entries.push(entry);
    return entries;
  } catch (error) {
    if (error instanceof UnreadPage || error instanceof EndlessList)
      return `the list could not be read: ${error.message}`;
    throw error;
  }
}

class UnreadPage extends Error {}
