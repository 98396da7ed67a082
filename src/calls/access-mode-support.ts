/**
 * Checks support of access modes that newer versions of CSI added: SINGLE_NODE_MULTI_WRITER, on controller and node
 * side.
 */
import type { AccessMode, Capability } from '../../machines/kit/csi-types.js';
import type { PluginObservation } from './plugin-port.js';

const newerModes: ReadonlySet<AccessMode> = new Set(['single-node-single-writer', 'single-node-multi-writer']);

/**
 * Returns why the plugin cannot serve one of these capabilities. Undefined if it can, or if it lacks the service that
 * would report it.
 */
export function modeRefusal(
  { hasService, capabilities }: PluginObservation,
  asked: readonly (Capability | undefined)[],
): string | undefined {
  const newer = asked.find((capability) => capability && newerModes.has(capability.accessMode));
  if (!newer || !hasService || capabilities?.has('SINGLE_NODE_MULTI_WRITER')) return undefined;
  return `the plugin does not offer SINGLE_NODE_MULTI_WRITER, which access mode ${newer.accessMode} needs`;
}
