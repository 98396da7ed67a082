/** What `stagecraft driver-check` tells: its table, or all of it for programs. What is checked: src/driver-check */
import { CommanderError } from 'commander';
import type { CheckResult, Outcome } from '../driver-check/check.js';
import { type CheckDriverOptions, newPrefix, settingsOf } from '../driver-check/options.js';
import { checkDriver, selectedChecks } from '../driver-check/run.js';
import { callLine } from '../driver-check/tell.js';
import { StagecraftError } from '../errors.js';
import type { DriverCheckArguments } from './driver-check.js';
import { oneLine, tableLine, widthsOf } from './print.js';
import { firstSignal } from './signals.js';

type Print = (text: string) => void;

export async function runDriverCheck(given: DriverCheckArguments, print: Print): Promise<void> {
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
