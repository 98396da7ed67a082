/** The end of a task's log, for those who want to know why its process gave up. */
import { closeSync, constants, fstatSync, readSync } from 'node:fs';
import { messageOf } from '../errors.js';
import { olderLogOf } from './paths.js';
import { openPlain } from './plain-file.js';

const tailBytes = 4_096;
const tailLines = 10;

/** What stands above the output of a run, on a line of its own: the run before may have ended in the middle of one. */
export function runHeader(path: string, allocId: string): string {
  const isMidLine = !['', '\n'].includes(endOf(path, 1));
  return `${isMidLine ? '\n' : ''}--- ${allocId} ${new Date().toISOString()}\n`;
}

const isHeader = (line: string): boolean => /^--- \S+ \d{4}-\d\d-\d\dT[\d:.]+Z$/.test(line);

/** What a task is given under these names is known to all. */
const isPublic = new Set(['CSI_ENDPOINT']);
/** Shorter ones stand in every text. */
const minSecretChars = 6;

/** Values of the environment may be secrets, and a driver may print them; those of several lines are masked line by line. */
function masked(text: string, env: Record<string, string>): string {
  const secrets = Object.entries(env)
    .flatMap(([name, value]) => (isPublic.has(name) ? [] : [value, ...value.split('\n')]))
    .filter(({ length }) => length >= minSecretChars)
    .sort((a, b) => b.length - a.length); // one may be part of another
  return secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text);
}

/**
 * The last lines of the last run in a log, also right after it was cut off, or why there are none.
 * @param env of the task: its values are masked
 */
export function tailOf(path: string, env: Record<string, string>): string {
  try {
    const present = endOf(path, tailBytes);
    const older = present.length < tailBytes ? olderEnd(path, tailBytes - present.length) : '';
    const lines = masked(`${older}${present}`, env).trimEnd().split('\n');
    const output = lines.slice(lines.findLastIndex(isHeader) + 1);
    return output.slice(-tailLines).join('\n') || '(it wrote nothing)';
  } catch (error) {
    return `(${messageOf(error)})`;
  }
}

function olderEnd(path: string, bytes: number): string {
  try {
    return endOf(olderLogOf(path), bytes);
  } catch {
    return ''; // nothing was cut off yet
  }
}

function endOf(path: string, bytes: number): string {
  const file = openPlain(path, constants.O_RDONLY);
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(size, bytes));
    readSync(file, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8');
  } finally {
    closeSync(file);
  }
}
