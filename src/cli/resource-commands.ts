/**
 * Commands that volumes and snapshots share: list, show, create, delete, retry, acknowledge. Also the options that they share
 * with allocs and mounts.
 */
import type { Command } from 'commander';
import { AgentError } from '../client/agent-error.js';
import type { CallOptions, Client } from '../client/client.js';
import { oneLine } from '../host/terminal-text.js';
import { misuse, secondsIn } from './arguments.js';
import { agentAt, type LookOptions, lookAt, lookAtAgent, soon } from './connection.js';
import { print, printJson, tell, warn } from './output.js';
import { lineChars } from './print.js';
import type { Spec } from './spec-file.js';
import { askAndWait, type Waited } from './wait.js';

export interface InNamespace {
  namespace: string;
}

export interface Awaited {
  /** Milliseconds. */
  timeout?: number;
  wait?: boolean;
}

/** Adds `--namespace`. @param what the kind of resource, for the help */
export const inNamespace = (command: Command, what: string): Command =>
  command.option('--namespace <name>', `the namespace of the ${what}`, 'default');

/** Adds `--timeout`. @param limit what the option limits, for the help */
export const awaited = (command: Command, limit = 'how long to wait; the work goes on after that'): Command =>
  command.option('--timeout <seconds>', `${limit} (default: as long as it takes)`, secondsIn);

/** Adds `--wait`. @param what the conditions that only a person can change, for the help */
export const waiting = (command: Command, what = "secrets that can't be resolved"): Command =>
  command.option('--wait', `also wait for problems that somebody must fix first: ${what} (default: fail)`);

/** Query of a request that may take long. */
export const within = ({ timeout, wait }: Awaited): { timeoutMs?: number; wait?: boolean } => ({
  ...(timeout !== undefined && { timeoutMs: timeout }),
  ...(wait && { wait }),
});

export const nameInNamespace = (id: string, { namespace }: InNamespace): string => `${namespace}/${id}`;

/** Key of a volume or a snapshot. */
export interface Key {
  namespace: string;
  id: string;
}

export const keyInNamespace = (id: string, { namespace }: InNamespace): Key => ({ namespace, id });

/** Fields of a volume or a snapshot that show a failure, or a call that waits for its next attempt. */
interface Troubled {
  error?: object;
  expansion?: { message?: string };
  modification?: { message?: string };
  publications?: Record<string, { message?: string }>;
  leftovers?: unknown[];
}

const isTroubled = ({ error, expansion, modification, publications = {}, leftovers = [] }: Troubled): boolean =>
  error !== undefined ||
  leftovers.length > 0 ||
  [expansion, modification, ...Object.values(publications)].some((piece) => piece?.message !== undefined);

interface Repeatable {
  /** Name of the kind in messages. */
  name: string;
  of(agent: Client): {
    get(request: { params: Key; idleTimeoutMs: number }): Promise<Troubled>;
    retry(request: { params: Key; body?: Accepting }): Promise<void>;
    acknowledge(request: { params: Key }): Promise<void>;
  };
}

/** Requests that volumes and snapshots share. `done` says what came of the request, for the output. */
const requests = {
  retry: {
    description: 'retry now: failed calls, calls that wait for their next attempt, leftovers of a forced deletion',
    done: (before: Troubled) => (isTroubled(before) ? 'is retried' : 'has nothing to retry: nothing failed'),
  },
  acknowledge: {
    description: 'forget the leftovers of a forced deletion, once they are cleaned up by hand',
    done: () => 'is forgotten',
  },
};

/** Adds the shared requests as subcommands. */
export function addRequests(add: (usage: string, description: string) => Command, { of, name }: Repeatable): void {
  for (const [request, { description, done }] of Object.entries(requests)) {
    const command = lookAt(add(`${request} <id>`, description));
    if (request === 'retry') accepting(command);
    command.action(async (id: string, options: LookOptions & InNamespace & Accepting) => {
      const requestsTo = of(await lookAtAgent(options));
      const params = keyInNamespace(id, options);
      const before = await requestsTo.get({ params, ...soon });
      if (request === 'retry') await requestsTo.retry({ params, ...acceptanceIn(options) });
      else await requestsTo.acknowledge({ params });
      tell(options, `${name} ${nameInNamespace(id, options)} ${done(before)}`);
    });
  }
}

