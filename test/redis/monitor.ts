/**
 * Commands that a Redis server gets, as MONITOR tells them. On a socket of its own: ioredis breaks off if the first
 * command comes in one piece with the answer to MONITOR.
 */
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

interface SeenCommand {
  /** Address of the connection, or `lua`. */
  source: string;
  args: string[];
}

/** Resolves once the server tells of its commands. @returns a function that ends that */
export function monitor(url: string, seen: (command: SeenCommand) => void): Promise<() => void> {
  const { hostname, port, username, password } = new URL(url);
  const words = [['MONITOR']];
  if (password) words.unshift(['AUTH', decodeURIComponent(username) || 'default', decodeURIComponent(password)]);
  let answers = 0;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port || 6379), hostname, () => socket.write(words.map(inFull).join('')));
    socket.once('error', reject);
    createInterface(socket).on('line', (line) => {
      const [, source, args] = /^\+[\d.]+ \[\d+ ([^\]]+)\] (.*)$/.exec(line) ?? [];
      if (source !== undefined && args !== undefined) seen({ source, args: quotedIn(args) });
      else if (line.startsWith('-')) reject(new Error(`MONITOR: ${line}`));
      else if (++answers === words.length) resolve(() => socket.destroy());
    });
  });
}

const inFull = (words: string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;

const quotedIn = (text: string): string[] =>
  [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, quoted = '']) => quoted);
