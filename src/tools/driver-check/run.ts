/**
 * Runs the checks on a driver one after the other, and cleans up after each. A driver that fails, hangs or dies makes
 * checks fail; the run continues.
 */
import { mkdir } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { messageOf, StagecraftError } from '../../errors.js';
import { DriverCalls } from './calls.js';
import { Capabilities } from './capabilities.js';
import { checks } from './checks/all.js';
import { type Cleared, clearDirectory, type TakenBack, takeBack, takeBackListed } from './clean-up.js';
import { type Check, CheckContext } from './context.js';
import { mayMount, shareDirectory } from './host.js';
import { type Inventory, readInventory } from './inventory.js';
import {
  type CheckDriverOptions,
  directoriesOf,
  type RunDirectories,
  type RunDirectory,
  type Settings,
  settingsOf,
} from './options.js';
import { type CheckResult, Verdict } from './verdict.js';

/**
 * Checks a driver against the specification: a result for each check, in their order, as it comes; the last, `clean-up`,
 * says whether all that the run made is gone. To end early, leave the loop or abort `signal`: it cleans up all the same.
 * @throws {StagecraftError} INVALID_ARGUMENT: an option; NOT_REACHABLE: nobody answers at an endpoint;
 *   CLEAN_UP_FAILED: the loop was left, and not all that the run made could be removed
 */
export async function* checkDriver(options: CheckDriverOptions): AsyncGenerator<CheckResult, void> {
  const settings = settingsOf(options);
  if (selectedChecks(settings.only).length === 0)
    throw new StagecraftError('INVALID_ARGUMENT', `there is no check with ${JSON.stringify(settings.only)} in it`);
  for (const name of settings.skip) expectCheckToSkip(name);
  const calls = new DriverCalls(settings);
  calls.cancelBy(options.signal);
  try {
    if (await isReached(calls, options.signal)) yield* new Run(calls, settings, options.signal).results();
  } finally {
    calls.close();
  }
}

/** Returns the checks with this text in their id or rule, in their order. */
export const selectedChecks = (only = ''): readonly Check[] =>
  checks.filter(({ id, rule }) => `${id} ${rule}`.toLowerCase().includes(only.toLowerCase()));

function expectCheckToSkip(name: string): void {
  if (name !== '' && checks.some(({ id }) => id.startsWith(name))) return;
  const message = `there is no check to skip whose name begins with ${JSON.stringify(name)}: see docs/driver-check.md`;
  throw new StagecraftError('INVALID_ARGUMENT', message);
}

/** @returns false if the run was aborted before there was anything to clean up */
async function isReached(calls: DriverCalls, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await reach(calls);
    return true;
  } catch (error) {
    if (signal?.aborted) return false;
    throw error;
  }
}

/** @throws {StagecraftError} NOT_REACHABLE: no answer at an endpoint */
export async function reach(calls: DriverCalls): Promise<void> {
  for (const side of calls.sides()) {
    const { code, report } = await calls.ask('GetPluginInfo', {}, { side });
    if (code === 'UNAVAILABLE')
      throw new StagecraftError('NOT_REACHABLE', `the driver does not answer: ${report.answer}`);
  }
}

/** Codes of a call during which the driver dies; other failures have them, too. */
const deathRattle = /^(UNAVAILABLE|INTERNAL|CANCELLED)\b/;

/** Pause between two checks whether the driver is back, in milliseconds. */
const restartPauseMs = 100;

class Run {
  readonly #calls: DriverCalls;
  readonly #settings: Settings;
  readonly #signal: AbortSignal | undefined;
  readonly #directories: RunDirectories;
  /** Directories that the run has created. */
  readonly #made: RunDirectory[] = [];
  /** Objects that could not be taken back after their check: the end of the run tries again. */
  readonly #stubborn = new Set<string>();
  #offers: Capabilities | undefined;
  /** Lists of the driver before the run created anything. */
  #before: Inventory | undefined;
  /** Check after which the driver was gone, or seemed to be. */
  #goneSince: string | undefined;
  /** Check after which the run waited for the driver's return: it waits once each time the driver goes. */
  #awaitedSince: string | undefined;

