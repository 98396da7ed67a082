/**
 * Compares the present driver with the maker of a volume or snapshot, by the driver's own name (GetPluginInfo). Another driver
 * may have taken the name of a plugin since. Asked to delete an unknown volume, that driver would say that this is done.
 */
import type { CallFailure } from '../../machines/kit/csi-types.js';
import type { VolumeCall } from '../../machines/volume/calls.js';
import type { PluginObservation } from './plugin-access.js';

/** Why a call is not made; undefined where it may be, also where one of the drivers is not known. */
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
