/** One supervised plugin process, however often it restarts. Diagram: docs/machines/task.md (generated). */
import { assign, emit, setup } from 'xstate';
import { pluginsAddress } from './addresses.js';
import { type BackoffPolicy, jittered } from './backoff.js';
import { failureIn, hostActions, type MessageParams, type Stamped, stampOf, unbound } from './host.js';
import { isSameData } from './same-data.js';

export type TaskType = 'node' | 'controller' | 'monolith';

/** What to run and how to keep it up; complete, all defaults filled in. */
export interface TaskSpec {
  id: string;
  type: TaskType;
  /** Program and arguments. */
  command: string[];
  env: Record<string, string>;
  /** How long a start may take until the plugin answers, in milliseconds. */
  healthTimeoutMs: number;
  restart: RestartPolicy;
}

export interface RestartPolicy {
  /** More ends than this within `windowMs` fail the task. */
  maxRestarts: number;
  windowMs: number;
  backoff: BackoffPolicy;
}

/** One start of a task: committed before anything is spawned, so that what was spawned can be found again. */
export interface TaskRun {
  allocId: string;
  /** In the environment of the process: tells ours from all others. */
  token: string;
}

/** A process, told from a later one with the same pid by boot id and start time. */
export interface ProcessIdentity {
  pid: number;
  bootId: string;
  /** Clock ticks after boot, as /proc/<pid>/stat has it. */
  startTime: number;
}

export interface SpawnedRun extends TaskRun {
  process: ProcessIdentity;
  socketPath: string;
}

/** How a process ended; code and signal are absent where only its absence was seen. */
export interface ProcessEnd {
  code?: number;
  signal?: string;
  /** The end of its log, where it ended before it was ready. */
  tail?: string;
}

export interface ReadyReport {
  /** The driver's own name. */
  pluginName: string;
  vendorVersion: string;
}

/** The instances that a run is registered as. */
export interface Registered {
  allocId: string;
  types: string[];
}

export interface TaskInput {
  node: string;
}

export interface TaskContext {
  node: string;
  spec: TaskSpec | null;
  run: TaskRun | null;
  spawned: SpawnedRun | null;
  /** The last process that was spawned, of this run or one before it, until it is known to be ended. */
  process: ProcessIdentity | null;
  /** What is registered as plugins, until another run took its place. */
  registered: Registered | null;
  ready: ReadyReport | null;
  /** When the ends within the restart window happened, milliseconds since the epoch. */
  endedAtMs: number[];
  reason: string | null;
}

export type TaskEvent = ({ type: 'task.start'; spec: TaskSpec } | { type: 'task.stop' }) & Stamped;

/** Broadcast when something happens to the process of a task. */
export type TaskChanged =
  | { type: 'started' | 'healthy'; id: string; allocId: string }
  | { type: 'stopped'; id: string }
  | { type: 'exited'; id: string; allocId: string; end: ProcessEnd }
  | { type: 'unhealthy' | 'restarting' | 'failed'; id: string; reason: string };

/** Plugin types that a task's process serves. */
export const pluginTypes: Record<TaskType, readonly string[]> = {
  node: ['csi-node'],
  controller: ['csi-controller'],
  monolith: ['csi-controller', 'csi-node'],
};

const mustSpec = (context: TaskContext): TaskSpec => {
  if (!context.spec) throw new Error('the task has no spec yet');
  return context.spec;
};

const mustRun = (context: TaskContext): TaskRun => {
  if (!context.run) throw new Error('the task has no run yet');
  return context.run;
};

const mustSpawned = (context: TaskContext): SpawnedRun => {
  if (!context.spawned) throw new Error('the task has no process yet');
  return context.spawned;
};

/** Short enough for a socket path, and never the same twice. */
const newRun = (id: string, { at, random }: Stamped): TaskRun => {
  const suffix = Math.floor(random * 36 ** 8)
    .toString(36)
    .padStart(8, '0');
  const allocId = `${id}-${suffix}`;
  return { allocId, token: `${allocId}.${at.toString(36)}` };
};

const endsInWindow = (context: TaskContext, nowMs: number): number[] =>
  context.endedAtMs.filter((endedAt) => endedAt > nowMs - mustSpec(context).restart.windowMs);

const deregistrations = ({ node, registered, spec }: TaskContext): MessageParams[] =>
  (registered?.types ?? []).map((type) => ({
    to: pluginsAddress(node, type, spec?.id ?? ''),
    event: { type: 'plugins.deregister', allocId: registered?.allocId },
  }));

