/** The bundled driver's options as plain data, which can cross a process boundary. */
import type { DriverOptions } from '../../driver/driver.js';
import { memoryLoopDevices, memoryMounts } from '../../driver/memory-mounts.js';

export interface PlainDriverOptions extends Omit<DriverOptions, 'mounts' | 'loopDevices'> {
  /**
   * `host`: real mounts, which need root and outlive the process; the default. `memory`: mounts that are only
   * remembered, and gone with the process.
   */
  mounts?: 'host' | 'memory';
}

export const driverOptionsOf = ({ mounts, ...options }: PlainDriverOptions): DriverOptions =>
  mounts === 'memory' ? { ...options, mounts: memoryMounts(), loopDevices: memoryLoopDevices() } : options;
