/** One supervised plugin, over all restarts of its process. Diagram: docs/machines/task.md (generated). */
import { assign, emit, setup } from 'xstate';
import { jittered } from '../kit/backoff.js';
import { failureIn, hostActions, stampOf, unbound, unboundLoop } from '../kit/host.js';
import { isSameData } from '../kit/same-data.js';
import type { StateWords } from '../kit/state-words.js';
import {
  deregistrations,
  endsInWindow,
  exitText,
  keeping,
  keptRuns,
  limitText,
  losses,
  mustRun,
  mustSpawned,
  mustSpec,
  namesOf,
  newRun,
  pluginTypes,
  registeredInstances,
  registrations,
} from './task-context.js';
import type {
  HealthEvent,
  PluginKey,
  ProcessEnd,
  ProcessIdentity,
  ReadyReport,
  Registered,
  Spawned,
  SpawnedRun,
  TaskChanged,
  TaskContext,
  TaskEvent,
  TaskHealth,
  TaskInput,
  TaskRun,
  TaskSpec,
} from './task-types.js';

/** `kept`: tokens of runs whose children stay. */
interface SpawnInput extends Pick<TaskContext, 'kept'> {
  spec: TaskSpec;
  run: TaskRun;
  previous: ProcessIdentity | null;
}

/** Without `kept`, everything of the task ends. */
interface EndInput extends Pick<TaskContext, 'kept'> {
  spec: TaskSpec;
  registered: Registered | null;
  process: ProcessIdentity | null;
  /** The task has failed; absent: it is stopped, or goes on. */
  isFailed?: boolean;
}

/** Reason of an end that was asked for. */
const askedFor = 'a restart was asked for';
const redefined = 'its definition has changed';

/** @returns milliseconds */
const untilNextStart = (context: TaskContext, random: number): number =>
  jittered(mustSpec(context).restart.backoff, context.endedAtMs.length, random);