  constructor(calls: DriverCalls, settings: Settings, signal: AbortSignal | undefined) {
    this.#calls = calls;
    this.#settings = settings;
    this.#signal = signal;
    this.#directories = directoriesOf(settings);
  }

  async *results(): AsyncGenerator<CheckResult, void> {
    let cleaned: CheckResult | undefined;
    try {
      await this.#makeDirectories();
      yield* this.#checkAll();
      cleaned = await this.#cleanUp();
    } finally {
      // The reader has left the loop: nobody accepts a result any more.
      if (!cleaned) await this.#cleanUpOrThrow();
    }
    yield cleaned;
  }

  async #makeDirectories(): Promise<void> {
    for (const directory of [this.#directories.staging, this.#directories.target]) {
      const { root, paths } = directory;
      try {
        await mkdir(root, { mode: 0o700 });
        this.#made.push(directory);
        if (mayMount()) await shareDirectory(root, this.#settings.timeoutMs);
        await mkdir(paths, { mode: 0o700 });
      } catch (cause) {
        const message = `${root} can't be made, name another directory for the volumes: ${messageOf(cause)}`;
        throw new StagecraftError('INVALID_ARGUMENT', message, { cause });
      }
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

  async #bench(): Promise<CheckContext> {
    const offers = await Capabilities.read(this.#calls);
    this.#offers = offers;
    this.#before = await readInventory(this.#calls, offers);
    const { sizeBytes, fsType, accessType, otherNodeId, topology, parameters, prefix } = this.#settings;
    return new CheckContext({
      calls: this.#calls,
      offers,
      prefix,
      parameters,
      accessType,
      fsType,
      sizeBytes,
      otherNodeId,
      topology,
      stagingDir: this.#directories.staging.paths,
      targetDir: this.#directories.target.paths,
    });
  }

  async #check(bench: CheckContext | undefined, check: Check): Promise<CheckResult> {
    const startedAtMs = performance.now();
    const { id, rpc, rule } = check;
    if (this.#settings.skip.some((name) => id.startsWith(name)))
      return { id, rpc, rule, outcome: 'skipped', why: 'by request', durationMs: 0 };
    const judged = bench && (await this.#verdictOf(bench, check));
    const durationMs = Math.round(performance.now() - startedAtMs);
    const hasEnded = await this.#awaitRestart();
    await takeBack(this.#calls, this.#stubborn);
    const verdict = (await this.#remakeDirectories()) ?? judged;
    if (!verdict) return { id, rpc, rule, outcome: 'passed', durationMs };
    const { outcome, message, call } = verdict;
    const why = hasEnded ? `the driver ended during this call: ${message}` : message;
    return { id, rpc, rule, outcome, why: this.#calls.hide(why), ...(call && { call }), durationMs };
  }

  /** @returns undefined if the check passed */
  async #verdictOf(bench: CheckContext, check: Check): Promise<Verdict | undefined> {
    this.#calls.forgetLast();
    try {
      await this.#needDriver();
      bench.offers.admit(check);
      await check.run(bench);
      return undefined;
    } catch (error) {
      if (this.#signal?.aborted) throw error;
      if (deathRattle.test(this.#calls.last?.answer ?? '')) this.#goneSince ??= check.id;
      return error instanceof Verdict ? error : new Verdict('blocked', `the check could not be made: ${String(error)}`);
    }
  }

  /**
   * Waits for a driver that is gone after a check, so that the check can be cleaned up and the next one made.
   * @returns whether the driver has ended during the check
   */
  async #awaitRestart(): Promise<boolean> {
    const isNewlyGone = this.#goneSince !== undefined && this.#goneSince !== this.#awaitedSince;
    if (!isNewlyGone) return false;
    this.#awaitedSince = this.#goneSince;
    const signal = this.#signal ? { signal: this.#signal } : {};
    const untilMs = performance.now() + this.#settings.restartWaitMs;
    let hasEnded = false;
    while (await this.#isGone()) {
      hasEnded = true;
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) return true;
      await setTimeout(Math.min(restartPauseMs, leftMs), undefined, signal);
    }
    this.#goneSince = undefined;
    return hasEnded;
  }

  async #isGone(): Promise<boolean> {
    const last = this.#calls.last;
    const { code } = await this.#calls.ask('GetPluginInfo', {});
    this.#calls.last = last;
    return code === 'UNAVAILABLE';
  }

  /**
   * Creates the run's directories again for the next check.
   * @returns the verdict on the last check: failed if the driver removed a directory that is not its own
   */
  async #remakeDirectories(): Promise<Verdict | undefined> {
    let verdict: Verdict | undefined;
    for (const { paths } of this.#made) {
      try {
        // The driver may have removed an empty parent directory, too.
        const removed = await mkdir(paths, { mode: 0o700, recursive: true });
        if (removed) verdict = new Verdict('failed', `the driver removed ${removed}, which it did not make`);
      } catch (error) {
        verdict = new Verdict('failed', `${paths} is gone, and can't be made again: ${messageOf(error)}`);
      }
    }
    return verdict;
  }

  async #needDriver(): Promise<void> {
    if (this.#goneSince === undefined) return;
    const { code, report } = await this.#calls.ask('GetPluginInfo', {});
    if (code === 'UNAVAILABLE') throw new Verdict('blocked', `the driver is gone since ${this.#goneSince}`, report);
    this.#goneSince = undefined;
  }

  async #cleanUp(): Promise<CheckResult> {
    const startedAtMs = performance.now();
    this.#calls.cancelBy(undefined);
    this.#calls.hung.clear();
    await takeBack(this.#calls, new Set());
    const { left: unswept, unmounted } = await this.#clearDirectories();
    const { prefix } = this.#settings;
    const listed = this.#offers && (await takeBackListed(this.#calls, this.#offers, { prefix, before: this.#before }));
    const left = await takeBack(this.#calls, new Set()); // a mount may have held it
    const verdict = cleanUpVerdict(prefix, { left: [...left, ...(listed?.left ?? []), ...unswept], unmounted, listed });
    return {
      id: 'clean-up',
      rpc: '-',
      rule: 'All that the run made can be removed again.',
      outcome: verdict?.outcome ?? 'passed',
      ...(verdict && { why: this.#calls.hide(verdict.message) }),
      durationMs: Math.round(performance.now() - startedAtMs),
    };
  }

  async #clearDirectories(): Promise<Cleared> {
    const all: Cleared = { unmounted: [], left: [] };
    for (const directory of this.#made) {
      const { unmounted, left } = await clearDirectory(directory, this.#settings.timeoutMs);
      all.unmounted.push(...unmounted);
      all.left.push(...left);
    }
    return all;
  }

  async #cleanUpOrThrow(): Promise<void> {
    const { outcome, why } = await this.#cleanUp();
    if (outcome === 'failed') throw new StagecraftError('CLEAN_UP_FAILED', `not all that the run made is gone: ${why}`);
  }
}

/** @returns undefined if nothing is left, and nothing had to be searched or unmounted */
function cleanUpVerdict(
  prefix: string,
  { left, unmounted, listed }: Cleared & { listed: TakenBack | undefined },
): Verdict | undefined {
  const others = listed?.others.map(({ what }) => what) ?? [];
  const notes = [
    ...(left.length > 0
      ? [
          `still there: ${left.join('; ')}. Remove it with the driver's own tools, or try again with --clean-up ${prefix}`,
        ]
      : []),
    ...(unmounted.length > 0 ? [`unmounted what the driver had left mounted: ${unmounted.join('; ')}`] : []),
    ...(listed && listed.removed.length > 0
      ? [`removed what the driver had left behind in spite of its answers: ${listed.removed.join('; ')}`]
      : []),
    ...(others.length > 0
      ? [`new in the driver's lists since the run began: ${others.join('; ')}; if nobody else uses it, delete it there`]
      : []),
  ];
  return notes.length > 0 ? new Verdict(left.length > 0 ? 'failed' : 'warning', notes.join('. ')) : undefined;
}
