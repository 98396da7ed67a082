/**
 * A random system, as data: what fast-check generates and shrinks, and what a failure prints.
 * Orderly kinds make a system whose end doesn't depend on when what happens, so that runs can be compared;
 * wild kinds do whatever machines can, and are held to the invariants only. Made into machines: *-machine.ts
 */
import { chance } from './dice.js';

/** Something that a transition does besides. Numbers are actors, counted round. */
export type Deed =
  | { do: 'emit' | 'answer' | 'refuse' | 'cancel' | 'throw' }
  | { do: 'send' | 'begin'; to: number }
  /** A delayed raise, with an id that `cancel` knows, or without. */
  | { do: 'raise'; delayMs: number; named: boolean };

export interface Move {
  /** A state of the same region, counted round; absent: stays. */
  target?: number | undefined;
  reenter: boolean;
  guard?: 'even' | 'lucky' | undefined;
  deeds: Deed[];
}

export interface WildState {
  invoke?: { src: 'task' | 'loop'; done: Move; error: Move } | undefined;
  timers: { delay: number | 'byContext' | 'byRandom'; move: Move }[];
  /** `later` comes from within: delayed raises, and what effects send on their way. */
  on: { type: 'a' | 'b' | 'c' | 'later'; move: Move }[];
  /** StepResult as soon as it may be. */
  always?: Move | undefined;
  entry: Deed[];
  exit: Deed[];
  /** The actor is deleted here: by tag, or because the machine ends. */
  end?: 'absent' | 'final' | undefined;
}

export interface WildKind {
  style: 'wild';
  /** One, or several in parallel. */
  regions: WildState[][];
  /** Whether it begins by itself where an event finds nobody. */
  begins: boolean;
}

export interface OrderlyStep {
  does: 'task' | 'wait' | 'loop' | 'both';
  delay: number | 'byRandom' | 'byJob';
  sends: number[];
  begins: number[];
  emits: number;
}

export interface OrderlyKind {
  style: 'orderly';
  steps: OrderlyStep[];
  /** Deleted whenever its work is done. */
  isBrief: boolean;
}

export interface Request {
  atMs: number;
  to: number;
  type: 'a' | 'b' | 'c';
  /** How many times what it leads to may be passed on. */
  hops: number;
  /** Makes the machine throw. */
  crashes: boolean;
  /** Repeated under the same id until it is answered; else asked once. */
  repeats: boolean;
}

export interface System {
  /** Of all that happens outside: how long things take, what effects give. */
  seed: number;
  kinds: WildKind[] | OrderlyKind[];
  /** The kind of each actor, counted round. */
  actors: number[];
  requests: Request[];
  /** How long a store takes for a call, at most. */
  latencyMs: number;
}

export const topicOf = (address: string): string => `topic/${address.length % 2}/${address.split('/')[0]}`;

export const kindIndex = ({ kinds, actors }: System, actor: number): number =>
  (actors[actor % actors.length] ?? 0) % kinds.length;

/** Machine id, then the number of the actor. */
export const addressOf = (system: System, actor: number): string =>
  `k${kindIndex(system, actor)}/${actor % system.actors.length}`;

export const addressesOf = (system: System): string[] => system.actors.map((_, actor) => addressOf(system, actor));

/** Whether its tasks are not repeated unless their machines ask again. Runs of orderly kinds are compared: these repeat theirs. */
export const isAtMostOnce = (system: System): boolean =>
  !isOrderly(system) && chance(system.seed, 'at most once') < 0.3;

export const isOrderly = ({ kinds }: System): boolean => kinds.every(({ style }) => style === 'orderly');
