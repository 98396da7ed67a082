/** The end of a task's log, for those who want to know why its process gave up. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { messageOf } from '../errors.js';

const tailBytes = 4_096;
const tailLines = 10;

/** What stands above the output of a run. */
export const runHeader = (allocId: string): string => `--- ${allocId} ${new Date().toISOString()}\n`;

/** The last lines of the last run in a log, or why there are none. */
export function tailOf(path: string): string {
  try {
    const file = openSync(path, 'r');
    try {
      const { size } = fstatSync(file);
      const buffer = Buffer.alloc(Math.min(size, tailBytes));
      readSync(file, buffer, 0, buffer.length, size - buffer.length);
      const lines = buffer.toString('utf8').trimEnd().split('\n');
      const output = lines.slice(lines.findLastIndex((line) => line.startsWith('--- ')) + 1);
      return output.slice(-tailLines).join('\n') || '(it wrote nothing)';
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return `(${messageOf(error)})`;
  }
}
