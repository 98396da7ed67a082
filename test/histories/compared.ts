/**
 * Compares the records of a history with those of version 1. There the effect of a call waited itself: a wait has other commits
 * since it is a state. So records are compared without their waits, and each once where only its wait has changed.
 */
import type { Recorded } from './recorded.js';

/** By address, in order. A call that waits, and one under way, are the same. */
export function withoutWaits(lines: readonly Recorded[]): Record<string, unknown[]> {
  const byAddress: Record<string, string[]> = {};
  for (const { address, value, context } of lines) {
    const { awaiting: _, ...rest } = context as { awaiting?: unknown };
    const text = JSON.stringify({ value, context: rest }).replaceAll('waiting-for-plugin"', 'calling"');
    byAddress[address] ??= [];
    if (byAddress[address].at(-1) !== text) byAddress[address].push(text);
  }
  return Object.fromEntries(Object.entries(byAddress).map(([at, texts]) => [at, texts.map((one) => JSON.parse(one))]));
}
