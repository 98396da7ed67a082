/**
 * Records histories of the present version: `node --import=tsx test/histories/record.ts volumes [histories] [chosen]`.
 * Runs so many seeds, chooses from them, and writes test/histories/<version>/<kind>.jsonl.gz. With `like VERSION` instead of
 * numbers it runs the seeds that are recorded of that version, to compare the two. See README.md
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { groupSnapshotsPrefix, nodeOwnedPrefix, snapshotsPrefix, volumesPrefix } from '../../machines/kit/addresses.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { volumeSnapshotMachine } from '../../machines/snapshot/snapshot.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import type { ActorPolicy } from '../../src/engine/actor/policy.js';
import type { Commit } from '../../src/engine/store.js';
import { mountsHistory } from '../simulation/mounts-history.js';
import { nodeId } from '../simulation/mounts-life.js';
import { mountsPlanOf } from '../simulation/mounts-plan.js';
import { fullPlanOf } from '../simulation/snapshots-plan.js';
import { volumesHistory } from '../simulation/volumes-history.js';
import { isRecordedKind, recorded } from './recorded.js';
import { chosen, featuresOf, type History, linesOf, policyOfThen } from './recording.js';

interface Kind {
  machine: { version?: string | undefined };
  prefixes: string[];
  /** Runs one history. */
  run(seed: number, wrote: (commit: Commit) => void, policy?: Partial<ActorPolicy>): Promise<unknown>;
}

const ofVolumes: Kind['run'] = (seed, committed, policy) =>
  volumesHistory(fullPlanOf(seed), { committed, ...(policy && { policy }) });
const kinds: Record<string, Kind> = {
  volumes: { machine: volumeMachine, prefixes: [volumesPrefix], run: ofVolumes },
  snapshots: { machine: volumeSnapshotMachine, prefixes: [snapshotsPrefix, groupSnapshotsPrefix], run: ofVolumes },
  mounts: {
    machine: mountMachine,
    prefixes: [nodeOwnedPrefix('mount', nodeId)],
    run: (seed, wrote, policy) => mountsHistory(mountsPlanOf(seed), { wrote, ...(policy && { policy }) }),
  },
};

const [name = '', count = '1000', most = '100'] = process.argv.slice(2);
const kind = kinds[name];
if (!kind || !isRecordedKind(name)) throw new Error(`known are ${Object.keys(kinds).join(' and ')}, not '${name}'`);

const compared = count === 'like' ? new Set(recorded(most, name).map(({ seed }) => seed)) : undefined;
const histories: History[] = [];
for (const seed of compared ?? Array.from({ length: Number(count) }, (_, index) => index + 1)) {
  const commits: Commit[] = [];
  await kind.run(seed, (commit) => commits.push(commit), compared && policyOfThen);
  const lines = linesOf(seed, commits, kind.prefixes);
  if (lines.length > 0) histories.push({ seed, lines });
}
const few = compared ? histories : chosen(histories, Number(most));
const all = new Set(histories.flatMap(({ lines }) => [...featuresOf(lines)]));
const kept = new Set(few.flatMap(({ lines }) => [...featuresOf(lines)]));
const lines = few.flatMap((history) => history.lines.map((line) => JSON.stringify(line)));
const packed = gzipSync(`${lines.join('\n')}\n`, { level: 9 });
const folder = new URL(`${kind.machine.version}/`, import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(new URL(`${name}.jsonl.gz`, folder), packed);
console.log(
  `${few.length} of ${histories.length} histories, ${lines.length} snapshots, ${packed.length} bytes;`,
  `they show ${kept.size} of the ${all.size} features that were seen`,
);
