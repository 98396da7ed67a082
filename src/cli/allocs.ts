/** `stagecraft alloc`: mounts the volumes of an alloc on this node, all or none, and releases them. */
import { type Command, InvalidArgumentError } from 'commander';
import type { AllocVolumes, PreparedMount } from '../api/node-routes.js';
import { AgentError } from '../client/agent-error.js';
import type { Client } from '../client/client.js';
import { misuse } from './arguments.js';
import { agentAt, type LookOptions, lookAll, lookAt, lookAtAgent, soon } from './connection.js';
import { print, printJson, tell } from './output.js';
import { lineChars } from './print.js';
import { allocDetails, allocTable, preparedTable } from './print-mounts.js';
import { type Awaited, awaited, type InNamespace, inNamespace, waiting } from './resource-commands.js';
import { type AccessMode, accessMode } from './volumes.js';
import { askAndWait, type Waited } from './wait.js';

/** Value of `--volume`: `ID:PATH`, `ID:PATH:ro` or `ID:PATH:rw`. */
interface GivenVolume {
  id: string;
  taskPath: string;
  isReadOnly: boolean;
}

interface PrepareOptions extends LookOptions, InNamespace, Awaited {
  volume: GivenVolume[];
  accessMode?: AccessMode;
  file?: string;
}

export function addAllocCommands(program: Command): void {
  const alloc = program.command('alloc').description('mount the volumes of an alloc, and release them');
  lookAll(alloc.command('list').description('list the allocs of this node, and what they wait for')).action(listAllocs);
  lookAt(alloc.command('status <alloc>').description('show one alloc, and where its volumes are')).action(showAlloc);
  const prepare = lookAt(
    inNamespace(
      alloc
        .command('prepare <alloc>')
        .description('mount all volumes of an alloc on this node, or none; wait until they are mounted'),
      'volumes',
    ),
  )
    .option('--volume <id:path[:ro|rw]>', 'a volume, and its path in the alloc; repeatable', volumeIn, [])
    .addOption(accessMode('of all volumes (default: the first mode of each volume)'))
    .option('--file <file>', 'YAML or JSON list with all options of volumes, instead of --volume; - is standard input');
  awaited(
    waiting(prepare, "secrets that can't be resolved, the topology of the node, missing rights to mount"),
    'how long it may take; an alloc that is not prepared by then is undone',
  ).action(prepareAlloc);
  lookAt(
    awaited(
      alloc
        .command('release <alloc>')
        .description('unmount and release the volumes of an alloc whose workload has stopped'),
    ),
  ).action(releaseAlloc);
}

function volumeIn(text: string, before: GivenVolume[]): GivenVolume[] {
  const [, id, taskPath, access] = /^(.+?):(\/[^:]*)(?::(.*))?$/s.exec(text) ?? [];
  if (id === undefined || taskPath === undefined)
    throw new InvalidArgumentError(
      'Give ID:PATH, or ID:PATH:ro for reading only, with an absolute PATH, as in data:/var/lib/data.',
    );
  if (access !== undefined && access !== 'ro' && access !== 'rw')
    throw new InvalidArgumentError(
      `Only :ro or :rw may follow the PATH, not ':${access}'. For a PATH with a colon use --file.`,
    );
  return [...before, { id, taskPath, isReadOnly: access === 'ro' }];
}

const allocOf = (allocId: string): Waited => ({
  look: (agent) => agent.allocs.status({ params: { allocId }, ...soon }),
  name: `alloc ${allocId}`,
});

async function listAllocs(options: LookOptions): Promise<void> {
  const agent = await lookAtAgent(options);
  const allocs = await agent.allocs.list(soon);
  if (options.json) printJson(allocs);
  else print(allocTable(allocs, await agent.tasks.list(soon), lineChars(options)));
}

async function showAlloc(allocId: string, options: LookOptions): Promise<void> {
  const agent = await lookAtAgent(options);
  const alloc = await agent.allocs.status({ params: { allocId }, ...soon });
  if (options.json) printJson(alloc);
  else print(allocDetails(alloc, await agent.tasks.list(soon)));
}

async function prepareAlloc(allocId: string, options: PrepareOptions): Promise<void> {
  const { file, timeout, wait } = options;
  if (file !== undefined && (options.volume.length > 0 || options.accessMode !== undefined))
    throw misuse('--file has the whole list: leave out --volume and --access-mode');
  if (file === undefined && options.volume.length === 0) throw misuse('give at least one --volume, or --file');
  const list = file === undefined ? undefined : await (await import('./spec-file.js')).listIn(file);
  // The agent checks what the file holds.
  const volumes = (list?.body ?? volumesOf(options)) as AllocVolumes;
  const body = { volumes, ...(timeout !== undefined && { timeoutMs: timeout }), ...(wait && { wait }) };
  const prepare = (agent: Client, signal: AbortSignal): Promise<PreparedMount[]> =>
    agent.allocs.prepare({ params: { allocId }, body, signal });
  const mounts = await askAndWait(prepare, allocOf(allocId), options).catch((error: unknown) => {
    throw list ? list.placed(error) : error;
  });
  if (options.json) printJson(mounts);
  else print(preparedTable(mounts));
}

/** Leaves out options that were not given: the agent has the defaults. */
const volumesOf = ({ namespace, accessMode, volume }: PrepareOptions): AllocVolumes =>
  volume.map(({ id, taskPath, isReadOnly }) => ({
    name: id,
    volume: { namespace, id },
    mode: isReadOnly ? 'read' : 'write',
    taskPath,
    ...(accessMode !== undefined && { accessMode }),
  }));

async function releaseAlloc(allocId: string, options: LookOptions & Awaited): Promise<void> {
  const { timeout } = options;
  const body = timeout === undefined ? {} : { timeoutMs: timeout };
  const isThere = await isKnown(await agentAt(options), allocId);
  const release = (agent: Client, signal: AbortSignal): Promise<void> =>
    agent.allocs.release({ params: { allocId }, body, signal });
  await askAndWait(release, allocOf(allocId), options);
  const nothing = `there is no alloc '${allocId}' on this node: nothing to release`;
  tell(options, isThere ? `alloc ${allocId} is released` : nothing);
}

/** Asks whether the alloc exists. The agent also answers the release of an unknown alloc with success. */
async function isKnown(agent: Client, allocId: string): Promise<boolean> {
  try {
    await agent.allocs.status({ params: { allocId }, ...soon });
    return true;
  } catch (error) {
    if (error instanceof AgentError && error.code === 'ALLOC_NOT_FOUND') return false;
    throw error;
  }
}
