/** `stagecraft snapshot` and `stagecraft group-snapshot`: create, show and delete snapshots of one volume or of several. */

import { type Command, Option } from 'commander';
import { sizeText, snapshotStates } from '../agent/describe-volumes.js';
import type { GroupSnapshotReport, SnapshotReport } from '../api/volume-routes.js';
import type { Client } from '../client/client.js';
import { collect, misuse, pairs } from './arguments.js';
import { type LookOptions, lookAll, lookAt } from './connection.js';
import { factsTable, table } from './print.js';
import {
  type Awaited,
  addRequests,
  awaited,
  type InNamespace,
  inNamespace,
  list,
  make,
  type ResourceKind,
  remove,
  show,
  waiting,
} from './resource-commands.js';

/** Differences between the commands for one volume and for several. */
interface Sort extends Pick<ResourceKind<AnyReport>, 'name' | 'subject'> {
  command: string;
  group: 'snapshots' | 'groupSnapshots';
  description: string;
  create: { usage: string; description: string };
  /** Makes the part of the spec that names the volumes; undefined without volumes. */
  of(volumes: { namespace: string; id: string }[]): object | undefined;
}

const ofOne: Sort = {
  command: 'snapshot',
  name: 'snapshot',
  subject: 'Snapshot',
  group: 'snapshots',
  description: 'create, show and delete snapshots of a volume',
  create: { usage: 'create [id] [volume]', description: 'take a snapshot of a volume; wait until it can be used' },
  of: ([volume]) => volume && { volume },
};

const ofSeveral: Sort = {
  command: 'group-snapshot',
  name: 'group snapshot',
  subject: 'VolumeGroupSnapshot',
  group: 'groupSnapshots',
  description: 'create, show and delete snapshots of several volumes at one moment',
  create: {
    usage: 'create [id] [volumes...]',
    description: 'take a snapshot of volumes of one plugin at one moment; wait until it can be used',
  },
  of: (volumes) => (volumes.length > 0 ? { volumes } : undefined),
};

export const addSnapshotCommands = (program: Command): void => addCommands(program, ofOne);

export const addGroupSnapshotCommands = (program: Command): void => addCommands(program, ofSeveral);

const leftovers = ({ leftovers: left = [] }: AnyReport): string[] => left;

function addCommands(program: Command, sort: Sort): void {
  const { command, name, subject, group, description } = sort;
  const of = (agent: Client): Client['snapshots' | 'groupSnapshots'] => agent[group];
  const kind: ResourceKind<AnyReport> = {
    ...{ name, subject, of },
    made: () => 'ready',
    deleted: () => 'deleted',
    leftovers,
    table: snapshotTable,
    details: snapshotDetails,
  };
  const snapshot = program.command(command).description(description);
  const add = (usage: string, does: string): Command =>
    inNamespace(snapshot.command(usage).description(does), `${name}, and of its source`);
  lookAll(snapshot.command('list').description(`list ${name}s with their state`))
    .option('--namespace <name>', 'only in this namespace')
    .option('--plugin <name>', 'only of this plugin')
    .addOption(new Option('--state <state>', 'only in this state').choices(snapshotStates))
    .action(({ namespace, plugin, state, ...options }: LookOptions & Filters) =>
      list(kind, { namespace, plugin, state }, options),
    );
  lookAt(add('status <id>', `show one ${name} in detail`)).action((id: string, options: LookOptions & InNamespace) =>
    show(kind, id, options),
  );
  lookAt(awaited(waiting(add(sort.create.usage, sort.create.description))))
    .option(
      '--file <file>',
      'YAML or JSON with one spec, or several to create in order, instead of options; - is standard input',
    )
    .option('--parameter <key=value>', "parameter of the plugin's own; repeatable", collect, [])
    .option('--secret <key=ref>', 'secret for its calls, e.g. password=file:disk-password; repeatable', collect, [])
    .action(
      (id: string | undefined, volumes: string | string[] | undefined, options: CreateOptions, command: Command) =>
        make(kind, () => specOf(sort, { id, volumes: [volumes ?? []].flat() }, options), options, command),
    );
  lookAt(awaited(add('delete <id>', `delete a ${name}; volumes made from it stay`)))
    .option('--force', 'give up calls that do not succeed soon; leftovers stay listed')
    .action((id: string, options: LookOptions & InNamespace & Awaited & { force?: boolean }) =>
      remove(kind, id, options),
    );
  addRequests(add, { name, of });
}

