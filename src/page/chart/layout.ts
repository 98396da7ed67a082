/** A statechart with positions: made from a machine by scripts/generate-charts.ts, drawn by chart.tsx. Lengths in pixels at scale 1. */
import type { Health } from '../../api/actor-routes.js';

export interface ChartLayout {
  /** Id and version of the machine that it was made from. */
  machine: string;
  version: string;
  width: number;
  height: number;
  states: StateBox[];
  lines: Line[];
  /** Events that change no state, by the path of the state that takes them; '' for all states. */
  stays: Record<string, string[]>;
  /** Transitions that lead away from every state. */
  anywhere: LineMove[];
}

/**
 * `hub`: a state that only picks the next one, drawn as a bar. `start`: a state that is left within the first step,
 * drawn as a dot. `inner`: a small box within a group that draws no lines of its own.
 */
export type StateKind = 'state' | 'group' | 'inner' | 'hub' | 'start' | 'final';

export interface StateBox {
  /** `pending-publish.calling` */
  path: string;
  kind: StateKind;
  /** The state never rests: it picks the next one at once. */
  passes?: true;
  /** The state that its group begins with. */
  initial?: true;
  /** How an actor or a part in it is. Absent: the chart does not say. `by-call`: working while its call is under way, else waiting. */
  health?: Health | 'by-call';
  /** The same while nobody needs its call. Absent: it is always needed. */
  unneeded?: Health;
  /** Calls and effects that run in it. */
  runs?: string[];
  /** They are written below the name, not beside it. */
  isStacked?: true;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** All transitions from one state to another. */
export interface Line {
  from: string;
  to: string;
  moves: LineMove[];
  /** Corners of the line; absent: drawn only while it is lit, straight. */
  points?: [x: number, y: number][];
  label?: { x: number; y: number; text: string };
}

export interface LineMove {
  event: string;
  guard?: string;
  /** Ends of the transition, where they lie within those of the line. */
  from?: string;
  to?: string;
}