/** Options of a retry. */
export interface Accepting {
  acceptDriver?: string;
}

/** Adds `--accept-driver`. */
export const accepting = (command: Command): Command =>
  command.option('--accept-driver <name>', 'call the driver of this name, though another driver made it');

export const acceptanceIn = ({ acceptDriver }: Accepting): { body?: Accepting } =>
  acceptDriver === undefined ? {} : { body: { acceptDriver } };

/** Reads all pages of a list. @param filters undefined ones are left out */
async function listAll<T>(
  page: (query: Record<string, unknown>) => Promise<{ items: T[]; next?: string; skipped?: number }>,
  filters: Record<string, string | undefined>,
): Promise<{ all: T[]; skipped: number }> {
  const all: T[] = [];
  let skipped = 0;
  for (let after: string | undefined; ; ) {
    const read = await page({ ...filters, limit: 1_000, after });
    all.push(...read.items);
    skipped += read.skipped ?? 0;
    if (read.next === undefined) return { all, skipped };
    after = read.next;
  }
}

/** Fields of a volume or a snapshot that these commands read. */
interface Report {
  key: { namespace: string; id: string };
  state: string;
  csiId?: string;
  leftovers?: unknown[];
}

interface Asked extends CallOptions {
  query?: object;
  body?: object;
}

/** Requests of a kind. What a spec of the user holds is for the agent to check. */
interface Requests<TReport extends Report> {
  list(request: Asked): Promise<{ items: TReport[]; next?: string }>;
  get(request: Asked & { params: Key }): Promise<TReport>;
  create(request: Asked): Promise<TReport>;
  delete(request: Asked & { params: Key }): Promise<void>;
}

export interface ResourceKind<TReport extends Report> {
  /** Name of the kind in messages, e.g. `group snapshot`. */
  name: string;
  /** The volume or snapshot in the names of calls. */
  subject: Waited['subject'];
  of(agent: Client): Requests<TReport>;
  /** Words for the messages `… is created` and `… is deleted`. */
  made(one: TReport): string;
  deleted(one: TReport): string;
  /** Describes the leftovers of a deleted resource, one line each. */
  leftovers(one: TReport): string[];
  table(all: TReport[], maxChars?: number): string;
  details(one: TReport): string;
}

type Named = Pick<ResourceKind<Report>, 'name' | 'of' | 'subject'>;

/** Names the resource that a request waits for. */
export const waitedOf = ({ of, name, subject }: Named, id: string, place: InNamespace): Waited => ({
  look: (agent) => of(agent).get({ params: keyInNamespace(id, place), ...soon }),
  name: `${name} ${nameInNamespace(id, place)}`,
  subject,
});

/** Prints a list. @param filters undefined ones are left out */
export async function list<TReport extends Report>(
  { of, name, table }: ResourceKind<TReport>,
  filters: Record<string, string | undefined>,
  options: LookOptions,
): Promise<void> {
  const requests = of(await lookAtAgent(options));
  const { all, skipped } = await listAll((query) => requests.list({ query, ...soon }), filters);
  if (skipped > 0) warn(`${skipped} left out, as they can't be read: see stagecraft actor list`);
  if (options.json) printJson(all);
  else print(all.length > 0 ? table(all, lineChars(options)) : noneOf(name, filters));
}

const noneOf = (name: string, filters: object): string =>
  `there are no ${Object.values(filters).some((filter) => filter !== undefined) ? 'such ' : ''}${name}s`;

export async function show<TReport extends Report>(
  { of, details }: ResourceKind<TReport>,
  id: string,
  options: LookOptions & InNamespace,
): Promise<void> {
  const one = await of(await lookAtAgent(options)).get({ params: keyInNamespace(id, options), ...soon });
  if (options.json) printJson(one);
  else print(details(one));
}

/**
 * Creates one resource, or those of a file in order. Waits for each, as a later one may need an earlier one.
 * @param specOf makes the spec of the arguments, if no file is given
 */
