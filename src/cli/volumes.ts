/** `stagecraft volume`: makes volumes, brings them to nodes and takes them away, and looks at them. */
import { Argument, type Command, Option } from 'commander';
import { describeLeftovers } from '../agent/describe-volumes.js';
import { volumeStates } from '../agent/states.js';
import type { Expanded, VolumeReport } from '../agent/volume-api.js';
import { collect, sizeIn } from './arguments.js';
import { askAgent } from './client.js';
import { type LookOptions, look, lookAll, lookAt, print, printJson, socketOf, soon, tell } from './connection.js';
import { sizeText, volumeDetails, volumeTable } from './print-volumes.js';
import {
  type Awaited,
  addRequests,
  awaited,
  type InNamespace,
  inNamespace,
  misuse,
  nameOf,
  pairs,
  pathBelow,
  waiting,
  within,
} from './requests.js';
import { type Kind, list, make, remove, show, waitedOf } from './resource-commands.js';
import { askAndWait, type Waited } from './wait.js';

export const accessModes = [
  'single-node-writer',
  'single-node-reader-only',
  'single-node-single-writer',
  'single-node-multi-writer',
  'multi-node-reader-only',
  'multi-node-single-writer',
  'multi-node-multi-writer',
];

const volumes: Kind<VolumeReport> = {
  name: 'volume',
  base: '/v1/volumes',
  made: ({ external }) => (external ? 'taken over' : 'created'),
  deleted: ({ external }) => (external ? 'let go of, its content stays' : 'deleted'),
  leftovers: ({ leftovers = [] }) => describeLeftovers(leftovers),
  table: volumeTable,
  details: volumeDetails,
};

export function addVolumeCommands(program: Command): void {
  const volume = program.command('volume').description('make volumes, bring them to nodes, look at them');
  const add = (usage: string, description: string): Command =>
    inNamespace(volume.command(usage).description(description), 'volume');
  lookAll(volume.command('list').description('volumes, where they are, and what keeps them'))
    .option('--namespace <name>', 'of this namespace only')
    .option('--plugin <name>', 'of this plugin only')
    .addOption(new Option('--state <state>', 'in this state only').choices(volumeStates))
    .option('--node <id>', 'on this node only')
    .option('--prefix <text>', 'only those whose id begins with it')
    .action(({ namespace, plugin, state, node, prefix, ...options }: LookOptions & Filters) =>
      list(volumes, { namespace, plugin, state, node, idPrefix: prefix }, options),
    );
  lookAt(add('status <id>', 'all that is known of one volume')).action(
    (id: string, options: LookOptions & InNamespace) => show(volumes, id, options),
  );
  lookAt(awaited(waiting(add('create [id]', 'make a volume, or take over one that exists; wait until it is there'))))
    .option(
      '--file <file>',
      'YAML or JSON: its spec instead, or several, made one after the other; - is standard input',
    )
    .option('--plugin <name>', 'the plugin that makes it')
    .option('--size <size>', 'at least, e.g. 10Gi', sizeIn)
    .option('--limit <size>', 'at most', sizeIn)
    .addOption(new Option('--access-mode <mode>', 'who may use it').choices(accessModes).default('single-node-writer'))
    .option('--block', 'a block device instead of a file system')
    .option('--fs-type <type>', 'of the file system')
    .option('--mount-flag <flag>', 'any number of times', collect, [])
    .option('--parameter <key=value>', "of the plugin's own; any number of times", collect, [])
    .option('--secret <key=ref>', 'a secret for its calls, e.g. password=file:disk-password', collect, [])
    .option('--from-snapshot <id>', 'with what is in that snapshot of the namespace')
    .option('--external <csi-id>', 'take over the one that the plugin knows by this id')
    .action((id: string | undefined, options: CreateOptions, command: Command) =>
      make(volumes, () => specOf(id, options), options, command),
    );
  lookAt(awaited(waiting(add('publish <id> <node>', 'make it available to a node'))))
    .option('--read-only', 'for reading only')
    .addOption(
      new Option('--access-mode <mode>', 'one that it was made with (default: its first)').choices(accessModes),
    )
    .action(publishVolume);
  lookAt(awaited(add('unpublish <id> <node>', 'take it from a node'))).action(unpublishVolume);
  lookAt(awaited(add('expand <id>', 'make it larger')))
    .argument('<size>', 'for the whole volume, e.g. 20Gi', sizeIn)
    .action(expandVolume);
  lookAt(awaited(add('delete <id>', 'delete it, with all that is in it')))
    .option('--force', 'also while it is used; what could not be confirmed stays listed')
    .action((id: string, options: LookOptions & InNamespace & Awaited & { force?: boolean }) =>
      remove(volumes, id, options),
    );
  lookAt(add('release <id> <alloc>', 'end the claim of an alloc, or its place in the queue')).action(releaseClaim);
  addRequests(add, volumes);
  lookAt(
    add('availability <id>', 'pause: no new use; drain: those who use it are told, too').addArgument(
      new Argument('<availability>').choices(['active', 'pause', 'drain']),
    ),
  ).action(setAvailability);
}

