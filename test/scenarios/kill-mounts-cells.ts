/** The cells of the fault matrix: who is killed at which step of what a run without faults was seen to do. Pure. */
import { seededRandom } from '../../src/testing/index.js';
import type { MatrixStep, Mortal } from './kill-mounts-agent.js';

/** What is under way when it strikes; `abandon`: an alloc is prepared, and released afterwards. */
export type Phase = 'prepare' | 'abandon' | 'release';

/**
 * Before the step, after it, or what only a call can meet: after it without its answer, or while the driver is at it, which
 * ends that late.
 */
export type When = 'before' | 'lost' | 'late' | 'after';

export interface Cell {
  phase: Phase;
  step: MatrixStep;
  when: When;
  dying: Mortal[];
}

const everyone: Mortal[][] = [['agent'], ['driver'], ['agent', 'driver']];

/** Every way in which a step can go wrong. An agent that does not die has no reason to abandon anything. */
function waysOf(phase: Phase, { kind }: MatrixStep): Pick<Cell, 'when' | 'dying'>[] {
  const moments: When[] = kind === 'call' ? ['before', 'lost', 'after'] : ['before', 'after'];
  const ways = moments.flatMap((when) => everyone.map((dying) => ({ when, dying })));
  const ofCalls: Pick<Cell, 'when' | 'dying'>[] = [
    { when: 'lost', dying: [] },
    { when: 'late', dying: ['agent'] },
  ];
  const all = kind === 'call' ? [...ways, ...ofCalls] : ways;
  return phase === 'abandon' ? all.filter(({ dying }) => dying.includes('agent')) : all;
}

export const cellsOf = (phase: Phase, steps: readonly MatrixStep[]): Cell[] =>
  steps.flatMap((step) => waysOf(phase, step).map((way) => ({ phase, step, ...way })));

/**
 * Deals out some of all cells: one for each step, its ways in turn, so that each step is there, and each way of commits and
 * of calls. Which way meets which step is the seed's to say.
 */
export class Dealer {
  readonly #turns: Record<MatrixStep['kind'], number>;

  constructor(seed: number) {
    const random = seededRandom(seed);
    this.#turns = { commit: Math.floor(random.next() * 60), call: Math.floor(random.next() * 60) };
  }

  deal(phase: Phase, steps: readonly MatrixStep[]): Cell[] {
    return steps.flatMap((step) => {
      const ways = waysOf(phase, step);
      const way = ways[this.#turns[step.kind] % ways.length];
      this.#turns[step.kind] += 1;
      return way ? [{ phase, step, ...way }] : [];
    });
  }
}

const nameOf = ({ kind, of, what, nth }: MatrixStep): string => {
  const event = what.replace('xstate.done.actor.', 'the outcome of ');
  const step = kind === 'call' ? `${what} of ${of}` : `the commit of ${event} at ${of}`;
  return nth > 1 ? `${step} (${nth})` : step;
};

export function titleOf({ step, when, dying }: Cell): string {
  const killed = dying.length === 0 ? [] : [`the ${dying.join(' and the ')} killed`];
  if (when === 'late') return `${killed} during ${nameOf(step)}, which ends late`;
  if (when !== 'lost') return `${killed} ${when} ${nameOf(step)}`;
  return [`the answer of ${nameOf(step)} lost`, ...killed].join(', ');
}
