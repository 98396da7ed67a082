/** The gate before access modes that CSI has had only later: plugins that know them say so, their controller and node side alike. */
import type { AccessMode, Capability } from '../../machines/kit/csi-types.js';
import type { PluginObservation } from './plugin-access.js';

const newerModes: ReadonlySet<AccessMode> = new Set(['single-node-single-writer', 'single-node-multi-writer']);

/** Why the plugin can't be asked for one of these; undefined where it can, or where it has no service that could know. */
export function modeRefusal(
  { hasService, capabilities }: PluginObservation,
  asked: readonly (Capability | undefined)[],
): string | undefined {
  const newer = asked.find((capability) => capability && newerModes.has(capability.accessMode));
  if (!newer || !hasService || capabilities?.has('SINGLE_NODE_MULTI_WRITER')) return undefined;
  return `the plugin does not offer SINGLE_NODE_MULTI_WRITER: it does not know ${newer.accessMode}`;
}
