/** The controller side of registered plugins, as the volumes need to know it. Composed in runtime.ts. */
import type { PluginRegistry } from './registry/plugin-registry.js';
import type { PluginPort, PluginSight } from './volumes/plugin-access.js';

const none: ReadonlySet<string> = new Set();

/** @param registry made by the time a plugin is asked for */
export function pluginPort(registry: () => PluginRegistry): PluginPort {
  return {
    isKnown: (plugin) => types.some((type) => registry().seen(type, plugin) !== undefined),
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

const controllerType = 'csi-controller';
const nodeType = 'csi-node';
const types = [controllerType, nodeType];

function sightOf(plugins: PluginRegistry, plugin: string): PluginSight {
  const controller = plugins.seen(controllerType, plugin);
  const seen = controller ?? plugins.seen(nodeType, plugin);
  if (!seen) return { trouble: 'it is not registered', pluginCapabilities: none, hasController: false, wellAtMs: 0 };
  const { status, isSeenHealthy } = seen;
  const { capabilities, pluginCapabilities } = status.fingerprint;
  const sight = {
    pluginCapabilities: new Set(pluginCapabilities),
    wellAtMs: isSeenHealthy ? (status.checkedAt ?? 0) : 0,
    ...(!isSeenHealthy && { trouble: status.description }),
  };
  const hasService = pluginCapabilities?.includes('CONTROLLER_SERVICE');
  // A plugin that says it has no controller service offers nothing of it, and that is known.
  if (hasService === false) return { ...sight, capabilities: none, hasController: false };
  if (controller)
    return { ...sight, hasController: true, ...(capabilities && { capabilities: new Set(capabilities) }) };
  const trouble = sight.trouble ?? `its controller side is not registered: register it as ${controllerType}`;
  return { ...sight, trouble, hasController: true };
}
