/** Waits for what no event tells, in tests with real processes and sockets. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Far more than a busy machine needs, and less than the limit of a test in .mocharc.json: an error names what was awaited. */
const patienceMs = 120_000;

/** Looks again and again. @param how it is, for the error */
export async function until(isSo: () => unknown, how: () => string = () => 'not so'): Promise<void> {
  const untilMs = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > untilMs) throw new Error(`waited ${patienceMs} ms in vain: it is ${how()}`);
    await sleep(5);
  }
}

/** Waits until it is so. @throws Error that names what it waited for */
export const eventually = (what: string, isSo: () => unknown): Promise<void> =>
  until(isSo, () => `not so that ${what}`);

/** Resolves with what is awaited. @throws Error that names it, if it does not come */
export async function within<T>(what: string, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = sleep(patienceMs, undefined, { signal: over.signal }).then(() => {
    throw new Error(`waited ${patienceMs} ms in vain: ${what}`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
}
