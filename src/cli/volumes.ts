/** `stagecraft volume`: creates, shows, publishes, expands and deletes volumes. */

import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { describeLeftovers, sizeText, volumeStates } from '../agent/describe-volumes.js';
import type { VolumeReport } from '../api/volume-routes.js';
import { AgentError } from '../client/agent-error.js';
import type { Client } from '../client/client.js';
import { collect, misuse, pairs, sizeIn } from './arguments.js';
import { agentAt, type LookOptions, lookAll, lookAt, lookAtAgent, soon } from './connection.js';
import { print, printJson, tell, warn } from './output.js';
import { orphanedVolumes, orphansLeftOut, volumeDetails, volumeTable } from './print-volumes.js';
import {
  type Awaited,
  addRequests,
  awaited,
  type InNamespace,
  inNamespace,
  type Key,
  keyInNamespace,
  list,
  make,
  nameInNamespace,
  type ResourceKind,
  remove,
  show,
  waitedOf,
  waiting,
  within,
} from './resource-commands.js';
import { askAndWait, type Waited } from './wait.js';

const accessModes = [
  'single-node-writer',
  'single-node-reader-only',
  'single-node-single-writer',
  'single-node-multi-writer',
  'multi-node-reader-only',
  'multi-node-single-writer',
  'multi-node-multi-writer',
];

/** Access modes by their names in Kubernetes, in small letters. */
const kubernetesModes: Record<string, string> = {
  readwriteonce: 'single-node-writer',
  rwo: 'single-node-writer',
  readwriteoncepod: 'single-node-single-writer',
  rwop: 'single-node-single-writer',
  readonlymany: 'multi-node-reader-only',
  rox: 'multi-node-reader-only',
  readwritemany: 'multi-node-multi-writer',
  rwx: 'multi-node-multi-writer',
};

export const accessMode = (description: string): Option =>
  new Option('--access-mode <mode>', description).choices(accessModes).argParser((given) => {
    if (accessModes.includes(given)) return given;
    const meant = kubernetesModes[given.toLowerCase()];
    const hint = meant === undefined ? '' : ` ${given} of Kubernetes is ${meant} here.`;
    throw new InvalidArgumentError(`Allowed choices are ${accessModes.join(', ')}.${hint}`);
  });

const volumes: ResourceKind<VolumeReport> = {
  name: 'volume',
  subject: 'Volume',
  of: (agent) => agent.volumes,
  made: ({ external }) => (external ? 'taken over' : 'created'),
  deleted: ({ external, origin }) =>
    external || origin === 'found' ? 'no longer managed; its content stays' : 'deleted',
  leftovers: ({ leftovers = [] }) => describeLeftovers(leftovers),
  table: volumeTable,
  details: volumeDetails,
};

