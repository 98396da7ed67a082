/**
 * `runtime.tasks`: plugin processes that this node keeps running. Reads committed records; every change goes through
 * the mailbox of the task (machines/task/task.ts).
 */

import { pluginAddress, taskAddress } from '../../machines/kit/addresses.js';
import { pluginMachine } from '../../machines/plugin/plugin.js';
import { taskMachine } from '../../machines/task/task.js';
import { registeredInstances } from '../../machines/task/task-context.js';
import type { PluginKey, TaskChanged, TaskSpec } from '../../machines/task/task-types.js';
import { ActorsOf, byAddress, type EventOf, type ViewOf } from '../engine/actors-of.js';
import { Closing } from '../engine/closing.js';
import type { Engine } from '../engine/engine.js';
import type { FollowedRow } from '../engine/topics/event-ids.js';
import { type FollowOptions, followAs } from '../engine/topics/topic-reader.js';
import { eventOf } from '../engine/topics/topics.js';
import { Waiters } from '../engine/waiters.js';
import { messageOf, refuseNoObject, StagecraftError } from '../errors.js';
import type { GivenTask, TaskEnvironments } from './environments.js';
import { InOrder } from './in-order.js';
import { tasksTopic } from './kinds.js';
import { completeTask, sharedTypes, type TaskOptions } from './spec.js';
import type { LogPart, TaskLogs } from './task-logs.js';

export type TaskState = 'stopped' | 'starting' | 'waiting' | 'running' | 'backing-off' | 'stopping' | 'failed';

const hasProcess: ReadonlySet<TaskState> = new Set(['waiting', 'running', 'stopping']);

export interface TaskStatus {
  id: string;
  state: TaskState;
  /** Without the values of the environment, which may be secrets. */
  spec: Omit<TaskSpec, 'env' | 'envDigest'> & { env: string[] };
  /** Alloc id of the present run; its plugins are registered with it. */
  allocId?: string;
  /** Pid of the process, while it is known to run. */
  pid?: number;
  /** Name that the driver gives itself. */
  pluginName?: string;
  /** Health of the plugin while it runs: all instances together. */
  healthy?: boolean;
  /** Reason of the health, in words. */
  description?: string;
  /** Log of all runs. Absent for a plugin that somebody else runs. */
  logPath?: string;
  /** Reason why the last run ended, if that was not asked for. */
  reason?: string;
  /** Moment of the next start during a backoff, milliseconds since the epoch. */
  nextStartAtMs?: number;
}

/** A change of a task. `id` is its place in the topic: follow from there to go on. */
export type TaskUpdate = { id: string; at: number; change: TaskChanged };

export function taskUpdateOf(row: FollowedRow): TaskUpdate {
  const { at, ...change } = eventOf<TaskChanged & { at: number }>(row);
  return { id: row.id, at, change };
}

interface TaskSupervisorOptions {
  node: string;
  engine: Engine;
  logs: TaskLogs;
  environments: TaskEnvironments;
  /** Names what uses these instances, e.g. mounted volumes; rejects where that can't be known. */
  dependents(instances: PluginKey[]): Promise<string[]>;
  /** Names the volumes that are mounted through a plugin, registered or not. */
  mounted(plugin: string): string[];
}

interface StopOptions {
  force?: boolean;
  isLast?: boolean;
}

type TaskView = ViewOf<typeof taskMachine>;

export class TaskSupervisor {
  readonly #node: string;
  readonly #engine: Engine;
  readonly #tasks: ActorsOf<typeof taskMachine>;
  readonly #plugins: ActorsOf<typeof pluginMachine>;
  readonly #logs: TaskLogs;
  readonly #environments: TaskEnvironments;
  readonly #dependents: TaskSupervisorOptions['dependents'];
  readonly #mounted: TaskSupervisorOptions['mounted'];
  /** Waiters by the address of a task or an instance: woken by its commits and by the end. */
  readonly #waiters = new Waiters();
  /** Commits of specs: the values of a spec are forgotten only once the next spec is in the record. */
  readonly #changes = new InOrder();
  readonly #closing = new Closing();

