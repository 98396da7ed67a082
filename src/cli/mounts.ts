/** `stagecraft mount`: shows and repairs what is mounted on this node. */
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
  const mount = program.command('mount').description('show and repair what is mounted on this node');
  const add = (usage: string, description: string): Command =>
    lookAt(inNamespace(mount.command(usage).description(description), 'volume'));
  lookAll(mount.command('list').description('list the volumes on this node, with their allocs and errors')).action(
    listMounts,
  );
  add('stats <volume>', 'ask the plugin of a volume for its usage and condition').action(showStats);
  accepting(
    add('retry <volume>', 'retry now: failed calls, calls that wait for their next attempt, lost mounts'),
  ).action(retryMount);
  lookAt(
    mount
      .command('orphans')
      .description('list mounts below the data directory that have no record, or that a plugin did not unmount'),
  ).action(listOrphans);
  lookAt(mount.command('clean <path>').description('unmount an orphaned mount; its directory stays')).action(
    cleanOrphan,
  );
}

const pathOf = (id: string, request: string, { namespace }: InNamespace): string =>
  `/v1/mounts/${encodeURIComponent(namespace)}/${encodeURIComponent(id)}/${request}`;

async function listMounts(options: LookOptions): Promise<void> {
  const socketPath = socketOf(options);
  const mounts = await look<MountReport[]>(socketPath, '/v1/mounts');
  if (options.json) printJson(mounts);
  else print(mountTable(mounts, await lookAtTasks(socketPath), lineChars(options)));
}

/** Sends the request without a time limit, as the plugin has to answer. */
async function showStats(id: string, options: LookOptions & InNamespace): Promise<void> {
  const socketPath = socketOf(options);
  const asked = askAgent(socketPath, 'GET', pathOf(id, 'stats', options)) as Promise<StatsReport>;
  const stats = await tellingOf(asked, () => silenceOf(socketPath, id, options), options);
  if (options.json) printJson(stats);
  else print(statsDetails(stats));
}

/** Names the plugin that has not answered yet, and the likely reason. */
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
  tell(options, `volume ${nameOf(id, options)}: failed calls and lost mounts on this node are retried`);
}

async function listOrphans(options: LookOptions): Promise<void> {
  const orphans = await look<OrphanedMountReport[]>(socketOf(options), '/v1/orphaned-mounts');
  if (options.json) printJson(orphans);
  else print(orphanTable(orphans));
}

/** Resolves the path here, as the agent has another working directory. */
async function cleanOrphan(given: string, options: LookOptions): Promise<void> {
  const path = resolve(given);
  await askAgent(socketOf(options), 'POST', '/v1/orphaned-mounts/clean', { body: { path } });
  tell(options, `${path} is unmounted`);
}