export function addVolumeCommands(program: Command): void {
  const volume = program.command('volume').description('create, show, publish, expand and delete volumes');
  const add = (usage: string, description: string): Command =>
    inNamespace(volume.command(usage).description(description), 'volume');
  lookAll(volume.command('list').description('list volumes with their nodes and errors'))
    .option('--namespace <name>', 'only in this namespace')
    .option('--plugin <name>', 'only of this plugin')
    .addOption(new Option('--state <state>', 'only in this state').choices(volumeStates))
    .option('--node <id>', 'only on this node')
    .option('--prefix <text>', 'only with an id that begins with this text')
    .action(({ namespace, plugin, state, node, prefix, ...options }: LookOptions & Filters) =>
      list(volumes, { namespace, plugin, state, node, idPrefix: prefix }, options),
    );
  lookAt(add('status <id>', 'show one volume in detail')).action((id: string, options: LookOptions & InNamespace) =>
    show(volumes, id, options),
  );
  lookAt(
    awaited(waiting(add('create [id]', 'create a volume, or take over one that exists; wait until it is created'))),
  )
    .option(
      '--file <file>',
      'YAML or JSON with one spec, or several to create in order, instead of options; - is standard input',
    )
    .option('--plugin <name>', 'the plugin that creates it')
    .option('--size <size>', 'least size, e.g. 10Gi', sizeIn)
    .option('--limit <size>', 'greatest size', sizeIn)
    .addOption(accessMode('how many nodes and writers may use it').default('single-node-writer'))
    .option('--block', 'a block device instead of a file system')
    .option('--fs-type <type>', 'type of the file system, e.g. ext4')
    .option('--mount-flag <flag>', 'mount option; repeatable', collect, [])
    .option('--parameter <key=value>', "parameter of the plugin's own; repeatable", collect, [])
    .option('--secret <key=ref>', 'secret for its calls, e.g. password=file:disk-password; repeatable', collect, [])
    .option('--from-snapshot <id>', 'start with the content of this snapshot of the same namespace')
    .option('--from-snapshot-id <csi-id>', 'start with the content of the snapshot that has this id at the plugin')
    .option('--topology <key=value>', 'segment of the topology where it has to be usable; repeatable', collect, [])
    .option('--home <node>', 'make it there, if the plugin has separate volumes on each host (default: here)')
    .option('--external <csi-id>', 'take over the existing volume that has this id at the plugin')
    .action(async (id: string | undefined, options: CreateOptions, command: Command) => {
      if (id !== undefined && options.fromSnapshot !== undefined) await refuseUnknownSnapshot(id, options);
      await make(volumes, () => specOf(id, options), options, command);
    });
  lookAt(awaited(waiting(add('publish <id> <node>', 'publish a volume to a node'))))
    .option('--read-only', 'publish it for reading only')
    .addOption(accessMode('one of those it was created with (default: the first)'))
    .action(publishVolume);
  lookAt(awaited(add('unpublish <id> <node>', 'unpublish a volume from a node'))).action(unpublishVolume);
  lookAt(awaited(add('expand <id>', 'make a volume larger')))
    .argument('<size>', 'new size of the whole volume, e.g. 20Gi', sizeIn)
    .action(expandVolume);
  lookAt(awaited(add('delete <id>', 'delete a volume and its content')))
    .option('--force', 'delete it even while it is used; steps that could not be confirmed stay listed')
    .action((id: string, options: LookOptions & InNamespace & Awaited & { force?: boolean }) =>
      remove(volumes, id, options),
    );
  lookAt(volume.command('orphans').description('list volumes that plugins list and no record has'))
    .option('--plugin <name>', 'of this plugin only (default: of every plugin with a controller)')
    .action(listOrphans);
  lookAt(add('release <id> <alloc>', 'release the claim of an alloc, or its place in the queue')).action(releaseClaim);
  addRequests(add, { name: 'volume', of: (agent) => agent.volumes });
  lookAt(
    add(
      'availability <id>',
      'active: allow new use; pause: refuse it; drain: refuse it, and ask users by event to release',
    ).addArgument(new Argument('<availability>').choices(['active', 'pause', 'drain'])),
  ).action(setAvailability);
}

const volumeOf = (id: string, of: InNamespace): Waited => waitedOf(volumes, id, of);

interface Filters {
  namespace?: string;
  plugin?: string;
  state?: string;
  node?: string;
  prefix?: string;
}

interface CreateOptions extends LookOptions, InNamespace, Awaited {
  file?: string;
  plugin?: string;
  size?: number;
  limit?: number;
  accessMode: string;
  block?: boolean;
  fsType?: string;
  mountFlag: string[];
  parameter: string[];
  secret: string[];
  topology: string[];
  fromSnapshot?: string;
  fromSnapshotId?: string;
  home?: string;
  external?: string;
}

/**
 * Refuses a snapshot that does not exist. The agent would take the name for the plugin's id of a snapshot, and the volume that
 * fails keeps its name. A volume that exists needs no snapshot any more.
 */