interface Filters {
  namespace?: string;
  plugin?: string;
  state?: string;
}

interface CreateOptions extends LookOptions, InNamespace, Awaited {
  file?: string;
  parameter: string[];
  secret: string[];
}

interface Given {
  id: string | undefined;
  volumes: string[];
}

function specOf({ name, of }: Sort, { id, volumes }: Given, options: CreateOptions): object {
  const { namespace, parameter, secret } = options;
  const sources = of(volumes.map((volume) => ({ namespace, id: volume })));
  if (id === undefined || !sources) throw misuse(`give an id and a source volume for the ${name}, or --file`);
  // Without secrets of its own a snapshot has those of its volume.
  const secrets = secret.length > 0 && { secrets: pairs('--secret', secret) };
  return { namespace, id, ...sources, parameters: pairs('--parameter', parameter), ...secrets };
}

export type AnyReport = SnapshotReport | GroupSnapshotReport;

const sourcesOf = (snapshot: AnyReport): string =>
  ('volumes' in snapshot ? snapshot.volumes : [snapshot.volume])
    .map(({ namespace, id }) => (namespace === snapshot.key.namespace ? id : `${namespace}/${id}`))
    .join(', ');

/** Formats when a snapshot was taken. A plugin may report a time that no date can hold. */
function takenText({ takenAtMs }: AnyReport): string {
  const taken = new Date(takenAtMs ?? Number.NaN);
  return Number.isNaN(taken.getTime()) ? '-' : taken.toISOString();
}

const troubleOf = ({ error, leftovers }: AnyReport): string => error?.message ?? leftovers?.join('; ') ?? '';

export const snapshotTable = (snapshots: AnyReport[], maxChars?: number): string =>
  table(
    ['NAMESPACE', 'ID', 'PLUGIN', 'STATE', 'OF', 'TAKEN', 'TROUBLE'],
    snapshots.map((snapshot) => [
      snapshot.key.namespace,
      snapshot.key.id,
      snapshot.plugin,
      snapshot.state,
      sourcesOf(snapshot),
      takenText(snapshot),
      troubleOf(snapshot),
    ]),
    maxChars,
  );

export function snapshotDetails(snapshot: AnyReport): string {
  const { key, plugin, state, step, csiId, error, leftovers = [] } = snapshot;
  const isGroup = 'volumes' in snapshot;
  const facts: [string, string][] = [
    [isGroup ? 'group snapshot' : 'snapshot', `${key.namespace}/${key.id}`],
    ['of', sourcesOf(snapshot)],
    ['plugin', plugin],
    ...(snapshot.driver === undefined ? [] : [['driver', snapshot.driver] satisfies [string, string]]),
    ['state', error ? `${state}: ${error.message}` : state],
    ...(step === state ? [] : [['step', step] satisfies [string, string]]),
    ['csi id', csiId ?? 'not created yet'],
    ['taken', takenText(snapshot)],
    ...(snapshot.home === undefined ? [] : [['home', `node ${snapshot.home}`] satisfies [string, string]]),
    ...(isGroup ? [] : [['size', sizeText(snapshot.sizeBytes)] satisfies [string, string]]),
    ...leftovers.map((what): [string, string] => ['left behind', what]),
  ];
  const members = isGroup ? snapshot.snapshots : [];
  const rows = members.map(({ csiId: id, volume, sizeBytes }) => [
    volume ? `${volume.namespace}/${volume.id}` : '-',
    id,
    sizeText(sizeBytes),
  ]);
  return [factsTable(facts), ...(rows.length > 0 ? [table(['VOLUME', 'CSI ID', 'SIZE'], rows)] : [])].join('\n\n');
}
