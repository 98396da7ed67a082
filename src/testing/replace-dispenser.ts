/** Lets a test say how plugins are, whoever really serves them. Not to be had by way of the runtime itself. */
import type { Dispenser } from '../registry/dispenser.js';
import { PluginRegistry } from '../registry/plugin-registry.js';
import { checkDispenser } from '../registry/validate.js';
import type { Runtime } from '../runtime/runtime.js';

/**
 * Puts a dispenser in the place of the one that speaks to plugins of this type. Their clients are closed, and each
 * instance is looked at with the new one at once: `waitFor` waits for that look. What was broadcast and is recorded stays.
 * @returns what puts the former one back, with a new look; twice is once, and after the runtime's end it is nothing
 * @throws StagecraftError NO_DISPENSER for a type that the runtime does not know; INVALID_ARGUMENT
 * @throws TypeError for what is no runtime
 */
export function replaceDispenser(runtime: Runtime, type: string, dispenser: Dispenser): () => void {
  const { plugins } = runtime;
  if (!(plugins instanceof PluginRegistry))
    throw new TypeError('replaceDispenser takes the runtime that createRuntime has resolved with');
  checkDispenser(type, dispenser);
  return PluginRegistry.replaceDispenser(plugins, type, dispenser);
}
