/**
 * The plugin side: plugins that are registered on this node, and tasks that run their processes, on the node's own engine. And what
 * the agent says of itself and of them in the roster.
 */
import { hostname } from 'node:os';
import { nodeOwnedPrefix } from '../../machines/kit/addresses.js';
import { pluginTypes } from '../../machines/task/task-context.js';
import type { PluginPort } from '../calls/plugin-port.js';
import type { PresenceOptions } from '../cluster/roster.js';
import { type RosterPlugin, rosterPluginOf } from '../cluster/roster-entry.js';
import { csiDispensers } from '../csi-plugins/dispenser.js';
import type { Clock } from '../engine/clock.js';
import type { ActorKind } from '../engine/effects/effects.js';
import type { Engine } from '../engine/engine.js';
import type { Logger } from '../engine/logger.js';
import { storeLevel } from '../engine/store-level.js';
import { Waiters } from '../engine/waiters.js';
import type { StagecraftError } from '../errors.js';
import type { DataDir } from '../host/data-dir.js';
import { packageVersion } from '../host/version.js';
import type { MountClient } from '../mounts/mount-client.js';
import type { NodeProcesses } from '../mounts/mount-kind.js';
import { Clients } from '../registry/clients.js';
import { InstanceHealth } from '../registry/instance-health.js';
import { pluginKinds } from '../registry/kinds.js';
import { PluginRegistry } from '../registry/plugin-registry.js';
import { defaultTimes } from '../requests/settings.js';
import { noSecrets, resolveSecrets } from '../secrets/secrets.js';
import { TaskEnvironments } from '../tasks/environments.js';
import { taskKind } from '../tasks/kinds.js';
import { haveNodeCallsEnded, nodeCallsProcess } from '../tasks/own-process.js';
import { TaskLogs } from '../tasks/task-logs.js';
import { type TaskStatus, TaskSupervisor } from '../tasks/task-supervisor.js';
import type { RuntimeOptions } from './options.js';
import { nodeSidePort, pluginPort, type TaskIdOf } from './plugin-port.js';
import type { RuntimeCounters } from './runtime-stats.js';

interface PluginSideOptions {
  runtime: RuntimeOptions;
  paths: Pick<DataDir, 'socketRoot' | 'salt'> & { dataDir: string };
  engine: Engine;
  mounts: Pick<MountClient, 'needing'>;
  stats: Pick<RuntimeCounters, 'called'>;
  clock: Clock;
  logger: Logger;
}

export class PluginSide {
  readonly plugins: PluginRegistry;
  readonly tasks: TaskSupervisor;
  /** Plugins as their controller calls see them. */
  readonly controllerPort: PluginPort;
  /** Plugins as their node calls see them. */
  readonly nodePort: PluginPort;
  readonly #options: PluginSideOptions;
  readonly #clients: Clients;
  readonly #logs: TaskLogs;
  readonly #environments: TaskEnvironments;
  /** Callers that wait for a check of an instance. */
  readonly #asked = new Waiters();

