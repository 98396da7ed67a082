/** Specs of volumes and snapshots in files: sizes as on the command line, faults with their lines. */
import { readFileSync } from 'node:fs';
import { LineCounter, parseDocument } from 'yaml';
import { offsetOf } from '../agent/yaml-place.js';
import { messageOf } from '../errors.js';
import { AgentError } from './client.js';
import { misuse } from './requests.js';
import { parseSize } from './size.js';

export interface SpecFile {
  /** What is left out or wrong in it, the agent says. */
  body: object;
  /** The same error, with the places of its faults in the file. */
  placed(error: unknown): unknown;
}

/** @throws CommanderError where it can't be read, or is no YAML */
export function specIn(file: string): SpecFile {
  const lines = new LineCounter();
  const refused = (why: string): Error => misuse(`can't take the spec in ${file}: ${why}`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw refused(messageOf(error));
  }
  const document = parseDocument(text, { lineCounter: lines });
  const lineOf = (offset: number): number => lines.linePos(offset).line;
  const [broken] = document.errors;
  if (broken) throw refused(`line ${lineOf(broken.pos[0])}: ${broken.message.split('\n')[0]}`);
  const placed = (line: string): string => {
    const [, path] = /^ {2}([^:\s]+): /.exec(line) ?? [];
    if (path === undefined) return line;
    return `  ${file}:${lineOf(offsetOf(document, partsOf(path)) ?? 0)}: ${line.trimStart().replace('; above 2^53-1 a bigint', ', or e.g. 10Gi')}`;
  };
  return {
    body: sized(asObject(() => document.toJS(), refused)),
    placed: (error) =>
      error instanceof AgentError && error.code === 'INVALID_ARGUMENT'
        ? new AgentError(error.code, error.message.split('\n').map(placed).join('\n'))
        : error,
  };
}

function asObject(read: () => unknown, refused: (why: string) => Error): object {
  try {
    return Object(read());
  } catch (error) {
    throw refused(messageOf(error));
  }
}

/** `capabilities[0].fsType` */
const partsOf = (path: string): PropertyKey[] =>
  [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([part, index]) => (index === undefined ? part : Number(index)));

/** A size with a unit becomes bytes; what else stands there the agent looks at. */
function sized(spec: { capacity?: unknown }): object {
  if (!(spec.capacity instanceof Object)) return spec;
  const capacity = Object.entries(spec.capacity).map(([key, size]) => [key, hasUnit(size) ? parseSize(size) : size]);
  return { ...spec, capacity: Object.fromEntries(capacity) };
}

const hasUnit = (size: unknown): size is string => typeof size === 'string' && /^[\d.]+[KMGTP]i$/.test(size);
