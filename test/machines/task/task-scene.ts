/** A task machine under plain XState: its effects end as the test says, time and chance are the test's own. */
import { createActor, fromCallback, fromPromise, SimulatedClock, waitFor } from 'xstate';
import type { MessageParams } from '../../../machines/kit/host.js';
import { taskMachine } from '../../../machines/task/task.js';
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
  TaskHealth,
  TaskRun,
  TaskSpec,
} from '../../../machines/task/task-types.js';
import { seededRandom } from '../../../src/testing/seeded-random.js';
import { anyStamp, Runs, stamped } from '../stamped.js';

export const node = 'worker-1';

export const spec: TaskSpec = {
  id: 'ebs',
  type: 'node',
  plugin: 'ebs',
  command: ['ebs-csi', '--node'],
  env: {},
  healthTimeoutMs: 30_000,
  restart: { maxRestarts: 2, windowMs: 60_000, backoff: { initialMs: 1_000, maxMs: 8_000 } },
};

export const ready: ReadyReport = { pluginName: 'ebs.csi.aws.com', vendorVersion: '1.2.3' };

type State = 'stopped' | 'starting' | 'waiting' | 'running' | 'backing-off' | 'stopping' | 'failed';

export class TaskScene {
  readonly spawns = new Runs<
    { spec: TaskSpec; run: TaskRun; previous: ProcessIdentity | null; kept?: string[] | undefined },
    Spawned
  >();
  readonly readies = new Runs<{ spec: TaskSpec; spawned: SpawnedRun }, ReadyReport>();
  readonly watches = new Runs<{ spec: TaskSpec; spawned: SpawnedRun; withTail: boolean }, ProcessEnd>();
  readonly endings = new Runs<
    { spec: TaskSpec; registered: Registered | null; process: ProcessIdentity | null },
    void
  >();
  /** The instances whose health is watched now. */
  watched: PluginKey[] | undefined;
  readonly told: TaskChanged[] = [];
  /** What was asked of plugins actors. */
  readonly messages: MessageParams[] = [];
  /** What instances were told of their process. */
  readonly losses: MessageParams[] = [];
  readonly #clock = new SimulatedClock();
  readonly #actor;

  /** @param seed of the chance that events carry */
  constructor(seed = 1) {
    const { next } = seededRandom(seed);
    const machine = taskMachine.provide({
      actors: {
        spawnProcess: fromPromise(this.spawns.begin),
        awaitReady: fromPromise(this.readies.begin),
        watchProcess: fromPromise(this.watches.begin),
        endProcesses: fromPromise(this.endings.begin),
        watchHealth: fromCallback<HealthEvent, { instances: PluginKey[] }>(({ input }) => {
          this.watched = input.instances;
          return () => {
            this.watched = undefined;
          };
        }),
      },
      actions: { messages: (_, params) => this.#take(params) },
    });
    const logic = stamped(machine, () => ({ at: this.#clock.now(), random: next() }));
    this.#actor = createActor(logic, { input: { node }, clock: this.#clock });
    this.#actor.on('*', (event) => this.told.push(event));
    this.#actor.start();
  }

  get state(): string {
    return this.#actor.getSnapshot().value;
  }

  get context(): TaskContext {
    return this.#actor.getSnapshot().context;
  }

  /** What was emitted, by type. */
  get toldTypes(): string[] {
    return this.told.map(({ type }) => type);
  }

  /** What was asked of plugins actors, in short, and forgotten. */
  takeMessages(): string[] {
    return this.messages.splice(0).map((message) => {
      if (!('event' in message)) return `${message.to} begins`;
      const { type, info, allocId } = message.event;
      return `${message.to} ${type} ${info?.allocId ?? allocId}`;
    });
  }

  start(wanted: TaskSpec = spec): this {
    this.#actor.send({ type: 'task.start', spec: wanted, ...anyStamp });
    return this;
  }

  stop(dependents?: string[]): this {
    this.#actor.send({ type: 'task.stop', ...(dependents && { dependents }), ...anyStamp });
    return this;
  }

  remove(): this {
    this.#actor.send({ type: 'task.remove', ...anyStamp });
    return this;
  }

  restart(): this {
    this.#actor.send({ type: 'task.restart', ...anyStamp });
    return this;
  }

  /** How its plugin is found to be. */
  health(health: TaskHealth): this {
    this.#actor.send({ type: 'health.changed', health, ...anyStamp });
    return this;
  }

  get nowMs(): number {
    return this.#clock.now();
  }

  /** Lets this much time pass. */
  elapse(ms: number): this {
    this.#clock.increment(ms);
    return this;
  }

  async reaches(...states: State[]): Promise<this> {
    await waitFor(this.#actor, (snapshot) => states.some((state) => snapshot.matches(state)));
    return this;
  }

  /** The process of the present run is there. */
  async spawn(kept = this.spawns.last.input.kept): Promise<this> {
    const { spec, run } = this.spawns.last.input;
    const process = spec.socket ? null : { pid: 100 + this.spawns.all.length, bootId: 'boot', startTime: 7 };
    const socketPath = spec.socket ?? `/data/plugins/${run.allocId}/csi.sock`;
    this.spawns.last.resolve({ ...run, process, socketPath, ...(kept && { kept }) });
    return this.reaches('waiting');
  }

  /** The plugin of the present run answers. */
  async answer(report: ReadyReport = ready): Promise<this> {
    this.readies.last.resolve(report);
    return this.reaches('running');
  }

  /** The process of the present run ends. */
  async exit(end: ProcessEnd = { code: 1 }): Promise<this> {
    this.watches.last.resolve(end);
    return this.reaches('backing-off', 'stopping');
  }

  /** From wherever a run begins to `running`. */
  async run(): Promise<this> {
    await this.spawn();
    return this.answer();
  }

  /** Its backoff passes, whatever it is. */
  async backOff(): Promise<this> {
    this.elapse(spec.restart.backoff.maxMs);
    return this.reaches('starting');
  }

  /** All its processes have ended. */
  async ended(): Promise<this> {
    this.endings.last.resolve();
    return this.reaches('stopped', 'failed');
  }

  #take(messages: MessageParams[]): void {
    for (const message of messages) {
      const isLoss = 'event' in message && message.event.type === 'plugin.lost';
      (isLoss ? this.losses : this.messages).push(message);
    }
  }

  /** The allocId of the nth run, from 0 on. */
  allocId(nth: number): string {
    const run = this.spawns.all[nth];
    if (!run) throw new Error(`there was no run ${nth}`);
    return run.input.run.allocId;
  }
}