  constructor(options: PluginSideOptions) {
    this.#options = options;
    const { runtime, paths, engine, mounts, stats, clock, logger } = options;
    const { nodeId: node, secrets = noSecrets } = runtime;
    const dispensers = csiDispensers({ onCall: (info, call) => stats.called(info, call) });
    const clients = new Clients({ ...dispensers, ...runtime.dispensers }, { clock, logger });
    this.#clients = clients;
    this.#logs = new TaskLogs({ paths, clock, logger, ...runtime.logs });
    this.#environments = new TaskEnvironments({
      clock,
      resolve: (refs, signal) => resolveSecrets(secrets, refs, { clock, signal }),
    });
    this.plugins = new PluginRegistry({
      ...{ node, engine, clients, clock, logger, asked: this.#asked, dependents: runtime.dependents },
      needing: ({ type, name }) => (type === 'csi-node' ? mounts.needing(name) : []),
    });
    this.tasks = new TaskSupervisor({
      ...{ node, engine, logs: this.#logs, environments: this.#environments },
      dependents: (instances) => this.plugins.dependentsOf(instances),
      mounted: (plugin) => mounts.needing(plugin),
    });
    const taskIdOf: TaskIdOf = (type, plugin) => this.#taskOf(type, plugin)?.id;
    this.controllerPort = pluginPort(this.plugins, taskIdOf);
    this.nodePort = nodeSidePort(this.plugins, taskIdOf);
  }

  /** Processes that serve the node calls of plugins. */
  get nodeProcesses(): NodeProcesses {
    const { engine, runtime } = this.#options;
    return { of: (plugin) => nodeCallsProcess(engine, runtime.nodeId, plugin), hasEnded: haveNodeCallsEnded };
  }

  /** Directory where a plugin sees its own paths of this host, if elsewhere. */
  baseDirOf(plugin: string): string | undefined {
    return this.#taskOf('csi-node', plugin)?.spec.stagePublishBaseDir;
  }

  /**
   * Kinds of its actors, for the engine to host.
   * @param host `share`: makes the directory of mounts visible in the containers of plugins
   */
  kinds(host: { share(): Promise<void> }): ActorKind[] {
    const { runtime, paths, engine, clock, logger } = this.#options;
    const health = new InstanceHealth({ node: runtime.nodeId, engine });
    return [
      ...pluginKinds({
        ...{ ...defaultTimes, ...runtime.fingerprint, clients: this.#clients, clock, asked: this.#asked },
        checked: (address, seen) => this.plugins.checked(address, seen),
      }),
      taskKind({
        ...{ paths, logs: this.#logs, environments: this.#environments, clock, logger },
        prepareHost: ({ stagePublishBaseDir }) => (stagePublishBaseDir === undefined ? undefined : host.share()),
        probe: (info, signal) => this.#clients.look(info, signal),
        gone: (instance, signal) => this.plugins.gone(instance, signal),
        watchHealth: (instances, options, tell) => health.watch(instances, options, tell),
      }),
    ];
  }

  /** Accepts nothing more. */
  refuse(reason?: StagecraftError): void {
    for (const part of [this.plugins, this.tasks]) part.close(reason);
  }

  /** Ends all connections to plugins. */
  end(): void {
    this.#clients.end();
  }

  #taskOf(type: string, plugin: string): TaskStatus | undefined {
    return this.tasks.list().find(({ spec }) => spec.plugin === plugin && pluginTypes[spec.type].includes(type));
  }
}

interface PresenceOfOptions {
  nodeId: string;
  engine: Pick<Engine, 'observe'>;
  plugins: Pick<PluginRegistry, 'registered'>;
  port: Pick<PluginPort, 'observation'>;
  /** Node sides of the plugins. */
  nodeSide: Pick<PluginPort, 'observation'>;
  clock: Clock;
}

export type OwnPresence = Pick<PresenceOptions, 'entry' | 'watch'>;

export function presenceOf(options: PresenceOfOptions): OwnPresence {
  const { nodeId, engine, plugins, port, nodeSide, clock } = options;
  const host = hostname();
  const version = packageVersion();
  const startedAtMs = clock.now();
  const prefixes = ['plugins', 'plugin'].map((machine) => nodeOwnedPrefix(machine, nodeId));
  return {
    entry: () => {
      const types = new Map<string, string[]>();
      for (const type of ['csi-controller', 'csi-node'])
        for (const { name } of plugins.registered(type)) types.set(name, [...(types.get(name) ?? []), type]);
      const entries = [...types].map(([name, of]): [string, RosterPlugin] => [
        name,
        rosterPluginOf(
          port.observation(name),
          of,
          of.includes('csi-node') ? nodeSide.observation(name).trouble : undefined,
        ),
      ]);
      return { host, version, level: storeLevel, startedAtMs, plugins: Object.fromEntries(entries) };
    },
    watch: (changed) =>
      engine.observe(({ address }) => {
        if (prefixes.some((prefix) => address.startsWith(prefix))) changed();
      }),
  };
}