  constructor({ node, engine, logs, environments, dependents, mounted }: TaskSupervisorOptions) {
    this.#node = node;
    this.#engine = engine;
    this.#tasks = new ActorsOf(engine, taskMachine);
    this.#plugins = new ActorsOf(engine, pluginMachine);
    this.#logs = logs;
    this.#environments = environments;
    this.#dependents = dependents;
    this.#mounted = mounted;
    engine.observe(({ address }) => this.#waiters.wake(address));
  }

  /**
   * Starts a task and keeps it running; the same one again changes nothing, another spec under its id restarts it.
   * Resolves after the commit, not when the plugin is ready: `plugins.waitFor` waits for that.
   * A value of `env` that is a text is in no record: give the whole spec again in each runtime. Until then the task starts no process.
   * @throws StagecraftError INVALID_ARGUMENT with every fault and its path, or naming the task that runs the plugin already;
   *   PLUGIN_IN_USE: another `plugin` or `stagePublishBaseDir` while volumes are mounted through it, nothing has changed
   */
  async start(options: TaskOptions): Promise<void> {
    const given = completeTask(options);
    await this.#changes.run(given.id, () => this.#start(given));
  }

  async #start(given: GivenTask): Promise<void> {
    this.#closing.refuseIfClosed();
    const address = taskAddress(this.#node, given.id);
    this.#refuseIfTaken(given, address);
    this.#refuseIfMoved(given, address);
    const spec = this.#environments.recorded(given, this.#tasks.peek(address)?.context.spec ?? undefined);
    await this.#runAnew(address, { type: 'task.start', spec });
    this.#environments.keepOnly(given.id, spec);
  }

  /**
   * Ends the process of a task, if there is one, and starts it anew, whatever state it is in; ends before that do not count.
   * Its plugin stays registered meanwhile, unhealthy; calls in flight on it fail, and what is mounted through it stays
   * or goes with the process, as the driver is made: `stop` is what protects them. Resolves after the commit, as `start`.
   * @throws StagecraftError TASK_NOT_FOUND, RUNTIME_CLOSED
   */
  async restart(id: string): Promise<void> {
    this.#closing.refuseIfClosed();
    const address = taskAddress(this.#node, id);
    if (!this.#tasks.has(address)) throw notFound(id);
    await this.#runAnew(address, { type: 'task.restart' });
  }

  /**
   * Deregisters the plugins of a task, waits for calls in flight (30 s at most), ends its processes (SIGTERM, SIGKILL
   * after 10 s) and removes their sockets. Resolves when that is done.
   * @param force also if volumes that are mounted, or anything else, need the plugin
   * @throws StagecraftError TASK_NOT_FOUND; PLUGIN_IN_USE naming what needs it: nothing has changed; TASK_STOP_FAILED;
   *   ABORTED (it was started again meanwhile); RUNTIME_CLOSED
   */
  async stop(id: string, options: { force?: boolean } = {}): Promise<void> {
    refuseNoObject(options, 'the options');
    const { force = false } = options;
    this.#closing.refuseIfClosed();
    await this.#stop(id, { force });
  }

  /**
   * Stops a task and forgets it; its log and the directory of what its plugin keeps are left.
   * @throws StagecraftError as `stop`
   */
  async remove(id: string, options: { force?: boolean } = {}): Promise<void> {
    await this.stop(id, options);
    await this.#changes.run(id, () => this.#forget(id));
  }

  async #forget(id: string): Promise<void> {
    const address = taskAddress(this.#node, id);
    await this.#tasks.ask(address, { type: 'task.remove' });
    if (this.#tasks.has(address)) throw startedAgain(id, address);
    this.#environments.keepOnly(id, undefined);
  }

  /** All tasks of this node, in the order of their ids. */
  list(): TaskStatus[] {
    const all = [...this.#tasks.views()].sort(byAddress(([address]) => address));
    return all.flatMap(([, view]) => this.#statusOf(view) ?? []);
  }

  /**
   * Follows the changes of tasks, from now or from after an event's id. Ends with its signal, its iterator or the
   * runtime.
   * @throws StagecraftError CURSOR_EXPIRED, EVENT_DAMAGED, INVALID_ARGUMENT
   */
  updates(options?: FollowOptions): AsyncIterable<TaskUpdate> {
    this.#closing.refuseIfClosed();
    return followAs(this.#engine, tasksTopic(this.#node), options).reading(taskUpdateOf);
  }

  /** Stops every task, also while the runtime closes. @throws StagecraftError TASK_STOP_FAILED naming all that resisted */
  async stopAll(): Promise<void> {
    const ids = this.list().map(({ id }) => id);
    const stops = await Promise.allSettled(ids.map((id) => this.#stop(id, { isLast: true })));
    const faults = stops.flatMap((stop, n) =>
      stop.status === 'rejected' ? [`${ids[n]}: ${messageOf(stop.reason)}`] : [],
    );
    if (faults.length > 0) throw new StagecraftError('TASK_STOP_FAILED', faults.join('; '), { faults });
  }

  /** @throws StagecraftError TASK_NOT_FOUND */
  status(id: string): TaskStatus {
    const view = this.#tasks.peek(taskAddress(this.#node, id));
    const status = view && this.#statusOf(view);
    if (!status) throw notFound(id);
    return status;
  }

  /**
   * The last lines of its log, of all its runs, each below a line with its allocId and time. Of very long lines 8 MiB.
   * @param lines 1 to 10,000; default 100
   * @throws StagecraftError TASK_NOT_FOUND, INVALID_ARGUMENT, LOG_UNREADABLE
   */
  async logs(id: string, options: { lines?: number } = {}): Promise<string> {
    return (await this.readLog(id, options)).text;
  }

  /**
   * As `logs`, with the position after them; with `after`, the whole lines that came since, some 64 KiB at a time.
   * @throws StagecraftError as `logs`
   */
  async readLog(id: string, options: { lines?: number; after?: number } = {}): Promise<LogPart> {
    this.#closing.refuseIfClosed();
    this.status(id);
    return this.#logs.read(id, options);
  }

  /** Refuses every later call but `stopAll`, and ends those that wait. */
  close(reason?: StagecraftError): void {
    this.#closing.close(reason);
    this.#waiters.wakeAll();
  }

  /** @param how `isLast`: nobody can stop it otherwise later */
  async #stop(id: string, how: StopOptions): Promise<void> {
    const address = taskAddress(this.#node, id);
    // Asks only whether it is there: a task that just begins will be stopped, and one out of service says so itself.
    if (!this.#tasks.has(address)) throw notFound(id);
    const endsWithClose = !this.#closing.reason;
    const dependents = await this.#dependentsOf(id, address, how);
    await this.#tasks.ask(address, { type: 'task.stop', ...(dependents.length > 0 && { dependents }) });
    await this.#ended(address, { id, endsWithClose });
  }

  /** Begins another run. Once this resolves, the plugin of the run before is not taken as healthy any more. */
  async #runAnew(address: string, event: EventOf<typeof taskMachine>): Promise<void> {
    const before = this.#tasks.peek(address);
    await this.#tasks.ask(address, event);
    if (!before) return;
    const { run, spawned } = before.context;
    const present = this.#tasks.peek(address);
    if (!spawned?.process || !present || present.context.run?.token === run?.token) return;
    await Promise.all(registeredInstances(before.context).map((instance) => this.#lost(instance)));
  }

  /** Resolves once an instance is not healthy, or gone. */
  #lost({ type, name, allocId }: PluginKey): Promise<true> {
    const address = pluginAddress(this.#node, type, name, allocId);
    const isHealthy = (): boolean =>
      this.#plugins.peek(address)?.state === 'healthy' &&
      !this.#engine.quarantined().some((actor) => actor.address === address);
    return this.#waiters.until(address, () => !isHealthy() || this.#closing.reason !== undefined || undefined);
  }

  /**
   * Refuses a plugin that another task runs: two processes would take turns.
   * @throws StagecraftError INVALID_ARGUMENT
   */
  #refuseIfTaken(task: GivenTask, address: string): void {
    for (const { spec } of this.list()) {
      if (spec.id === task.id) continue;
      const [type] = sharedTypes(task, spec);
      if (type === undefined) continue;
      const why = `task ${spec.id} runs the ${type} plugin '${task.plugin}'`;
      const advice = `give one of them another plugin, or remove ${spec.id}`;
      throw new StagecraftError('INVALID_ARGUMENT', `task ${task.id} can't be taken: ${why}: ${advice}`, { address });
    }
  }

  /**
   * Refuses another `stagePublishBaseDir` or plugin while volumes are mounted: a mount is undone where and by whom it was made.
   * @throws StagecraftError PLUGIN_IN_USE
   */
  #refuseIfMoved({ id, plugin, stagePublishBaseDir }: GivenTask, address: string): void {
    const view = this.#tasks.peek(address);
    const present = view?.context.spec;
    const changed = [
      ...(present?.stagePublishBaseDir === stagePublishBaseDir ? [] : ['stagePublishBaseDir']),
      ...(present?.plugin === plugin ? [] : ['plugin']),
    ];
    if (!present || changed.length === 0) return;
    // Includes volumes mounted through the plugin while it does not run.
    const mounted = this.#mounted(present.plugin);
    if (mounted.length === 0) return;
    const why = `its ${changed.join(' and ')} stays as it is while something is mounted there: ${mounted.join(', ')}`;
    throw new StagecraftError('PLUGIN_IN_USE', `task ${id} was not changed: ${why}; release that first`, { address });
  }

  /**
   * Names what needs the plugin of a task.
   * @throws StagecraftError PLUGIN_IN_USE unless forced
   */
  async #dependentsOf(id: string, address: string, { force = false, isLast = false }: StopOptions): Promise<string[]> {
    const advice = isLast ? '' : '; release that first, or stop it with force';
    const view = this.#tasks.peek(address);
    const instances = view ? registeredInstances(view.context) : [];
    try {
      const dependents = await this.#dependents(instances);
      if (dependents.length === 0 || force) return dependents;
      throw inUse(id, address, `it is in use by ${dependents.join(', ')}${advice}`);
    } catch (error) {
      if (force) return [];
      if (error instanceof StagecraftError && error.code === 'PLUGIN_IN_USE') throw error;
      throw inUse(id, address, `it can't be known what uses it (${messageOf(error)})${advice}`, error);
    }
  }

  #statusOf({ state, context }: TaskView): TaskStatus | undefined {
    const { spec: recorded, run, spawned, ready, health, reason, nextStartAtMs } = context;
    // No commit ends in `ended`, and a removed task has no status.
    if (!recorded || state === 'ended' || state === 'removed') return undefined;
    const { envDigest: _, ...spec } = recorded;
    return {
      id: spec.id,
      state,
      spec: { ...spec, env: Object.keys(spec.env) },
      ...(run ? { allocId: run.allocId } : {}),
      ...(spawned?.process && hasProcess.has(state) ? { pid: spawned.process.pid } : {}),
      ...(spec.command ? { logPath: this.#logs.pathOf(spec.id) } : {}),
      ...(ready ? { pluginName: ready.pluginName } : {}),
      ...health,
      ...(reason === null ? {} : { reason }),
      ...(typeof nextStartAtMs === 'number' && { nextStartAtMs }),
    };
  }

  #ended(address: string, { id, endsWithClose }: { id: string; endsWithClose: boolean }): Promise<true> {
    return this.#waiters.until(address, () => {
      const view = this.#tasks.peek(address);
      const isRemoved = !this.#tasks.has(address); // somebody else has stopped and removed it
      if (view?.state === 'stopped' || isRemoved) return true;
      if (endsWithClose) this.#closing.refuseIfClosed();
      if (view?.state === 'stopping') return undefined;
      throw notStopped(id, address, view);
    });
  }
}

const inUse = (id: string, address: string, why: string, cause?: unknown): StagecraftError =>
  new StagecraftError('PLUGIN_IN_USE', `task ${id} was not stopped: ${why}`, {
    address,
    ...(cause === undefined ? {} : { cause }),
  });

const startedAgain = (id: string, address: string): StagecraftError =>
  new StagecraftError('ABORTED', `task ${id} was started again before its stop was done`, { address });

const notFound = (id: string): StagecraftError =>
  new StagecraftError('TASK_NOT_FOUND', `there is no task '${id}': list them, or start it with its spec`);

function notStopped(id: string, address: string, view: TaskView | undefined): StagecraftError {
  if (view && view.state !== 'failed') {
    return startedAgain(id, address);
  }
  const reason = view ? view.context.reason : 'it is out of service';
  return new StagecraftError('TASK_STOP_FAILED', `task ${id} could not be stopped: ${reason}`, { address });
}
