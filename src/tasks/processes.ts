/**
 * Processes in /proc: found by their environment, told from later ones with the same pid by boot id and start time.
 * Linux only. A look at one process is short and does not block. A search reads all environments, which may block: it
 * is asynchronous, and shared by all who search at a time.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import type { ProcessIdentity } from '../../machines/task/task-types.js';
import { oneAtATime } from '../engine/one-at-a-time.js';
import { bootId } from '../host/boot-id.js';

/** Marks every process of a task, whichever run it belongs to. */
export const taskVariable = 'STAGECRAFT_TASK';
/** Tells apart directories with the same path, e.g. in two containers whose processes are visible here. */
export const directoryVariable = 'STAGECRAFT_DATA_DIR_ID';
/** Marks the processes of one run. */
export const tokenVariable = 'STAGECRAFT_TOKEN';

/** Pause between looks whether an unreadable process hangs in the kernel. */
const hangsMs = 1_000;

export interface FoundProcess {
  identity: ProcessIdentity;
  /** Process group: a stop signals it. */
  group: number;
  /** Absent if the environment can't be read, or was overwritten. */
  token?: string;
}

interface Stat {
  state: string;
  group: number;
  session: number;
  startTime: number;
}

/** Fields of a stat file after the command, which may hold spaces and parentheses. */
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
 * Finds a living thread: a process lives on in other threads after its first one has died, e.g. one that hangs in the
 * kernel after SIGKILL.
 * @returns thread id
 */
function livingThread(pid: number): number | undefined {
  const isAlive = ([, state]: [number, string]): boolean => !isDead(state);
  return threadsOf(pid).find(isAlive)?.[0];
}

/** Threads with their states. */
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

/** Undefined if no living process has this pid. */
export const identify = (pid: number): ProcessIdentity | undefined => readLiving(pid)?.identity;

/** Whether this very process lives, not another one with its pid. */
export function isAlive(identity: ProcessIdentity): boolean {
  const present = identify(identity.pid);
  return present !== undefined && present.startTime === identity.startTime && present.bootId === identity.bootId;
}

/** Process group of this very process; undefined if it does not live. */
export const groupOf = (identity: ProcessIdentity): number | undefined =>
  isAlive(identity) ? readLiving(identity.pid)?.group : undefined;

export interface TaskMark {
  task: string;
  /** Device and inode of the data directory. */
  directory: string;
}

interface Marked extends FoundProcess, Partial<TaskMark> {
  session: number;
}

/**
 * All living processes with the mark of a task, or in its known group; leaders first. Some may be gone by the time of
 * the answer.
 */
export async function findProcesses(mark: TaskMark, group?: number): Promise<FoundProcess[]> {
  return (await readProcesses())
    .filter((found) => isMarked(found, mark) || found.group === group)
    .sort((a, b) => Number(b.group === b.identity.pid) - Number(a.group === a.identity.pid));
}

/** Picks the tokens that a living process of the task has. */
export async function livingRuns(mark: TaskMark, tokens: readonly string[]): Promise<string[]> {
  const living = new Set((await findProcesses(mark)).map(({ token }) => token));
  return tokens.filter((token) => living.has(token));
}

/** Names of the programs that these processes run, for messages. */
export const programNames = (pids: readonly number[]): string[] =>
  pids.map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
    } catch {
      return 'gone by now';
    }
  });

/** A process that leads a session: all that it starts is found by the session. */
export interface SessionLeader {
  process: ProcessIdentity;
  /** Set in the environment of all that it starts, unless that overwrites it. */
  token: string;
}

/**
 * Whether no process of a run lives: not its leader, nothing in its group or session, nothing with its token. Two
 * searches have to agree: one may miss a process that is started meanwhile.
 */
export async function hasRunEnded(run: SessionLeader): Promise<boolean> {
  const { process } = run;
  if (process.bootId !== bootId()) return true;
  return !isAlive(process) && !(await isLeft(run)) && !(await isLeft(run));
}

async function isLeft({ process: { pid }, token }: SessionLeader): Promise<boolean> {
  const processes = await readProcesses();
  // A number is reused only once nothing is left in its group and session.
  const isOthers = processes.some(({ identity }) => identity.pid === pid);
  return processes.some(
    (found) => found.token === token || (!isOthers && (found.group === pid || found.session === pid)),
  );
}

/** All living processes in the session of this one; undefined if it leads none. */
export function sessionOf({ pid }: ProcessIdentity): number[] | undefined {
  if (readStat(`${pid}`)?.session !== pid) return undefined;
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((one) => readLiving(one)?.session === pid);
}

/** Whether it has the mark. Processes of older versions have no directory in it. */
const isMarked = ({ task, directory }: Marked, mark: TaskMark): boolean =>
  task === mark.task && (directory === undefined || directory === mark.directory);

const readProcesses = oneAtATime(async () => {
  const processes: Marked[] = [];
  for (const entry of await readdir('/proc')) {
    const pid = Number(entry);
    const living = Number.isInteger(pid) ? readLiving(pid) : undefined;
    if (!living) continue;
    const { identity, group, session, thread } = living;
    // One after the other: Node has few threads for files.
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

/** Processes whose environments are being read. */
const begun = new Set<number>();

/**
 * Empty if the process is gone or another user's, or hangs in the kernel, e.g. in a call to its storage, and so
 * blocks readers. Each such process takes one thread until it ends, however often it is searched for.
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
 * Signals the whole group; a group that is gone is no error.
 * @throws Error for numbers that `kill` would take as our own group, or as every process
 */
export function signalGroup(group: number, signal: EndSignal): void {
  if (!(group > 1)) throw new Error(`${group} is not the process group of a task`);
  send(-group, signal);
}

/** Signals one process; a process that is gone is no error. */
export function signalProcess(pid: number, signal: EndSignal): void {
  if (!(pid > 1)) throw new Error(`${pid} is not the process of a task`);
  send(pid, signal);
}

function send(to: number, signal: EndSignal): void {
  try {
    process.kill(to, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
