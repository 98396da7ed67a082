/** `stagecraft snapshot`, `stagecraft group-snapshot`: keeps what is in volumes, looks at what is kept, deletes it. */
import type { Command } from 'commander';
import { collect } from './arguments.js';
import { type AnyReport, snapshotDetails, snapshotTable } from './print-snapshots.js';
import { type LookOptions, look, lookAt, print, printJson, socketOf, tell } from './reach.js';
import {
  type Awaited,
  addRequests,
  awaited,
  type InNamespace,
  inNamespace,
  listAll,
  misuse,
  nameOf,
  pairs,
  pathBelow,
  within,
} from './requests.js';
import { specIn } from './spec-file.js';
import { askAndWait, type Waited } from './waiting.js';

/** What differs between a snapshot of one volume and of several. */
interface Sort {
  command: string;
  /** What one is called. */
  name: string;
  base: string;
  description: string;
  create: { usage: string; description: string };
  /** What the spec says of the volumes; undefined where there are none. */
  of(volumes: { namespace: string; id: string }[]): object | undefined;
}

const sorts: Sort[] = [
  {
    command: 'snapshot',
    name: 'snapshot',
    base: '/v1/snapshots',
    description: 'keep what is in a volume, to make others of it',
    create: { usage: 'create [id] [volume]', description: 'keep what is in a volume now; wait until it can be used' },
    of: ([volume]) => volume && { volume },
  },
  {
    command: 'group-snapshot',
    name: 'group snapshot',
    base: '/v1/group-snapshots',
    description: 'keep what is in several volumes at one moment',
    create: {
      usage: 'create [id] [volumes...]',
      description: 'keep what is in volumes of one plugin at this moment; wait until it can be used',
    },
    of: (volumes) => (volumes.length > 0 ? { volumes } : undefined),
  },
];

export function addSnapshotCommands(program: Command): void {
  for (const sort of sorts) addCommands(program, sort);
}

function addCommands(program: Command, sort: Sort): void {
  const { command, name, base, description } = sort;
  const snapshot = program.command(command).description(description);
  const add = (usage: string, does: string): Command =>
    inNamespace(snapshot.command(usage).description(does), `${name}, and of its source`);
  lookAt(snapshot.command('list').description(`${name}s, and how they are`))
    .option('--namespace <name>', 'of this namespace only')
    .option('--plugin <name>', 'of this plugin only')
    .option('--state <state>', 'in this state only, e.g. failed')
    .action((options: LookOptions & Filters) => list(sort, options));
  lookAt(add('status <id>', `all that is known of one ${name}`)).action(
    async (id: string, options: LookOptions & InNamespace) => {
      const one = await look<AnyReport>(socketOf(options), pathBelow(base, id, options));
      if (options.json) printJson(one);
      else print(snapshotDetails(one));
    },
  );
  lookAt(awaited(add(sort.create.usage, sort.create.description)))
    .option('--file <file>', 'YAML or JSON: its spec, instead of all else')
    .option('--parameter <key=value>', "of the plugin's own; any number of times", collect, [])
    .option('--secret <key=ref>', 'a secret for its calls, e.g. password=file:disk-password', collect, [])
    .action((id: string | undefined, volumes: string | string[] | undefined, options: CreateOptions) =>
      create(sort, { id, volumes: [volumes ?? []].flat() }, options),
    );
  lookAt(awaited(add('delete <id>', 'delete it; volumes that were made of it stay')))
    .option('--force', 'give up what does not succeed soon; what may be left stays listed')
    .action(async (id: string, { force = false, ...options }: LookOptions & InNamespace & Awaited & Forced) => {
      const path = `${pathBelow(base, id, options)}/delete${within(options)}`;
      await askAndWait({ path, body: { force } }, snapshotOf(sort, id, options), options);
      tell(options, `${name} ${nameOf(id, options)} is deleted`);
    });
  addRequests(add, { base, name });
}

const snapshotOf = ({ base, name }: Sort, id: string, of: InNamespace): Waited => ({
  path: pathBelow(base, id, of),
  name: `${name} ${nameOf(id, of)}`,
});

interface Forced {
  force?: boolean;
}

interface Filters {
  namespace?: string;
  plugin?: string;
  state?: string;
}

async function list(
  { base, name }: Sort,
  { namespace, plugin, state, ...options }: LookOptions & Filters,
): Promise<void> {
  const all = await listAll<AnyReport>(socketOf(options), base, { namespace, plugin, state });
  if (options.json) printJson(all);
  else print(all.length === 0 ? `there are no such ${name}s` : snapshotTable(all));
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

async function create(sort: Sort, given: Given, options: CreateOptions): Promise<void> {
  const file = options.file === undefined ? undefined : specIn(options.file);
  const body = file ? file.body : specOf(sort, given, options);
  const path = `${sort.base}${within(options)}`;
  const { namespace = 'default', id = '' } = body as { namespace?: string; id?: string };
  const made = (await askAndWait({ path, body }, snapshotOf(sort, String(id), { namespace }), options).catch(
    (error: unknown) => {
      throw file ? file.placed(error) : error;
    },
  )) as AnyReport;
  if (options.json) printJson(made);
  else print(`${sort.name} ${nameOf(made.key.id, made.key)} is ready: the plugin knows it as ${made.csiId}`);
}

function specOf({ name, of }: Sort, { id, volumes }: Given, options: CreateOptions): object {
  const { namespace, parameter, secret } = options;
  const sources = of(volumes.map((volume) => ({ namespace, id: volume })));
  if (id === undefined || !sources) throw misuse(`give the id of the ${name} and what it is of, or --file`);
  const more = { parameters: pairs('--parameter', parameter), secrets: pairs('--secret', secret) };
  return { namespace, id, ...sources, ...more };
}
