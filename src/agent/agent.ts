/**
 * One process that runs everything of a node: the runtime, the tasks of its configuration, the HTTP API.
 * Says in plain lines what it does; structured logs go to stderr.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { TroubleLog } from '../engine/storage/trouble-log.js';
import { messageOf, StagecraftError } from '../errors.js';
import { packageVersion } from '../host/version.js';
import type { PluginEvent } from '../registry/plugin-events.js';
import { createRuntime, type LeadershipEvent, type Runtime } from '../runtime/runtime.js';
import { taskMark } from '../tasks/paths.js';
import { findProcesses } from '../tasks/processes.js';
import { serveApi } from './api.js';
import type { AgentConfig } from './config.js';
import { whenGone } from './data-dir-gone.js';
import { describeAtEnd, describeStatus, describeTask, isLastWord, pluginTellers } from './describe.js';
import { describeAlloc, describeAllocEvent, mountTeller } from './describe-mounts.js';
import { describeLeader, describeNodeEvent, describeVolumeEvent } from './describe-volumes.js';
import { pendingVolumes } from './pending-volumes.js';
import { secretsOf } from './secrets.js';
import { agentSocketPath } from './socket-path.js';
import { storeOf } from './store.js';

export interface Agent {
  /** For what runs beside it in this process. `stop` closes it. */
  readonly runtime: Runtime;
  /** Where its API listens. */
  readonly socketPath: string;
  /**
   * Resolves once it has ended, however that was asked for; rejects if something could not be released, or with
   * DATA_DIR_GONE, after which the process is to end at once.
   */
  readonly ended: Promise<void>;
  /** Ends it. Plugin processes stay unless they are released. Twice is once. */
  stop(options?: { release?: boolean }): Promise<void>;
}

type Print = (line: string) => void;

const eventRetryMs = 1_000;

/**
 * @param print takes one line for a person
 * @throws StagecraftError as createRuntime
 */
export async function startAgent(config: AgentConfig, print: Print): Promise<Agent> {
  const { nodeId, dataDir, retention, logs, fingerprint, log } = config;
  const { calls, retry, fencing, reconcile, stats, onPluginLoss, volumeNamePrefix } = config;
  const logger = pino({ level: log.level }, pino.destination(2));
  const { kind: storeKind, words, ...store } = storeOf(config);
  const runtime = await createRuntime({
    ...{ nodeId, dataDir, retention, logs, fingerprint, logger, ...store },
    ...{ calls, retry, fencing, reconcile, stats, onPluginLoss, volumeNamePrefix, ...secretsOf(config) },
  });
  const socketPath = agentSocketPath(runtime.dataDir);
  const version = packageVersion();

  let ending: Promise<void> | undefined;
  let end: (outcome: Promise<void>) => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  /** Of a drain: the tasks of which it was not told yet what became of them. */
  const draining = new Set<string>();
  const drain = (): Promise<void> => stop({ release: true });
  const stop: Agent['stop'] = ({ release = false } = {}) => {
    const running = runtime.tasks.list().filter(({ state }) => state !== 'stopped');
    if (release) for (const { id } of running) draining.add(id);
    const closed = runtime.close({ release });
    if (!ending) {
      print(release ? 'stopping, plugin processes too' : 'stopping; plugin processes stay');
      ending = closed;
      end(closed.finally(tellDrained).finally(closeApi));
    }
    return closed;
  };
  /** Who follows the events hears no more of them once the runtime has closed. */
  const tellDrained = (): void => {
    const untold = runtime.tasks.list().filter(({ id }) => draining.has(id));
    for (const task of untold) print(`  ${describeAtEnd(task)}`);
  };
  // Told by whoever awaits the end; an agent that never came up has nobody who does.
  ended.catch(() => {});
  void runtime.lost.then((reason) => {
    print(`${reason.message}: ending; plugin processes stay`);
    // Its rejection, with the same reason, is what `ended` tells.
    stop().catch(() => {});
  });
  // Nothing is closed: the path of its API may be another agent's by now, and would be removed with it.
  void whenGone(runtime.dataDir).then((reason) => {
    if (!ending) end(Promise.reject(reason));
  });
  let closeApi: () => Promise<void> = async () => {};
  try {
    const found = await foundPids(runtime);
    closeApi = await serveApi({ runtime, socketPath, version, storeKind, drain });
    print(`stagecraft agent ${version} on node ${nodeId}, pid ${process.pid}`);
    if (config.file !== undefined) print(`  conf  ${config.file}`);
    print(`  data  ${runtime.dataDir} (${words})`);
    print(`  api   unix://${socketPath}`);
    if (runtime.leadership.refusal) print(`  ${runtime.leadership.refusal}`);
    for (const { reason } of runtime.actors.quarantined()) print(`  ${reason}`);
    for (const { type, name } of runtime.plugins.list())
      print(`  ${describeStatus(runtime.plugins.status(type, name))}`);
    for (const task of runtime.tasks.list().filter(({ state }) => state !== 'stopped'))
      print(`  ${describeTask(task, found.has(task.pid))}`);
    await tellAllocs(runtime, print);
    const describe = pluginTellers();
    const troubles = new TroubleLog({ logger: { warn: (_, line) => print(line) } });
    const options: TellOptions = { runtime, troubles, isEnding: () => ending !== undefined };
    const tellPlugins = (event: PluginEvent): void => {
      if (!isLastWord(event)) print(describe.plugin(event));
    };
    void tell(options, () => runtime.plugins.updates(), tellPlugins);
    if (runtime.leadership.isOurs) await tellPending(runtime, print);
    void tell(options, () => runtime.volumes.updates(), leaderTeller(runtime, describeVolumeEvent, print));
    void tell(options, () => runtime.nodes.updates(), leaderTeller(runtime, describeNodeEvent, print));
    void tell(options, () => runtime.leadership.updates(), leadershipTeller(runtime, print));
    void tell(options, () => runtime.mounts.updates(), teller(mountTeller(), print));
    void tell(options, () => runtime.allocations.updates(), teller(describeAllocEvent, print));
    void tell(
      options,
      () => runtime.tasks.updates(),
      (update) => {
        if (update.change.type === 'stopped') draining.delete(update.change.id);
        print(describe.task(update));
      },
    );
    await applyTasks(runtime, config, print);
  } catch (error) {
    // What kept it from coming up is what counts; that it did not go down well either is logged.
    await stop().catch((stopError: unknown) => logger.error({}, `not stopped in order: ${messageOf(stopError)}`));
    throw error;
  }
  return { runtime, socketPath, ended, stop };
}

