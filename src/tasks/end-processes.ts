/** Ends processes of a task, whichever run they belong to, and removes what their sockets left. */
import { type Dirent, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessIdentity } from '../../machines/task/task-types.js';
import { type Clock, pause } from '../engine/clock.js';
import { isRunOf, pluginsDirectory, type TaskPaths, taskMark } from './paths.js';
import { type EndSignal, type FoundProcess, findProcesses, groupOf, isAlive, signalGroup } from './processes.js';

export interface EndRequest {
  id: string;
  /** The last one that was recorded: ended with its group also where it has overwritten the environment with our mark. */
  known: ProcessIdentity | null;
  /** The run that stays; absent: none does. */
  except?: { allocId: string; token: string };
  signal: AbortSignal;
}

const graceMs = 10_000;
const killedMs = 5_000;
const lookEveryMs = 25;

/**
 * SIGTERM to each group, SIGKILL to what is left after 10 s; then their socket directories.
 * Safe to repeat, from any point on.
 * @throws the signal's reason once it is aborted; Error if a process survives SIGKILL (it hangs in the kernel)
 */
export async function endProcesses(
  paths: TaskPaths,
  clock: Clock,
  { id, known, except, signal }: EndRequest,
): Promise<void> {
  // Asked for once, while its leader can be told from another: as long as a member lives, the number is given to nobody.
  // With its leader dead it counts for nothing: daemons live on in the groups of dead leaders that had the number since.
  const group = known ? groupOf(known) : undefined;
  const find = async (): Promise<FoundProcess[]> =>
    (await findProcesses(taskMark(paths, id), group)).filter(({ token }) => !except || token !== except.token);
  /** Whoever cancels this may have begun another run: it is not ours to signal. Nor is what has a number by now that was ours. */
  const signalAll = (found: FoundProcess[], name: EndSignal): void => {
    signal.throwIfAborted();
    for (const group of new Set(found.map(({ identity }) => groupOf(identity)))) {
      if (group !== undefined) signalGroup(group, name);
    }
  };
  /** Those that were found are looked at; what they have started meanwhile is searched for once they are gone. */
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

/** Somebody's files are in a directory, or something is mounted on it. */
const isTheirs = new Set<unknown>(['ENOTEMPTY', 'EBUSY']);

/** Only what we know to be there: a driver's own files, or something that it mounted, are never touched. */
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
