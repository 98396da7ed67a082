/** Tables and lists of facts for people; programs use --json. */
import { firstLine, oneLine } from '../host/terminal-text.js';

/**
 * Formats columns as wide as their widest cell, two spaces apart.
 * @param maxChars longest line; longer lines are cut in the last column, which has the reasons
 */
export function table(header: string[], rows: string[][], maxChars = Number.POSITIVE_INFINITY): string {
  const lines = [header, ...rows];
  const widths = widthsOf(lines);
  return lines.map((line) => cutTo(maxChars, tableLine(line, widths), widths)).join('\n');
}

/** Least width of the last column when lines are cut. */
const minLastChars = 10;

function cutTo(maxChars: number, line: string, widths: number[]): string {
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const chars = Math.max(maxChars, before + minLastChars);
  return line.length > chars ? `${line.slice(0, chars - 1)}…` : line;
}

/** Width for lines of a list: that of the terminal; undefined, without limit, for `--wide` and outside a terminal. */
export const lineChars = ({ wide }: { wide?: boolean }): number | undefined =>
  wide ? undefined : process.stdout.columns;

/** Width of each column's widest cell. */
export const widthsOf = ([header = [], ...rows]: string[][]): number[] =>
  header.map((_, column) => Math.max(...[header, ...rows].map((line) => firstLine(line[column] ?? '').length)));

/** Formats one line of a table whose later lines are not known yet. */
export const tableLine = (cells: string[], widths: number[]): string =>
  cells
    .map((cell, column) => firstLine(cell).padEnd(widths[column] ?? 0))
    .join('  ')
    .trimEnd();

/** Formats one fact per line, with the names in a column. */
export function factsTable(facts: [name: string, value: string][]): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(value)}`).join('\n');
}

/** Segments of a topology as `key=value`. */
export const segmentsOf = (topology: Record<string, string> | undefined): string =>
  Object.entries(topology ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(', ') || '-';
