/** Reads specs from YAML or JSON files: sizes as on the command line, errors with file and line. */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { type Document, isScalar, LineCounter } from 'yaml';
import { offsetOf, parseAllYaml, yamlFault } from '../agent/parse-yaml.js';
import { AgentError } from '../client/agent-error.js';
import { messageOf } from '../errors.js';
import { misuse, parseSize } from './arguments.js';

export interface Spec {
  /** Not validated here: the agent does that. */
  body: object;
  /** Adds file and line to each fault in the agent's error. */
  placed(error: unknown): unknown;
}

interface SpecFile {
  /** Name in messages: the path, or `standard input`. */
  name: string;
  documents: Document[];
  lineOf(offset: number): number;
  refused(why: string): Error;
}

/**
 * Reads each document of a file, in order.
 * @param file a path, or `-` for standard input
 * @throws CommanderError if the file can't be read, or is not YAML
 */
export async function specsIn(file: string): Promise<Spec[]> {
  const read = await readSpecs(file);
  return read.documents.map((document) => ({
    body: sized(bodyOf(document, read)),
    placed: placing(read, (path) => offsetOf(document, path)),
  }));
}

/**
 * Joins the items of all documents of a file into one list. Each document holds a list or one item.
 * @throws CommanderError as specsIn
 */
export async function listIn(file: string): Promise<Spec> {
  const read = await readSpecs(file);
  const parts = read.documents.map((document) => ({ document, body: bodyOf(document, read) }));
  const [only] = parts;
  if (only && parts.length === 1)
    return { body: only.body, placed: placing(read, (path) => offsetOf(only.document, inList(path))) };
  /** Items with their document and their path in it. */
  const items = parts.flatMap(({ document, body }) =>
    Array.isArray(body)
      ? body.map((item: unknown, index) => ({ document, item, path: [index] }))
      : [{ document, item: body as unknown, path: [] }],
  );
  const placed = placing(read, (given) => {
    const [index, ...path] = inList(given);
    const at = items[Number(index)];
    return at && offsetOf(at.document, [...at.path, ...path]);
  });
  return { body: items.map(({ item }) => item), placed };
}

/** Path within the list of volumes. Faults of the request as a whole name the list too. */
const inList = (path: PropertyKey[]): PropertyKey[] => (path[0] === 'volumes' ? path.slice(1) : path);

async function readSpecs(file: string): Promise<SpecFile> {
  const name = file === '-' ? 'standard input' : file;
  const lines = new LineCounter();
  const lineOf = (offset: number): number => lines.linePos(offset).line;
  const refused = (why: string): Error => misuse(`can't read the spec in ${name}: ${why}`);
  let given: string;
  try {
    given = file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    throw refused(messageOf(error));
  }
  const all = parseAllYaml(given, lines);
  for (const { errors } of all)
    for (const broken of errors) throw refused(`line ${lineOf(broken.pos[0])}: ${yamlFault(broken, given)}`);
  const documents = all.filter(
    ({ contents }) => !(contents === null || (isScalar(contents) && contents.value === null)),
  );
  if (documents.length === 0) throw refused('it is empty');
  return { name, lineOf, refused, documents };
}

function placing(
  { name, lineOf }: SpecFile,
  offsetAt: (path: PropertyKey[]) => number | undefined,
): (error: unknown) => unknown {
  const placed = (line: string): string => {
    const [, path] = /^ {2}([^:\s]+): /.exec(line) ?? [];
    if (path === undefined) return line;
    const at = lineOf(offsetAt(partsOf(path)) ?? 0);
    return `  ${name}:${at}: ${line.trimStart().replace('; above 2^53-1 a bigint', ', or e.g. 10Gi')}`;
  };
  return (error) =>
    error instanceof AgentError && error.code === 'INVALID_ARGUMENT'
      ? new AgentError(error.code, error.message.split('\n').map(placed).join('\n'))
      : error;
}

function bodyOf(document: Document, { refused }: SpecFile): object {
  try {
    return Object(document.toJS());
  } catch (error) {
    throw refused(messageOf(error));
  }
}

/** Splits a path such as `capabilities[0].fsType`. */
const partsOf = (path: string): PropertyKey[] =>
  [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([part, index]) => (index === undefined ? part : Number(index)));

/** Converts sizes with a unit to bytes. Other values stay for the agent to validate. */
function sized(spec: { capacity?: unknown }): object {
  if (!(spec.capacity instanceof Object)) return spec;
  const capacity = Object.entries(spec.capacity).map(([key, size]) => [key, hasUnit(size) ? parseSize(size) : size]);
  return { ...spec, capacity: Object.fromEntries(capacity) };
}

const hasUnit = (size: unknown): size is string => typeof size === 'string' && /^[\d.]+[KMGTP]i$/.test(size);
