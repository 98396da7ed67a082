/**
 * Output of commands: all of it leaves here, cleaned, as texts of drivers and files must not steer the terminal.
 * `test/house/output.test.ts` checks that nothing in src/cli writes past this file.
 */
import { pipeline } from 'node:stream/promises';
import { oneLine, plainJson, plainLines } from '../host/terminal-text.js';

/** Prints lines for people on stdout. */
export const print = (text: string): void => {
  process.stdout.write(`${plainLines(text)}\n`);
};

/** Prints data for programs on stdout, in one line unless it is indented. */
export const printJson = (value: unknown, indent = 2): void => {
  process.stdout.write(`${plainJson(JSON.stringify(value, null, indent))}\n`);
};

/** Prints what was done by a request that returns nothing to show. */
export const tell = ({ json }: { json?: boolean }, done: string): void => (json ? printJson({ done }) : print(done));

/** Prints lines for people on stderr: errors, warnings, progress. */
export const warn = (text: string): void => {
  process.stderr.write(`${plainLines(text)}\n`);
};

/** Prints an error for programs on stderr, in one line. */
export const warnJson = (value: unknown): void => {
  process.stderr.write(`${plainJson(JSON.stringify(value))}\n`);
};

/** Prints a part of a log on stdout: a terminal gets it cleaned, a file or a pipe as it is. */
export const printAsIs = (text: string): void => {
  process.stdout.write(process.stdout.isTTY ? plainLines(text) : text);
};

/** Writes the lines of an export on stdout, JSON, until its reader has closed the pipe. */
export async function printLines(texts: AsyncIterable<string>): Promise<void> {
  const { isTTY } = process.stdout;
  const cleaned = async function* (): AsyncGenerator<string, void> {
    for await (const text of texts) yield isTTY ? plainJson(text) : text;
  };
  try {
    await pipeline(cleaned, process.stdout, { end: false });
  } catch (error) {
    if (!isClosed(error)) throw error;
  }
}

/** Whether nobody reads the output any more: `head` has its lines, or the terminal is closed. */
export const isClosed = (error: unknown): boolean =>
  error instanceof Error && ['EPIPE', 'EIO'].includes(Reflect.get(error, 'code'));

/** A line of progress on stderr, which the next one replaces, if that is a terminal. */
export const progress = {
  get isPossible(): boolean {
    return process.stderr.isTTY;
  },
  show(text: string): void {
    process.stderr.write(`${clearLine}${cut(oneLine(text), process.stderr.columns)}`);
  },
  /** Later output begins a line of its own. */
  clear(): void {
    process.stderr.write(clearLine);
  },
};

const clearLine = '\r\u001b[K';

/** Cuts a line before the last column, where a terminal may wrap. */
const cut = (line: string, columns: number): string =>
  line.length < columns ? line : `${line.slice(0, Math.max(columns - 2, 1))}…`;
