/** Describes the parts of volumes and mounts for a person: the step of each, its next attempt, and why. */
import type { PartView } from '../../machines/kit/parts.js';
import { publicationId } from '../../machines/volume/words.js';

/** Describes a volume's publication on a node; empty where the public state says enough. */
export function describePublication(parts: PartView[], nodeId: string, nowMs: number): string {
  const part = parts.find(({ id }) => id === publicationId(nodeId));
  return part ? describe(part, nowMs) : '';
}

/** Describes a part that a volume has at most once; empty without it, or where the public state says enough. */
export function describeWork(parts: PartView[], id: 'lifecycle' | 'expansion' | 'modification', nowMs: number): string {
  const part = parts.find((one) => one.id === id);
  return part ? describe(part, nowMs) : '';
}

/** Describes the staging path and the targets of a mount, each with its name; leaves out those at rest. */
export const describeMountParts = (parts: PartView[], nowMs: number): string[] =>
  parts.flatMap((part) => {
    const words = describe(part, nowMs);
    return words === '' ? [] : [`${part.chart}: ${words}`];
  });

function describe({ words, why, nextAttemptAtMs }: PartView, nowMs: number): string {
  const step = [words, ...nextAttempt(nextAttemptAtMs, nowMs)].filter(Boolean).join(', ');
  return [step, why].filter(Boolean).join(': ');
}

function nextAttempt(atMs: number | undefined, nowMs: number): string[] {
  if (atMs === undefined) return [];
  const seconds = Math.ceil((atMs - nowMs) / 1_000);
  return [seconds > 0 ? `next attempt in ${seconds} s` : 'next attempt now'];
}
