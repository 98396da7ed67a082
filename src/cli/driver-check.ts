/** `stagecraft driver-check`: its options, its files, and its table. What is checked: src/driver-check. */
import { readFileSync } from 'node:fs';
import { type Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { parse } from 'yaml';
import { parseSize } from '../driver/capacity.js';
import type { CheckResult, Outcome } from '../driver-check/check.js';
import { type ByRpc, type CheckDriverOptions, newPrefix, settingsOf } from '../driver-check/options.js';
import { checkDriver, selectedChecks } from '../driver-check/run.js';
import { callLine } from '../driver-check/tell.js';
import { messageOf, StagecraftError } from '../errors.js';
import { secondsIn } from './arguments.js';
import { oneLine, tableLine, widthsOf } from './print.js';
import { firstSignal } from './signals.js';

interface Arguments {
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
  timeout?: number;
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
    .option('--timeout <seconds>', 'of each call (default: 30)', secondsIn)
    .option('--json', 'for programs')
    .action((given: Arguments) => runDriverCheck(given, print));
}

async function runDriverCheck(given: Arguments, print: Print): Promise<void> {
  const { capability, size, timeout, json = false, ...same } = given;
  const stop = new AbortController();
  const options: CheckDriverOptions = {
    ...same,
    ...(capability && { accessType: capability }),
    ...(size !== undefined && { sizeBytes: size }),
    ...(timeout !== undefined && { timeoutMs: timeout }),
    prefix: newPrefix(),
    signal: stop.signal,
  };
  firstSignal()
    .then(() => stop.abort())
    .catch(() => {}); // a signal that nobody can be told of ends nothing
  const results = await checked(options, json ? jsonReport(print) : textReport(print, options));
  const failed = results.filter(({ outcome }) => outcome === 'failed').length;
  if (stop.signal.aborted)
    throw new StagecraftError('ABORTED', 'ended by a signal: the checks that are missing were not made');
  if (failed > 0) throw new StagecraftError('DRIVER_CHECK_FAILED', `${failed} of the checks failed`);
}

/** How the results are told. */
interface Report {
  begin(): void;
  /** As it comes: a run takes minutes. */
  add(result: CheckResult): void;
  end(results: CheckResult[]): void;
}

/** Whatever ends the run, what was found out by then is told. */
async function checked(options: CheckDriverOptions, report: Report): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  try {
    settingsOf(options); // before anything is told
    report.begin();
    for await (const result of checkDriver(options)) {
      results.push(result);
      report.add(result);
    }
  } catch (error) {
    const isUsage = error instanceof StagecraftError && /^(INVALID_ARGUMENT|SOCKET_PATH_\w+)$/.test(error.code);
    if (isUsage) throw new CommanderError(usageExitCode, 'usage', error.message);
    if (results.length > 0) report.end(results);
    throw error;
  }
  report.end(results);
  return results;
}

const usageExitCode = 2;

const order: readonly Outcome[] = ['passed', 'failed', 'warning', 'blocked', 'not offered'];

const jsonReport = (print: Print): Report => ({
  begin: () => {},
  add: () => {},
  end: (results) => print(JSON.stringify(results, null, 2)),
});

function textReport(print: Print, { only, prefix }: CheckDriverOptions): Report {
  const header = ['CHECK', 'RESULT', 'RULE', 'WHY'];
  const rows = selectedChecks(only).map(({ id, rule }) => [id, '', rule, '']);
  // The reason stands last, so that its width does not matter.
  const widths = widthsOf([header, ...rows, ...order.map((outcome) => ['', outcome, '', ''])]);
  return {
    begin: () => {
      print(`all that is made is named ${prefix}-…`);
      print(tableLine(header, widths));
    },
    add: ({ id, outcome, rule, why = '' }) => print(tableLine([id, outcome, rule, why], widths)),
    end: (results) => print(summary(results)),
  };
}

function summary(results: CheckResult[]): string {
  const calls = results.flatMap(({ id, outcome, call }) =>
    outcome === 'failed' && call ? [`${id}: ${oneLine(callLine(call))}`] : [],
  );
  const counts = order.map((outcome) => `${results.filter((one) => one.outcome === outcome).length} ${outcome}`);
  const told = calls.length > 0 ? ['', 'The calls that failed:', ...calls] : [];
  return [...told, '', counts.join(', ')].join('\n');
}

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
