/** Waits for what no event tells, in tests with real processes and sockets. */
import { setTimeout } from 'node:timers/promises';

const patienceMs = 20_000;

/** Looks again and again, for at most 20 s. @param tell how it is, for the error */
export async function until(isSo: () => boolean, tell: () => string = () => 'not so'): Promise<void> {
  const untilMs = performance.now() + patienceMs;
  while (!isSo()) {
    if (performance.now() > untilMs) throw new Error(`waited ${patienceMs} ms in vain: it is ${tell()}`);
    await setTimeout(5);
  }
}
