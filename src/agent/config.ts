/** Reads the agent's YAML configuration. Every fault is reported with file, line and what is allowed. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { type Alias, type Document, LineCounter, visit } from 'yaml';
import { z } from 'zod';
import { messageOf, StagecraftError } from '../errors.js';
import { nodeIdSchema } from '../host/names.js';
import { allowedKeys, inPlainWords, pathText, unknownKey } from '../host/plain-faults.js';
import { ownSchema, settingsShape } from '../requests/settings.js';
import { sharedTypes, taskSchema } from '../tasks/spec.js';
import { offsetOf, parseYaml, yamlFault } from './parse-yaml.js';
import { defaultDataDir } from './places.js';

const ms = z.int().positive();
const count = z.int().positive();
const path = z
  .string()
  .min(1)
  .refine((text) => !text.includes('\0'), 'must have no NUL character');

const endpoint = z
  .string()
  .regex(/^.+:\d{1,5}$/, 'must be host:port')
  .transform((text) => ({
    host: text.slice(0, text.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1'),
    port: Number(text.split(':').at(-1)),
  }));

/** Keys of a Redis store. Their meaning: docs/configuration.md */
const redisSchema = z
  .strictObject({
    url: z
      .string()
      .refine(
        (url) => URL.canParse(url) && /^rediss?:\/\/([^/?#]*@)?[^/?#@]+(\/\d*)?$/.test(url),
        'must be redis://[user:password@]host[:port][/db], or rediss:// for TLS',
      )
      .optional(),
    sentinels: z.array(endpoint).min(1).optional(),
    master: z.string().min(1).optional(),
    cluster: z.array(endpoint).min(1).optional(),
    username: z.string().min(1).optional(),
    passwordFile: z.string().min(1).optional(),
    caFile: z.string().min(1).optional(),
    prefix: z
      .string()
      .regex(/^[^{}]+$/, 'must be 1 or more characters, without braces')
      .optional(),
    protocol: z.union([z.literal(2), z.literal(3)]).optional(),
    durability: z.strictObject({ replicas: count, timeoutMs: ms }).optional(),
  })
  .refine(({ url, sentinels, cluster }) => [url, sentinels, cluster].filter(Boolean).length === 1, {
    message: 'must have exactly one of url, sentinels and cluster',
  })
  .refine(({ sentinels, master }) => (sentinels === undefined) === (master === undefined), {
    message: 'sentinels and master must be given together: the sentinels find the master by its name',
  });

/** Keys of the secrets provider. Their meaning: docs/configuration.md */
const secretsSchema = z
  .strictObject({
    directory: path.optional(),
    environment: z
      .union([z.boolean(), z.string().min(1)], {
        error: 'must be true, false, or the prefix of the names of the variables',
      })
      .default(false),
  })
  .refine(({ directory, environment }) => directory !== undefined || environment !== false, {
    message: 'must have a directory, environment, or both',
  });

const addressFault =
  'must be false, or an address of this host alone, e.g. 127.0.0.1:4780; from elsewhere use ssh -L 4780:127.0.0.1:4780';

/** Keys of the inspector. Their meaning: docs/configuration.md */
const inspectorSchema = z.strictObject({
  listen: z
    .union([z.literal(false), z.string().regex(/^(127\.[\d.]+|localhost|\[::1\]):\d{1,5}$/, addressFault)], {
      error: addressFault,
    })
    .default('127.0.0.1:4780'),
  allowSend: z.boolean().default(false),
});

type Task = z.output<typeof taskSchema>;

/** Finds the name that a task shares with a task before it: its id, or one side of a plugin. */
function conflictOf(task: Task, before: readonly Task[]): { key: 'id' | 'plugin'; message: string } | undefined {
  if (before.some(({ id }) => id === task.id))
    return { key: 'id', message: `another task has the id '${task.id}' already` };
  for (const other of before) {
    const [type] = sharedTypes(task, other);
    if (type === undefined) continue;
    const plugin = task.plugin ?? task.id;
    return { key: 'plugin', message: `task '${other.id}' runs the ${type} plugin '${plugin}' already` };
  }
  return undefined;
}

const configSchema = z.strictObject({
  nodeId: nodeIdSchema.default(hostname),
  dataDir: path.default(defaultDataDir),
  store: z.strictObject({ redis: redisSchema }).optional(),
  cluster: z.strictObject({ own: ownSchema.optional(), keyFile: z.string().min(1).optional() }).optional(),
  ...settingsShape,
  secrets: secretsSchema.optional(),
  tasks: z
    .array(taskSchema)
    .superRefine((tasks, context) => {
      for (const [index, task] of tasks.entries()) {
        const fault = conflictOf(task, tasks.slice(0, index));
        if (fault) context.addIssue({ code: 'custom', path: [index, fault.key], message: fault.message });
      }
    })
    .default([]),
  inspector: inspectorSchema.prefault({}),
  log: z.strictObject({ level: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('warn') }).prefault({}),
});

/** Complete configuration: defaults are filled in. From `loadConfig`, paths in a file are absolute. */
export type AgentConfig = z.output<typeof configSchema> & {
  /** Absolute path of the file; absent without a file. */
  file?: string;
  /** Makes the error for faults that show only when a value is used, each with its line in the file. */
  invalid(faults: Fault[]): StagecraftError;
};

/**
 * @param file a YAML file; absent: all defaults. Relative paths in the file start at the directory of the file.
 * @throws StagecraftError CONFIG_INVALID with every fault as `file:line: path: what is allowed`
 */
export function loadConfig(file?: string): AgentConfig {
  if (file === undefined) return parseConfig('', 'no file');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new StagecraftError('CONFIG_INVALID', `can't read the configuration: ${messageOf(error)}`, { cause: error });
  }
  const config = parseConfig(text, file);
  const beside = (named: string): string => resolve(dirname(file), named);
  const { redis } = config.store ?? {};
  if (redis?.passwordFile) redis.passwordFile = beside(redis.passwordFile);
  if (redis?.caFile) redis.caFile = beside(redis.caFile);
  if (config.cluster?.keyFile) config.cluster.keyFile = beside(config.cluster.keyFile);
  if (config.secrets?.directory) config.secrets.directory = beside(config.secrets.directory);
  return { ...config, file: resolve(file), dataDir: beside(config.dataDir) };
}

/** @throws StagecraftError CONFIG_INVALID, as loadConfig */
export function parseConfig(text: string, file: string): AgentConfig {
  const lines = new LineCounter();
  const document = parseYaml(text, lines);
  const lineOf = (offset: number): number => lines.linePos(offset).line;
  if (document.errors.length > 0) {
    throw invalid(document.errors.map((error) => `${file}:${lineOf(error.pos[0])}: ${yamlFault(error, text)}`));
  }
  const inPlace = (faults: Fault[]): StagecraftError =>
    invalid(
      faults
        .map(({ path, message }) => ({ path, message, line: lineOf(offsetOf(document, path) ?? 0) }))
        .sort((one, other) => one.line - other.line)
        .map(({ path, message, line }) => `${file}:${line}: ${pathText(path) || 'the file'}: ${message}`),
    );
  const { data, error } = configSchema.safeParse(
    valueIn(document, (offset) => `${file}:${lineOf(offset)}`),
    { error: inPlainWords },
  );
  if (data) return { ...data, invalid: inPlace };
  throw inPlace(error.issues.flatMap(faultsIn));
}

/** Converts the document to plain values. Throws only for aliases: without an anchor, or too many for the memory. */
function valueIn(document: Document, placeOf: (offset: number) => string): unknown {
  try {
    return document.toJS() ?? {};
  } catch (error) {
    const aliases: Alias[] = [];
    visit(document, {
      Alias: (_, alias) => {
        aliases.push(alias);
      },
    });
    const culprit = aliases.find((alias) => alias.resolve(document) === undefined) ?? aliases.at(-1);
    throw invalid([`${placeOf(culprit?.range?.[0] ?? 0)}: ${messageOf(error)}`]);
  }
}

const invalid = (faults: string[]): StagecraftError =>
  new StagecraftError('CONFIG_INVALID', `the configuration is not valid:\n  ${faults.join('\n  ')}`, { faults });

export interface Fault {
  path: PropertyKey[];
  message: string;
}

/** Splits an issue about unknown keys into one fault per key. */
function faultsIn(issue: z.core.$ZodIssue): Fault[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, message: issue.message }];
  const allowed = allowedKeys(configSchema, issue.path);
  return issue.keys.map((key) => ({ path: [...issue.path, key], message: unknownKey(key, allowed) }));
}
