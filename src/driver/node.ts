/** The Node service: volumes staged and published on this host. */
import type { CsiHandlers } from '../csi/server.js';
import type { DriverState } from './state.js';

export const nodeHandlers = ({ nodeId }: DriverState): CsiHandlers => ({
  NodeGetInfo: () => ({ nodeId }),
  NodeGetCapabilities: () => ({}),
});
