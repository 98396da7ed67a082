/**
 * Processes as /proc shows them: found by what is in their environment, told from later ones with the same pid by
 * boot id and start time. Linux only.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessIdentity } from '../../machines/task-types.js';

/** Marks every process of a task, whichever run it belongs to. */
export const taskVariable = 'STAGECRAFT_TASK';
/** Marks the processes of one run. */
export const tokenVariable = 'STAGECRAFT_TOKEN';

export interface FoundProcess {
  identity: ProcessIdentity;
  /** The process group: what a stop signals. */
  group: number;
  /** Absent where its environment can't be read, or was overwritten. */
  token?: string;
}

let bootId: string | undefined;

const bootIdOf = (): string => {
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return bootId;
};

/** Fields of a stat file after the command, which may hold spaces and parentheses itself. */
function readStat(path: string): { isDead: boolean; group: number; startTime: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${path}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isDead = ['Z', 'X'].includes(fields[0] ?? 'X');
    return { isDead, group: Number(fields[2]), startTime: Number(fields[19]) };
  } catch {
    return undefined; // it is gone
  }
}

/**
 * A process lives on in its other threads when its first one is dead, e.g. in one that hangs in the kernel after SIGKILL.
 * @returns a thread that lives
 */
function livingThread(pid: number): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map(Number)
      .find((thread) => readStat(`${pid}/task/${thread}`)?.isDead === false);
  } catch {
    return undefined; // it is gone
  }
}

interface Living {
  identity: ProcessIdentity;
  group: number;
  thread: number;
}

function readLiving(pid: number): Living | undefined {
  const stat = readStat(`${pid}`);
  if (!stat) return undefined;
  const thread = stat.isDead ? livingThread(pid) : pid;
  if (thread === undefined) return undefined;
  return { identity: { pid, bootId: bootIdOf(), startTime: stat.startTime }, group: stat.group, thread };
}

/** Absent where no living process has this pid. */
export const identify = (pid: number): ProcessIdentity | undefined => readLiving(pid)?.identity;

/** Whether this very process lives; another one that has its pid by now does not count. */
export function isAlive(identity: ProcessIdentity): boolean {
  const present = identify(identity.pid);
  return present !== undefined && present.startTime === identity.startTime && present.bootId === identity.bootId;
}

/** The process group of this very process; absent where it does not live. */
export const groupOf = (identity: ProcessIdentity): number | undefined =>
  isAlive(identity) ? readLiving(identity.pid)?.group : undefined;

/** All living processes that bear the mark of a task, or are in a group that is known to be its own; leaders first. */
export function findProcesses(task: string, group?: number): FoundProcess[] {
  const mark = `${taskVariable}=${task}`;
  const found: FoundProcess[] = [];
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    const living = Number.isInteger(pid) ? readLiving(pid) : undefined;
    if (!living) continue;
    const variables = readEnvironment(living);
    if (!variables.includes(mark) && living.group !== group) continue;
    const token = variables
      .find((variable) => variable.startsWith(`${tokenVariable}=`))
      ?.slice(tokenVariable.length + 1);
    found.push({ identity: living.identity, group: living.group, ...(token === undefined ? {} : { token }) });
  }
  return found.sort((a, b) => Number(b.group === b.identity.pid) - Number(a.group === a.identity.pid));
}

/** Empty where it is gone, or somebody else's. A thread that is dead has none. */
function readEnvironment({ identity, thread }: Living): string[] {
  try {
    return readFileSync(`/proc/${identity.pid}/task/${thread}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** Signals the whole group; one that is gone is no fault. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
