/**
 * Chooses the instance that gets the calls of a plugin, among all under its name. CSI requires them to offer the same. Where they
 * differ, one registered by mistake must not speak for the plugin: it is called only if no other one can serve. Pure.
 */
import type { PluginObservation } from './plugin-port.js';

export interface Instance {
  observation: PluginObservation;
  /** Why it can't be called. */
  trouble?: unknown;
}

/** Name of the service in the capabilities of a plugin. */
export const controllerService = 'CONTROLLER_SERVICE';

/** @param capability of the called service; or `controllerService`, the service itself */
export const offers = ({ hasService, capabilities }: PluginObservation, capability: string): boolean =>
  capability === controllerService ? hasService : capabilities?.has(capability) === true;

/**
 * Returns those that may speak for the plugin: an instance without the service counts only if no instance has it.
 * @param instances the preferred first
 */
export function speakers<T extends Instance>(instances: readonly T[]): readonly T[] {
  const serving = instances.filter(({ observation }) => observation.hasService);
  return serving.length > 0 ? serving : instances;
}

/** Chooses the one that offers the most of those that can be called; among equals, and where none can be, the preferred. */
export function chosenInstance<T extends Instance>(instances: readonly T[]): T | undefined {
  const candidates = speakers(instances);
  let best: T | undefined;
  for (const one of candidates) {
    if (one.trouble !== undefined) continue;
    if (!best || sizeOf(one) > sizeOf(best)) best = one;
  }
  return best ?? candidates[0];
}

const sizeOf = ({ observation }: Instance): number => observation.capabilities?.size ?? 0;
