/**
 * Runs the checks on a driver, one after the other, and cleans up behind each. A driver that breaks, hangs or dies makes
 * checks fail; the run goes on.
 */
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { messageOf, StagecraftError } from '../errors.js';
import { Bench } from './bench.js';
import { DriverCalls } from './calls.js';
import { type Check, type CheckResult, Verdict } from './check.js';
import { checks } from './checks/all.js';
import { clearDirectory, takeBack } from './clean-up.js';
import { Offers } from './offers.js';
import { type CheckDriverOptions, type Settings, settingsOf } from './options.js';

/**
 * Checks a driver against the specification: a result for each check, in their order, as it comes; the last, `clean-up`,
 * says whether all that the run made is gone. To end early, leave the loop or abort `signal`: it cleans up all the same.
 * @throws {StagecraftError} INVALID_ARGUMENT: an option; NOT_REACHABLE: nobody answers at an endpoint;
 *   CLEAN_UP_FAILED: the loop was left, and not all that the run made could be removed
 */
export async function* checkDriver(options: CheckDriverOptions): AsyncGenerator<CheckResult, void> {
  const settings = settingsOf(options);
  const calls = new DriverCalls(settings);
  try {
    await reach(calls);
    yield* new Run(calls, settings, options.signal).results();
  } finally {
    calls.close();
  }
}

/** Those in whose id or rule the text is found, in the order in which they are made. */
export const selectedChecks = (only = ''): readonly Check[] =>
  checks.filter(({ id, rule }) => `${id} ${rule}`.toLowerCase().includes(only.toLowerCase()));

async function reach(calls: DriverCalls): Promise<void> {
  for (const side of calls.sides()) {
    const { code, report } = await calls.ask('GetPluginInfo', {}, { side });
    if (code === 'UNAVAILABLE')
      throw new StagecraftError('NOT_REACHABLE', `the driver does not answer: ${report.answer}`);
  }
}

class Run {
  readonly #calls: DriverCalls;
  readonly #settings: Settings;
  readonly #signal: AbortSignal | undefined;
  /** Of this run alone. */
  readonly #stagingDir: string;
  readonly #targetDir: string;
  readonly #made: string[] = [];
  /** What could not be taken back after its check: the end of the run tries again. */
  readonly #stubborn = new Set<string>();
  /** The check after which the driver was gone. */
  #goneSince: string | undefined;

  constructor(calls: DriverCalls, settings: Settings, signal: AbortSignal | undefined) {
    this.#calls = calls;
    this.#settings = settings;
    this.#signal = signal;
    this.#stagingDir = join(resolve(settings.stagingDir ?? tmpdir()), `${settings.prefix}-s`);
    this.#targetDir = join(resolve(settings.targetDir ?? tmpdir()), `${settings.prefix}-t`);
  }

  async *results(): AsyncGenerator<CheckResult, void> {
    let cleaned: CheckResult | undefined;
    try {
      await this.#makeDirectories();
      this.#calls.cancelBy(this.#signal);
      yield* this.#checkAll();
      cleaned = await this.#cleanUp();
    } finally {
      // Its reader has left: nobody takes a result any more.
      if (!cleaned) await this.#cleanUpOrThrow();
    }
    yield cleaned;
  }

  async #makeDirectories(): Promise<void> {
    for (const directory of [this.#stagingDir, this.#targetDir]) {
      try {
        await mkdir(directory, { mode: 0o700 });
      } catch (cause) {
        const message = `${directory} can't be made, name another directory for the volumes: ${messageOf(cause)}`;
        throw new StagecraftError('INVALID_ARGUMENT', message, { cause });
      }
      this.#made.push(directory);
    }
  }

  async *#checkAll(): AsyncGenerator<CheckResult, void> {
    const bench = await this.#unlessAborted(async () => this.#bench());
    for (const check of bench ? selectedChecks(this.#settings.only) : []) {
      const result = await this.#unlessAborted(async () => this.#check(bench, check));
      if (!result) return;
      yield result;
    }
  }

  async #unlessAborted<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (this.#signal?.aborted) return undefined;
      throw error;
    }
  }

  async #bench(): Promise<Bench> {
    const offers = await Offers.read(this.#calls);
    const { sizeBytes, fsType, accessType, otherNodeId, parameters, prefix } = this.#settings;
    return new Bench({
      calls: this.#calls,
      offers,
      prefix,
      parameters,
      accessType,
      fsType,
      sizeBytes,
      otherNodeId,
      stagingDir: this.#stagingDir,
      targetDir: this.#targetDir,
    });
  }

  async #check(bench: Bench | undefined, check: Check): Promise<CheckResult> {
    const startedAtMs = performance.now();
    const { id, rpc, rule } = check;
    const verdict = bench && (await this.#verdictOf(bench, check));
    const durationMs = Math.round(performance.now() - startedAtMs);
    await takeBack(this.#calls, this.#stubborn);
    if (!verdict) return { id, rpc, rule, outcome: 'passed', durationMs };
    const { outcome, message: why, call } = verdict;
    return { id, rpc, rule, outcome, why, ...(call && { call }), durationMs };
  }

  /** @returns undefined: passed */
  async #verdictOf(bench: Bench, check: Check): Promise<Verdict | undefined> {
    this.#calls.forgetLast();
    try {
      await this.#needDriver();
      bench.offers.admit(check);
      await check.run(bench);
      return undefined;
    } catch (error) {
      if (!(error instanceof Verdict) || this.#signal?.aborted) throw error;
      if (this.#calls.last?.answer.startsWith('UNAVAILABLE')) this.#goneSince ??= check.id;
      return error;
    }
  }

  async #needDriver(): Promise<void> {
    if (this.#goneSince === undefined) return;
    const { code, report } = await this.#calls.ask('GetPluginInfo', {});
    if (code === 'UNAVAILABLE')
      throw new Verdict('blocked', `the driver is gone since ${this.#goneSince}: ${report.answer}`, report);
    this.#goneSince = undefined;
  }

  async #cleanUp(): Promise<CheckResult> {
    const startedAtMs = performance.now();
    this.#calls.cancelBy(undefined);
    this.#calls.hung.clear();
    let left = await takeBack(this.#calls, new Set());
    const unswept = await this.#clearDirectories();
    if (left.length > 0) left = await takeBack(this.#calls, new Set()); // a mount may have held it
    const why = [...left, ...unswept].join('; ');
    return {
      id: 'clean-up',
      rpc: '-',
      rule: 'All that the run made can be removed again.',
      outcome: why === '' ? 'passed' : 'failed',
      ...(why !== '' && { why: `still there: ${why}` }),
      durationMs: Math.round(performance.now() - startedAtMs),
    };
  }

  async #clearDirectories(): Promise<string[]> {
    const left: string[] = [];
    for (const directory of this.#made) left.push(...(await clearDirectory(directory, this.#settings.timeoutMs)));
    return left;
  }

  async #cleanUpOrThrow(): Promise<void> {
    const { why } = await this.#cleanUp();
    if (why !== undefined) throw new StagecraftError('CLEAN_UP_FAILED', `remove by hand what is ${why}`);
  }
}
