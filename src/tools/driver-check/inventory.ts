/**
 * Volumes and snapshots that the driver lists: shows objects that a call created without reporting them. Finds those of
 * a run of checks among them, and records these to be taken back.
 */
import { EndlessList, pagesOf } from '../../calls/page-walk.js';
import type {
  ListSnapshotsResponseEntry,
  ListVolumesResponseEntry,
  Snapshot,
  Volume,
} from '../../csi/generated/plain.js';
import { type CallReport, callLine } from './ask.js';
import type { DriverCalls } from './calls.js';
import type { Capabilities } from './capabilities.js';
import { keyOf, type Made } from './resources.js';

interface ListedVolume {
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

/** Object in the driver's lists, as text for people. */
export interface Listed {
  key: string;
  what: string;
}

/** Tells whether one of the texts contains a name of a run with this prefix. */
const hasNameOf = (prefix: string, ...texts: string[]): boolean =>
  texts.some((text) => new RegExp(`${prefix}-\\d`).test(text));

export class ListedThings {
  readonly #calls: DriverCalls;
  readonly #inventory: Inventory;
  readonly #prefix: string;

  constructor(calls: DriverCalls, inventory: Inventory, prefix: string) {
    this.#calls = calls;
    this.#inventory = inventory;
    this.#prefix = prefix;
  }

  /** Finds objects of the run: by their name if the driver shows it, by the run's records, or by their source. */
  ofRun(): Made[] {
    const volumes = this.#volumes().filter(({ volume }) => this.#isOurVolume(volume.volumeId));
    const snapshots = this.#snapshots().filter((snapshot) => this.#isOurSnapshot(snapshot));
    return [...volumes.map(madeVolume), ...snapshots.map(madeSnapshot)];
  }

  /** Finds the volumes of the run, with the nodes that they are published to. */
  volumesOfRun(): ListedVolume[] {
    return this.#volumes().filter(({ volume }) => this.#isOurVolume(volume.volumeId));
  }

  /** Records the groups of the run's snapshots: some drivers delete grouped snapshots only together. */
  beginGroups(): void {
    const members = this.#snapshots().filter((one) => one.groupSnapshotId !== '' && this.#isOurSnapshot(one));
    for (const groupSnapshotId of new Set(members.map((member) => member.groupSnapshotId))) {
      const snapshots = members.filter((member) => member.groupSnapshotId === groupSnapshotId);
      this.#calls.ledger
        .begin('CreateVolumeGroupSnapshot', { name: this.#prefix })
        .succeeded({ groupSnapshot: { groupSnapshotId, snapshots, readyToUse: true } });
    }
  }

  /** Records publications of the run's volumes by the controller: they are taken back before the volumes. */
  beginPublications(): void {
    for (const { volume, publishedNodeIds } of this.volumesOfRun())
      for (const nodeId of publishedNodeIds)
        this.#calls.ledger.begin('ControllerPublishVolume', { volumeId: volume.volumeId, nodeId });
  }

  /**
   * Finds objects of unknown owners.
   * @param before objects to leave out; kinds that it does not list are left out, too
   */
  ofOthers(before?: Inventory): Listed[] {
    const ours = new Set(this.ofRun().map(({ key }) => key));
    const volumes = before && !before.volumes ? [] : this.#volumes();
    const snapshots = before && !before.snapshots ? [] : this.#snapshots();
    return [
      ...volumes.filter(({ volume }) => !before?.volumes?.has(volume.volumeId)).map(madeVolume),
      ...snapshots.filter(({ snapshotId }) => !before?.snapshots?.has(snapshotId)).map(madeSnapshot),
    ].filter(({ key }) => !ours.has(key));
  }

  has(key: string): boolean {
    return [...this.#volumes().map(madeVolume), ...this.#snapshots().map(madeSnapshot)].some((one) => one.key === key);
  }

  #volumes(): ListedVolume[] {
    return [...(this.#inventory.volumes?.values() ?? [])];
  }

  #snapshots(): Snapshot[] {
    return [...(this.#inventory.snapshots?.values() ?? [])];
  }

  #isOurVolume(volumeId: string): boolean {
    const context = this.#inventory.volumes?.get(volumeId)?.volume.volumeContext ?? {};
    return (
      this.#calls.ledger.wasMade(volumeKey(volumeId)) ||
      hasNameOf(this.#prefix, volumeId, ...Object.values(context), ...Object.keys(context))
    );
  }

  #isOurSnapshot({ snapshotId, sourceVolumeId, groupSnapshotId }: Snapshot): boolean {
    return (
      this.#calls.ledger.wasMade(snapshotKey(snapshotId)) ||
      this.#isOurVolume(sourceVolumeId) ||
      hasNameOf(this.#prefix, snapshotId, groupSnapshotId)
    );
  }
}

const volumeKey = (volumeId: string): string => keyOf('volume', volumeId, '');
const snapshotKey = (snapshotId: string): string => keyOf('snapshot', snapshotId, '');

const madeVolume = ({ volume: { volumeId } }: ListedVolume): Made => ({
  key: volumeKey(volumeId),
  what: `the volume ${volumeId}`,
  undoneBy: 'DeleteVolume',
  isCertain: true,
  undo: async (ask) => {
    await ask('DeleteVolume', { volumeId });
  },
});

const madeSnapshot = ({ snapshotId, sourceVolumeId }: Snapshot): Made => ({
  key: snapshotKey(snapshotId),
  what: `the snapshot ${snapshotId}, of the volume ${sourceVolumeId}`,
  undoneBy: 'DeleteSnapshot',
  isCertain: true,
  undo: async (ask) => {
    await ask('DeleteSnapshot', { snapshotId });
  },
});
