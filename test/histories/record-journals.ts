/**
 * Records journals of the present version: `node --import=tsx test/histories/record-journals.ts [histories] [chosen]`, as root.
 * Exports those of a real agent, then those of simulated histories and of allocs, into one file. See README.md
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { groupSnapshotsPrefix, nodeOwnedPrefix, snapshotsPrefix, volumesPrefix } from '../../machines/kit/addresses.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import { decodeEntry, type JournalEntry } from '../../src/engine/actor/actor-record.js';
import type { Commit } from '../../src/engine/store.js';
import { shown } from '../../src/host/shown.js';
import { packageVersion } from '../../src/host/version.js';
import { journalLines } from '../../src/journal/export-journal.js';
import { AgentProcess, mainPath, makePlace, pluginPids, removePlace } from '../scenarios/agent-process.js';
import { mountsHistory } from '../simulation/mounts-history.js';
import { nodeId } from '../simulation/mounts-life.js';
import { mountsPlanOf } from '../simulation/mounts-plan.js';
import { fullPlanOf } from '../simulation/snapshots-plan.js';
import { volumesHistory } from '../simulation/volumes-history.js';
import { journalsFile } from './journals.js';
import { chosen, linesOf } from './recording.js';

const [, , count = '300', most = '24'] = process.argv;

/** A journal as the text of a file. */
async function journalOf(entriesOf: ReadonlyMap<string, readonly JournalEntry[]>): Promise<string> {
  const source = {
    addresses: entriesOf.keys(),
    entries: async function* (address: string) {
      for (const entry of entriesOf.get(address) ?? []) yield shown(entry);
    },
    at: 0,
    stagecraft: packageVersion(),
  };
  let text = '';
  for await (const line of journalLines(source)) text += line;
  return text;
}

function entriesIn(commits: readonly Commit[]): Map<string, JournalEntry[]> {
  const bySeq = new Map<string, Map<number, JournalEntry>>();
  for (const { address, journalBefore = [], journal } of commits) {
    const entries = bySeq.get(address) ?? new Map<number, JournalEntry>();
    bySeq.set(address, entries);
    for (const entry of [...journalBefore, journal].map(decodeEntry)) entries.set(entry.seq, entry);
  }
  return new Map([...bySeq].map(([address, entries]) => [address, [...entries.values()]]));
}

type Run = (seed: number, wrote: (commit: Commit) => void) => Promise<unknown>;

/** Journals of the few histories that show the most. */
async function simulated(run: Run, prefixes: string[]): Promise<string[]> {
  const all = new Map<number, Commit[]>();
  for (let seed = 1; seed <= Number(count); seed += 1) {
    const commits: Commit[] = [];
    await run(seed, (commit) => commits.push(commit));
    all.set(seed, commits);
  }
  const histories = [...all].map(([seed, commits]) => ({ seed, lines: linesOf(seed, commits, prefixes) }));
  const few = chosen(
    histories.filter(({ lines }) => lines.length > 0),
    Number(most),
  );
  return Promise.all(few.map(({ seed }) => journalOf(entriesIn(all.get(seed) ?? []))));
}

async function ofAllocs(): Promise<string[]> {
  // The lab is a test's: it has something done before all.
  Object.assign(globalThis, { before: (work: () => void) => work(), after: () => {} });
  const { AllocLab, address } = await import('../allocs/alloc-lab.js');
  const { allocScenes } = await import('../allocs/alloc-scenes.js');
  const journals: string[] = [];
  for (const { play } of allocScenes) {
    const lab = new AllocLab();
    await lab.start();
    await play(lab);
    const entries: JournalEntry[] = [];
    for await (const entry of lab.life.engine.journals.entries(address)) entries.push(entry);
    journals.push(await journalOf(new Map([[address, entries]])));
  }
  return journals;
}

/** Actors that the operator below deletes, whose journals are kept. */
const gone = ['volume/default/data', 'volume-snapshot/default/yesterday', 'mount/n1/default/data', 'alloc/n1/web'];

/** Acts as the operator of one host: its plugin is killed, the agent is killed and starts again. */
async function ofAgent(): Promise<string> {
  const place = makePlace({ type: 'monolith', command: ['stagecraft', 'driver', '--node-id', 'n1', '--attach'] });
  let agent = new AgentProcess(place);
  const cli = (...args: string[]): string =>
    execFileSync(process.execPath, [mainPath, ...args, '--config', place.configPath], { encoding: 'utf8' });
  try {
    await agent.ready();
    await agent.healthy();
    cli('volume', 'create', 'data', '--plugin', 'hostpath');
    cli('snapshot', 'create', 'yesterday', 'data');
    cli('alloc', 'prepare', 'web', '--volume', 'data:/data');
    const said = agent.lines.length;
    for (const pid of pluginPids(place)) process.kill(pid, 'SIGKILL');
    await agent.line(/csi-node\): healthy/, said);
    await agent.kill('SIGKILL');
    agent = new AgentProcess(place);
    await agent.ready();
    await agent.healthy();
    cli('alloc', 'release', 'web');
    cli('task', 'restart', 'hostpath');
    await agent.healthy();
    cli('snapshot', 'delete', 'yesterday');
    cli('volume', 'delete', 'data');
    const path = join(place.directory, 'journal.ndjson');
    const present: { address: string }[] = JSON.parse(cli('actor', 'list', '--json'));
    const addresses = new Set([...present.map(({ address }) => address), ...gone]);
    cli('journal', 'export', ...addresses, '--output', path);
    return readFileSync(path, 'utf8').replaceAll(place.directory, '/var/lib/stagecraft');
  } finally {
    await removePlace(place, agent);
  }
}

const journals = [
  await ofAgent(),
  ...(await simulated(
    (seed, committed) => volumesHistory(fullPlanOf(seed), { committed }),
    [volumesPrefix, snapshotsPrefix, groupSnapshotsPrefix],
  )),
  ...(await simulated(
    (seed, wrote) => mountsHistory(mountsPlanOf(seed), { wrote }),
    [nodeOwnedPrefix('mount', nodeId)],
  )),
  ...(await ofAllocs()),
];
const packed = gzipSync(journals.join(''), { level: 9 });
const file = journalsFile(volumeMachine.version ?? '');
mkdirSync(new URL('.', file), { recursive: true });
writeFileSync(file, packed);
console.log(`${journals.length} journals, ${packed.length} bytes`);
