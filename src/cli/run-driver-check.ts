/**
 * Runs `stagecraft driver-check`, and prints a table, or JSON for programs; also its clean-up. For the checks, see
 * src/tools/driver-check.
 */
import { CommanderError } from 'commander';
import { StagecraftError } from '../errors.js';
import { oneLine, plainJson } from '../host/terminal-text.js';
import { callLine } from '../tools/driver-check/ask.js';
import { type CleanUpReport, cleanUpDriver } from '../tools/driver-check/clean-up-driver.js';
import { type ByRpc, type CheckDriverOptions, newPrefix, settingsOf } from '../tools/driver-check/options.js';
import { checkDriver, selectedChecks } from '../tools/driver-check/run.js';
import type { CheckResult, Outcome } from '../tools/driver-check/verdict.js';
import { pairs } from './arguments.js';
import { tableLine, widthsOf } from './print.js';
import { firstSignal } from './signals.js';

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

type Print = (text: string) => void;

export async function runDriverCheck(given: DriverCheckArguments, print: Print): Promise<void> {
  const stop = new AbortController();
  const options = checkOptions(given, { prefix: newPrefix(), signal: stop.signal });
  firstSignal()
    .then(() => stop.abort())
    .catch(() => {});
  const results = await checked(options, given.json ? jsonReport(print) : textReport(print, options));
  const failed = results.filter(({ outcome }) => outcome === 'failed').length;
  if (stop.signal.aborted) throw new StagecraftError('ABORTED', 'ended by a signal: the other checks were not run');
  if (failed > 0) throw new StagecraftError('DRIVER_CHECK_FAILED', `${failed} of the checks failed`);
}

/** Receives the results of a run. */
interface Report {
  begin(): void;
  /** Called for each result at once, as a run takes minutes. */
  add(result: CheckResult): void;
  end(results: CheckResult[]): void;
}

/** Runs the checks. However the run ends, the results so far are reported. */
async function checked(options: CheckDriverOptions, report: Report): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  try {
    settingsOf(options); // throws for wrong options, before any output
    report.begin();
    for await (const result of checkDriver(options)) {
      results.push(result);
      report.add(result);
    }
  } catch (error) {
    throwIfUsage(error);
    if (results.length > 0) report.end(results);
    throw error;
  }
  report.end(results);
  return results;
}

const order: readonly Outcome[] = ['passed', 'failed', 'warning', 'blocked', 'not offered', 'skipped'];

const jsonReport = (print: Print): Report => ({
  begin: () => {},
  add: () => {},
  end: (results) => print(plainJson(JSON.stringify(results, null, 2))),
});

function textReport(print: Print, { only, prefix }: CheckDriverOptions): Report {
  const sameRows = new SameRows(print);
  const header = ['CHECK', 'RESULT', 'RULE', 'WHY'];
  const rows = selectedChecks(only).map(({ id, rule }) => [id, '', rule, '']);
  // The reason is the last column, so its width does not matter.
  const widths = widthsOf([header, ...rows, ...order.map((outcome) => ['', outcome, '', ''])]);
  return {
    begin: () => {
      print(`all resources of this run have names that begin with ${prefix}-`);
      print(tableLine(header, widths));
    },
    add: (result) => {
      if (sameRows.add(result)) return;
      const { id, outcome, rule, why = '' } = result;
      print(tableLine([id, outcome, rule, why], widths));
    },
    end: (results) => {
      sameRows.end();
      print(summary(results));
    },
  };
}

/** Outcomes of checks that were not run: one row is enough for all with the same reason. */
const folded: readonly Outcome[] = ['blocked', 'not offered', 'skipped'];

/** Folds consecutive rows that say the same into the first row and a line that counts the others. */
class SameRows {
  readonly #print: Print;
  #first: CheckResult | undefined;
  #others: CheckResult[] = [];

  constructor(print: Print) {
    this.#print = print;
  }

  /** @returns whether the row repeats the row before, and needs no line of its own */
  add(result: CheckResult): boolean {
    const { outcome, why } = result;
    const isSame = folded.includes(outcome) && outcome === this.#first?.outcome && why === this.#first.why;
    if (isSame) this.#others.push(result);
    else {
      this.end();
      this.#first = result;
    }
    return isSame;
  }

  /** Prints the count of the rows that were folded last. */
  end(): void {
    const last = this.#others.at(-1);
    if (last) this.#print(`… and ${this.#others.length} more ${last.outcome} for the same reason, up to ${last.id}`);
    this.#others = [];
  }
}

function summary(results: CheckResult[]): string {
  const idsByCall = new Map<string, string[]>();
  for (const { id, outcome, call } of results) {
    if (outcome !== 'failed' || !call) continue;
    const line = oneLine(callLine(call));
    idsByCall.set(line, [...(idsByCall.get(line) ?? []), id]);
  }
  const calls = [...idsByCall].map(([line, ids]) => `${ids.join(', ')}: ${line}`);
  const counts = order.map((outcome) => `${results.filter((one) => one.outcome === outcome).length} ${outcome}`);
  const told = calls.length > 0 ? ['', 'The calls that failed:', ...calls] : [];
  return [...told, '', counts.join(', ')].join('\n');
}

function checkOptions(
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
function throwIfUsage(error: unknown): void {
  const isUsage = error instanceof StagecraftError && /^(INVALID_ARGUMENT|SOCKET_PATH_\w+)$/.test(error.code);
  if (isUsage) throw new CommanderError(usageExitCode, 'usage', error.message);
}

const usageExitCode = 2;

export async function runDriverCleanUp(prefix: string, given: DriverCheckArguments, print: Print): Promise<void> {
  const stop = new AbortController();
  firstSignal()
    .then(() =>
      stop.abort(new StagecraftError('ABORTED', 'ended by a signal: there may be more to remove, run it again')),
    )
    .catch(() => {});
  const report = await cleanedUp(checkOptions(given, { prefix, signal: stop.signal }));
  print(given.json ? plainJson(JSON.stringify(report, null, 2)) : textOf(report));
  if (report.left.length > 0)
    throw new StagecraftError(
      'CLEAN_UP_FAILED',
      `could not remove ${report.left.length} of the resources of run ${prefix}: use the driver's own tools`,
    );
}

async function cleanedUp(options: CheckDriverOptions & { prefix: string }): Promise<CleanUpReport> {
  try {
    return await cleanUpDriver(options);
  } catch (error) {
    throwIfUsage(error);
    throw error;
  }
}

function textOf({ removed, left, unknown }: CleanUpReport): string {
  const lines = [
    ...(removed.length === 0 ? ['nothing was removed'] : removed.map((what) => `removed: ${what}`)),
    ...left.map((what) => `still there: ${what}`),
    ...unknown.map((what) => `not known: ${what}`),
  ];
  return lines.map(oneLine).join('\n');
}
