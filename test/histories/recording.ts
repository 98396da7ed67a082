/** Records what actors commit in simulated histories, and chooses histories that have all that was seen in any of them. */
import type { StateValue } from 'xstate';
import { decodeRecord } from '../../src/engine/actor/actor-record.js';
import type { ActorPolicy } from '../../src/engine/actor/policy.js';
import type { Commit } from '../../src/engine/store.js';
import type { Recorded } from './recorded.js';

/** What one history has committed. */
export interface History {
  seed: number;
  lines: Recorded[];
}

/** Limits of the engines that histories were recorded with: with others, the faults of a plan strike elsewhere. */
export const policyOfThen: Partial<ActorPolicy> = { keepsAbsent: false, mostSteps: 1 };

/** @returns one line for each snapshot of an actor at one of these addresses; tombstones have none */
export function linesOf(seed: number, commits: readonly Commit[], prefixes: readonly string[]): Recorded[] {
  const written = new Set<string>();
  return commits.flatMap(({ address, commitId, seq, expectedSeq, text }) => {
    const { snapshot } = decodeRecord(text);
    // A commit whose answer was lost is written again, as the same.
    if (written.has(commitId)) return [];
    written.add(commitId);
    if (!snapshot || !prefixes.some((prefix) => address.startsWith(prefix))) return [];
    // What is stored is what a machine made.
    const context = snapshot.context as object;
    return [{ seed, address, seq: seq ?? expectedSeq + 1, value: snapshot.value, context }];
  });
}

/** Words that say in which state a part is; all other texts are names and messages. */
const telling: ReadonlySet<string> = new Set(['at', 'state', 'what', 'in', 'kind', 'code', 'availability']);
/** Opaque to a machine. */
const opaque: ReadonlySet<string> = new Set(['spec', 'csi', 'key', 'capability', 'sighting', 'publishContext']);

/** What is there, without numbers, names and times. */
function shapeOf(value: unknown, key: string): unknown {
  if (typeof value === 'string') return telling.has(key) ? value : '';
  if (typeof value === 'number') return 0;
  if (!(value instanceof Object)) return value;
  if (opaque.has(key)) return '{}';
  if (Array.isArray(value)) return [...new Set(value.map((item) => JSON.stringify(shapeOf(item, key))))].sort();
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shapeOf(item, name)]));
}

const isRecord = (value: unknown): value is Record<string, unknown> => value instanceof Object && !Array.isArray(value);

/** Parts that stand in a context by their names, as publications do. */
function partsOf(context: object): [key: string, part: Record<string, unknown>][] {
  return Object.entries(context).flatMap(([key, value]) =>
    isRecord(value) && !opaque.has(key)
      ? Object.entries(value).flatMap(([name, part]): [string, Record<string, unknown>][] =>
          isRecord(part) && ('state' in part || 'at' in part) ? [[`${key}/${name}`, part]] : [],
        )
      : [],
  );
}

const textOf = (value: StateValue): string => JSON.stringify(value);

/** What a history shows: states with the shapes of their data, and for each part what it came from and went to. */
export function featuresOf(lines: readonly Recorded[]): Set<string> {
  const features = new Set<string>();
  const last = new Map<string, string>();
  for (const { address, value, context } of lines) {
    const parts = partsOf(context);
    const partKeys = new Set(parts.map(([key]) => key.split('/')[0]));
    const rest = Object.entries(context).filter(([key]) => !partKeys.has(key));
    for (const [key, item] of rest) features.add(`${textOf(value)} ${key} ${JSON.stringify(shapeOf(item, key))}`);
    const now = new Map(parts.map(([key, part]) => [`${address} ${key}`, JSON.stringify(shapeOf(part, key))]));
    for (const shape of now.values()) features.add(`${textOf(value)} ${shape}`);
    for (const [place, shape] of now) features.add(`${last.get(place) ?? '-'} → ${shape}`);
    for (const [place, shape] of last)
      if (place.startsWith(`${address} `) && !now.has(place)) features.add(`${shape} → -`);
    for (const place of last.keys()) if (place.startsWith(`${address} `)) last.delete(place);
    for (const [place, shape] of now) last.set(place, shape);
  }
  return features;
}

/** @returns histories, shortest first where they show as much, until they show all, or `most` are chosen */
export function chosen(histories: readonly History[], most: number): History[] {
  const left = histories.map((history) => ({ history, features: featuresOf(history.lines) }));
  const shown = new Set<string>();
  const answer: History[] = [];
  while (answer.length < most) {
    let best: { history: History; worth: number } | undefined;
    for (const one of left) {
      for (const feature of one.features) if (shown.has(feature)) one.features.delete(feature);
      const worth = one.features.size / one.history.lines.length;
      if (worth > 0 && (!best || worth > best.worth)) best = { history: one.history, worth };
    }
    if (!best) break;
    for (const feature of featuresOf(best.history.lines)) shown.add(feature);
    answer.push(best.history);
  }
  return answer.sort((one, other) => one.seed - other.seed);
}
