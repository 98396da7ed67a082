/** Ends processes of a task, of whichever run, and removes the files of their sockets. */
import { type Dirent, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessIdentity } from '../../machines/task/task-types.js';
import { type Clock, pause } from '../engine/clock.js';
import { isRunOf, pluginsDirectory, type TaskPaths, taskMark } from './paths.js';
import {
  type EndSignal,
  type FoundProcess,
  findProcesses,
  groupOf,
  isAlive,
  signalGroup,
  signalProcess,
} from './processes.js';

interface EndRequest {
  id: string;
  /** Last recorded process: ended with its group even if it has overwritten the mark in its environment. */
  known: ProcessIdentity | null;
  /** Run that stays; absent: none stays. */
  except?: { allocId: string; token: string };
  /** Tokens of runs of which only the last recorded process is ended: what it has started stays. */
  kept?: readonly string[] | undefined;
  /** Called once with what is ended beside the last recorded process, if anything is. */
  others?: (pids: number[]) => void;
  signal: AbortSignal;
}

const graceMs = 10_000;
const killedMs = 5_000;
const lookEveryMs = 25;

/**
 * Sends SIGTERM to each group, SIGKILL to what is left after 10 s, then removes the socket directories. Safe to
 * repeat from any point.
 * @throws reason of the signal once it is aborted; Error if a process survives SIGKILL, as it hangs in the kernel
 */
export async function endProcesses(
  paths: TaskPaths,
  clock: Clock,
  { id, known, except, kept = [], others, signal }: EndRequest,
): Promise<void> {
  // Looked up once, while the leader can be told from a later process: as long as a member lives, no other process gets the number.
  // If the leader is dead, the group does not count: daemons may live in a later group with the same number.
  const group = known ? groupOf(known) : undefined;
  const isKnown = ({ identity }: FoundProcess): boolean => known !== null && isSame(identity, known);
  const isToEnd = (one: FoundProcess): boolean =>
    one.token === undefined || (one.token !== except?.token && (!kept.includes(one.token) || isKnown(one)));
  const find = async (): Promise<FoundProcess[]> => {
    // Members of the group without the mark may be children.
    const found = await findProcesses(taskMark(paths, id), kept.length > 0 ? undefined : group);
    const isMissing =
      kept.length > 0 && known !== null && group !== undefined && isAlive(known) && !found.some(isKnown);
    return [...(isMissing ? [{ identity: known, group }] : []), ...found].filter(isToEnd);
  };
  /**
   * Signals the groups unless the stop was cancelled: another run may have begun, and a number may belong to another
   * process.
   */
  const signalAll = (found: FoundProcess[], name: EndSignal): void => {
    signal.throwIfAborted();
    const alone = found.filter((one) => kept.length > 0 && isKnown(one));
    for (const { identity } of alone) if (isAlive(identity)) signalProcess(identity.pid, name);
    const groups = found.filter((one) => !alone.includes(one)).map(({ identity }) => groupOf(identity));
    for (const group of new Set(groups)) if (group !== undefined) signalGroup(group, name);
  };
  /** Waits for the found processes; once they are gone, searches for processes that they have started meanwhile. */
  const leftOf = async (found: FoundProcess[], withinMs: number): Promise<FoundProcess[]> => {
    const untilMs = clock.monotonicMs() + withinMs;
    let left = found;
    while (left.length > 0 && clock.monotonicMs() < untilMs) {
      await pause(clock, lookEveryMs, signal);
      signal.throwIfAborted();
      left = left.filter(({ identity }) => isAlive(identity));
      if (left.length === 0) left = await find();
    }
    return left;
  };
  const found = await find();
  const beside = found.filter((one) => !isKnown(one)).map(({ identity }) => identity.pid);
  if (beside.length > 0) others?.(beside);
  signalAll(found, 'SIGTERM');
  if ((await leftOf(found, graceMs)).length > 0) {
    const deaf = await find();
    signalAll(deaf, 'SIGKILL');
    const left = await leftOf(deaf, killedMs);
    if (left.length > 0) {
      const pids = left.map(({ identity }) => identity.pid);
      throw new Error(
        `task ${id}: processes ${pids.join(', ')} survive SIGKILL; they may hang in a call to their storage`,
      );
    }
  }
  signal.throwIfAborted();
  removeSockets(paths, id, except?.allocId);
}

const isSame = (one: ProcessIdentity, other: ProcessIdentity): boolean =>
  one.pid === other.pid && one.startTime === other.startTime && one.bootId === other.bootId;

/** The directory has other files in it, or a mount on it. */
const isTheirs = new Set<unknown>(['ENOTEMPTY', 'EBUSY']);

/** Removes only our own files: a driver's files, and its mounts, are never touched. */
function removeSockets(paths: TaskPaths, id: string, keep: string | undefined): void {
  const directories = readdirSync(pluginsDirectory(paths), { withFileTypes: true });
  const isOld = (entry: Dirent): boolean => entry.isDirectory() && isRunOf(id, entry.name) && entry.name !== keep;
  for (const { name } of directories.filter(isOld)) {
    const directory = join(pluginsDirectory(paths), name);
    rmSync(join(directory, 'csi.sock'), { force: true });
    try {
      rmdirSync(directory);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && isTheirs.has(error.code))) throw error;
    }
  }
}
