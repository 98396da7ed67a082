/**
 * lmdb-js prints the error of each transaction that fails, with its stack: 80 lines of a full disk in seconds. The store hands
 * the same error on, and the engine logs it in a few lines.
 */

/** Console of this process, as far as libraries use it for errors. */
type Console = Pick<typeof console, 'error'>;

/** Drops what lmdb-js prints. For a process that is the agent's own: the console belongs to the whole process. */
export function quietLmdb(of: Console = console): void {
  const print = of.error.bind(of);
  of.error = (...said: unknown[]): void => {
    if (!said.some(isOfLmdb)) print(...said);
  };
}

/** An error with the number of an error of LMDB or the system, thrown in a file of lmdb-js. */
const isOfLmdb = (said: unknown): boolean =>
  said instanceof Error &&
  'code' in said &&
  typeof said.code === 'number' &&
  /\n.*\/node_modules\/lmdb\/[\w/]+\.(js|cjs):/.test(said.stack ?? '');
