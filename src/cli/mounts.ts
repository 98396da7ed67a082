/** `stagecraft mount`: what is mounted on this node. */
import type { Command } from 'commander';
import type { MountReport, StatsReport, StrayReport } from '../agent/mount-api.js';
import { askAgent } from './client.js';
import { mountTable, statsDetails, strayTable } from './print-mounts.js';
import { type LookOptions, look, lookAt, print, printJson, socketOf, tell } from './reach.js';
import { type InNamespace, inNamespace, nameOf } from './requests.js';

export function addMountCommands(program: Command): void {
  const mount = program.command('mount').description('look at what is mounted on this node');
  const add = (usage: string, description: string): Command =>
    lookAt(inNamespace(mount.command(usage).description(description), 'volume'));
  lookAt(mount.command('list').description('the volumes that are here, for whom, and what keeps them')).action(
    listMounts,
  );
  add('stats <volume>', 'what its plugin says of how much is used, and of its health').action(showStats);
  add('retry <volume>', 'try again what has failed or was lost, and what waits for its time').action(retryMount);
  lookAt(mount.command('strays').description('mounts below the data directory that nobody here knows of')).action(
    listStrays,
  );
  lookAt(mount.command('clean <path>').description('unmount one of the strays; what it is mounted on stays')).action(
    cleanStray,
  );
}

const pathOf = (id: string, request: string, { namespace }: InNamespace): string =>
  `/v1/mounts/${encodeURIComponent(id)}/${request}?${new URLSearchParams({ namespace })}`;

async function listMounts(options: LookOptions): Promise<void> {
  const mounts = await look<MountReport[]>(socketOf(options), '/v1/mounts');
  if (options.json) printJson(mounts);
  else print(mountTable(mounts));
}

/** It has no short limit, as what is known already has: the plugin is asked. */
async function showStats(id: string, options: LookOptions & InNamespace): Promise<void> {
  const stats = (await askAgent(socketOf(options), 'GET', pathOf(id, 'stats', options))) as StatsReport;
  if (options.json) printJson(stats);
  else print(statsDetails(stats));
}

async function retryMount(id: string, options: LookOptions & InNamespace): Promise<void> {
  await askAgent(socketOf(options), 'POST', pathOf(id, 'retry', options));
  tell(options, `volume ${nameOf(id, options)}: what failed here is tried again`);
}

async function listStrays(options: LookOptions): Promise<void> {
  const strays = await look<StrayReport[]>(socketOf(options), '/v1/strays');
  if (options.json) printJson(strays);
  else print(strayTable(strays));
}

async function cleanStray(path: string, options: LookOptions): Promise<void> {
  await askAgent(socketOf(options), 'POST', '/v1/strays/clean', { body: { path } });
  tell(options, `${path} is unmounted`);
}
