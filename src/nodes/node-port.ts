/** What the volumes need to know of nodes. */
import type { Segments } from '../../machines/kit/csi-types.js';

/** A plugin on a node that is ready. */
export interface NodeTarget {
  /** The plugin's own name for the node. Never empty. */
  csiNodeId: string;
  /** Where the plugin says it is; absent: it says nothing. */
  topology?: Segments;
  /** How many volumes of this plugin can be there; absent: any. */
  maxVolumes?: number;
}
