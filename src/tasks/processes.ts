/**
 * Processes as /proc shows them: found by what is in their environment, told from later ones with the same pid by
 * boot id and start time. Linux only.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { ProcessIdentity } from '../../machines/task.js';

/** Marks every process of a task, whichever run it belongs to. */
export const taskVariable = 'STAGECRAFT_TASK';
/** Marks the processes of one run. */
export const tokenVariable = 'STAGECRAFT_TOKEN';

export interface FoundProcess {
  identity: ProcessIdentity;
  /** The process group: what a stop signals. */
  group: number;
  token: string;
}

let bootId: string | undefined;

const bootIdOf = (): string => {
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return bootId;
};

/** Fields of /proc/<pid>/stat after the command, which may hold spaces and parentheses itself. */
function readStat(pid: number): { state: string; group: number; startTime: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? 'X', group: Number(fields[2]), startTime: Number(fields[19]) };
  } catch {
    return undefined; // it is gone
  }
}

const isDead = (state: string): boolean => state === 'Z' || state === 'X';

/** Absent where no living process has this pid. */
export function identify(pid: number): ProcessIdentity | undefined {
  const stat = readStat(pid);
  return stat && !isDead(stat.state) ? { pid, bootId: bootIdOf(), startTime: stat.startTime } : undefined;
}

/** Whether this very process lives; another one that has its pid by now does not count. */
export function isAlive(identity: ProcessIdentity): boolean {
  const present = identify(identity.pid);
  return present !== undefined && present.startTime === identity.startTime && present.bootId === identity.bootId;
}

/** All living processes of a task, group leaders first. */
export function findProcesses(task: string): FoundProcess[] {
  const mark = `${taskVariable}=${task}`;
  const found: FoundProcess[] = [];
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    const variables = Number.isInteger(pid) ? readEnvironment(pid) : [];
    if (!variables.includes(mark)) continue;
    const stat = readStat(pid);
    const identity = identify(pid);
    const token = variables
      .find((variable) => variable.startsWith(`${tokenVariable}=`))
      ?.slice(tokenVariable.length + 1);
    if (stat && identity && token !== undefined) found.push({ identity, group: stat.group, token });
  }
  return found.sort((a, b) => Number(b.group === b.identity.pid) - Number(a.group === a.identity.pid));
}

/** Empty where it is gone, or somebody else's. */
function readEnvironment(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
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
