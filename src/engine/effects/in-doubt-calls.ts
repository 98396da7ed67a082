/**
 * Calls in doubt: left by a runtime that ended, or by a state that was left, and possibly still running. An effect that
 * undoes such a call waits (`compensates`: effects.ts). The record keeps the calls for the next runtime until their
 * time has passed. Pure.
 */
import { isSameData } from '../../../machines/kit/same-data.js';
import type { ActorRecord, InDoubtCall, InDoubtCalls, LiveEffect } from '../actor/actor-record.js';
import type { StartedEffect } from '../machine/hosted-machine.js';
import { type ActorKind, type AskedCall, limitOf } from './effects.js';

/** Joins the recipients of two in-doubt calls; undefined if the recipient of either is not known. */
export function allRecipients(one: object[] | undefined, other: object[] | undefined): object[] | undefined {
  if (!one || !other) return undefined;
  return [...one, ...other.filter((recipient) => !one.some((known) => isSameData(known, recipient)))];
}

/** Name of the in-doubt calls of an effect, in records and at the host of actors. */
export function doubtOf({ effects }: Pick<ActorKind, 'effects'>, { src, input }: AskedCall): string {
  const about = effects[src]?.about?.(input as never);
  return about === undefined ? src : `${src} ${about}`;
}

/** The effect in the name of an in-doubt call. */
export const effectIn = (doubt: string): string => doubt.split(' ', 1)[0] ?? '';

/** Names of the in-doubt calls that this one undoes. Those of older records do not say what they are about. */
export function undoneBy(kind: Pick<ActorKind, 'effects'>, { src, input }: AskedCall): string[] {
  const undone = kind.effects[src]?.compensates ?? [];
  return [...new Set(undone.flatMap((one) => [one, doubtOf(kind, { src: one, input })]))];
}

/**
 * Milliseconds that a call of this effect may go on without it. Undefined if no effect undoes it, or no time limit ends
 * it.
 */
export function lastingMs({ effects }: Pick<ActorKind, 'effects'>, { src, input }: StartedEffect): number | undefined {
  const effect = effects[src];
  if (!effect || effect.makesCall === false || !isCompensated(effects, src)) return undefined;
  const lastsMs = effect.sentDeadlineMs ?? limitOf(effect, input);
  return Number.isFinite(lastsMs) ? lastsMs : undefined;
}

/** Adds the calls that these effects may leave running. Returns undefined if there are none. */
export function doubted(
  kind: ActorKind,
  doubts: InDoubtCalls | undefined,
  left: LiveEffect[],
): InDoubtCalls | undefined {
  let more = doubts;
  for (const effect of left) {
    const { recipient, lastsMs = lastingMs(kind, effect) } = effect;
    // Zero: no call was made.
    if (lastsMs) {
      const doubt = doubtOf(kind, effect);
      more = { ...more, [doubt]: both(more?.[doubt], { lastsMs, ...(recipient && { recipients: [recipient] }) }) };
    }
  }
  return more;
}

function both(before: InDoubtCall | undefined, added: InDoubtCall): InDoubtCall {
  if (!before) return added;
  const recipients = allRecipients(before.recipients, added.recipients);
  return { lastsMs: Math.max(before.lastsMs, added.lastsMs), ...(recipients && { recipients }) };
}

/** Removes the calls that have ended for certain. */
export function certain(record: ActorRecord, isUnderWay: (doubt: string) => boolean): ActorRecord {
  const { doubts, ...rest } = record;
  const left = Object.entries(doubts ?? {}).filter(([doubt]) => isUnderWay(doubt));
  return left.length > 0 ? { ...rest, doubts: Object.fromEntries(left) } : rest;
}

/**
 * Checks that every effect which undoes others calls `sent`: otherwise it could overtake them. @throws {Error} naming
 * the effect
 */
export function checkCompensates({ effects, machine }: ActorKind): void {
  for (const [src, { compensates, sentDeadlineMs, makesCall }] of Object.entries(effects)) {
    if (compensates && sentDeadlineMs === undefined)
      throw new Error(`${machine.id}: ${src} compensates others, and has no sentDeadlineMs`);
    if (makesCall === false && (compensates || isCompensated(effects, src)))
      throw new Error(`${machine.id}: ${src} makes no call, and can't undo one or be undone`);
  }
}

/** Tells whether another effect of its kind undoes this one. */
export function isCompensated(effects: ActorKind['effects'], src: string): boolean {
  for (const other in effects) if (effects[other]?.compensates?.includes(src)) return true;
  return false;
}
