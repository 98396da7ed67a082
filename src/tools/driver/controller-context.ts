/** Shared by the handlers of the controller. */
import type { Budget } from './capacity.js';
import type { Contents } from './contents.js';
import type { DriverState } from './state.js';
import type { Measure } from './usage.js';

export interface ControllerContext {
  readonly state: DriverState;
  readonly contents: Contents;
  readonly budget: Budget;
  readonly measure: Measure;
  /** Undefined: volumes are used without being published by the controller. */
  readonly attach: AttachOptions | undefined;
}

export interface AttachOptions {
  /** Nodes besides our own. */
  readonly peerNodes: readonly string[];
  /** Volumes that may be published to each node; 0: any number. */
  readonly maxVolumesPerNode: number;
}
