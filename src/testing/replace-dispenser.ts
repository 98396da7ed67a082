/** Lets a test decide the observed state of plugins. Not reachable through the runtime itself. */
import type { Dispenser } from '../registry/dispenser.js';
import { PluginRegistry } from '../registry/plugin-registry.js';
import { checkDispenser } from '../registry/validate.js';
import type { Runtime } from '../runtime/runtime.js';

/**
 * Replaces the dispenser for plugins of this type. Closes their clients and probes each instance at once: `waitFor`
 * waits for that probe. Earlier broadcasts and records stay.
 * @returns a function that puts the former dispenser back, and probes again
 */
export function replaceDispenser(runtime: Runtime, type: string, dispenser: Dispenser): () => void {
  const { plugins } = runtime;
  if (!(plugins instanceof PluginRegistry))
    throw new TypeError('replaceDispenser takes the runtime that createRuntime has resolved with');
  checkDispenser(type, dispenser);
  return PluginRegistry.replaceDispenser(plugins, type, dispenser);
}
