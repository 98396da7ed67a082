/** What the handlers of the controller share. */
import type { Budget } from './capacity.js';
import type { Contents } from './contents.js';
import type { DriverState } from './state.js';
import type { Measure } from './usage.js';

export interface ControllerContext {
  readonly state: DriverState;
  readonly contents: Contents;
  readonly budget: Budget;
  readonly measure: Measure;
  /** Undefined: volumes need not be published by the controller, and can't. */
  readonly attach: AttachOptions | undefined;
}

export interface AttachOptions {
  /** The nodes that there are besides our own. */
  readonly peerNodes: readonly string[];
  /** How many volumes may be published to each; 0: any number. */
  readonly maxVolumesPerNode: number;
}
