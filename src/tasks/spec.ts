/** Options of a task, checked and completed before anything starts. */
import { isAbsolute, join, normalize, relative } from 'node:path';
import { z } from 'zod';
import { pluginTypes } from '../../machines/task/task-context.js';
import { messageOf, StagecraftError } from '../errors.js';
import { mapOf, notInherited, secretRefSchema } from '../host/names.js';
import { inPlainWords, pathText } from '../host/plain-faults.js';
import { checkSocketPath } from '../host/socket-path.js';
import { endpointVariable, type GivenTask, type GivenVariable, placeVariables } from './environments.js';

const ms = z.int().positive();

const hasNul = (text: string): boolean => text.includes('\0');
const nulFault = 'must not have a NUL character in it';
const endpointScheme = 'unix://';

/** Variables that a process can't be given, each with the reason. */
function* environmentFaults(env: Record<string, GivenVariable>): Generator<[name: string, fault: string]> {
  for (const [name, variable] of Object.entries(env)) {
    if (name === '' || name.includes('=') || hasNul(name)) yield [name, 'is no name of a variable'];
    if (name.startsWith('STAGECRAFT_')) yield [name, 'is reserved: names that begin with STAGECRAFT_ are ours'];
    if (hasNul(plainValue(variable) ?? '')) yield [name, nulFault];
  }
  const endpoint = env[endpointVariable];
  if (endpoint === undefined) return;
  const path = plainValue(endpoint);
  const fault = path === undefined ? 'must be a path: it is no secret' : endpointFault(path);
  if (fault) yield [endpointVariable, fault];
}

function plainValue(variable: GivenVariable): string | undefined {
  if (typeof variable === 'string') return variable;
  return 'stored' in variable ? variable.stored : undefined;
}

function endpointFault(endpoint: string): string | undefined {
  if (!endpoint.startsWith(`${endpointScheme}/`)) {
    return 'must be unix:///path/of/the.sock; leave it out to let the agent choose';
  }
  return hasNul(endpoint) ? undefined : socketFault(endpoint.slice(endpointScheme.length)); // a NUL is reported already
}

function socketFault(path: string): string | undefined {
  if (hasNul(path)) return nulFault;
  try {
    checkSocketPath(path);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

const absolutePath = z
  .string()
  .refine((path) => isAbsolute(path) && !hasNul(path), 'must be an absolute path without a NUL character')
  .transform(normalize);

const idSchema = notInherited(
  z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,31}$/, 'must be 1 to 32 of a-z, 0-9, . _ -, and begin with a letter or digit'),
);

const taskFields = z.strictObject({
  id: idSchema.describe('Names the task and its log.'),
  plugin: idSchema.optional().describe('Name that its plugin is registered under. Default: the id of the task.'),
  type: z.enum(['node', 'controller', 'monolith']).describe('Which CSI services the process serves.'),
  command: z
    .array(
      z
        .string()
        .min(1)
        .refine((argument) => !hasNul(argument), nulFault),
    )
    .min(1)
    .optional()
    .describe(
      'Program and arguments, run without a shell. `stagecraft` as the program is this installation; ' +
        '${CSI_ENDPOINT} in an argument is where the plugin is to listen.',
    ),
  socket: z
    .string()
    .superRefine((path, context) => {
      const message = socketFault(path);
      if (message) context.addIssue({ code: 'custom', message });
    })
    .optional()
    .describe('Instead of a command: the socket of a plugin that somebody else runs.'),
  env: mapOf(
    z.union([z.string(), z.strictObject({ secret: secretRefSchema }), z.strictObject({ stored: z.string() })], {
      error: 'must be a text; a number needs quotes. Or {secret: REFERENCE}, or {stored: TEXT}',
    }),
  )
    .superRefine((env, context) => {
      for (const [name, message] of environmentFaults(env)) {
        context.addIssue({ code: 'custom', path: [name], message });
      }
    })
    .default({})
    .describe(
      'Added to the environment of the process. A text is kept in memory only; {secret: file:NAME} is fetched at each ' +
        'start; {stored: TEXT} lets the record hold the text.',
    ),
  mountDir: absolutePath
    .optional()
    .describe('Where the process, e.g. in a container, sees ${STAGECRAFT_SOCKET_DIR}, in which it makes csi.sock.'),
  stagePublishBaseDir: absolutePath
    .optional()
    .describe('Directory, as the plugin sees it, below which it stages and publishes volumes.'),
  scope: z
    .enum(['shared', 'host'])
    .optional()
    .describe(
      'shared: its instances on all hosts have the same volumes. host: each host has its own. Default: as the driver ' +
        'says, else shared.',
    ),
  controllers: z
    .enum(['any', 'one'])
    .optional()
    .describe(
      'any: the instances on all hosts may get controller calls. one: only one of them at a time, for drivers that ' +
        'support only one. Default: any.',
    ),
  healthTimeoutMs: ms.default(30_000).describe('How long a start may take until the plugin answers.'),
  restart: z
    .strictObject({
      maxRestarts: z.int().nonnegative().default(5),
      windowMs: ms.default(60_000),
      backoff: z
        .strictObject({ initialMs: ms.default(100), maxMs: ms.default(300_000) })
        .refine(({ initialMs, maxMs }) => initialMs <= maxMs, {
          path: ['initialMs'],
          message: 'must not be more than maxMs',
        })
        .prefault({})
        .describe('Doubles from initialMs to maxMs, with full jitter.'),
      keep: z
        .enum(['children'])
        .optional()
        .describe(
          'children: processes that the process has started, such as FUSE daemons, stay when it ends or is restarted; a ' +
            'stop ends them. Default: they are ended with it.',
        ),
    })
    .prefault({})
    .describe('More ends than maxRestarts within windowMs fail the task.'),
});

