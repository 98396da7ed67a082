/** Opens the log of a task, and takes an excerpt of its last run, for a person who wants to know why the run ended. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { messageOf } from '../errors.js';
import { maskSecrets } from '../host/mask-secrets.js';
import { endpointVariable } from './environments.js';
import { olderLogOf } from './paths.js';

/** Limit of the excerpt: the first lines of a longer run are left out. */
const runBytes = 1_024 * 1_024;
const firstLines = 5;
const lastLines = 10;
const maxLineChars = 400;
const maxTailChars = 4_096;

/** Line above the output of a run; on a line of its own even if the run before has ended within a line. */
export function runHeader(path: string, allocId: string): string {
  const isMidLine = !['', '\n'].includes(endOf(path, 1));
  return `${isMidLine ? '\n' : ''}--- ${allocId} ${new Date().toISOString()}\n`;
}

const isHeader = (line: string): boolean => /^--- \S+ \d{4}-\d\d-\d\dT[\d:.]+Z$/.test(line);

/** Shorter values occur in every text. */
const minSecretChars = 6;

/** Masks values of the environment: a driver may print its secrets. */
function masked(text: string, values: Record<string, string>): string {
  const secrets = Object.entries(values).flatMap(([name, value]) => (name === endpointVariable ? [] : [value]));
  return maskSecrets(text, secrets, minSecretChars);
}

/**
 * First and last lines of the last run in a log, with the reason of a Go program between them; also right after the
 * log was cut off. Without lines: why there are none.
 * @param values environment of the task, which is masked; undefined: not known, so that nothing can be shown
 */
export function tailOf(path: string, values: Record<string, string> | undefined): string {
  if (!values)
    return `(not shown: values of its environment may be in it, and are not known to be masked; see ${path})`;
  try {
    const present = endOf(path, runBytes);
    const older = present.length < runBytes ? olderEnd(path, runBytes - present.length) : '';
    const whole = `${older}${present}`;
    const lines = masked(whole, values).trimEnd().split('\n');
    const headerAt = lines.findLastIndex(isHeader);
    const hasBeginning = headerAt >= 0 || whole.length < runBytes;
    return excerptOf(lines.slice(headerAt + 1), hasBeginning) || '(it wrote nothing)';
  } catch (error) {
    return `(${messageOf(error)})`;
  }
}

/** Picks lines: a Go program ends with the stacks of its goroutines, so the last lines alone hide the reason. */
function excerptOf(lines: string[], hasBeginning: boolean): string {
  const tail = lines.slice(-lastLines).join('\n').slice(-maxTailChars);
  const before = lines.slice(0, -lastLines);
  const reasonAt = goReasonAt(before);
  const kept = before.flatMap((line, index) => {
    const isFirst = hasBeginning && index < firstLines;
    const isReason = reasonAt >= 0 && index >= reasonAt && index < reasonAt + firstLines;
    return isFirst || isReason ? [{ line, index }] : [];
  });
  const gap = (from: number, to: number): string[] => (to > from ? [`… ${to - from} lines left out …`] : []);
  const shown = kept.flatMap(({ line, index }, n) => [
    ...gap((kept[n - 1]?.index ?? -1) + 1, index),
    line.length > maxLineChars ? `${line.slice(0, maxLineChars)}…` : line,
  ]);
  return [...shown, ...gap((kept.at(-1)?.index ?? -1) + 1, before.length), tail].join('\n');
}

/** Index of the line with which a Go program says why it ends; -1 if there is none. */
function goReasonAt(lines: string[]): number {
  const stacksAt = lines.findIndex((line) => /^goroutine \d+ \[/.test(line));
  if (stacksAt < 0) return -1;
  const above = lines.slice(0, stacksAt);
  const saidAt = above.findLastIndex((line) => /^(panic|fatal error): /.test(line));
  return saidAt >= 0 ? saidAt : above.findLastIndex((line) => line.trim() !== '');
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

/**
 * @returns file descriptor
 * @throws Error if it is no plain file
 */
export function openPlain(path: string, flags: number, mode?: number): number {
  const file = opened(path, flags, mode);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw noPlainFile(path);
}

function opened(path: string, flags: number, mode?: number): number {
  try {
    // Without O_NONBLOCK opening a pipe would wait; plain files ignore it.
    return openSync(path, flags | constants.O_NONBLOCK | constants.O_NOFOLLOW, mode);
  } catch (error) {
    // A symbolic link, a pipe that nobody reads, a socket, a directory.
    const isOther =
      error instanceof Error && 'code' in error && ['ELOOP', 'ENXIO', 'EISDIR'].includes(String(error.code));
    throw isOther ? noPlainFile(path, error) : error;
  }
}

const noPlainFile = (path: string, cause?: unknown): Error =>
  new Error(`${path} is no plain file: move it away`, cause === undefined ? {} : { cause });
