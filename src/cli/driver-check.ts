/** `stagecraft driver-check`: options and input files. For the run and its output, see run-driver-check.ts. */
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parse } from 'yaml';
import { messageOf } from '../errors.js';
import type { ByRpc } from '../tools/driver-check/options.js';
import { collect, secondsIn, sizeIn } from './arguments.js';
import { print } from './output.js';
import type { DriverCheckArguments } from './run-driver-check.js';

export function addDriverCheck(program: Command): void {
  program
    .command('driver-check')
    .description('check any CSI driver against the specification; see docs/driver-check.md')
    .option('--endpoint <url>', 'socket of the whole driver: unix:///path/of/csi.sock')
    .option('--controller-endpoint <url>', 'socket of Identity and Controller, if Node has another one')
    .option('--node-endpoint <url>', 'socket of Identity and Node, if Controller has another one')
    .option('--parameters <file>', 'YAML or JSON file with parameters by RPC, e.g. of CreateVolume', byRpcIn)
    .option('--secrets <file>', 'YAML or JSON file with secrets by RPC', byRpcIn)
    .addOption(
      new Option(
        '--capability <type>',
        'type of the volumes (default: mount, and block where the driver supports it)',
      ).choices(['mount', 'block']),
    )
    .option('--fs-type <type>', 'file system of mounted volumes (default: the driver chooses)')
    .option('--size <size>', 'size of each volume, e.g. 64Mi (default: 1Gi)', sizeIn)
    .option('--staging-dir <path>', 'existing directory for staging paths (default: the directory for temporary files)')
    .option('--target-dir <path>', 'existing directory for target paths (default: the directory for temporary files)')
    .option('--other-node-id <id>', 'id of another node that the controller knows')
    .option('--topology <key=value>', 'topology of the volumes (default: that of the node); repeatable', collect)
    .option('--only <text>', 'only checks whose id or rule contains this text')
    .option('--skip <check>', 'leave out this check, or all checks whose ids begin with this text; repeatable', collect)
    .option('--restart-wait <seconds>', 'how long to wait for a driver that ended during a check (default: 30)', waitIn)
    .option('--timeout <seconds>', 'time limit of each call (default: 30)', secondsIn)
    .option('--clean-up <prefix>', 'run no check: remove what an earlier run with this prefix left at the driver')
    .option('--json', 'for programs')
    .action(async (given: DriverCheckArguments) => {
      if (given.cleanUp !== undefined) {
        const { runDriverCleanUp } = await import('./run-driver-check.js');
        return runDriverCleanUp(given.cleanUp, given, print);
      }
      const { runDriverCheck } = await import('./run-driver-check.js');
      await runDriverCheck(given, print);
    });
}

/** Parses seconds, or 0 for no wait. @returns milliseconds */
const waitIn = (text: string): number => (text === '0' ? 0 : secondsIn(text));

function byRpcIn(file: string): ByRpc {
  try {
    const parsed: unknown = parse(readFileSync(file, 'utf8'));
    if (isByRpc(parsed)) return parsed;
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
  throw new InvalidArgumentError('The file must map names of RPCs to keys and texts, e.g. CreateVolume: {type: fast}');
}

/** Checks the shape only; the run validates the values. */
const isByRpc = (parsed: unknown): parsed is ByRpc =>
  typeof parsed === 'object' && parsed !== null && Object.values(parsed).every((one) => one instanceof Object);