const pathOf = (id: string, of: InNamespace): string => pathBelow(volumes.base, id, of);

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
  fromSnapshot?: string;
  external?: string;
}

function specOf(id: string | undefined, options: CreateOptions): object {
  const { namespace, plugin, size, limit, accessMode, block, fsType, mountFlag, fromSnapshot, external } = options;
  if (id === undefined) throw misuse('give the id of the volume and its --plugin, or --file');
  if (plugin === undefined) throw misuse(`give the --plugin of volume ${id}`);
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
    ...(fromSnapshot && { source: { volumeSnapshot: fromSnapshot } }),
    ...(external && { external: { csiId: external } }),
  };
}

interface PublishOptions extends LookOptions, InNamespace, Awaited {
  readOnly?: boolean;
  accessMode?: string;
}

async function publishVolume(id: string, nodeId: string, options: PublishOptions): Promise<void> {
  const { readOnly = false, accessMode } = options;
  const socketPath = socketOf(options);
  const capability = accessMode && (await capabilityOf(socketPath, pathOf(id, options), accessMode));
  const body = { nodeId, readOnly, ...(capability && { capability }) };
  const asked = { path: `${pathOf(id, options)}/publish${within(options)}`, body };
  const answer = await askAndWait(asked, { ...volumeOf(id, options), nodeId }, options);
  if (options.json) printJson(answer);
  else print(`volume ${nameOf(id, options)} is published to node ${nodeId}${readOnly ? ', read-only' : ''}`);
}

/** What it is made with for this mode; the agent says what is wrong where there is none. */
async function capabilityOf(socketPath: string, path: string, accessMode: string): Promise<object> {
  const { capabilities } = await look<VolumeReport>(socketPath, path);
  const attachmentMode = capabilities[0]?.attachmentMode ?? 'file-system';
  return capabilities.find((one) => one.accessMode === accessMode) ?? { accessMode, attachmentMode };
}

async function unpublishVolume(
  id: string,
  nodeId: string,
  options: LookOptions & InNamespace & Awaited,
): Promise<void> {
  const socketPath = socketOf(options);
  const before = (await askAgent(socketPath, 'GET', pathOf(id, options), soon)) as VolumeReport;
  const asked = { path: `${pathOf(id, options)}/unpublish${within(options)}`, body: { nodeId } };
  await askAndWait(asked, { ...volumeOf(id, options), nodeId }, options);
  const others = nodeId in before.publications ? [] : Object.keys(before.publications);
  const elsewhere = others.length > 0 ? `, it was not: it is on node ${others.join(', ')}` : '';
  tell(options, `volume ${nameOf(id, options)} is not published to node ${nodeId}${elsewhere}`);
}

async function expandVolume(
  id: string,
  requiredBytes: number,
  options: LookOptions & InNamespace & Awaited,
): Promise<void> {
  const body = { requiredBytes };
  const asked = { path: `${pathOf(id, options)}/expand${within(options)}`, body };
  const answer = await askAndWait(asked, volumeOf(id, options), options);
  if (options.json) return printJson(answer);
  const { capacityBytes = requiredBytes, nodeExpansionRequired } = answer as Expanded;
  const still = nodeExpansionRequired ? '; the part of its node is still to be done' : '';
  print(`volume ${nameOf(id, options)} has ${sizeText(capacityBytes)}${still}`);
}

async function releaseClaim(id: string, allocId: string, options: LookOptions & InNamespace): Promise<void> {
  await askAgent(socketOf(options), 'POST', `${pathOf(id, options)}/release`, { body: { allocId } });
  tell(options, `volume ${nameOf(id, options)} is not claimed by ${allocId} any more`);
}

async function setAvailability(id: string, availability: string, options: LookOptions & InNamespace): Promise<void> {
  await askAgent(socketOf(options), 'POST', `${pathOf(id, options)}/availability`, { body: { availability } });
  tell(options, `volume ${nameOf(id, options)}: its availability is ${availability}`);
}
