/** Converts arguments of `stagecraft driver-check` to the options of a run, and errors about options to usage errors. */
import { CommanderError } from 'commander';
import { StagecraftError } from '../errors.js';
import type { ByRpc, CheckDriverOptions } from '../tools/driver-check/options.js';
import { pairs } from './arguments.js';

/** Options of the command as they were given. */
export interface DriverCheckArguments {
  endpoint?: string;
  controllerEndpoint?: string;
  nodeEndpoint?: string;
  parameters?: ByRpc;
  secrets?: ByRpc;
  capability?: 'mount' | 'block';
  fsType?: string;
  size?: number;
  stagingDir?: string;
  targetDir?: string;
  otherNodeId?: string;
  topology?: string[];
  only?: string;
  skip?: string[];
  restartWait?: number;
  timeout?: number;
  cleanUp?: string;
  json?: boolean;
}

export function checkOptions(
  given: DriverCheckArguments,
  own: { prefix: string; signal: AbortSignal },
): CheckDriverOptions & { prefix: string } {
  const { capability, size, timeout, restartWait, topology, json: _, cleanUp: __, ...same } = given;
  return {
    ...same,
    ...(capability && { accessType: capability }),
    ...(size !== undefined && { sizeBytes: size }),
    ...(topology && { topology: pairs('--topology', topology) }),
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...(restartWait !== undefined && { restartWaitMs: restartWait }),
    ...own,
  };
}

/** @throws {CommanderError} if the error is about an option */
export function throwIfUsage(error: unknown): void {
  const isUsage = error instanceof StagecraftError && /^(INVALID_ARGUMENT|SOCKET_PATH_\w+)$/.test(error.code);
  if (isUsage) throw new CommanderError(usageExitCode, 'usage', error.message);
}

const usageExitCode = 2;
