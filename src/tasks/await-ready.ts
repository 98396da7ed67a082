/** Waits until a started plugin answers on its socket for each of its services. */
import { existsSync } from 'node:fs';
import type { Fingerprint, PluginInfo } from '../../machines/plugin/plugin.js';
import { pluginTypes } from '../../machines/task/task-context.js';
import type { ReadyReport, SpawnedRun, TaskSpec } from '../../machines/task/task-types.js';
import { type Clock, pause } from '../engine/clock.js';
import { answerWithin } from '../engine/deadline.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { TaskEnvironments } from './environments.js';
import { tailOf } from './log-tail.js';
import { isServedBy } from './own-process.js';
import { logPathOf, type TaskPaths } from './paths.js';

/** Looks once at a plugin that is not registered yet. */
export type ProbePlugin = (info: PluginInfo, signal: AbortSignal) => Promise<Fingerprint>;

interface ReadyRequest {
  spec: TaskSpec;
  spawned: SpawnedRun;
  signal: AbortSignal;
}

const probeMs = 5_000;
/** Pause between looks for the socket file. */
const socketWaitMs = 20;
const probeWaitMs = 500;

interface ReadyPorts {
  paths: TaskPaths;
  clock: Clock;
  probe: ProbePlugin;
  environments: Pick<TaskEnvironments, 'knownValues'>;
}

/** @throws StagecraftError NOT_READY with the last answer and the end of the log */
export async function awaitReady(
  { paths, clock, probe, environments }: ReadyPorts,
  { spec, spawned, signal }: ReadyRequest,
): Promise<ReadyReport> {
  const untilMs = clock.monotonicMs() + spec.healthTimeoutMs;
  let last = 'it was not asked yet';
  while (clock.monotonicMs() < untilMs) {
    signal.throwIfAborted();
    if (!existsSync(spawned.socketPath)) {
      last =
        spawned.process === null
          ? `there is no socket at ${spawned.socketPath}: is the plugin running?`
          : `it has made no socket at ${spawned.socketPath} (CSI_ENDPOINT tells it)`;
      await pause(clock, socketWaitMs, signal);
      continue;
    }
    const seen = await look(clock, probe, { spec, spawned, signal });
    const unhealthy = seen.find(({ healthy }) => !healthy);
    const basic = seen[0]?.basic;
    if (!unhealthy && basic) {
      const { pluginName, vendorVersion } = basic;
      const isServing = spawned.process !== null && isServedBy(spawned.process, spawned.socketPath);
      return { pluginName, vendorVersion, ...(isServing && { isServing }) };
    }
    last = unhealthy?.description ?? 'it does not say who it is';
    await pause(clock, probeWaitMs, signal);
  }
  signal.throwIfAborted();
  const tail = async (): Promise<string> =>
    tailOf(logPathOf(paths, spec.id), await environments.knownValues(spec, signal));
  const said = spawned.process === null ? '' : `; end of its log:\n${await tail()}`;
  throw new StagecraftError('NOT_READY', `not ready within ${spec.healthTimeoutMs} ms: ${last}${said}`);
}

async function look(clock: Clock, probe: ProbePlugin, { spec, spawned, signal }: ReadyRequest): Promise<Fingerprint[]> {
  const { allocId, socketPath } = spawned;
  try {
    const infos = pluginTypes[spec.type].map((type) => ({
      type,
      name: spec.plugin,
      allocId,
      connection: { socketPath },
    }));
    return await answerWithin({ clock, timeoutMs: probeMs, ends: [signal] }, (limit) =>
      Promise.all(infos.map((info) => probe(info, limit))),
    );
  } catch (error) {
    return [{ healthy: false, description: messageOf(error) }];
  }
}
