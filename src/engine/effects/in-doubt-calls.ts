/**
 * Calls that may still be under way though nobody waits for them any more: left by a runtime that ended, or of a state
 * that was left. What undoes them waits (`compensates`: effects.ts). They stand in the record, as the next runtime has to know
 * of them too, until the runtime that holds the actor has seen their time pass. Pure.
 */
import { isSameData } from '../../../machines/kit/same-data.js';
import type { ActorRecord, InDoubtCall, InDoubtCalls, LiveEffect } from '../actor/actor-record.js';
import type { StartedEffect } from '../machine/hosted-machine.js';
import { type ActorKind, limitOf } from './effects.js';

/** Recipients of calls that are in doubt together; undefined: not known of each call. */
export function allRecipients(one: object[] | undefined, other: object[] | undefined): object[] | undefined {
  if (!one || !other) return undefined;
  return [...one, ...other.filter((recipient) => !one.some((known) => isSameData(known, recipient)))];
}

/** How long a call of this effect may go on without it, in milliseconds. Absent where nothing undoes it, or no time ends it. */
export function lastingMs({ effects }: ActorKind, { src, input }: StartedEffect): number | undefined {
  const effect = effects[src];
  if (!effect || effect.makesCall === false || !isCompensated(effects, src)) return undefined;
  const lastsMs = effect.sentDeadlineMs ?? limitOf(effect, input);
  return Number.isFinite(lastsMs) ? lastsMs : undefined;
}

/** With the calls that these effects may leave behind. Absent where there are none. */
export function doubted(
  kind: ActorKind,
  doubts: InDoubtCalls | undefined,
  left: LiveEffect[],
): InDoubtCalls | undefined {
  let more = doubts;
  for (const effect of left) {
    const { src, recipient, lastsMs = lastingMs(kind, effect) } = effect;
    // Zero: no call was made.
    if (lastsMs)
      more = { ...more, [src]: both(more?.[src], { lastsMs, ...(recipient && { recipients: [recipient] }) }) };
  }
  return more;
}

function both(before: InDoubtCall | undefined, added: InDoubtCall): InDoubtCall {
  if (!before) return added;
  const recipients = allRecipients(before.recipients, added.recipients);
  return { lastsMs: Math.max(before.lastsMs, added.lastsMs), ...(recipients && { recipients }) };
}

/** Without the calls that have ended for certain. */
export function certain(envelope: ActorRecord, isUnderWay: (src: string) => boolean): ActorRecord {
  const { doubts, ...rest } = envelope;
  const left = Object.entries(doubts ?? {}).filter(([src]) => isUnderWay(src));
  return left.length > 0 ? { ...rest, doubts: Object.fromEntries(left) } : rest;
}

/** An effect that says nothing before it asks would overtake what it undoes. @throws Error naming the effect */
export function checkCompensates({ effects, machine }: ActorKind): void {
  for (const [src, { compensates, sentDeadlineMs, makesCall }] of Object.entries(effects)) {
    if (compensates && sentDeadlineMs === undefined)
      throw new Error(`${machine.id}: ${src} compensates others, and has no sentDeadlineMs`);
    if (makesCall === false && (compensates || isCompensated(effects, src)))
      throw new Error(`${machine.id}: ${src} makes no call, and can't undo one or be undone`);
  }
}

/** Whether another effect of its kind undoes it. */
export function isCompensated(effects: ActorKind['effects'], src: string): boolean {
  for (const other in effects) if (effects[other]?.compensates?.includes(src)) return true;
  return false;
}
