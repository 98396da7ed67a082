/** Starts the process of a run, or finds it if an earlier runtime has started it already; then waits for its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, mkdirSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exitText } from '../../machines/task/task-context.js';
import type { OwnRun, ProcessEnd, ProcessIdentity, TaskRun, TaskSpec } from '../../machines/task/task-types.js';
import { untilAborted } from '../abort.js';
import { type Clock, pause } from '../engine/clock.js';
import { messageOf } from '../errors.js';
import { namedEndpoint, type TaskEnvironments } from './environments.js';
import { openPlain, runHeader, tailOf } from './log-tail.js';
import { logPathOf, runSocketPath, type TaskPaths, taskDirOf, taskMark } from './paths.js';
import { directoryVariable, findProcesses, identify, isAlive, taskVariable, tokenVariable } from './processes.js';
import type { TaskLogs } from './task-logs.js';

/** Variables that a process inherits: what programs need to run, nothing else. */
const inherited = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

/** Command of this installation, with its first arguments. */
function ownCommand(): string[] {
  const source = import.meta.url.endsWith('.ts');
  return [
    process.execPath,
    ...(source ? process.execArgv : []),
    fileURLToPath(new URL(`../cli/main.${source ? 'ts' : 'js'}`, import.meta.url)),
  ];
}

const scheme = 'unix://';

/** Path of the plugin's socket on this host: in a directory of its own, unless the user has named it. */
const hostSocketOf = (paths: TaskPaths, { spec, run }: SpawnRequest): string =>
  namedEndpoint(spec)?.slice(scheme.length) ?? runSocketPath(paths, run.allocId);

/** Variables that tell a process its paths; `${NAME}` stands for them in its arguments. */
function placeOf(paths: TaskPaths, request: SpawnRequest): Record<string, string> {
  const socketPath = hostSocketOf(paths, request);
  const { id, mountDir } = request.spec;
  const seenAs = mountDir === undefined ? socketPath : join(mountDir, basename(socketPath));
  return {
    CSI_ENDPOINT: `${scheme}${seenAs}`,
    STAGECRAFT_SOCKET_DIR: dirname(socketPath),
    STAGECRAFT_TASK_DIR: taskDirOf(paths, id),
  };
}

const filledIn = (argument: string, place: Record<string, string>): string =>
  argument.replace(/\$\{(\w+)\}/g, (text, name: string) => (Object.hasOwn(place, name) ? (place[name] ?? text) : text));

/**
 * Child processes of this runtime, which report how they ended. One for each task id: that of the last run, until it
 * has ended.
 */
export type Children = Map<string, { token: string; ended: Promise<ProcessEnd> }>;

interface SpawnRequest {
  spec: TaskSpec;
  run: TaskRun;
}

interface SpawnPorts {
  paths: TaskPaths;
  children: Children;
  environments: Pick<TaskEnvironments, 'valuesOf'>;
}

/**
 * @throws Error naming the program if it can't be started, or the variables whose values can't be had; reason of the signal if it
 *   is aborted before
 */
export async function spawnRun(
  { paths, children, environments }: SpawnPorts,
  { spec, run, signal }: SpawnRequest & { signal: AbortSignal },
): Promise<OwnRun> {
  const running = (await findProcesses(taskMark(paths, spec.id))).find(({ token }) => token === run.token);
  const env = running ? undefined : await environments.valuesOf(spec, signal);
  signal.throwIfAborted(); // after the state was left, processes are being searched for already
  const identity = running?.identity ?? (await start(paths, children, { spec, run, env: env ?? {} }));
  return { ...run, process: identity, socketPath: hostSocketOf(paths, { spec, run }) };
}

async function start(
  paths: TaskPaths,
  children: Children,
  { spec, run, env }: SpawnRequest & { env: Record<string, string> },
): Promise<ProcessIdentity> {
  const place = placeOf(paths, { spec, run });
  mkdirSync(dirname(hostSocketOf(paths, { spec, run })), { recursive: true, mode: 0o700 });
  mkdirSync(taskDirOf(paths, spec.id), { recursive: true, mode: 0o700 });
  const { command = [] } = spec;
  const [program = '', ...args] = command[0] === 'stagecraft' ? [...ownCommand(), ...command.slice(1)] : command;
  const { task, directory } = taskMark(paths, spec.id);
  const logPath = logPathOf(paths, spec.id);
  mkdirSync(dirname(logPath), { recursive: true, mode: 0o700 });
  // The process writes the file itself: a pipe to this runtime would end with it.
  const log = openPlain(logPath, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600);
  try {
    writeSync(log, runHeader(logPath, run.allocId));
    const child = spawn(
      program,
      args.map((argument) => filledIn(argument, place)),
      {
        detached: true,
        stdio: ['ignore', log, log],
        env: {
          ...Object.fromEntries(inherited.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
          ...place,
          ...env,
          [taskVariable]: task,
          [directoryVariable]: directory,
          [tokenVariable]: run.token,
        },
      },
    );
    const ended = endOf(child);
    await started(child, program, env);
    child.unref(); // the process may outlive this one
    children.set(spec.id, { token: run.token, ended });
    const identity = child.pid === undefined ? undefined : identify(child.pid);
    if (identity) return identity;
    throw new Error(exitText({ ...(await ended), tail: tailOf(logPath, env) }));
  } finally {
    closeSync(log);
  }
}

const started = (child: ChildProcess, program: string, env: Record<string, string>): Promise<void> =>
  new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) =>
      reject(new Error(`can't start ${program}: ${whyNotStarted(cause, program, env)}`, { cause })),
    );
  });

function whyNotStarted(error: Error, program: string, env: Record<string, string>): string {
  const place = program.includes('/')
    ? `as a path from ${process.cwd()}`
    : `in PATH ${env.PATH ?? process.env.PATH ?? '(empty)'}`;
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return `no such program (looked for ${place}), or not the one that its first line names`;
  if (code === 'EACCES') return `it may not be executed (looked for ${place})`;
  return messageOf(error);
}

const endOf = (child: ChildProcess): Promise<ProcessEnd> =>
  new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(signal === null ? { code: code ?? 0 } : { signal }));
  });

interface WatchRequest {
  spec: TaskSpec;
  spawned: OwnRun;
  /** Whether the end of the log explains the end of the process. */
  withTail: boolean;
  signal: AbortSignal;
}

/** Interval of checks of a process that is not a child of this one. */
const lookEveryMs = 250;

interface WatchPorts {
  logs: TaskLogs;
  clock: Clock;
  children: Children;
  environments: Pick<TaskEnvironments, 'knownValues'>;
}

/**
 * Waits for the end of a process, a child or one that an earlier runtime has started, and keeps its log bounded
 * meanwhile.
 */
export async function watchProcess(
  { logs, clock, children, environments }: WatchPorts,
  { spec, spawned, withTail, signal }: WatchRequest,
): Promise<ProcessEnd> {
  const child = children.get(spec.id);
  const ended = child?.token === spawned.token ? child.ended : undefined;
  const over = new AbortController();
  const watched = AbortSignal.any([signal, over.signal]);
  const logged = logs.watch(spec.id, spawned.process, watched);
  void ended?.then(() => over.abort());
  while (isAlive(spawned.process) && !signal.aborted) await pause(clock, lookEveryMs, watched);
  over.abort();
  await logged;
  const end = (await Promise.race([ended, untilAborted(signal)])) ?? {};
  signal.throwIfAborted();
  return withTail ? { ...end, tail: tailOf(logs.pathOf(spec.id), await environments.knownValues(spec, signal)) } : end;
}
