/** The bundled driver's options as plain data, which can cross a process boundary. */
import { z } from 'zod';
import { rpcs } from '../../csi/generated/plain.js';
import type { DriverOptions } from '../driver/driver.js';
import { memoryLoopDevices, memoryMounts } from '../driver/memory-mounts.js';

export interface PlainDriverOptions extends Omit<DriverOptions, 'mounts' | 'loopDevices'> {
  /**
   * `host` (default): real mounts, which need root and outlive the process. `memory`: simulated mounts, gone with the
   * process.
   */
  mounts?: 'host' | 'memory';
}

export const driverOptionsOf = ({ mounts, ...options }: PlainDriverOptions): DriverOptions =>
  mounts === 'memory' ? { ...options, mounts: memoryMounts(), loopDevices: memoryLoopDevices() } : options;

const absolute = z.string().startsWith('/', 'must be an absolute path');

const shapes = {
  socketPath: absolute,
  nodeId: z.string().min(1),
  dataDir: absolute,
  vendorVersion: z.string().optional(),
  capacityBytes: z.number().positive().optional(),
  attach: z.boolean().optional(),
  isShared: z.boolean().optional(),
  peerNodes: z.array(z.string()).optional(),
  maxVolumesPerNode: z.int().nonnegative().optional(),
  getSnapshot: z.boolean().optional(),
  mounts: z.enum(['host', 'memory']).optional(),
} satisfies Record<keyof PlainDriverOptions | 'socketPath', z.ZodType>;

const handlerNames = z.record(z.string(), z.unknown()).superRefine((handlers, { addIssue }) => {
  for (const name of Object.keys(handlers))
    if (!Object.hasOwn(rpcs, name)) addIssue({ code: 'custom', message: `CSI has no RPC ${JSON.stringify(name)}` });
});

export const processOptions = z.strictObject({
  ...shapes,
  takesOver: z.boolean().optional(),
  leavesSocket: z.boolean().optional(),
});

export const serveOptions = z.strictObject({ ...shapes, handlers: handlerNames.optional() });

/** @throws TypeError naming each option that is missing, unknown or of the wrong type */
export function checkPlainOptions(options: unknown, schema: typeof processOptions | typeof serveOptions): void {
  const { error } = schema.safeParse(options);
  if (!error) return;
  const faults = error.issues.map(({ path, message }) => `${path.join('.') || 'the options'}: ${message}`);
  throw new TypeError(`this fault driver can't be: ${faults.join('; ')}`);
}