/** Of the processes that earlier agents started, those that still live, as far as it can be told by their marks. */
async function foundPids({ dataDir, tasks }: Runtime): Promise<Set<number | undefined>> {
  const searches = tasks.list().map(({ id }) => findProcesses(taskMark({ dataDir }, id)));
  return new Set((await Promise.all(searches)).flat().map(({ identity }) => identity.pid));
}

/** Prints what there is a line for. */
const teller =
  <T>(describe: (event: T) => string | undefined, print: Print) =>
  (event: T): void => {
    const line = describe(event);
    if (line !== undefined) print(line);
  };

/** Of an agent that leads, where others see the same events. */
const leaderTeller = <T>(
  { leadership }: Runtime,
  describe: (event: T) => string | undefined,
  print: Print,
): ((event: T) => void) => teller((event) => (leadership.isOurs ? describe(event) : undefined), print);

/** One that leads as it comes up has nothing new to say. */
function leadershipTeller(runtime: Runtime, print: Print): (event: LeadershipEvent) => void {
  let wasOurs = runtime.leadership.isOurs;
  return (event) => {
    const isOurs = event.nodeId === runtime.nodeId;
    if (isOurs && wasOurs) return;
    wasOurs = isOurs;
    print(describeLeader(event, isOurs));
    if (isOurs) void tellPending(runtime, print);
  };
}

/** More than these are counted only. */
const mostAllocs = 20;

async function tellAllocs({ allocations }: Runtime, print: Print): Promise<void> {
  const allocs = await allocations.list();
  for (const alloc of allocs.slice(0, mostAllocs)) print(`  ${describeAlloc(alloc)}`);
  const more = allocs.length - mostAllocs;
  if (more > 0) print(`  and ${more} more allocs: see stagecraft alloc list`);
}

async function tellPending(runtime: Runtime, print: Print): Promise<void> {
  try {
    for (const line of await pendingVolumes(runtime)) print(`  ${line}`);
  } catch (error) {
    print(`  what becomes of volumes is not known: ${messageOf(error)}`);
  }
}

/** Makes the running tasks those of the configuration. */
async function applyTasks({ tasks }: Runtime, config: AgentConfig, print: Print): Promise<void> {
  const wanted = new Set(config.tasks.map(({ id }) => id));
  // One that can't be started or stopped is told, and holds up no other.
  const tried = (what: string, change: Promise<void>): Promise<void> =>
    change.catch((error: unknown) => print(`  task ${what}: ${messageOf(error)}`));
  const unwanted = tasks.list().filter(({ id }) => !wanted.has(id));
  for (const { id } of unwanted) print(`  task ${id} is no longer configured: removing it`);
  await Promise.all(config.tasks.map((task) => tried(`${task.id} can't be started`, tasks.start(task))));
  for (const { id } of unwanted) void tried(`${id} can't be removed`, tasks.remove(id));
  const where = config.file ?? 'a file stagecraft.yaml here, or with --config FILE';
  if (wanted.size === 0) print(`  no tasks: name plugins to run in ${where}`);
}

interface TellOptions {
  runtime: Pick<Runtime, 'store'>;
  troubles: TroubleLog;
  isEnding(): boolean;
}

/** Prints events as they come. After lost or unreadable events, the next ones are printed. */
async function tell<T>(
  { runtime, troubles, isEnding }: TellOptions,
  follow: () => AsyncIterable<T>,
  take: (event: T) => void,
): Promise<void> {
  for (;;) {
    try {
      for await (const event of follow()) {
        troubles.over(follow);
        take(event);
      }
      return troubles.abandon(follow);
    } catch (error) {
      if (error instanceof StagecraftError && error.code === 'RUNTIME_CLOSED') return troubles.abandon(follow);
      const message = `some events are not shown: ${messageOf(error)}`;
      troubles.failed(follow, { subject: 'events', message, cause: error });
      const wasAway = !runtime.store.available;
      do await pause(eventRetryMs, undefined, { ref: false });
      while (!runtime.store.available && !isEnding());
      if (wasAway && runtime.store.available) troubles.over(follow);
    }
  }
}
