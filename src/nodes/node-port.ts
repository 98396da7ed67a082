/** Data of nodes that volumes need. */
import type { Segments } from '../../machines/kit/csi-types.js';

export interface NodeTarget {
  /** CSI node id of the node. Never empty. */
  csiNodeId: string;
  /** Topology of the node; absent if the plugin reports none. */
  topology?: Segments;
  /** Limit for volumes of this plugin on the node; absent: no limit. */
  maxVolumes?: number;
}
