/**
 * Logs repeated failures in few lines: one at the start, one at the end, and between them some at pauses that double, up to an
 * hour. Many tasks can share one subject: an absent store is one trouble, however many actors wait for it. A failure for another
 * reason waits for a minute at most. Runs no timer: the first failure after a pause writes its line.
 */
import { messageOf, StagecraftError } from '../../errors.js';
import { type Clock, systemClock } from '../clock.js';
import type { Logger } from '../logger.js';
import { NoAnswer } from './timed-store.js';

/** Subject of every failure of a store that gives no answer. */
export const storeSubject = 'the store';

/** Pause before work is tried again that the store has failed. */
export const storeRetryMs = 200;

interface TroubleLogOptions {
  /** Default: the clock of this host. */
  clock?: Clock;
  logger: Pick<Logger, 'warn'>;
}

interface Failure {
  /** A noun phrase such as `the store`: failures of one subject share their lines. */
  subject: string;
  fields?: object;
  message: string;
  /**
   * Tells one trouble of the subject from another; default: `message`. If it is STORE_UNAVAILABLE, the failure counts for the
   * store instead of `subject`.
   */
  cause?: unknown;
}

interface Subject {
  name: string;
  sinceMs: number;
  sinceMonotonicMs: number;
  loggedAtMs: number;
  /** Time without a line after that, for reasons that were logged. */
  pauseMs: number;
  /** Reasons that were logged. */
  reasons: Set<string>;
  failures: number;
  tasks: number;
}

const firstPauseMs = 60_000;
const lastPauseMs = 3_600_000;
/** Reasons of one subject that are told apart. */
const mostReasons = 10;

export class TroubleLog {
  readonly #clock: Clock;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #subjects = new Map<string, Subject>();
  /** Subject of each task that has failed and has not succeeded since. */
  readonly #tasks = new Map<unknown, Subject>();

  constructor({ clock = systemClock, logger }: TroubleLogOptions) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /**
   * Counts a failure of a task that will be retried. Call `over` or `abandon` at the end of each such task.
   * @param task any value that identifies the task: a string, or an object
   */
  failed(task: unknown, { subject: own, fields = {}, message, cause }: Failure): void {
    const subject = this.#join(task, isOfStore(cause) ? storeSubject : own);
    subject.failures += 1;
    if (!this.#isDue(subject, reasonIn(cause ?? message))) return;
    if (subject.failures === 1) {
      this.#logger.warn(fields, message);
      return;
    }
    const { failures, sinceMs } = subject;
    const since = new Date(sinceMs).toISOString();
    this.#logger.warn({ ...fields, failures, since }, `${message} (${failures} failures since ${since})`);
  }

  /** Ends the trouble of a task that has succeeded. Logs the end if no other task of the subject is in trouble. */
  over(task: unknown): void {
    const subject = this.#leave(task);
    if (!subject || subject.tasks > 0) return;
    const { name, failures, sinceMs } = subject;
    const lastedMs = this.#clock.monotonicMs() - subject.sinceMonotonicMs;
    const counted = failures === 1 ? '1 failure' : `${failures} failures`;
    const fields = { failures, since: new Date(sinceMs).toISOString() };
    this.#logger.warn(fields, `${name}: in order again after ${Math.round(lastedMs / 1_000)} s and ${counted}`);
  }

  /** Ends the trouble of a task that is not retried. Logs nothing. */
  abandon(task: unknown): void {
    this.#leave(task);
  }

  /** Whether a line is due for this reason; if so, the next pause begins. */
  #isDue(subject: Subject, reason: string): boolean {
    const { failures, loggedAtMs, pauseMs, reasons } = subject;
    const nowMs = this.#clock.monotonicMs();
    const isNew = !reasons.has(reason) && reasons.size < mostReasons;
    if (failures > 1 && nowMs - loggedAtMs < (isNew ? firstPauseMs : pauseMs)) return false;
    if (!isNew) subject.pauseMs = Math.min(pauseMs * 2, lastPauseMs);
    subject.loggedAtMs = nowMs;
    reasons.add(reason);
    return true;
  }

  #join(task: unknown, name: string): Subject {
    const before = this.#tasks.get(task);
    if (before?.name === name) return before;
    if (before) this.abandon(task);
    const subject = this.#subjects.get(name) ?? this.#begin(name);
    subject.tasks += 1;
    this.#tasks.set(task, subject);
    return subject;
  }

  #begin(name: string): Subject {
    const nowMs = this.#clock.monotonicMs();
    const since = { sinceMs: this.#clock.now(), sinceMonotonicMs: nowMs, loggedAtMs: nowMs, pauseMs: firstPauseMs };
    const subject: Subject = { name, ...since, reasons: new Set(), failures: 0, tasks: 0 };
    this.#subjects.set(name, subject);
    return subject;
  }

  #leave(task: unknown): Subject | undefined {
    const subject = this.#tasks.get(task);
    if (!subject) return undefined;
    this.#tasks.delete(task);
    subject.tasks -= 1;
    if (subject.tasks === 0) this.#subjects.delete(subject.name);
    return subject;
  }
}

const isOfStore = (cause: unknown): cause is StagecraftError =>
  cause instanceof StagecraftError && cause.code === 'STORE_UNAVAILABLE';

/** Text that is the same as long as the trouble is: without numbers, and without the call that was not answered. */
function reasonIn(cause: unknown): string {
  if (isOfStore(cause) && cause.cause !== undefined) return reasonIn(cause.cause);
  return cause instanceof NoAnswer ? 'no answer' : messageOf(cause).replaceAll(/\d+/g, '');
}
