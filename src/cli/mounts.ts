/** `stagecraft mount`: what is mounted on this node. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { PluginReport } from '../agent/api.js';
import type { MountReport, OrphanedMountReport, StatsReport } from '../agent/mount-api.js';
import { askAgent } from './client.js';
import {
  type LookOptions,
  look,
  lookAll,
  lookAt,
  lookAtTasks,
  print,
  printJson,
  socketOf,
  soon,
  tell,
} from './connection.js';
import { lineChars, oneLine } from './print.js';
import { mountTable, orphanTable, statsDetails } from './print-mounts.js';
import { type Accepting, acceptanceIn, accepting, type InNamespace, inNamespace, nameOf } from './requests.js';
import { tellingOf } from './wait.js';

export function addMountCommands(program: Command): void {
  const mount = program.command('mount').description('look at what is mounted on this node');
  const add = (usage: string, description: string): Command =>
    lookAt(inNamespace(mount.command(usage).description(description), 'volume'));
  lookAll(mount.command('list').description('the volumes that are here, for whom, and what keeps them')).action(
    listMounts,
  );
  add('stats <volume>', 'what its plugin says of how much is used, and of its health').action(showStats);
  accepting(add('retry <volume>', 'try again what has failed or was lost, and what waits for its time')).action(
    retryMount,
  );
  lookAt(
    mount
      .command('orphans')
      .description('mounts below the data directory that nobody here knows of, or that a plugin leaves there'),
  ).action(listOrphans);
  lookAt(
    mount.command('clean <path>').description('unmount one of the orphaned mounts; what it is mounted on stays'),
  ).action(cleanOrphan);
}

const pathOf = (id: string, request: string, { namespace }: InNamespace): string =>
  `/v1/mounts/${encodeURIComponent(namespace)}/${encodeURIComponent(id)}/${request}`;

async function listMounts(options: LookOptions): Promise<void> {
  const socketPath = socketOf(options);
  const mounts = await look<MountReport[]>(socketPath, '/v1/mounts');
  if (options.json) printJson(mounts);
  else print(mountTable(mounts, await lookAtTasks(socketPath), lineChars(options)));
}

/** It has no short limit, as what is known already has: the plugin is asked. */
async function showStats(id: string, options: LookOptions & InNamespace): Promise<void> {
  const socketPath = socketOf(options);
  const asked = askAgent(socketPath, 'GET', pathOf(id, 'stats', options)) as Promise<StatsReport>;
  const stats = await tellingOf(asked, () => silenceOf(socketPath, id, options), options);
  if (options.json) printJson(stats);
  else print(statsDetails(stats));
}

/** Whose answer is waited for, and what may keep it. */
async function silenceOf(socketPath: string, id: string, { namespace }: InNamespace): Promise<string | undefined> {
  const mounts = (await askAgent(socketPath, 'GET', '/v1/mounts', soon)) as MountReport[];
  const mount = mounts.find(({ volume }) => volume.id === id && volume.namespace === namespace);
  if (!mount) return undefined;
  const path = `/v1/plugins/csi-node/${encodeURIComponent(mount.plugin)}`;
  const { healthy, description } = (await askAgent(socketPath, 'GET', path, soon)) as PluginReport;
  const why = mount.error?.message ?? (healthy ? undefined : description);
  return oneLine(`plugin ${mount.plugin} has not answered yet${why === undefined ? '' : `: ${why}`}`);
}

async function retryMount(id: string, options: LookOptions & InNamespace & Accepting): Promise<void> {
  await askAgent(socketOf(options), 'POST', pathOf(id, 'retry', options), acceptanceIn(options));
  tell(options, `volume ${nameOf(id, options)}: what failed here is tried again`);
}

async function listOrphans(options: LookOptions): Promise<void> {
  const orphans = await look<OrphanedMountReport[]>(socketOf(options), '/v1/orphaned-mounts');
  if (options.json) printJson(orphans);
  else print(orphanTable(orphans));
}

/** The agent has another working directory. */
async function cleanOrphan(given: string, options: LookOptions): Promise<void> {
  const path = resolve(given);
  await askAgent(socketOf(options), 'POST', '/v1/orphaned-mounts/clean', { body: { path } });
  tell(options, `${path} is unmounted`);
}
