/** What goes wrong in a run, as data: a life after the other, each with its end and the moods of its store. */
import type { StoreMethod } from '../support/faulty-store.js';

/** Places at which a life can end: at its n-th call of the store, or in its n-th effect, counted from 1. */
export interface Boundary {
  of: 'store' | 'effect';
  at: number;
  /** Before the call took effect or in the midst of the effect's work; or after that, before anybody hears of it. */
  moment: 'before' | 'after';
}

export type Mood =
  | { answer: 'fails'; moment: 'before' | 'after' }
  /** Nothing for a long time, then it is done after all or fails. */
  | { answer: 'late'; fails: boolean; delayMs: number }
  /** Never anything; whether it is done. */
  | { answer: 'never'; isDone: boolean }
  /** Says `refused` of a commit, which is true or not. */
  | { answer: 'refused'; isDone: boolean };

export interface Outage {
  /** Calls of the store, counted from 1. */
  from: number;
  to: number;
  /** Told by the number of the call, where there are more than one. */
  moods: Mood[];
  /** Only calls of these; default all. */
  methods?: StoreMethod[];
}

export interface LifePlan {
  /** How it ends; absent: it goes on until all is at rest. */
  end?: { at: Boundary; how: 'dies' | 'stops' };
  outages?: Outage[];
  /** It stands still from this boundary on, as a suspended process does; what then happens to its actors. */
  freeze?: { at: Boundary; until: 'it is taken over' | 'its lease lapses' | 'its successor dies' };
}

export interface Plan {
  name: string;
  lives: LifePlan[];
  /** Long leases need no renewal within a run. */
  leaseTtlMs: number;
}

export const undisturbed: Plan = { name: 'undisturbed', lives: [{}], leaseTtlMs: 10 ** 9 };