export const taskMachine = setup({
  types: {} as { context: TaskContext; events: TaskEvent; input: TaskInput; emitted: TaskChanged; meta: StateWords },
  actors: {
    /** Ends what is left of earlier runs, then spawns this one, or finds it if it runs already. */
    spawnProcess: unbound<Spawned, SpawnInput>(),
    awaitReady: unbound<ReadyReport, { spec: TaskSpec; spawned: SpawnedRun }>(),
    /** One long effect: an event when the health of all instances together changes. */
    watchHealth: unboundLoop<HealthEvent, { instances: PluginKey[] }>(),
    watchProcess: unbound<ProcessEnd, { spec: TaskSpec; spawned: SpawnedRun; withTail: boolean }>(),
    /** Waits until the instances have shut down, then ends every process of the task and removes its sockets. */
    endProcesses: unbound<void, EndInput>(),
  },
  guards: {
    isAnotherSpec: ({ context }, spec: TaskSpec) => !isSameData(context.spec, spec),
    mayRestart: ({ context }) => context.endedAtMs.length <= mustSpec(context).restart.maxRestarts,
    hasReason: ({ context }) => context.reason !== null,
    /** Whether the stop under way leaves processes. */
    isKeeping: ({ context }) => context.reason !== null && keptRuns(context).length > 0,
    hasSpec: ({ context }) => context.spec !== null,
    hasProcess: (_, spawned: SpawnedRun) => spawned.process !== null,
    becomesHealthy: ({ context }, { healthy }: TaskHealth) => healthy && context.health?.healthy === false,
    becomesUnhealthy: ({ context }, { healthy }: TaskHealth) => !healthy && context.health?.healthy === true,
  },
  actions: {
    ...hostActions,
    takeSpec: assign((_, spec: TaskSpec) => ({ spec, endedAtMs: [], reason: null })),
    beginRun: assign(({ context, event }) => ({
      run: newRun(mustSpec(context).id, stampOf(event)),
      spawned: null,
      ready: null,
      ...keeping(context),
    })),
    keepSpawned: assign(({ context }, { kept, ...spawned }: Spawned) => ({
      ...{ spawned, process: spawned.process },
      ...(context.kept && { kept }),
    })),
    keepReady: assign((_, ready: ReadyReport) => ({ ready, health: { healthy: true, description: 'ready' } })),
    keepHealth: assign((_, health: TaskHealth) => ({ health })),
    forgetHealth: assign({ health: null }),
    keepRegistered: assign(({ context }) => ({
      registered: { allocId: mustSpawned(context).allocId, types: [...pluginTypes[mustSpec(context).type]] },
      reason: null,
    })),
    forgetRuns: assign(({ context }) => ({
      ...{ run: null, spawned: null, process: null, ready: null, registered: null },
      ...(context.reason !== null ? keeping(context) : context.kept && { kept: undefined }),
    })),
    clearReason: assign({ reason: null }),
    clearEnds: assign({ endedAtMs: [], reason: null }),
    countEnd: assign(({ context, event }, reason: string) => {
      const { at } = stampOf(event);
      return { endedAtMs: [...endsInWindow(context, at), at], reason };
    }),
    keepNextStart: assign(({ context, event }) => ({
      nextStartAtMs: stampOf(event).at + untilNextStart(context, stampOf(event).random),
    })),
    forgetNextStart: assign({ nextStartAtMs: null }),
    nameLimit: assign(({ context }) => ({ reason: limitText(context) })),
    emitRun: emit(({ context }, type: 'started' | 'healthy') => ({
      type,
      ...namesOf(context),
      allocId: mustRun(context).allocId,
    })),
    emitExited: emit(({ context }, end: ProcessEnd) => ({
      type: 'exited' as const,
      ...namesOf(context),
      allocId: mustRun(context).allocId,
      end,
    })),
    emitReason: emit(({ context }, type: 'restarting' | 'failed') => ({
      type,
      ...namesOf(context),
      reason: context.reason ?? 'unknown',
    })),
    emitUnhealthy: emit(({ context }, reason: string) => ({
      type: 'unhealthy' as const,
      ...namesOf(context),
      reason,
    })),
    emitRestarting: emit(({ context }, reason: string) => ({
      type: 'restarting' as const,
      ...namesOf(context),
      reason,
    })),
    emitDone: emit(({ context }, type: 'stopped' | 'removed') => ({ type, ...namesOf(context) })),
  },
  delays: {
    backoff: ({ context, event }) => untilNextStart(context, stampOf(event).random),
  },
}).createMachine({
  id: 'task',
  version: '3',
  context: ({ input }) => ({
    node: input.node,
    spec: null,
    run: null,
    spawned: null,
    process: null,
    registered: null,
    ready: null,
    health: null,
    endedAtMs: [],
    reason: null,
    nextStartAtMs: null,
  }),
  initial: 'stopped',
  on: {
    'task.start': {
      guard: { type: 'isAnotherSpec', params: ({ event }) => event.spec },
      target: '.starting',
      actions: [
        { type: 'messages', params: ({ context }) => losses(context, redefined) },
        { type: 'takeSpec', params: ({ event }) => event.spec },
        { type: 'emitRestarting', params: redefined },
      ],
    },
    'task.restart': {
      guard: 'hasSpec',
      target: '.starting',
      actions: [
        { type: 'messages', params: ({ context }) => losses(context, askedFor) },
        'clearEnds',
        { type: 'emitRestarting', params: askedFor },
      ],
    },
    'task.stop': { target: '.stopping', actions: 'clearReason' },
  },
  states: {
    stopped: {
      meta: { health: 'gone', words: 'stopped' },
      on: {
        'task.start': { target: 'starting', actions: { type: 'takeSpec', params: ({ event }) => event.spec } },
        'task.stop': {},
        'task.remove': { target: 'removed', actions: { type: 'emitDone', params: 'removed' } },
      },
    },
    starting: {
      meta: { health: 'working', words: 'being started' },
      entry: 'beginRun',
      invoke: {
        id: 'spawnProcess',
        src: 'spawnProcess',
        input: ({ context }) => ({
          ...{ spec: mustSpec(context), run: mustRun(context), previous: context.process },
          ...(context.kept && { kept: context.kept }),
        }),
        onDone: [
          {
            guard: { type: 'hasProcess', params: ({ event }) => event.output },
            target: 'waiting',
            actions: [
              { type: 'keepSpawned', params: ({ event }) => event.output },
              { type: 'emitRun', params: 'started' },
            ],
          },
          { target: 'waiting', actions: { type: 'keepSpawned', params: ({ event }) => event.output } },
        ],
        onError: { target: 'ended', actions: { type: 'countEnd', params: ({ event }) => failureIn(event).message } },
      },
    },
    waiting: {
      meta: { health: 'waiting', words: 'waits for an answer of its plugin' },
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
              { type: 'emitUnhealthy', params: ({ event }) => failureIn(event).message },
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
      meta: { health: 'healthy', words: 'running' },
      exit: 'forgetHealth',
      invoke: [
        {
          id: 'watchProcess',
          src: 'watchProcess',
          input: ({ context }) => ({ spec: mustSpec(context), spawned: mustSpawned(context), withTail: false }),
          onDone: {
            target: 'ended',
            actions: [
              { type: 'messages', params: ({ context, event }) => losses(context, exitText(event.output)) },
              { type: 'emitExited', params: ({ event }) => event.output },
              { type: 'countEnd', params: ({ event }) => exitText(event.output) },
            ],
          },
          onError: { target: 'ended', actions: { type: 'countEnd', params: ({ event }) => failureIn(event).message } },
        },
        {
          id: 'watchHealth',
          src: 'watchHealth',
          input: ({ context }) => ({ instances: registeredInstances(context) }),
        },
      ],
      on: {
        'health.changed': [
          {
            guard: { type: 'becomesHealthy', params: ({ event }) => event.health },
            actions: [
              { type: 'keepHealth', params: ({ event }) => event.health },
              { type: 'emitRun', params: 'healthy' },
            ],
          },
          {
            guard: { type: 'becomesUnhealthy', params: ({ event }) => event.health },
            actions: [
              { type: 'keepHealth', params: ({ event }) => event.health },
              { type: 'emitUnhealthy', params: ({ event }) => event.health.description },
            ],
          },
          { actions: { type: 'keepHealth', params: ({ event }) => event.health } },
        ],
      },
    },
    ended: {
      meta: { health: 'working', words: 'its process has ended' },
      always: [
        { guard: 'mayRestart', target: 'backing-off', actions: { type: 'emitReason', params: 'restarting' } },
        { target: 'stopping', actions: ['nameLimit', { type: 'emitReason', params: 'failed' }] },
      ],
    },
    'backing-off': {
      meta: { health: 'waiting', words: 'started again soon' },
      entry: 'keepNextStart',
      exit: 'forgetNextStart',
      // A process that was given up must not run unwatched; its instances stay registered until the next run.
      invoke: {
        id: 'endLeftovers',
        src: 'endProcesses',
        input: ({ context }) => ({
          ...{ spec: mustSpec(context), registered: null, process: context.process },
          ...keeping(context),
        }),
        onError: {}, // the next run tries again, before it spawns
      },
      after: { backoff: 'starting' },
    },
    stopping: {
      meta: { health: 'working', words: 'being stopped' },
      entry: {
        type: 'messages',
        params: ({ context, event }) =>
          deregistrations(context, event.type === 'task.stop' ? event.dependents : undefined),
      },
      on: {
        'task.start': { target: 'starting', actions: { type: 'takeSpec', params: ({ event }) => event.spec } },
        'task.stop': [
          { guard: 'isKeeping', target: 'stopping', reenter: true, actions: 'clearReason' },
          { actions: 'clearReason' }, // under way: its grace time does not begin again
        ],
      },
      invoke: {
        id: 'endProcesses',
        src: 'endProcesses',
        input: ({ context }) => ({
          ...{ spec: mustSpec(context), registered: context.registered, process: context.process },
          ...(context.reason !== null && { isFailed: true, ...keeping(context) }),
        }),
        onDone: [
          { guard: 'hasReason', target: 'failed', actions: 'forgetRuns' },
          { target: 'stopped', actions: ['forgetRuns', { type: 'emitDone', params: 'stopped' }] },
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
      meta: { health: 'failed', words: 'ended too often' },
      on: {
        'task.start': { target: 'starting', actions: { type: 'takeSpec', params: ({ event }) => event.spec } },
      },
    },
    removed: { type: 'final', meta: { health: 'gone', words: 'removed' } },
  },
});
