/**
 * Processes as /proc shows them: found by what is in their environment, told from later ones with the same pid by
 * boot id and start time. Linux only.
 * A look at one process is short and can't block. A search reads the environments of all, which can: it is
 * asynchronous, and one for all who search at a time.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import type { ProcessIdentity } from '../../machines/task/task-types.js';
import { oneAtATime } from '../engine/one-at-a-time.js';
import { bootId } from '../host/boot-id.js';

/** Marks every process of a task, whichever run it belongs to. */
export const taskVariable = 'STAGECRAFT_TASK';
/** Tells directories apart that have the same path, e.g. in two containers whose processes we see. */
export const directoryVariable = 'STAGECRAFT_DATA_DIR_ID';
/** Marks the processes of one run. */
export const tokenVariable = 'STAGECRAFT_TOKEN';

/** Between looks whether a process that does not let itself be read hangs in the kernel. */
const hangsMs = 1_000;

export interface FoundProcess {
  identity: ProcessIdentity;
  /** The process group: what a stop signals. */
  group: number;
  /** Absent where its environment can't be read, or was overwritten. */
  token?: string;
}

interface Stat {
  state: string;
  group: number;
  session: number;
  startTime: number;
}

/** Fields of a stat file after the command, which may hold spaces and parentheses itself. */
function readStat(path: string): Stat | undefined {
  try {
    const stat = readFileSync(`/proc/${path}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [group, session, startTime] = [Number(fields[2]), Number(fields[3]), Number(fields[19])];
    return { state: fields[0] ?? 'X', group, session, startTime };
  } catch {
    return undefined; // it is gone
  }
}

/**
 * A process lives on in its other threads when its first one is dead, e.g. in one that hangs in the kernel after SIGKILL.
 * @returns a thread that lives
 */
function livingThread(pid: number): number | undefined {
  const isAlive = ([, state]: [number, string]): boolean => !isDead(state);
  return threadsOf(pid).find(isAlive)?.[0];
}

/** Each with its state. */
function threadsOf(pid: number): [thread: number, state: string][] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((entry) => [
      Number(entry),
      readStat(`${pid}/task/${entry}`)?.state ?? 'X',
    ]);
  } catch {
    return []; // it is gone
  }
}

const isDead = (state: string): boolean => state === 'Z' || state === 'X';

interface Living {
  identity: ProcessIdentity;
  group: number;
  session: number;
  thread: number;
}

function readLiving(pid: number): Living | undefined {
  const stat = readStat(`${pid}`);
  if (!stat) return undefined;
  const thread = isDead(stat.state) ? livingThread(pid) : pid;
  if (thread === undefined) return undefined;
  const { group, session, startTime } = stat;
  return { identity: { pid, bootId: bootId(), startTime }, group, session, thread };
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

export interface TaskMark {
  task: string;
  /** Of the data directory: its device and inode. */
  directory: string;
}

interface Marked extends FoundProcess, Partial<TaskMark> {
  session: number;
}

/**
 * All living processes that bear the mark of a task, or are in a group that is known to be its own; leaders first.
 * By the time they are told, some may be gone.
 */
export async function findProcesses(mark: TaskMark, group?: number): Promise<FoundProcess[]> {
  return (await readProcesses())
    .filter((found) => isMarked(found, mark) || found.group === group)
    .sort((a, b) => Number(b.group === b.identity.pid) - Number(a.group === a.identity.pid));
}

/** A process that began a session of its own, by which all is found that it has started. */
export interface SessionLeader {
  process: ProcessIdentity;
  /** In the environment of all that it has started, unless that overwrites it. */
  token: string;
}

/**
 * Whether no process of a run lives any more: not its leader, and nothing in the group or the session of that, or with its
 * token. Two searches have to agree: a process that is started during one may be missed by it.
 */
export async function hasRunEnded(run: SessionLeader): Promise<boolean> {
  const { process } = run;
  if (process.bootId !== bootId()) return true;
  return !isAlive(process) && !(await isLeft(run)) && !(await isLeft(run));
}

async function isLeft({ process: { pid }, token }: SessionLeader): Promise<boolean> {
  const processes = await readProcesses();
  // A number is given to another process only once nothing is left in its group and session.
  const isOthers = processes.some(({ identity }) => identity.pid === pid);
  return processes.some(
    (found) => found.token === token || (!isOthers && (found.group === pid || found.session === pid)),
  );
}

/** All living processes in the session of this one; absent where it leads none. */
export function sessionOf({ pid }: ProcessIdentity): number[] | undefined {
  if (readStat(`${pid}`)?.session !== pid) return undefined;
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((one) => readLiving(one)?.session === pid);
}

/** Processes of older versions don't tell the directory. */
const isMarked = ({ task, directory }: Marked, mark: TaskMark): boolean =>
  task === mark.task && (directory === undefined || directory === mark.directory);

const readProcesses = oneAtATime(async () => {
  const processes: Marked[] = [];
  for (const entry of await readdir('/proc')) {
    const pid = Number(entry);
    const living = Number.isInteger(pid) ? readLiving(pid) : undefined;
    if (!living) continue;
    const { identity, group, session, thread } = living;
    // One after the other: node has few threads for files.
    const environment = (await readEnvironment(pid, thread)).split('\0');
    processes.push({ identity, group, session, ...marksIn(environment) });
  }
  return processes;
});

function marksIn(environment: string[]): Pick<Marked, 'task' | 'directory' | 'token'> {
  const textOf = (key: string, name: string): Record<string, string> => {
    const found = environment.find((variable) => variable.startsWith(`${name}=`));
    return found === undefined ? {} : { [key]: found.slice(name.length + 1) };
  };
  return {
    ...textOf('task', taskVariable),
    ...textOf('directory', directoryVariable),
    ...textOf('token', tokenVariable),
  };
}

/** The processes whose reading has not ended. */
const begun = new Set<number>();

/**
 * Empty where it is gone, or somebody else's; and where it hangs in the kernel, e.g. in a call to its storage, and keeps
 * its readers waiting. Each such takes one of our threads until it ends, however often we search.
 */
function readEnvironment(pid: number, thread: number): Promise<string> {
  if (begun.has(pid)) return Promise.resolve('');
  begun.add(pid);
  return new Promise((resolve) => {
    const look = setInterval(() => {
      if (threadsOf(pid).some(([, state]) => state === 'D')) end('');
    }, hangsMs);
    const end = (environment: string): void => {
      clearInterval(look);
      resolve(environment);
    };
    void readFile(`/proc/${pid}/task/${thread}/environ`, 'utf8')
      .catch(() => '')
      .then((environment) => {
        begun.delete(pid);
        end(environment);
      });
  });
}

/** Signals that end processes of tasks. */
export type EndSignal = 'SIGTERM' | 'SIGKILL';

/**
 * Signals the whole group; one that is gone is no fault.
 * @throws Error for what `kill` would take for our own group, or for every process
 */
export function signalGroup(group: number, signal: EndSignal): void {
  if (!(group > 1)) throw new Error(`${group} is not the process group of a task`);
  try {
    process.kill(-group, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