type TaskFields = z.output<typeof taskFields>;

/** Options that contradict each other: path and reason. */
function* contradictions(task: TaskFields): Generator<[path: PropertyKey[], fault: string]> {
  const { command, socket, env, mountDir, stagePublishBaseDir } = task;
  if (command === undefined && socket === undefined)
    yield [['command'], 'is missing: give it, or the socket of a plugin'];
  if (command !== undefined && socket !== undefined)
    yield [['socket'], 'must not stand beside command: give one of them'];
  if (socket !== undefined) {
    if (Object.keys(env).length > 0) yield [['env'], 'is of no use with socket: no process is started'];
    if (mountDir !== undefined) yield [['mountDir'], 'is of no use with socket: no process is started'];
  }
  for (const [index, argument] of (command ?? []).entries()) {
    const known = [...placeVariables, ...Object.keys(env)];
    const unknown = [...argument.matchAll(/\$\{((?:CSI|STAGECRAFT)_\w+)\}/g)].find(
      ([, name = '']) => !known.includes(name),
    );
    if (unknown)
      yield [
        ['command', index],
        `has ${unknown[0]}, which nothing replaces; there are ${placeVariables.map((name) => `\${${name}}`).join(', ')}`,
      ];
  }
  if (mountDir === undefined || !isAbsolute(mountDir)) return; // the latter is reported already
  if (env[endpointVariable] !== undefined)
    yield [['env', endpointVariable], 'must not be set beside mountDir, which sets it'];
  const fault = socketFault(join(mountDir, 'csi.sock'));
  if (fault) yield [['mountDir'], fault];
  if (stagePublishBaseDir !== undefined && isAtOrBelow(mountDir, stagePublishBaseDir)) {
    yield [['stagePublishBaseDir'], `must not lie under mountDir (${mountDir}): each start has another one`];
  }
}

const isAtOrBelow = (directory: string, path: string): boolean => {
  const way = relative(directory, path);
  return way !== '..' && !way.startsWith('../');
};

/** Options as users write them: in the configuration file and in `runtime.tasks.start`. */
export const taskSchema = taskFields.superRefine((task, context) => {
  for (const [path, message] of contradictions(task)) context.addIssue({ code: 'custom', path, message });
});

export type TaskOptions = z.input<typeof taskSchema>;

/** @throws StagecraftError INVALID_ARGUMENT with every fault and its path */
export function completeTask(options: TaskOptions): GivenTask {
  const { data, error } = taskSchema.safeParse(options, { error: inPlainWords });
  if (data) return { ...data, plugin: data.plugin ?? data.id };
  const faults = error.issues.map(({ path, message }) => `${pathText(path) || 'task'}: ${message}`);
  throw new StagecraftError('INVALID_ARGUMENT', `the task can't be taken: ${faults.join('; ')}`, { faults });
}

/** Types of a plugin that two tasks would both run. */
export function sharedTypes(
  one: Pick<TaskOptions, 'id' | 'plugin' | 'type'>,
  other: Pick<TaskOptions, 'id' | 'plugin' | 'type'>,
): string[] {
  if ((one.plugin ?? one.id) !== (other.plugin ?? other.id)) return [];
  return pluginTypes[one.type].filter((type) => pluginTypes[other.type].includes(type));
}