async function refuseUnknownSnapshot(id: string, options: CreateOptions): Promise<void> {
  const { fromSnapshot = '' } = options;
  const agent = await agentAt(options);
  const isMissing = (error: unknown): boolean =>
    error instanceof AgentError && ['SNAPSHOT_NOT_FOUND', 'VOLUME_NOT_FOUND'].includes(error.code);
  const exists = async (look: Promise<unknown>): Promise<boolean> => {
    try {
      await look;
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  };
  if (await exists(agent.snapshots.get({ params: keyInNamespace(fromSnapshot, options), ...soon }))) return;
  if (await exists(agent.volumes.get({ params: keyInNamespace(id, options), ...soon }))) return;
  throw new AgentError(
    'SNAPSHOT_NOT_FOUND',
    `there is no snapshot ${nameInNamespace(fromSnapshot, options)}: see 'stagecraft snapshot list'; for the plugin's own id of one give --from-snapshot-id`,
  );
}

function specOf(id: string | undefined, options: CreateOptions): object {
  const { namespace, plugin, size, limit, accessMode, block, fsType, mountFlag, home, external } = options;
  const { fromSnapshot, fromSnapshotId = fromSnapshot } = options;
  if (id === undefined) throw misuse('give the id of the volume and its --plugin, or --file');
  if (plugin === undefined) throw misuse(`give the --plugin of volume ${id}`);
  if (size !== undefined && limit !== undefined && limit < size)
    throw misuse(`--limit ${sizeText(limit)} is below --size ${sizeText(size)}`);
  if (size !== undefined && size < 1024) warn(`--size ${size} is a number of bytes: add Ki, Mi, Gi, Ti or Pi for more`);
  if (fromSnapshot !== undefined && fromSnapshotId !== fromSnapshot)
    throw misuse('give --from-snapshot or --from-snapshot-id, not both');
  return {
    namespace,
    id,
    plugin,
    capacity: { ...(size && { requiredBytes: size }), ...(limit && { limitBytes: limit }) },
    capabilities: [
      {
        accessMode,
        attachmentMode: block ? 'block-device' : 'file-system',
        ...(fsType && { fsType }),
        ...(mountFlag.length > 0 && { mountFlags: mountFlag }),
      },
    ],
    parameters: pairs('--parameter', options.parameter),
    secrets: pairs('--secret', options.secret),
    ...(options.topology.length > 0 && { topology: { requisite: [pairs('--topology', options.topology)] } }),
    ...(fromSnapshotId && { source: { volumeSnapshot: fromSnapshotId } }),
    ...(home !== undefined && { home }),
    ...(external && { external: { csiId: external } }),
  };
}

type Capability = VolumeReport['capabilities'][number];
export type AccessMode = Capability['accessMode'];

interface PublishOptions extends LookOptions, InNamespace, Awaited {
  readOnly?: boolean;
  accessMode?: AccessMode;
}

/** Sends the request without a time limit, as the plugins have to answer. */
async function listOrphans({ plugin, ...options }: LookOptions & { plugin?: string }): Promise<void> {
  const agent = await agentAt(options);
  const found = await agent.volumes.orphans({ query: plugin === undefined ? {} : { plugin } });
  for (const line of orphansLeftOut(found)) warn(line);
  if (options.json) printJson(found);
  else print(orphanedVolumes(found));
}

async function publishVolume(id: string, nodeId: string, options: PublishOptions): Promise<void> {
  const { readOnly = false, accessMode } = options;
  const params = keyInNamespace(id, options);
  const capability = accessMode && (await capabilityOf(await lookAtAgent(options), params, accessMode));
  const body = { nodeId, readOnly, ...(capability && { capability }) };
  const answer = await askAndWait(
    (agent, signal) => agent.volumes.publish({ params, query: within(options), body, signal }),
    { ...volumeOf(id, options), nodeId },
    options,
  );
  if (options.json) printJson(answer);
  else print(`volume ${nameInNamespace(id, options)} is published to node ${nodeId}${readOnly ? ', read-only' : ''}`);
}

/** Finds the volume's capability for a mode. If there is none, makes one up: the agent refuses it and says why. */
async function capabilityOf(agent: Client, params: Key, accessMode: AccessMode): Promise<Capability> {
  const { capabilities } = await agent.volumes.get({ params, ...soon });
  const attachmentMode = capabilities[0]?.attachmentMode ?? 'file-system';
  return capabilities.find((one) => one.accessMode === accessMode) ?? { accessMode, attachmentMode };
}

async function unpublishVolume(
  id: string,
  nodeId: string,
  options: LookOptions & InNamespace & Awaited,
): Promise<void> {
  const params = keyInNamespace(id, options);
  const agent = await agentAt(options);
  const before = await agent.volumes.get({ params, ...soon });
  await askAndWait(
    (agent, signal) => agent.volumes.unpublish({ params, query: within(options), body: { nodeId }, signal }),
    { ...volumeOf(id, options), nodeId },
    options,
  );
  const others = nodeId in before.publications ? [] : Object.keys(before.publications);
  const elsewhere = others.length > 0 ? ` and was not before: it is on node ${others.join(', ')}` : '';
  tell(options, `volume ${nameInNamespace(id, options)} is not published to node ${nodeId}${elsewhere}`);
}

async function expandVolume(
  id: string,
  requiredBytes: number,
  options: LookOptions & InNamespace & Awaited,
): Promise<void> {
  const request = { params: keyInNamespace(id, options), query: within(options), body: { requiredBytes } };
  const answer = await askAndWait(
    (agent, signal) => agent.volumes.expand({ ...request, signal }),
    volumeOf(id, options),
    options,
  );
  if (options.json) return printJson(answer);
  const { capacityBytes = requiredBytes, nodeExpansionRequired } = answer;
  const still = nodeExpansionRequired ? '; its node still has to expand it' : '';
  print(`volume ${nameInNamespace(id, options)} has ${sizeText(capacityBytes)}${still}`);
}

async function releaseClaim(id: string, allocId: string, options: LookOptions & InNamespace): Promise<void> {
  const agent = await agentAt(options);
  await agent.volumes.release({ params: keyInNamespace(id, options), body: { allocId } });
  tell(options, `volume ${nameInNamespace(id, options)} is no longer claimed by ${allocId}`);
}

async function setAvailability(
  id: string,
  availability: VolumeReport['availability'],
  options: LookOptions & InNamespace,
): Promise<void> {
  const agent = await agentAt(options);
  await agent.volumes.setAvailability({ params: keyInNamespace(id, options), body: { availability } });
  tell(options, `volume ${nameInNamespace(id, options)}: its availability is ${availability}`);
}
