/** Places on the track of the scrubber: steps stand at equal distances, long pauses between them are written. Pure. */
import type { HistoryLine } from '../../journal/history.js';

/** Share of the track that is left free at each end, in percent. */
const margin = 1.2;

/** Place of a step on the track, in percent. */
export const percentOf = (index: number, count: number): number =>
  count < 2 ? 100 - margin : margin + ((100 - 2 * margin) * index) / (count - 1);

/** Step at a place of the track. */
export function indexAt(percent: number, count: number): number {
  const index = Math.round(((percent - margin) / (100 - 2 * margin)) * (count - 1));
  return Math.max(0, Math.min(count - 1, index));
}

type Step = Pick<HistoryLine, 'at' | 'tone' | 'from'>;

interface Pause {
  percent: number;
  ms: number;
}

/** Shorter pauses are not written. */
const leastPause = 3000;
/** Least distance between two written pauses, in percent of the track. */
const leastDistance = 7;

/** Pauses to write on the track: the longest ones, as far as there is room. */
export function pausesOf(steps: readonly Step[]): Pause[] {
  const pauses = steps.slice(1).map((step, index) => ({
    percent: (percentOf(index, steps.length) + percentOf(index + 1, steps.length)) / 2,
    ms: step.at - (steps[index]?.at ?? step.at),
  }));
  const written: Pause[] = [];
  for (const pause of pauses.filter(({ ms }) => ms >= leastPause).sort((a, b) => b.ms - a.ms))
    if (written.every(({ percent }) => Math.abs(percent - pause.percent) >= leastDistance)) written.push(pause);
  return written.sort((a, b) => a.percent - b.percent);
}

/** How a step is drawn: with the icon of its tone, as a ring for a request, or as a short line. */
type Mark = Exclude<HistoryLine['tone'], 'plain'> | 'request' | 'tick';

export const markOf = ({ tone, from }: Step): Mark =>
  tone !== 'plain' ? tone : from === 'caller' ? 'request' : 'tick';

/** Most marks that the track has room for; with more steps only those with a tone are drawn, the worst ones first. */
const mostMarks = 120;

const ranks: Record<Mark, number> = { failed: 0, 'in-doubt': 1, waiting: 2, done: 3, request: 4, tick: 5 };

/** Indexes of the steps that get a mark. */
export function markedSteps(steps: readonly Step[]): number[] {
  const indexes = steps.map((_, index) => index);
  if (steps.length <= mostMarks) return indexes;
  const size = steps.length / mostMarks;
  const rankAt = (index: number): number => ranks[markOf(steps[index] as Step)];
  const best = new Map<number, number>();
  for (const index of indexes) {
    const slot = Math.floor(index / size);
    const other = best.get(slot);
    if (other === undefined || rankAt(index) < rankAt(other)) best.set(slot, index);
  }
  return [...best.values()];
}
