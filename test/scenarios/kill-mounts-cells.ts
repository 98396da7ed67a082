/** The cells of the fault matrix: who is killed at which step of what a run without faults was seen to do. Pure. */
import { seededRandom } from '../../src/testing/index.js';
import type { MatrixStep, Mortal } from './kill-mounts-agent.js';

/** What is under way when it strikes; `abandon`: an alloc is prepared, and released afterwards. */
export type Phase = 'prepare' | 'abandon' | 'release';

/**
 * Before the step, after it, or what only a call can meet: after it without its answer, or while the driver is at it, which
 * ends that late.
 */
type When = 'before' | 'lost' | 'late' | 'after';

interface Matrix {
  phase: Phase;
  /** Whether calls can go wrong in what only the driver's script makes of them. */
  isScripted: boolean;
}

export interface Cell extends Matrix {
  step: MatrixStep;
  when: When;
  dying: Mortal[];
}

const everyone: Mortal[][] = [['agent'], ['driver'], ['agent', 'driver']];

/** Every way in which a step can go wrong. An agent that does not die has no reason to abandon anything. */
function waysOf({ phase, isScripted }: Matrix, { kind }: MatrixStep): Pick<Cell, 'when' | 'dying'>[] {
  const isCall = kind === 'call' && isScripted;
  const moments: When[] = isCall ? ['before', 'lost', 'after'] : ['before', 'after'];
  const ways = moments.flatMap((when) => everyone.map((dying) => ({ when, dying })));
  const ofCalls: Pick<Cell, 'when' | 'dying'>[] = [
    { when: 'lost', dying: [] },
    { when: 'late', dying: ['agent'] },
  ];
  const all = isCall ? [...ways, ...ofCalls] : ways;
  return phase === 'abandon' ? all.filter(({ dying }) => dying.includes('agent')) : all;
}

export const cellsOf = (matrix: Matrix, steps: readonly MatrixStep[]): Cell[] =>
  steps.flatMap((step) => waysOf(matrix, step).map((way) => ({ ...matrix, step, ...way })));

/**
 * Deals out some of all cells: one for each call and for every other commit, their ways in turn, so that each way is there.
 * Which way meets which step is the seed's to say.
 */
export class Dealer {
  /** How many of a kind were dealt. */
  readonly #dealt: Record<MatrixStep['kind'], number>;
  #commits: number;

  constructor(seed: number) {
    const random = seededRandom(seed);
    const drawn = (): number => Math.floor(random.next() * 60);
    this.#dealt = { commit: drawn(), call: drawn() };
    this.#commits = drawn();
  }

  deal(matrix: Matrix, steps: readonly MatrixStep[]): Cell[] {
    return steps
      .filter((step) => this.#isIn(step))
      .flatMap((step) => {
        const ways = waysOf(matrix, step);
        const way = ways[this.#dealt[step.kind] % ways.length];
        this.#dealt[step.kind] += 1;
        return way ? [{ ...matrix, step, ...way }] : [];
      });
  }

  #isIn({ kind }: MatrixStep): boolean {
    if (kind === 'call') return true;
    this.#commits += 1;
    return this.#commits % 2 === 0;
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
