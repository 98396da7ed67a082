/**
 * A follower that handles each event once, however often its process is killed: what it does with an event, and that it
 * has done it, are one write. Here that is a line of a file; the last whole line is the cursor.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

interface Numbered {
  id: string;
}

type Follow<T> = (from: string) => AsyncIterable<T>;

const retryMs = 50;

/**
 * Goes on after the last event in the file, until the iteration ends. A store that is away it waits for.
 * @throws whatever else the iteration throws: an event may be lost
 */
export async function follow<T extends Numbered>(path: string, events: Follow<T>): Promise<void> {
  removeTornLine(path);
  for (;;) {
    try {
      await append(path, events(heard(path).at(-1)?.id ?? '0'));
      return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'STORE_UNAVAILABLE')) throw error;
      await pause(retryMs);
    }
  }
}

/** All that was handled, in that order. */
export function heard(path: string): Numbered[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line));
}

/** What a kill in the middle of a write has left: that event was not handled. */
function removeTornLine(path: string): void {
  if (existsSync(path)) truncateSync(path, readFileSync(path).lastIndexOf('\n') + 1);
}

async function append(path: string, events: AsyncIterable<Numbered>): Promise<void> {
  const file = openSync(path, 'a');
  try {
    for await (const event of events) {
      writeSync(file, `${JSON.stringify(event)}\n`);
      fsyncSync(file);
    }
  } finally {
    closeSync(file);
  }
}
