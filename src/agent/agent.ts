/**
 * The agent: one process that runs the runtime of a node, the configured tasks and the HTTP API (api.ts).
 * Prints what happens as plain lines (describe*.ts); structured logs go to stderr.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { addressParts, volumesPrefix } from '../../machines/kit/addresses.js';
import { TroubleLog } from '../engine/storage/trouble-log.js';
import { messageOf, StagecraftError } from '../errors.js';
import { plainJson } from '../host/terminal-text.js';
import { packageVersion } from '../host/version.js';
import type { Inspector } from '../inspector/serve-inspector.js';
import type { PluginEvent } from '../registry/plugin-events.js';
import { createRuntime, type LeadershipEvent, type Runtime } from '../runtime/runtime.js';
import type { SecretsProvider } from '../secrets/secrets.js';
import { secretsFrom } from '../secrets/secrets-providers.js';
import { taskMark } from '../tasks/paths.js';
import { findProcesses } from '../tasks/processes.js';
import { serveApi } from './api.js';
import { applyTasks, lateKeys } from './apply-config.js';
import type { AgentConfig } from './config.js';
import { whenGone } from './data-dir-gone.js';
import { describeAtEnd, describeStatus, describeTask, isLastWord, pluginTellers } from './describe.js';
import { describeAlloc, describeAllocEvent, mountTeller } from './describe-mounts.js';
import { describeLeader, describeNodeEvent, describeVolume, describeVolumeEvent } from './describe-volumes.js';
import { giveBackMemorySoon } from './give-back-memory.js';
import { openInspector } from './open-inspector.js';
import { agentSocketPath } from './places.js';
import { clusterOf, storeOf } from './store.js';

export interface Agent {
  /** Runtime, for other code in this process. `stop` closes it. */
  readonly runtime: Runtime;
  /** Path of the API's socket. */
  readonly socketPath: string;
  /**
   * Resolves once the agent has ended, for any reason. Rejects if something could not be released, or with DATA_DIR_GONE:
   * then the process has to exit at once.
   */
  readonly ended: Promise<void>;
  /**
   * Takes over the tasks of another configuration. Tasks that have not changed go on as they are; what else has changed is
   * printed, and holds from the next start.
   */
  reload(config: AgentConfig): Promise<void>;
  /** Ends the agent; safe to repeat. Plugin processes keep running unless `release` is set. */
  stop(options?: { release?: boolean }): Promise<void>;
}

type Print = (line: string) => void;

const eventRetryMs = 1_000;

/**
 * @param print receives one line for a person
 * @throws StagecraftError as createRuntime
 */
export async function startAgent(config: AgentConfig, print: Print): Promise<Agent> {
  const { nodeId, dataDir, dataDirAccess, retention, logs, fingerprint, log } = config;
  const { calls, retry, fencing, reconcile, stats, onPluginLoss, volumeNamePrefix } = config;
  const output = pino.destination(2);
  output.on('error', () => {}); // a terminal that is closed: the agent runs on without its log
  const logger = pino({ level: log.level }, { write: (line: string) => output.write(plainJson(line)) });
  const { kind: storeKind, words, ...store } = await storeOf(config);
  const runtime = await createRuntime({
    ...{ nodeId, dataDir, retention, logs, fingerprint, logger, ...store },
    ...(dataDirAccess !== undefined && { dataDirAccess }),
    ...{ calls, retry, fencing, reconcile, stats, onPluginLoss, volumeNamePrefix },
    ...{ ...secretsOf(config), ...clusterOf(config) },
  });
  const socketPath = agentSocketPath(runtime.dataDir);
  const version = packageVersion();

  let ending: Promise<void> | undefined;
  let end: (outcome: Promise<void>) => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  /** Tasks that a drain stops, until their end is printed. */
  const draining = new Set<string>();
  const drain = (): Promise<void> => stop({ release: true });
  const stop: Agent['stop'] = ({ release = false } = {}) => {
    const running = runtime.tasks.list().filter(({ state }) => state !== 'stopped');
    if (release) for (const { id } of running) draining.add(id);
    const closed = runtime.close({ release });
    if (!ending) {
      print(release ? 'stopping, plugin processes too' : 'stopping; plugin processes stay');
      ending = closed;
      watched.abort();
      end(
        closed
          .finally(tellDrained)
          .finally(closeApi)
          .finally(() => inspector?.close()),
      );
    }
    return closed;
  };
  /** Prints the end of drained tasks that no event has reported: events stop when the runtime closes. */
  const tellDrained = (): void => {
    const untold = runtime.tasks.list().filter(({ id }) => draining.has(id));
    for (const task of untold) print(`  ${describeAtEnd(task)}`);
  };
  // The caller reports a failed end. If the start fails there is no caller, so avoid an unhandled rejection.
  ended.catch(() => {});
  void runtime.lost.then((reason) => {
    print(`${reason.message}: ending; plugin processes stay`);
    // `ended` rejects with the same reason.
    stop().catch(() => {});
  });
  // Closes nothing: the socket path may be another agent's by now, and closing would remove the socket.
  const watched = new AbortController();
  void whenGone(runtime.dataDir, { warn: (line) => logger.warn({}, line), signal: watched.signal }).then((reason) => {
    if (!ending) end(Promise.reject(reason));
  });
  let closeApi: () => Promise<void> = async () => {};
  let inspector: Inspector | undefined;
  /** Configuration in force: of the tasks those that could be applied. */
  let present: AgentConfig;
  try {
    const found = await foundPids(runtime);
    const warn = (line: string): void => logger.warn({}, line);
    inspector = await openInspector(runtime, { ...config.inspector, version, warn }, print);
    const { allowSend } = config.inspector;
    const links = { allowSend, pageUrl: () => inspector?.url, ...(inspector && { metrics: inspector.metrics }) };
    closeApi = await serveApi({ runtime, socketPath, version, storeKind, drain, warn, ...links });
    print(`stagecraft agent ${version} on node ${nodeId}, pid ${process.pid}`);
    if (config.file !== undefined) print(`  conf  ${config.file}`);
    print(`  data  ${runtime.dataDir} (${words})`);
    print(`  api   unix://${socketPath}`);
    if (inspector) print(`  page  ${inspector.url}`);
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
    const tellOwned = ownedTeller(options, runtime, print);
    tellOwned(runtime.leadership.isOurs);
    void tell(options, () => runtime.leadership.updates(), leadershipTeller(runtime, tellOwned, print));
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
    present = { ...config, tasks: await applyTasks(runtime, config, print) };
    giveBackMemorySoon();
  } catch (error) {
    // The caller gets the error of the start; a failure to stop is only logged.
    await stop().catch((stopError: unknown) =>
      logger.error({}, `the agent did not start, and did not stop cleanly either: ${messageOf(stopError)}`),
    );
    throw error;
  }
  let reloading = Promise.resolve();
  const reload: Agent['reload'] = (next) => {
    reloading = reloading.then(async () => {
      print('the configuration was read again');
      const late = lateKeys(present, next);
      if (late.length > 0) print(`  changes of ${late.join(', ')} hold from the next start of the agent`);
      present = { ...present, tasks: await applyTasks(runtime, next, print, present.tasks) };
    });
    return reloading;
  };
  return { runtime, socketPath, ended, reload, stop };
}

