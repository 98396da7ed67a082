/** Ports through which volumes, nodes and mounts see the registered plugins. */
import { nodeOwnedPrefix } from '../../machines/kit/addresses.js';
import type { PluginScope } from '../../machines/kit/csi-types.js';
import type { NodePlugin } from '../../machines/node/node.js';
import type { PluginObservation, PluginPort } from '../calls/plugin-port.js';
import type { Engine } from '../engine/engine.js';
import type { NodePluginsPort } from '../nodes/node-reporter.js';
import type { PluginRegistry } from '../registry/plugin-registry.js';

/** Methods of the registry that are used here. */
type Registry = Pick<PluginRegistry, 'has' | 'seen' | 'dispense' | 'lookAgain' | 'watch'>;
type Seen = NonNullable<ReturnType<PluginRegistry['seen']>>;

const none: ReadonlySet<string> = new Set();

/** Whether a task of this runtime runs a plugin of this type. */
export type IsTasked = (type: string, plugin: string) => boolean;

/** Port to the controller services of plugins. */
export function pluginPort(registry: Registry, isTasked: IsTasked): PluginPort {
  return {
    isKnown: (plugin) => types.some((type) => registry.has(type, plugin)),
    observation: (plugin) => observationOf(registry, plugin, isTasked),
    client: (plugin) => registry.dispense(controllerType, plugin),
    lookAgain: (plugin) => registry.lookAgain(controllerType, plugin),
    watch: (plugin, changed) => {
      const ends = types.map((type) => registry.watch(type, plugin, changed));
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

/** Port to the node services of plugins on this host. */
export const nodeSidePort = (registry: Registry, isTasked: IsTasked): PluginPort => ({
  isKnown: (plugin) => registry.has(nodeType, plugin),
  observation: (plugin) => nodeObservationOf(registry, plugin, isTasked),
  client: (plugin) => registry.dispense(nodeType, plugin),
  lookAgain: (plugin) => registry.lookAgain(nodeType, plugin),
  watch: (plugin, changed) => registry.watch(nodeType, plugin, changed),
});

/** This host as its csi-node plugins describe it. */
export const nodePluginsPort = (
  node: string,
  engine: Pick<Engine, 'observe'>,
  registry: Pick<PluginRegistry, 'registered' | 'seen'>,
): NodePluginsPort => ({
  present: () => new Map(registry.registered(nodeType).map(({ name }) => [name, nodePluginOf(registry, name)])),
  watch: (changed) => {
    const prefixes = ['plugins', 'plugin'].map((machine) => `${nodeOwnedPrefix(machine, node)}${nodeType}/`);
    return engine.observe(({ address }) => {
      if (prefixes.some((prefix) => address.startsWith(prefix))) changed();
    });
  },
});

function nodePluginOf(registry: Pick<PluginRegistry, 'seen'>, name: string): NodePlugin | undefined {
  const { healthy, fingerprint } = registry.seen(nodeType, name)?.status ?? {};
  const { nodeId, topology, maxVolumes } = fingerprint ?? {};
  if (!healthy || nodeId === undefined) return undefined;
  return {
    name,
    nodeId,
    ...(topology && Object.keys(topology).length > 0 && { topology }),
    ...(maxVolumes !== undefined && maxVolumes > 0 && { maxVolumes }),
  };
}

const controllerType = 'csi-controller';
const nodeType = 'csi-node';
const types = [controllerType, nodeType];

const absent: PluginObservation = {
  trouble: 'it is not registered',
  troubleKind: 'absent',
  pluginCapabilities: none,
  hasService: false,
  wellAtMs: 0,
};

/** Healthy by its record, but not seen healthy in this run. */
const unseen = { trouble: 'it was not seen well yet', troubleKind: 'unseen' } as const;

function observationOf(plugins: Registry, plugin: string, isTasked: IsTasked): PluginObservation {
  const controller = plugins.seen(controllerType, plugin);
  const seen = controller ?? plugins.seen(nodeType, plugin);
  if (!seen) {
    const why = types.some((type) => isTasked(type, plugin)) ? `: ${taskOf(plugin)}` : '';
    return { ...absent, trouble: `${absent.trouble}${why}` };
  }
  const observation = healthOf(seen);
  // A plugin without a controller service offers nothing of it, and that is known.
  if (seen.status.fingerprint.pluginCapabilities?.includes('CONTROLLER_SERVICE') === false)
    return { ...observation, capabilities: none, hasService: false };
  if (controller) return { ...observation, hasService: true, ...offered(controller) };
  const trouble = observation.trouble ?? `its controller side is not registered: register it as ${controllerType}`;
  // The node side may be a driver with another name of its own.
  const { driver: _, ...known } = observation;
  return { ...known, trouble, hasService: true };
}

function nodeObservationOf(plugins: Registry, plugin: string, isTasked: IsTasked): PluginObservation {
  const seen = plugins.seen(nodeType, plugin);
  if (seen) return { ...healthOf(seen), hasService: true, ...offered(seen) };
  const next = isTasked(nodeType, plugin) ? taskOf(plugin) : `register it as ${nodeType}`;
  return { ...absent, trouble: `its node side is not registered here: ${next}` };
}

/** In words that hold whatever its task does: a waiting call is reported once. */
const taskOf = (plugin: string): string =>
  `its task ${plugin} has not brought it up, see stagecraft task status ${plugin}`;

/** Scope from the registration, else from the driver. Default for a driver that has answered: `shared`. */
function scopeOf({ status: { info, fingerprint } }: Seen): PluginScope | undefined {
  const configured = info.options?.scope;
  if (configured === 'host' || configured === 'shared') return configured;
  return fingerprint.pluginName === undefined ? undefined : (fingerprint.scope ?? 'shared');
}

function healthOf(seen: Seen): Omit<PluginObservation, 'hasService' | 'capabilities'> {
  const { status, isSeenHealthy } = seen;
  const scope = scopeOf(seen);
  const driver = status.fingerprint.pluginName;
  const isSole = status.info.options?.controllers === 'one';
  return {
    ...(scope && { scope }),
    ...(driver !== undefined && { driver }),
    ...(isSole && { isSole }),
    pluginCapabilities: new Set(status.fingerprint.pluginCapabilities),
    wellAtMs: isSeenHealthy ? (status.checkedAt ?? 0) : 0,
    ...(!isSeenHealthy && (status.healthy ? unseen : { trouble: status.description })),
  };
}

/** Capabilities of the service that was looked at, as far as they are known. */
function offered({ status: { fingerprint } }: Seen): Pick<PluginObservation, 'capabilities'> {
  const { capabilities } = fingerprint;
  return capabilities ? { capabilities: new Set(capabilities) } : {};
}
