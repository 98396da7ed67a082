/** `stagecraft snapshot`, `stagecraft group-snapshot`: keeps what is in volumes, looks at what is kept, deletes it. */
import { type Command, Option } from 'commander';
import { snapshotStates } from '../agent/states.js';
import { collect } from './arguments.js';
import { type LookOptions, lookAll, lookAt } from './connection.js';
import { type AnyReport, snapshotDetails, snapshotTable } from './print-snapshots.js';
import {
  type Awaited,
  addRequests,
  awaited,
  type InNamespace,
  inNamespace,
  misuse,
  pairs,
  waiting,
} from './requests.js';
import { type Kind, list, make, remove, show } from './resource-commands.js';

/** What differs between a snapshot of one volume and of several. */
interface Sort extends Pick<Kind<AnyReport>, 'name' | 'base'> {
  command: string;
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

const leftovers = ({ leftovers: left = [] }: AnyReport): string[] => left;

function addCommands(program: Command, sort: Sort): void {
  const { command, name, base, description } = sort;
  const kind: Kind<AnyReport> = {
    name,
    base,
    made: () => 'ready',
    deleted: () => 'deleted',
    leftovers,
    table: snapshotTable,
    details: snapshotDetails,
  };
  const snapshot = program.command(command).description(description);
  const add = (usage: string, does: string): Command =>
    inNamespace(snapshot.command(usage).description(does), `${name}, and of its source`);
  lookAll(snapshot.command('list').description(`${name}s, and how they are`))
    .option('--namespace <name>', 'of this namespace only')
    .option('--plugin <name>', 'of this plugin only')
    .addOption(new Option('--state <state>', 'in this state only').choices(snapshotStates))
    .action(({ namespace, plugin, state, ...options }: LookOptions & Filters) =>
      list(kind, { namespace, plugin, state }, options),
    );
  lookAt(add('status <id>', `all that is known of one ${name}`)).action(
    (id: string, options: LookOptions & InNamespace) => show(kind, id, options),
  );
  lookAt(awaited(waiting(add(sort.create.usage, sort.create.description))))
    .option(
      '--file <file>',
      'YAML or JSON: its spec instead, or several, made one after the other; - is standard input',
    )
    .option('--parameter <key=value>', "of the plugin's own; any number of times", collect, [])
    .option('--secret <key=ref>', 'a secret for its calls, e.g. password=file:disk-password', collect, [])
    .action(
      (id: string | undefined, volumes: string | string[] | undefined, options: CreateOptions, command: Command) =>
        make(kind, () => specOf(sort, { id, volumes: [volumes ?? []].flat() }, options), options, command),
    );
  lookAt(awaited(add('delete <id>', 'delete it; volumes that were made of it stay')))
    .option('--force', 'give up what does not succeed soon; what may be left stays listed')
    .action((id: string, options: LookOptions & InNamespace & Awaited & { force?: boolean }) =>
      remove(kind, id, options),
    );
  addRequests(add, kind);
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
  if (id === undefined || !sources) throw misuse(`give the id of the ${name} and what it is of, or --file`);
  const more = { parameters: pairs('--parameter', parameter), secrets: pairs('--secret', secret) };
  return { namespace, id, ...sources, ...more };
}
