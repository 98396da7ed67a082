/** The cells of the fault matrix: who is killed at which step of what a run without faults was seen to do. Pure. */
import { seededRandom } from '../../src/testing/index.js';
import type { MatrixStep, Mortal } from './kill-mounts-agent.js';

export type Phase = 'prepare' | 'release';

/** Before the step, after it, or after it without its answer, which only a call can lose. */
export type When = 'before' | 'lost' | 'after';

export interface Cell {
  phase: Phase;
  step: MatrixStep;
  when: When;
  dying: Mortal[];
}

const victims: Mortal[][] = [['agent'], ['driver'], ['agent', 'driver']];

/** Every way in which a step can go wrong. */
function waysOf({ kind }: MatrixStep): Pick<Cell, 'when' | 'dying'>[] {
  const moments: When[] = kind === 'call' ? ['before', 'lost', 'after'] : ['before', 'after'];
  const ways = moments.flatMap((when) => victims.map((dying) => ({ when, dying })));
  return kind === 'call' ? [...ways, { when: 'lost', dying: [] }] : ways;
}

export const cellsOf = (phase: Phase, steps: readonly MatrixStep[]): Cell[] =>
  steps.flatMap((step) => waysOf(step).map((way) => ({ phase, step, ...way })));

/**
 * Some of all cells: of each commit one way, of each call two, dealt out in turn, so that each step and each way is there.
 * Which way meets which step is the seed's to say.
 */
export function sampleOf(phase: Phase, steps: readonly MatrixStep[], seed: number): Cell[] {
  const random = seededRandom(seed);
  const turns = { commit: Math.floor(random.next() * 60), call: Math.floor(random.next() * 60) };
  return steps.flatMap((step) => {
    const ways = waysOf(step);
    const count = step.kind === 'call' ? 2 : 1;
    return Array.from({ length: count }, () => {
      const way = ways[turns[step.kind] % ways.length];
      turns[step.kind] += 1;
      return { phase, step, ...(way ?? { when: 'before', dying: [] }) };
    });
  });
}

const whoOf = (dying: Mortal[]): string => (dying.length === 0 ? 'nobody' : `the ${dying.join(' and the ')}`);

export function titleOf({ step: { kind, of, what, nth }, when, dying }: Cell): string {
  const time = when === 'lost' ? 'after the work, its answer lost,' : when;
  const again = nth > 1 ? ` (${nth})` : '';
  return `${whoOf(dying)} killed ${time} ${kind} ${what}${again} of ${of}`;
}