/** The new instances go in front before the dead ones go: nobody is promoted in between. */
const registrations = (context: TaskContext): MessageParams[] => {
  const { id, type } = mustSpec(context);
  const { allocId, socketPath } = mustSpawned(context);
  const version = context.ready?.vendorVersion;
  const added = pluginTypes[type].map((pluginType) => ({
    to: pluginsAddress(context.node, pluginType, id),
    event: {
      type: 'plugins.register',
      info: { type: pluginType, name: id, allocId, connection: { socketPath }, ...(version ? { version } : {}) },
    },
  }));
  return [...added, ...deregistrations(context)];
};

const howEnded = ({ code, signal }: ProcessEnd): string => {
  if (signal !== undefined) return `the process was ended by ${signal}`;
  return code === undefined ? 'the process is gone' : `the process exited with code ${code}`;
};

const exitText = (end: ProcessEnd): string =>
  end.tail === undefined ? howEnded(end) : `${howEnded(end)}; end of its log:\n${end.tail}`;

export const taskMachine = setup({
  types: {} as { context: TaskContext; events: TaskEvent; input: TaskInput; emitted: TaskChanged },
  actors: {
    /** Ends whatever is left of earlier runs, then spawns this one; finds it where it runs already. */
    spawnProcess: unbound<SpawnedRun, { spec: TaskSpec; run: TaskRun; previous: ProcessIdentity | null }>(),
    awaitReady: unbound<ReadyReport, { spec: TaskSpec; spawned: SpawnedRun }>(),
    watchProcess: unbound<ProcessEnd, { spec: TaskSpec; spawned: SpawnedRun; withTail: boolean }>(),
    /** Waits until its instance has shut down, then ends every process of the task and removes its sockets. */
    endProcesses: unbound<void, { spec: TaskSpec; registered: Registered | null; process: ProcessIdentity | null }>(),
  },
  guards: {
    isAnotherSpec: ({ context }, spec: TaskSpec) => !isSameData(context.spec, spec),
    mayRestart: ({ context }) => context.endedAtMs.length <= mustSpec(context).restart.maxRestarts,
    hasReason: ({ context }) => context.reason !== null,
  },
  actions: {
    ...hostActions,
    takeSpec: assign((_, spec: TaskSpec) => ({ spec, endedAtMs: [], reason: null })),
    beginRun: assign(({ context, event }) => ({
      run: newRun(mustSpec(context).id, stampOf(event)),
      spawned: null,
      ready: null,
    })),
    keepSpawned: assign((_, spawned: SpawnedRun) => ({ spawned, process: spawned.process })),
    keepReady: assign((_, ready: ReadyReport) => ({ ready })),
    keepRegistered: assign(({ context }) => ({
      registered: { allocId: mustSpawned(context).allocId, types: [...pluginTypes[mustSpec(context).type]] },
      reason: null,
    })),
    forgetRuns: assign({ run: null, spawned: null, process: null, ready: null, registered: null }),
    clearReason: assign({ reason: null }),
    countEnd: assign(({ context, event }, reason: string) => {
      const { at } = stampOf(event);
      return { endedAtMs: [...endsInWindow(context, at), at], reason };
    }),
    emitRun: emit(({ context }, type: 'started' | 'healthy') => ({
      type,
      id: mustSpec(context).id,
      allocId: mustRun(context).allocId,
    })),
    emitExited: emit(({ context }, end: ProcessEnd) => ({
      type: 'exited' as const,
      id: mustSpec(context).id,
      allocId: mustRun(context).allocId,
      end,
    })),
    emitReason: emit(({ context }, type: 'unhealthy' | 'restarting' | 'failed') => ({
      type,
      id: mustSpec(context).id,
      reason: context.reason ?? 'unknown',
    })),
    emitStopped: emit(({ context }) => ({ type: 'stopped' as const, id: mustSpec(context).id })),
  },
  delays: {
    backoff: ({ context, event }) =>
      jittered(mustSpec(context).restart.backoff, context.endedAtMs.length, stampOf(event).random),
  },
}).createMachine({
  id: 'task',
  version: '1',
  context: ({ input }) => ({
    node: input.node,
    spec: null,
    run: null,
    spawned: null,
    process: null,
    registered: null,
    ready: null,
    endedAtMs: [],
    reason: null,
  }),
  initial: 'stopped',
  on: {
    'task.start': {
      guard: { type: 'isAnotherSpec', params: ({ event }) => event.spec },
      target: '.starting',
      actions: { type: 'takeSpec', params: ({ event }) => event.spec },
    },
    'task.stop': { target: '.stopping', actions: 'clearReason' },
  },
  states: {
    stopped: {
      on: {
        'task.start': { target: 'starting', actions: { type: 'takeSpec', params: ({ event }) => event.spec } },
        'task.stop': {},
      },
    },
    starting: {
      entry: 'beginRun',
      invoke: {
        id: 'spawnProcess',
        src: 'spawnProcess',
        input: ({ context }) => ({ spec: mustSpec(context), run: mustRun(context), previous: context.process }),
        onDone: {
          target: 'waiting',
          actions: [
            { type: 'keepSpawned', params: ({ event }) => event.output },
            { type: 'emitRun', params: 'started' },
          ],
        },
        onError: { target: 'ended', actions: { type: 'countEnd', params: ({ event }) => failureIn(event).message } },
      },
    },
    waiting: {
      invoke: [
        {
          id: 'awaitReady',
          src: 'awaitReady',
          input: ({ context }) => ({ spec: mustSpec(context), spawned: mustSpawned(context) }),
          onDone: {
            target: 'running',
            actions: [
              { type: 'keepReady', params: ({ event }) => event.output },
              { type: 'messages', params: ({ context }) => registrations(context) },
              'keepRegistered',
              { type: 'emitRun', params: 'healthy' },
            ],
          },
          onError: {
            target: 'ended',
            actions: [
              { type: 'countEnd', params: ({ event }) => failureIn(event).message },
              { type: 'emitReason', params: 'unhealthy' },
            ],
          },
        },
        {
          id: 'watchStart',
          src: 'watchProcess',
          input: ({ context }) => ({ spec: mustSpec(context), spawned: mustSpawned(context), withTail: true }),
          onDone: {
            target: 'ended',
            actions: [
              { type: 'emitExited', params: ({ event }) => event.output },
              { type: 'countEnd', params: ({ event }) => exitText(event.output) },
            ],
          },
          onError: { target: 'ended', actions: { type: 'countEnd', params: ({ event }) => failureIn(event).message } },
        },
      ],
    },
    running: {
      invoke: {
        id: 'watchProcess',
        src: 'watchProcess',
        input: ({ context }) => ({ spec: mustSpec(context), spawned: mustSpawned(context), withTail: false }),
        onDone: {
          target: 'ended',
          actions: [
            { type: 'emitExited', params: ({ event }) => event.output },
            { type: 'countEnd', params: ({ event }) => exitText(event.output) },
          ],
        },
        onError: { target: 'ended', actions: { type: 'countEnd', params: ({ event }) => failureIn(event).message } },
      },
    },
    ended: {
      always: [
        { guard: 'mayRestart', target: 'backing-off', actions: { type: 'emitReason', params: 'restarting' } },
        { target: 'stopping', actions: { type: 'emitReason', params: 'failed' } },
      ],
    },
    'backing-off': {
      // A process that was given up must not run on unwatched; what is registered stays so until the next run.
      invoke: {
        id: 'endLeftovers',
        src: 'endProcesses',
        input: ({ context }) => ({ spec: mustSpec(context), registered: null, process: context.process }),
        onError: {}, // the next run tries again, before it spawns
      },
      after: { backoff: 'starting' },
    },
    stopping: {
      entry: { type: 'messages', params: ({ context }) => deregistrations(context) },
      on: { 'task.start': { target: 'starting', actions: { type: 'takeSpec', params: ({ event }) => event.spec } } },
      invoke: {
        id: 'endProcesses',
        src: 'endProcesses',
        input: ({ context }) => ({ spec: mustSpec(context), registered: context.registered, process: context.process }),
        onDone: [
          { guard: 'hasReason', target: 'failed', actions: 'forgetRuns' },
          { target: 'stopped', actions: ['forgetRuns', 'emitStopped'] },
        ],
        onError: {
          target: 'failed',
          actions: [
            { type: 'countEnd', params: ({ event }) => failureIn(event).message },
            { type: 'emitReason', params: 'failed' },
          ],
        },
      },
    },
    failed: {
      on: {
        'task.start': { target: 'starting', actions: { type: 'takeSpec', params: ({ event }) => event.spec } },
      },
    },
  },
});
