/** Judges calls to the fake plugin: nothing removes or resizes what a creation copies, or removes what a copy still needs. */
interface Call {
  rpc: string;
  /** Id of what a deletion or an expansion is about. */
  volume: string;
  request: object;
}

export class CopyJudge {
  /** Ids of the sources that a call is copying, by the name of the new volume or snapshot. The latest call of a name counts. */
  readonly underWay = new Map<string, readonly string[]>();
  /**
   * Names of volumes and snapshots whose creation was answered OK. From then on the content is there, even if it is not ready to
   * use: a repeat copies nothing, nor does an earlier call that goes on.
   */
  readonly answered = new Set<string>();
  /** Names the copies for which the caller still keeps this volume or snapshot, as it has recorded; default: none. */
  neededFor: (id: string) => readonly string[] = () => [];
  /** Whether the caller gets the answer to this request; default: always. */
  isHeard: (request: object) => boolean = () => true;

  /** Takes note of a call that begins. @returns functions to call once it is answered OK, and once it is over */
  begin(call: Call): { answered(): void; over(): void } {
    const creation = creationIn(call);
    if (!creation) return { answered: ignored, over: ignored };
    const { name, sources } = creation;
    if (sources.length > 0) this.underWay.set(name, sources);
    return {
      answered: () => void (this.isHeard(call.request) && this.answered.add(name)),
      over: () => void this.underWay.delete(name),
    };
  }

  /** Lists the copies that this call destroys or changes. */
  wrongsOf({ rpc, volume, request }: Call): string[] {
    if (!/^Delete|Expand/.test(rpc)) return [];
    const ids = [volume, ...((request as { snapshotIds?: string[] }).snapshotIds ?? [])];
    const copying = [...this.underWay]
      .filter(([name, sources]) => !this.answered.has(name) && ids.some((id) => sources.includes(id)))
      .map(([name]) => `${rpc} of ${volume} while ${name} was copied from it`);
    if (!rpc.startsWith('Delete')) return copying;
    const needed = ids.flatMap((id) => this.neededFor(id));
    return [...copying, ...needed.map((copy) => `${rpc} of ${volume} while ${copy} needed it`)];
  }
}

const ignored = (): void => {};

function creationIn({ rpc, request }: Call): { name: string; sources: readonly string[] } | undefined {
  if (!rpc.startsWith('Create')) return undefined;
  const { name = '', volumeContentSource, sourceVolumeId, sourceVolumeIds } = request as Making;
  const source = volumeContentSource?.volume?.volumeId ?? volumeContentSource?.snapshot?.snapshotId ?? sourceVolumeId;
  return { name, sources: sourceVolumeIds ?? (source === undefined ? [] : [source]) };
}

interface Making {
  name?: string;
  volumeContentSource?: { volume?: { volumeId?: string }; snapshot?: { snapshotId?: string } };
  sourceVolumeId?: string;
  sourceVolumeIds?: string[];
}
