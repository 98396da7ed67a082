/**
 * Compares the records of a history with those of version 1. There the effect of a call waited itself: a wait has other commits
 * since it is a state. So records are compared without their waits, and each once where only its wait has changed.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Recorded } from './recorded.js';

/** By address, in order. A call that waits, and one under way, are the same. */
export function withoutWaits(lines: readonly Recorded[]): Record<string, unknown[]> {
  const byAddress: Record<string, unknown[]> = {};
  for (const { address, value, context } of lines) {
    const { awaiting: _, ...rest } = context as { awaiting?: unknown };
    const text = JSON.stringify({ value, context: rest }).replaceAll('waiting-for-plugin"', 'calling"');
    const record: unknown = JSON.parse(text);
    byAddress[address] ??= [];
    if (!isDeepStrictEqual(byAddress[address].at(-1), record)) byAddress[address].push(record);
  }
  return byAddress;
}
