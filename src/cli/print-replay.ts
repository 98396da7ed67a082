/** Prints moments of an actor's past, and what came of a check. */
import type { MomentAnswer } from '../api/actor-routes.js';
import { type Difference, differencesOf, type JournalCheck } from '../journal/check-journal.js';
import { factsTable, table } from './print.js';
import { changeOf, durationOf } from './print-history.js';

interface MomentOptions {
  /** Seq of the newest entry. */
  last: number;
  before: MomentAnswer | undefined;
  /** Leaves out what has not changed. */
  isDiff: boolean;
}

export function momentText(moment: MomentAnswer, { last, before, isDiff }: MomentOptions): string {
  const { address, seq, entry, line, health, why, snapshot, parts, effects, timers, thrown } = moment;
  const details = [
    `from ${line.from}`,
    ...(line.attempt === undefined ? [] : [`attempt ${line.attempt}`]),
    ...(line.tookMs === undefined ? [] : [`took ${durationOf(line.tookMs)}`]),
  ];
  const facts: [string, string][] = [
    ['actor', address],
    ['step', `${seq} of ${last}, ${new Date(entry.at).toISOString()}`],
    ['what', `${line.what} (${details.join(', ')})`],
    ...(line.message === undefined ? [] : [['said', line.message] as [string, string]]),
    ['state', changeOf(line.before, line.after)],
    ['is', `${health.replace('-', ' ')}: ${why}`],
  ];
  const changes = differencesOf(before?.snapshot?.context, snapshot?.context);
  return [
    factsTable(facts),
    ...(parts.length === 0
      ? []
      : [
          table(
            ['PART', 'STATE', 'WHY'],
            parts.map(({ id, at, why: reason = '' }) => [id, at, reason]),
          ),
        ]),
    ...(effects.length === 0
      ? []
      : [
          table(
            ['EFFECT', 'SINCE STEP'],
            effects.map(({ id, seq: since }) => [id, String(since)]),
          ),
        ]),
    ...(timers.length === 0
      ? []
      : [
          table(
            ['TIMER', 'DUE'],
            timers.map(({ id, dueAtMs }) => [id, new Date(dueAtMs).toISOString()]),
          ),
        ]),
    ...(thrown === undefined ? [] : [`the machine threw, and keeps its state:\n${thrown}`]),
    ...(isDiff
      ? [changes.map(changeText).join('\n') || 'its context has not changed']
      : [JSON.stringify(snapshot?.context, null, 2) ?? 'deleted']),
  ].join('\n\n');
}

function changeText({ path, was, is }: Difference): string {
  if (was === undefined) return `+ ${path}: ${JSON.stringify(is)}`;
  if (is === undefined) return `- ${path}: ${JSON.stringify(was)}`;
  return `~ ${path}: ${JSON.stringify(was)} → ${JSON.stringify(is)}`;
}

export const checkText = (checks: readonly (JournalCheck & { file: string })[]): string =>
  checks
    .map(({ file, address, compared, skipped, divergence }) => {
      const passed = `${compared} entries lead to the same states`;
      const left = skipped > 0 ? `, ${skipped} could not be compared` : '';
      if (!divergence) return `${file}: ${address}: ${passed}${left}`;
      const { seq, path, expected, got } = divergence;
      const differs = `entry ${seq}: ${path} was ${JSON.stringify(expected)}, and is ${JSON.stringify(got)} now`;
      return `${file}: ${address}: DIFFERS at ${differs}`;
    })
    .join('\n');
