/** Registered plugins, as volumes and nodes need to know them. Composed in runtime.ts. */
import { nodeOwnedPrefix } from '../machines/addresses.js';
import type { NodePlugin } from '../machines/node.js';
import type { PluginPort, PluginSight } from './calls/plugin-access.js';
import type { Engine } from './engine/engine.js';
import type { PluginRegistry } from './registry/plugin-registry.js';
import type { NodePluginsPort } from './volumes/own-node.js';

const none: ReadonlySet<string> = new Set();

/** @param registry made by the time a plugin is asked for */
export function pluginPort(registry: () => PluginRegistry): PluginPort {
  return {
    isKnown: (plugin) => types.some((type) => registry().has(type, plugin)),
    sight: (plugin) => sightOf(registry(), plugin),
    client: (plugin) => registry().dispense(controllerType, plugin),
    lookAgain: (plugin) => registry().lookAgain(controllerType, plugin),
    watch: (plugin, changed) => {
      const ends = types.map((type) => registry().watch(type, plugin, changed));
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

/** What the csi-node plugins of this host say of it. */
export const nodePluginsPort = (
  node: string,
  engine: Pick<Engine, 'observe'>,
  registry: Pick<PluginRegistry, 'list' | 'seen'>,
): NodePluginsPort => ({
  present: () => new Map(registry.list(nodeType).map(({ name }) => [name, nodePluginOf(registry, name)])),
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

const absent: PluginSight = {
  trouble: 'it is not registered',
  troubleKind: 'absent',
  pluginCapabilities: none,
  hasController: false,
  wellAtMs: 0,
};

/** What is kept of it says that it is well, and what was seen in this run does not. */
const unseen = { trouble: 'it was not seen well yet', troubleKind: 'unseen' } as const;

function sightOf(plugins: PluginRegistry, plugin: string): PluginSight {
  const controller = plugins.seen(controllerType, plugin);
  const seen = controller ?? plugins.seen(nodeType, plugin);
  if (!seen) return absent;
  const { status, isSeenHealthy } = seen;
  const { capabilities, pluginCapabilities } = status.fingerprint;
  const sight: Omit<PluginSight, 'hasController'> = {
    pluginCapabilities: new Set(pluginCapabilities),
    wellAtMs: isSeenHealthy ? (status.checkedAt ?? 0) : 0,
    ...(!isSeenHealthy && (status.healthy ? unseen : { trouble: status.description })),
  };
  const hasService = pluginCapabilities?.includes('CONTROLLER_SERVICE');
  // A plugin that says it has no controller service offers nothing of it, and that is known.
  if (hasService === false) return { ...sight, capabilities: none, hasController: false };
  if (controller)
    return { ...sight, hasController: true, ...(capabilities && { capabilities: new Set(capabilities) }) };
  const trouble = sight.trouble ?? `its controller side is not registered: register it as ${controllerType}`;
  return { ...sight, trouble, hasController: true };
}
