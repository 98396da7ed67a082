/**
 * Compares a plugin's present driver with the driver that made a volume or snapshot, by their own names
 * (GetPluginInfo). Another driver may have been registered under the plugin's name since. Asked to delete an unknown
 * volume, that driver would report success.
 */
import type { CallFailure } from '../../machines/kit/csi-types.js';
import type { VolumeCall } from '../../machines/volume/calls.js';
import type { PluginObservation } from './plugin-port.js';

/** Returns why the call must not be made. Undefined if it may, or if one of the drivers is not known. */
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
