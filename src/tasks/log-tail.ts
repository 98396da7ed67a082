/** The end of a task's log, for those who want to know why its process gave up. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { messageOf } from '../errors.js';

const tailBytes = 4_096;
const tailLines = 10;

/** The last lines of a log, or why there are none. */
export function tailOf(path: string): string {
  try {
    const file = openSync(path, 'r');
    try {
      const { size } = fstatSync(file);
      const buffer = Buffer.alloc(Math.min(size, tailBytes));
      readSync(file, buffer, 0, buffer.length, size - buffer.length);
      return buffer.toString('utf8').trimEnd().split('\n').slice(-tailLines).join('\n');
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return `(${messageOf(error)})`;
  }
}
