/** What is sent to Redis: one command, or one script by its hash. Which scripts there are: redis-scripts.ts */

import { createHash } from 'node:crypto';

export interface Script {
  lua: string;
  sha: string;
}

/** One command for the server that has this bucket. */
export interface Call {
  bucket: number;
  command: string;
  args: (string | Buffer)[];
  /** What EVALSHA names, for a server that forgot it. */
  script?: Script;
}

const known: Script[] = [];

/** Every script of the store: each server is told them before it is asked for anything. */
export const allScripts: readonly Script[] = known;

export function script(lua: string): Script {
  const made = { lua, sha: createHash('sha1').update(lua).digest('hex') };
  known.push(made);
  return made;
}

export function call(script: Script, bucket: number, keys: string[], args: (string | Buffer)[]): Call {
  return { bucket, command: 'evalsha', args: [script.sha, String(keys.length), ...keys, ...args], script };
}

export function command(bucket: number, name: string, ...args: (string | Buffer)[]): Call {
  return { bucket, command: name, args };
}

/** The same call with the script itself. */
export function inFull({ bucket, args, script }: Call): Call {
  return { bucket, command: 'eval', args: [script?.lua ?? '', ...args.slice(1)] };
}
