/** Commands that volumes and snapshots share: list, show, create, delete. */

import type { Command } from 'commander';
import { AgentError } from '../client/agent-error.js';
import type { CallOptions, Client } from '../client/client.js';
import { oneLine } from '../host/terminal-text.js';
import { misuse } from './arguments.js';
import { agentAt, type LookOptions, lookAtAgent, soon } from './connection.js';
import { print, printJson, tell, warn } from './output.js';
import { lineChars } from './print.js';
import {
  type Awaited,
  type InNamespace,
  type Key,
  keyInNamespace,
  listAll,
  nameInNamespace,
  within,
} from './requests.js';
import type { Spec } from './spec-file.js';
import { askAndWait, type Waited } from './wait.js';

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
