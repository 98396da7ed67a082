/** What a state says of itself to people: how it is, and why, in the `meta` of its chart. Pure. */
import type { AnyStateMachine } from 'xstate';
import type { CallStep } from './call.js';

/**
 * `working`: a call is under way. `waiting`: for a time, a plugin or another actor. `in-doubt`: something may have happened, and
 * nobody knows yet. `failed`: stays so until somebody acts.
 */
export const healths = ['healthy', 'working', 'waiting', 'in-doubt', 'failed', 'gone', 'unknown'] as const;

export type Health = (typeof healths)[number];

/** Words of a phase that wants a call, by how far that is. */
interface CallWords {
  /** Put before the reason of a wait: `waits for its turn`, or `waits for the plugin`. */
  waiting?: string;
  calling: string;
  /** After an attempt that was not done. */
  restsAfter: string;
  /** While nobody needs the call. Absent: the phase always needs it. */
  unneeded?: { health: Health; words: string };
}

/** Words of a phase whose call is made once more, as it may have taken effect. @param purpose of the repeat, if not its effect */
export const repeated = (what: string, purpose = ''): CallWords => ({
  waiting: what,
  calling: `${what}, being repeated${purpose && ` ${purpose}`}`,
  restsAfter: what,
});

/** Statement of a state for people. An inner state adds to the statement of the state around it. */
export interface StateWords {
  /** Absent: `working` while its call is under way, else `waiting`. */
  health?: Health;
  /** A few words; '' where the name of the state says enough. */
  words: string | CallWords;
  /** Words of further steps that people see, by their names; meanwhile the state is `waiting`, unless it says otherwise. */
  otherwise?: Readonly<Record<string, string>>;
}

/** How an actor or a part is, by its state alone, and why in a few words. */
export interface Said {
  health: Health;
  why: string;
}

/** @param path as people see it: a state of the machine, and how far its call is. @returns undefined: it says nothing of it */
export function saidIn({ root }: AnyStateMachine, path: string): Said | undefined {
  let node = root;
  let said: Partial<StateWords> = {};
  const keys = path.split('.');
  for (let next = node.states[keys[0] ?? '']; next; next = node.states[keys[0] ?? '']) {
    node = next;
    said = { ...said, ...node.meta };
    keys.shift();
  }
  const { health, words, otherwise } = said;
  if (words === undefined) return undefined;
  const [step, ...more] = keys;
  const other = step === undefined ? undefined : otherwise?.[step];
  if (other !== undefined && more.length === 0) return { health: health ?? 'waiting', why: other };
  if (typeof words === 'string') return step === undefined && health ? { health, why: words } : undefined;
  if (step === undefined) return words.unneeded && { health: words.unneeded.health, why: words.unneeded.words };
  if (!isStep(step) || more.length > 0) return undefined;
  return { health: health ?? (step === 'calling' ? 'working' : 'waiting'), why: wordsAt(words, step) };
}

export const callSteps: readonly CallStep[] = ['due', 'calling', 'waiting-for-plugin', 'backing-off'];

/** Where a part is, for people. @param at as people see it */
export function seenAt(chart: AnyStateMachine, at: string): { chart: string; at: string; words?: string } {
  const words = saidIn(chart, at)?.why;
  return words ? { chart: chart.id, at, words } : { chart: chart.id, at };
}

const isStep = (key: string | undefined): key is CallStep => callSteps.some((step) => step === key);

function wordsAt({ waiting, calling, restsAfter }: CallWords, step: CallStep): string {
  switch (step) {
    case 'calling':
      return calling;
    case 'backing-off':
      return restsAfter;
    case 'due':
      return joined(waiting, 'waits for its turn');
    case 'waiting-for-plugin':
      return joined(waiting, 'waits for the plugin');
  }
}

const joined = (first: string | undefined, second: string): string =>
  first === undefined ? second : `${first}, ${second}`;
