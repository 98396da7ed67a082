/**
 * Compares what the machines do with what a version of them did, history by history: `node --import=tsx test/simulation/baseline.ts`
 *
 * - `record KIND HISTORIES`: plays so many histories and keeps their hashes, under the present version of the machine
 * - `compare KIND VERSION [HISTORIES]`: plays those of that version again, and lists each seed that differs, with its strands
 * - `print KIND SEED`: prints a history; `diff` of what two trees print shows the first lines that differ
 *
 * Kinds and strands: baseline-lines.ts
 */
import { mountMachine } from '../../machines/mount/mount.js';
import { volumeSnapshotMachine } from '../../machines/snapshot/snapshot.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import {
  type Difference,
  differences,
  type Hashes,
  hashesOf,
  recordedHashes,
  recordHashes,
} from './baseline-hashes.js';
import { type BaselineKind, baselineKinds, isBaselineKind, played, seedsOf, strands } from './baseline-lines.js';

const progressMs = 10_000;
const keptEach = 500;

const versionOf = (kind: BaselineKind): string => {
  const machine = {
    volumes: volumeMachine,
    limits: volumeMachine,
    snapshots: volumeSnapshotMachine,
    mounts: mountMachine,
  };
  return String(machine[kind].version);
};

let toldAtMs = performance.now();
function progress(kind: BaselineKind, done: number, count: number): void {
  if (performance.now() - toldAtMs < progressMs) return;
  toldAtMs = performance.now();
  console.error(`${done} of ${count} histories of ${kind}`);
}

async function record(kind: BaselineKind, count: number): Promise<void> {
  const all: Hashes[] = [];
  for (const seed of seedsOf(kind, count)) {
    const { lines, faults } = await played(kind, seed);
    if (faults.length > 0) console.log(`${kind} ${seed} breaks a promise: ${faults[0]}`);
    all.push(hashesOf(seed, lines));
    progress(kind, all.length, count);
    // A run that is stopped leaves what it has played.
    if (all.length % keptEach === 0) recordHashes(versionOf(kind), kind, all);
  }
  const bytes = recordHashes(versionOf(kind), kind, all);
  console.log(`${count} histories of ${kind} of version ${versionOf(kind)}, ${bytes} bytes`);
}

async function compare(kind: BaselineKind, version: string, most: number): Promise<void> {
  const recorded = recordedHashes(version, kind).slice(0, most);
  const found: Difference[] = [];
  let done = 0;
  for await (const difference of differences(kind, recorded)) {
    done += 1;
    progress(kind, done, recorded.length);
    if (difference.strands.length === 0) continue;
    found.push(difference);
    console.log(`${kind} ${difference.seed} differs: ${difference.strands.join(', ')}`);
  }
  const counts = strands.map((strand) => `${strand} ${found.filter((one) => one.strands.includes(strand)).length}`);
  console.log(`${found.length} of ${done} histories of ${kind} differ from version ${version}: ${counts.join(', ')}`);
  if (found.length > 0) process.exitCode = 1;
}

async function print(kind: BaselineKind, seed: number): Promise<void> {
  const { lines, faults } = await played(kind, seed);
  for (const { of, text } of lines) console.log(`${of}: ${text}`);
  for (const fault of faults) console.log(`fault: ${fault}`);
}

const [act = '', kind = '', first = '', second = 'Infinity'] = process.argv.slice(2);
const numbers = act === 'compare' ? [second] : [first];
if (!isBaselineKind(kind) || numbers.some((text) => !(Number(text) > 0)))
  throw new Error(
    `give record, compare or print, then one of ${baselineKinds.join(', ')}, then a number: see this file`,
  );
if (act === 'record') await record(kind, Number(first));
else if (act === 'compare') await compare(kind, first, Number(second));
else if (act === 'print') await print(kind, Number(first));
else throw new Error(`known are record, compare and print, not '${act}'`);
