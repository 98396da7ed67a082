/** Who the driver is, and what it offers. */
import type { CsiHandlers } from '../csi/server.js';

/** The driver's own name, as GetPluginInfo gives it. */
export const driverName = 'hostpath.csi.stagecraft';

export const identityHandlers = (vendorVersion: string): CsiHandlers => ({
  GetPluginInfo: () => ({ name: driverName, vendorVersion }),
  GetPluginCapabilities: () => ({}),
  Probe: () => ({ ready: true }),
});
