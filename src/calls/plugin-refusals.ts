/** Calls that a plugin, as it was last observed, must not get: of another driver, or with an access mode that it lacks. */
import type { AccessMode, CallFailure, Capability } from '../../machines/kit/csi-types.js';
import type { VolumeCall } from '../../machines/volume/calls.js';
import type { PluginObservation } from './plugin-port.js';

/**
 * Compares a plugin's present driver with the driver that made a volume or snapshot, by their own names (GetPluginInfo).
 * Another driver may have been registered under the plugin's name since: asked to delete an unknown volume, it would report success.
 * @returns why the call must not be made. Undefined if it may, or if one of the drivers is not known
 */
export function otherDriver(
  { plugin, driver }: Pick<VolumeCall, 'plugin' | 'driver'>,
  { driver: present }: Pick<PluginObservation, 'driver'>,
): CallFailure | undefined {
  if (driver === undefined || present === undefined || driver === present) return undefined;
  const message =
    `plugin '${plugin}' is driver '${present}' now, but driver '${driver}' made this: no call was made. ` +
    `Register '${driver}' as '${plugin}' again, then retry; or, where '${present}' has taken over what '${driver}' made, ` +
    `retry and accept it: --accept-driver ${present}`;
  return { code: 'OTHER_DRIVER', message, final: true };
}

/** Access modes that CSI added with the capability SINGLE_NODE_MULTI_WRITER. */
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
