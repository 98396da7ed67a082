/**
 * Takes back what resources.ts has recorded, and unmounts whatever is left in the run's own directories. Touches
 * nothing outside of them and removes nothing recursively.
 */
import { lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../errors.js';
import { callLine } from './ask.js';
import type { DriverCalls } from './calls.js';
import type { Capabilities } from './capabilities.js';
import { mountsAt, readMounts, unmount } from './host.js';
import { type Inventory, type Listed, ListedThings, readInventory } from './inventory.js';
import type { RunDirectory } from './options.js';
import type { Made } from './resources.js';

/**
 * Takes back by the driver's own calls, the newest object first. Repeats that as long as it removes something: one
 * object may hold another.
 * @param stubborn keys to leave alone; keys that could not be taken back are added
 * @returns the other objects that are left, each with the reason
 */
export async function takeBack(calls: DriverCalls, stubborn: Set<string>): Promise<string[]> {
  const due = (): Made[] => calls.ledger.entries().filter(({ key }) => !stubborn.has(key));
  let left = new Map<string, string>();
  for (let before = -1; due().length !== before; ) {
    before = due().length;
    left = new Map();
    for (const made of due()) {
      const why = await takeBackOne(calls, made);
      if (why !== undefined) left.set(made.key, `${made.what}: ${why}`);
    }
  }
  for (const key of left.keys()) stubborn.add(key);
  return [...left.values()];
}

export interface TakenBack {
  removed: string[];
  /** Objects of the run, each with the reason. */
  left: string[];
  /** Objects that may belong to somebody else. */
  others: Listed[];
}

/**
 * Takes back objects that the driver lists and the run has not recorded: created by a call that answered otherwise,
 * or still there after the driver said that it had removed them.
 * @param before objects listed before the run, which are left alone
 */
export async function takeBackListed(
  calls: DriverCalls,
  offers: Capabilities,
  { prefix, before }: { prefix: string; before?: Inventory | undefined },
): Promise<TakenBack> {
  const things = new ListedThings(calls, await readInventory(calls, offers), prefix);
  const others = things.ofOthers(before);
  const found = things.ofRun().filter(({ key }) => !calls.ledger.has(key));
  if (found.length === 0) return { removed: [], left: [], others };
  for (const made of found) calls.ledger.adopt(made);
  things.beginGroups();
  things.beginPublications();
  await takeBack(calls, new Set());
  const now = new ListedThings(calls, await readInventory(calls, offers), prefix);
  const gone = ({ key }: Made): boolean => !calls.ledger.has(key) && !now.has(key);
  const listed = found.filter(({ key }) => !calls.ledger.has(key) && now.has(key));
  return {
    removed: found.filter(gone).map(({ what }) => what),
    left: listed.map(({ what, undoneBy }) => `${what}: it is still listed after an OK to ${undoneBy}`),
    others,
  };
}

/** @returns the reason why the object is still there */
async function takeBackOne(calls: DriverCalls, { key, undoneBy, isCertain, undo }: Made): Promise<string | undefined> {
  if (calls.hung.has(undoneBy)) return `${undoneBy} gave no answer in time before, and was not called again`;
  let answer = 'unknown';
  try {
    await undo(async (rpc, request, options) => {
      const given = await calls.ask(rpc, request, options);
      answer = given.answerClass;
      return given;
    });
  } catch (error) {
    calls.throwIfCancelled();
    return messageOf(error);
  }
  if (!calls.ledger.has(key)) return undefined;
  // Refused twice: no further call can show more.
  if (!isCertain && answer !== 'unknown' && answer !== 'busy') calls.ledger.drop(key);
  return calls.ledger.has(key) ? (calls.last ? callLine(calls.last) : 'no call was made') : undefined;
}

/** Outcome of clearing a directory of the run. */
export interface Cleared {
  /** Paths that the driver had left mounted, and that are unmounted now. */
  unmounted: string[];
  /** Things that are left, each with the reason. */
  left: string[];
}

/** Unmounts what the driver left in a directory of the run, then removes empty entries and the directory. */
export async function clearDirectory({ root, paths }: RunDirectory, timeoutMs: number): Promise<Cleared> {
  const cleared: Cleared = { unmounted: [], left: [] };
  const { left } = cleared;
  const attempt = async (what: string, work: () => Promise<string | undefined>): Promise<void> => {
    const why = await whyNot(work);
    if (why !== undefined) left.push(`${what}: ${why}`);
  };
  for (const path of await mountedIn(root)) {
    await attempt(`the mount at ${path}`, async () => {
      const why = await takenOff(path, timeoutMs);
      if (why === undefined) cleared.unmounted.push(path);
      return why;
    });
  }
  if (left.length > 0) return cleared;
  for (const path of await pathsIn(paths)) await attempt(path, () => removeEmpty(path));
  for (const { path } of await mountsAt(root)) await attempt(path, () => takenOff(path, timeoutMs));
  for (const path of left.length === 0 ? [paths, root] : []) await attempt(path, () => removeEmpty(path));
  return cleared;
}

/** @returns the obstacle; undefined also if the object was gone already */
async function whyNot(work: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await work();
  } catch (error) {
    return isAbsence(error) ? undefined : messageOf(error);
  }
}

const isAbsence = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Lists mounts in a directory, the newest first. */
const mountedIn = async (directory: string): Promise<string[]> =>
  (await readMounts())
    .map(({ path }) => path)
    .filter((path) => path.startsWith(`${directory}/`))
    .reverse();

async function takenOff(path: string, timeoutMs: number): Promise<string | undefined> {
  const { status, stderr } = await unmount(path, timeoutMs);
  return status === 0 ? undefined : stderr.trim();
}

/** Lists no paths if the directory cannot be read: its removal then fails with the reason. */
export async function pathsIn(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).map((name) => join(directory, name));
  } catch {
    return [];
  }
}

async function removeEmpty(path: string): Promise<string | undefined> {
  const found = await lstat(path);
  if (found.isDirectory()) await rmdir(path);
  else if (found.size === 0) await unlink(path);
  else return 'it is not empty, look what it is';
  return undefined;
}
