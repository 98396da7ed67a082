/** `stagecraft mount`: shows and repairs what is mounted on this node. */

import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Client } from '../client/client.js';
import { oneLine } from '../host/terminal-text.js';
import { agentAt, type LookOptions, lookAll, lookAt, lookAtAgent, soon } from './connection.js';
import { print, printJson, tell } from './output.js';
import { lineChars } from './print.js';
import { mountTable, orphanTable, statsDetails } from './print-mounts.js';
import {
  type Accepting,
  acceptanceIn,
  accepting,
  type InNamespace,
  inNamespace,
  type Key,
  keyInNamespace,
  nameInNamespace,
} from './resource-commands.js';
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

async function listMounts(options: LookOptions): Promise<void> {
  const agent = await lookAtAgent(options);
  const mounts = await agent.mounts.list(soon);
  if (options.json) printJson(mounts);
  else print(mountTable(mounts, await agent.tasks.list(soon), lineChars(options)));
}

/** Sends the request without a time limit, as the plugin has to answer. */
async function showStats(id: string, options: LookOptions & InNamespace): Promise<void> {
  const agent = await agentAt(options);
  const key = keyInNamespace(id, options);
  const stats = await tellingOf(agent.mounts.stats({ params: key }), () => silenceOf(agent, key), options);
  if (options.json) printJson(stats);
  else print(statsDetails(stats));
}

/** Names the plugin that has not answered yet, and the likely reason. */
async function silenceOf(agent: Client, { namespace, id }: Key): Promise<string | undefined> {
  const mounts = await agent.mounts.list(soon);
  const mount = mounts.find(({ volume }) => volume.id === id && volume.namespace === namespace);
  if (!mount) return undefined;
  const params = { type: 'csi-node', name: mount.plugin };
  const { healthy, description } = await agent.plugins.status({ params, ...soon });
  const why = mount.error?.message ?? (healthy ? undefined : description);
  return oneLine(`plugin ${mount.plugin} has not answered yet${why === undefined ? '' : `: ${why}`}`);
}

async function retryMount(id: string, options: LookOptions & InNamespace & Accepting): Promise<void> {
  const agent = await agentAt(options);
  await agent.mounts.retry({ params: keyInNamespace(id, options), ...acceptanceIn(options) });
  tell(options, `volume ${nameInNamespace(id, options)}: failed calls and lost mounts on this node are retried`);
}

async function listOrphans(options: LookOptions): Promise<void> {
  const orphans = await (await lookAtAgent(options)).mounts.orphans(soon);
  if (options.json) printJson(orphans);
  else print(orphanTable(orphans));
}

/** Resolves the path here, as the agent has another working directory. */
async function cleanOrphan(given: string, options: LookOptions): Promise<void> {
  const path = resolve(given);
  const agent = await agentAt(options);
  await agent.mounts.cleanOrphan({ body: { path } });
  tell(options, `${path} is unmounted`);
}
