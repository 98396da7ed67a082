/**
 * How states are, by their names alone: for lanes and marks of the page, and where a context says no more. Knows no machine,
 * so that the page can have it too. With the context: health.ts
 */
import { volumeSteps } from '../../machines/alloc/volume-steps.js';
import type { Health } from '../api/actor-routes.js';

/** Health of a state, by its first matching beginning. */
type Table = readonly (readonly [beginning: string, health: Health, why: string])[];

export const isIn = (state: string, outer: string): boolean => state === outer || state.startsWith(`${outer}.`);

function lookUp(table: Table, state: string): { health: Health; why: string } | undefined {
  const row = table.find(([beginning]) => isIn(state, beginning));
  return row && { health: row[1], why: row[2] };
}

/** Health of the steps whose names don't tell it. */
const stepHealth: Record<string, Record<string, Health>> = {
  lifecycle: { absent: 'gone', created: 'healthy' },
  publication: { published: 'healthy', removed: 'gone' },
  expansion: { overtaken: 'working', done: 'healthy' },
  modification: { overtaken: 'working', done: 'healthy' },
  'alloc-volume': Object.fromEntries(Object.entries(volumeSteps).map(([at, { health }]) => [at, health])),
};

/** Health of a step of a part, by its chart and state. */
export function healthOfStep(chart: string, at: string): Health {
  const known = Object.entries(stepHealth[chart] ?? {}).find(([beginning]) => isIn(at, beginning));
  if (known) return known[1];
  const [outer = ''] = at.split('.');
  if (outer === 'failed') return 'failed';
  if (outer.includes('in-doubt') || outer === 'finding-out' || outer === 'cancelling') return 'in-doubt';
  return /\.(calling|first-call)\b/.test(at) ? 'working' : 'waiting';
}

/** States that say how the actor is without its parts. */
const states: Record<string, Table> = {
  volume: [
    ['created', 'healthy', 'created'],
    ['published', 'healthy', 'published'],
    ['deleted', 'gone', 'deleted'],
  ],
  mount: [
    ['unstaged', 'gone', 'not mounted'],
    ['staged', 'healthy', 'staged'],
    ['published', 'healthy', 'mounted'],
  ],
};

/** Health of a state of an actor, by its name: what its parts and its context know is not in it. */
export const healthOfState = (machine: string, state: string): Health =>
  lookUp(states[machine] ?? [], state)?.health ?? healthOfStep(machine, state);