/** Finds plugin processes of earlier agents that still live, by the marks in their environment. */
async function foundPids({ dataDir, tasks }: Runtime): Promise<Set<number | undefined>> {
  const searches = tasks.list().map(({ id }) => findProcesses(taskMark({ dataDir }, id)));
  return new Set((await Promise.all(searches)).flat().map(({ identity }) => identity.pid));
}

/** Prints the events that have a description. */
const teller =
  <T>(describe: (event: T) => string | undefined, print: Print) =>
  (event: T): void => {
    const line = describe(event);
    if (line !== undefined) print(line);
  };

/** Prints events only while this agent leads: a term may have ended without news of another leader. */
const leaderTeller = <T>(
  { leadership }: Runtime,
  describe: (event: T) => string | undefined,
  print: Print,
): ((event: T) => void) => teller((event) => (leadership.isOurs ? describe(event) : undefined), print);

/** Follows the events of volumes and nodes while this agent leads: of many agents only one reads them. */
function ownedTeller(options: TellOptions, runtime: Runtime, print: Print): (isOurs: boolean) => void {
  let end: AbortController | undefined;
  return (isOurs) => {
    if (isOurs === (end !== undefined)) return;
    end?.abort();
    end = isOurs ? new AbortController() : undefined;
    if (!end) return;
    const { signal } = end;
    void tell(options, () => runtime.volumes.updates({ signal }), leaderTeller(runtime, describeVolumeEvent, print));
    void tell(options, () => runtime.nodes.updates({ signal }), leaderTeller(runtime, describeNodeEvent, print));
  };
}

/** Prints changes of the leader. An agent that leads at its start prints nothing. */
function leadershipTeller(
  runtime: Runtime,
  tellOwned: (isOurs: boolean) => void,
  print: Print,
): (event: LeadershipEvent) => void {
  let wasOurs = runtime.leadership.isOurs;
  return (event) => {
    const isOurs = event.nodeId === runtime.nodeId;
    tellOwned(isOurs);
    if (isOurs && wasOurs) return;
    wasOurs = isOurs;
    print(describeLeader(event, isOurs));
    if (isOurs) void tellPending(runtime, print);
  };
}

/** Allocs listed at the start; more are only counted. */
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
    print(`  can't list the volumes with work under way: ${messageOf(error)}`);
  }
}

interface TellOptions {
  runtime: Pick<Runtime, 'store'>;
  troubles: TroubleLog;
  isEnding(): boolean;
}

/** Prints events as they come, and goes on after lost or unreadable events. */
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

/** @returns options of `createRuntime`: no provider if none is configured */
export function secretsOf({ secrets }: Pick<AgentConfig, 'secrets'>): { secrets?: SecretsProvider } {
  if (!secrets) return {};
  const { directory, environment } = secrets;
  const env = typeof environment === 'string' ? { prefix: environment } : environment;
  return { secrets: secretsFrom({ ...(directory !== undefined && { directory }), env }) };
}

/** Volumes listed; more are only counted. */
const most = 20;
const atRest = ['created', 'published'];

/** Looks only at actors in memory: those of all volumes with work to do are there. */
async function pendingVolumes({ actors, volumes }: Pick<Runtime, 'actors' | 'volumes'>): Promise<string[]> {
  const pending = actors
    .list()
    .filter(({ address, path }) => address.startsWith(volumesPrefix) && !atRest.includes(path));
  const lines: string[] = [];
  for (const { address } of pending.slice(0, most)) {
    const [, namespace = '', id = ''] = addressParts(address);
    const volume = await volumes.get({ namespace, id });
    if (volume) lines.push(describeVolume(volume));
  }
  const more = pending.length - most;
  return more > 0 ? [...lines, `and ${more} more volumes: see stagecraft volume list`] : lines;
}
