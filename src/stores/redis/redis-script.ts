/** Calls to Redis: one command, or one script by its hash. The scripts: redis-scripts.ts */

import { createHash } from 'node:crypto';

export interface Script {
  lua: string;
  sha: string;
}

/** One command for the server that has this bucket. */
export interface RedisCall {
  bucket: number;
  command: string;
  args: (string | Buffer)[];
  /** Script that EVALSHA names, to be sent in full if the server has forgotten it. */
  script?: Script;
}

const known: Script[] = [];

/** Every script of the store: loaded into each server before its first call. */
export const allScripts: readonly Script[] = known;

export function script(lua: string): Script {
  const made = { lua, sha: createHash('sha1').update(lua).digest('hex') };
  known.push(made);
  return made;
}

export function call(script: Script, bucket: number, keys: string[], args: (string | Buffer)[]): RedisCall {
  return { bucket, command: 'evalsha', args: [script.sha, String(keys.length), ...keys, ...args], script };
}

export function command(bucket: number, name: string, ...args: (string | Buffer)[]): RedisCall {
  return { bucket, command: name, args };
}

/** Returns the same call with the whole script instead of its hash. */
export function inFull({ bucket, args, script }: RedisCall): RedisCall {
  return { bucket, command: 'eval', args: [script?.lua ?? '', ...args.slice(1)] };
}
