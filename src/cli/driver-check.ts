/** `stagecraft driver-check`: its options and its files. What it tells: driver-check-report.ts */
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parse } from 'yaml';
import type { ByRpc } from '../driver-check/options.js';
import { messageOf } from '../errors.js';
import { collect, secondsIn } from './arguments.js';
import { parseSize } from './size.js';

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
  only?: string;
  skip?: string[];
  restartWait?: number;
  timeout?: number;
  cleanUp?: string;
  json?: boolean;
}

type Print = (text: string) => void;

export function addDriverCheck(program: Command, print: Print): void {
  program
    .command('driver-check')
    .description('check any CSI driver against the specification; see docs/driver-check.md')
    .option('--endpoint <url>', 'unix:///path/of/csi.sock: where all of the driver is')
    .option('--controller-endpoint <url>', 'where Identity and Controller are, if those are apart')
    .option('--node-endpoint <url>', 'where Identity and Node are, if those are apart')
    .option('--parameters <file>', 'YAML or JSON: parameters by RPC, e.g. of CreateVolume', byRpcIn)
    .option('--secrets <file>', 'YAML or JSON: secrets by RPC', byRpcIn)
    .addOption(
      new Option(
        '--capability <type>',
        'the type of volumes (default: mount, and block where the driver takes it)',
      ).choices(['mount', 'block']),
    )
    .option('--fs-type <type>', 'of mounted volumes (default: what the driver chooses)')
    .option('--size <size>', 'of each volume, e.g. 64Mi (default: 1Gi)', bytesIn)
    .option('--staging-dir <path>', 'an existing directory for staging paths (default: that for temporary files)')
    .option('--target-dir <path>', 'an existing directory for target paths (default: that for temporary files)')
    .option('--other-node-id <id>', 'another node that the controller knows')
    .option('--only <text>', 'only the checks in whose id or rule this is found')
    .option('--skip <check>', 'leave out this check, or all whose names begin so; repeatable', collect)
    .option('--restart-wait <seconds>', 'for a driver that is gone after a check (default: 30)', waitIn)
    .option('--timeout <seconds>', 'of each call (default: 30)', secondsIn)
    .option('--clean-up <prefix>', 'make no check: remove what an earlier run with this prefix has left at the driver')
    .option('--json', 'for programs')
    .action(async (given: DriverCheckArguments) => {
      if (given.cleanUp !== undefined) {
        const { runDriverCleanUp } = await import('./driver-check-clean-up.js');
        return runDriverCleanUp(given.cleanUp, given, print);
      }
      const { runDriverCheck } = await import('./driver-check-report.js');
      await runDriverCheck(given, print);
    });
}

/** @returns milliseconds; 0: none */
const waitIn = (text: string): number => (text === '0' ? 0 : secondsIn(text));

function byRpcIn(file: string): ByRpc {
  try {
    const parsed: unknown = parse(readFileSync(file, 'utf8'));
    if (isByRpc(parsed)) return parsed;
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
  throw new InvalidArgumentError('The file must have the names of RPCs, and below each its names and texts.');
}

/** What the values are, the checks look at themselves. */
const isByRpc = (parsed: unknown): parsed is ByRpc =>
  typeof parsed === 'object' && parsed !== null && Object.values(parsed).every((one) => one instanceof Object);

function bytesIn(text: string): number {
  try {
    return parseSize(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}
