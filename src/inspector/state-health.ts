/**
 * How states are, by their names alone: where no chart says it, as for steps of earlier versions in a history. Knows no machine,
 * so that the page can have it too. With the chart: machines/kit/state-words.ts. With the context: health.ts
 */
import { volumeSteps } from '../../machines/alloc/volume-steps.js';
import type { Said } from '../../machines/kit/state-words.js';
import type { Health } from '../api/actor-routes.js';

export const isInState = (state: string, outer: string): boolean => state === outer || state.startsWith(`${outer}.`);

/** Steps that follow no chart, by the name of their table. */
const tables: Readonly<Record<string, Readonly<Record<string, Said>>>> = { 'alloc-volume': volumeSteps };

/** @param chart id of the machine, or of the chart or table of the part */
export function healthOfStep(chart: string, at: string): Health {
  const known = tables[chart]?.[at];
  if (known) return known.health;
  const [outer = ''] = at.split('.');
  if (outer === 'failed') return 'failed';
  if (outer.includes('in-doubt') || outer === 'finding-out' || outer === 'cancelling') return 'in-doubt';
  return /\.(calling|first-call)\b/.test(at) ? 'working' : 'waiting';
}