export async function make<TReport extends Report>(
  kind: ResourceKind<TReport>,
  specOf: () => object,
  options: LookOptions & Awaited & { file?: string },
  command: Command,
): Promise<void> {
  if (options.file !== undefined) refuseBesideFile(command);
  const { of, name, made } = kind;
  const specs: Spec[] =
    options.file === undefined
      ? [{ body: specOf(), placed: (error) => error }]
      : await (await import('./spec-file.js')).specsIn(options.file);
  const all: TReport[] = [];
  const printAll = (): void => printJson(specs.length === 1 ? all[0] : all);
  for (const { body, placed } of specs) {
    const asked = askAndWait(
      (agent, signal) => of(agent).create({ query: within(options), body, signal }),
      waitedIn(kind, body),
      options,
    );
    const one = await asked.catch((error: unknown) => {
      if (options.json && all.length > 0) printAll();
      const after = specs.slice(all.length + 1).map((spec) => waitedIn(kind, spec.body).name);
      throw notAskedFor(after, placed(error));
    });
    all.push(one);
    const known = `the plugin knows it as ${one.csiId}`;
    if (!options.json) print(oneLine(`${name} ${nameInNamespace(one.key.id, one.key)} is ${made(one)}: ${known}`));
  }
  if (options.json) printAll();
}

function waitedIn(kind: Named, body: object): Waited {
  const { namespace = 'default', id = '' } = body as { namespace?: string; id?: string };
  return waitedOf(kind, String(id), { namespace });
}

/** Adds to the error of one document the names of the documents after it. */
const notAskedFor = (names: string[], error: unknown): unknown =>
  names.length > 0 && error instanceof AgentError
    ? new AgentError(error.code, `${error.message}\nnot requested after this error: ${names.join(', ')}`)
    : error;

/** Options allowed with `--file`: they say nothing about the resource itself. */
const besideFile = ['file', 'timeout', 'wait', 'json', 'config', 'socket'];

/** @throws CommanderError with the arguments that the file would override */
function refuseBesideFile(command: Command): void {
  const given = command.options
    .filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli')
    .filter((option) => !besideFile.includes(option.attributeName()));
  const hidden = [...command.args, ...given.map(({ long }) => long)].join(', ');
  if (hidden !== '') throw misuse(`--file has the whole spec: leave out ${hidden}`);
}

/** Deletes a resource and waits for the end. A forced deletion may leave something behind, which is printed. */
export async function remove<TReport extends Report>(
  kind: ResourceKind<TReport>,
  id: string,
  { force = false, ...options }: LookOptions & InNamespace & Awaited & { force?: boolean },
): Promise<void> {
  const waited = waitedOf(kind, id, options);
  const params = keyInNamespace(id, options);
  const asked = kind.of(await agentAt(options));
  const seen = (): Promise<TReport | undefined> => ifThere(asked.get({ params, ...soon }));
  const before = await seen();
  await askAndWait(
    (agent, signal) => kind.of(agent).delete({ params, query: within(options), body: { force }, signal }),
    waited,
    options,
  );
  const one = force ? await seen() : undefined;
  // A resource of this name that is not deleted is a new one.
  if (one?.state !== 'deleted' || !one.leftovers)
    return tell(options, `${waited.name} is ${before ? kind.deleted(before) : 'deleted'}`);
  const done = `${waited.name} is deleted, but parts of it may be left behind`;
  if (options.json) return printJson({ done, leftovers: one.leftovers });
  const todo = [
    `after the cause is fixed, retry: ${requesting('retry', kind, id, options)}`,
    `or clean up by hand, then: ${requesting('acknowledge', kind, id, options)}`,
  ];
  print([`${done}:`, ...kind.leftovers(one).map((what) => `  ${oneLine(what)}`), ...todo].join('\n'));
}

async function ifThere<TReport>(asked: Promise<TReport>): Promise<TReport | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof AgentError && error.code.endsWith('_NOT_FOUND')) return undefined;
    throw error;
  }
}

const requesting = (request: string, { name }: Named, id: string, { namespace }: InNamespace): string =>
  `stagecraft ${name.replace(' ', '-')} ${request} ${id}${namespace === 'default' ? '' : ` --namespace ${namespace}`}`;
