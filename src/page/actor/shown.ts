/** Prepares a moment, present or past, for the actor view. Pure. */
import type { StateValue } from 'xstate';
import type { ActorDetail, Health, MomentAnswer, PartSummary } from '../../api/actor-routes.js';
import type { HistoryLine } from '../../journal/history.js';
import type { ChartLayout } from '../chart/layout.js';
import layouts from '../chart/layouts.json' with { type: 'json' };

export interface ShownMoment {
  seq: number;
  at?: number;
  /** Path of the state as people see it; '' once the actor is deleted. */
  state: string;
  /** Path of the state in the chart of the machine. */
  place: string;
  health: Health;
  why: string;
  context: object | undefined;
  parts: PartSummary[];
}

export const shownNow = (
  { seq, at, state, value, health, why, context, parts }: ActorDetail,
  line?: HistoryLine,
): ShownMoment => {
  const moment = at ?? line?.at;
  const place = placeOf(value);
  return { seq, ...(moment !== undefined && { at: moment }), state, place, health, why, context, parts };
};

export const shownThen = ({ seq, line, health, why, snapshot, parts }: MomentAnswer): ShownMoment => ({
  ...{ seq, at: line.at, state: line.after ?? '', health, why, context: snapshot?.context, parts },
  place: snapshot ? placeOf(snapshot.value) : '',
});

function placeOf(value: StateValue): string {
  if (typeof value === 'string') return value;
  const [[outer, inner] = ['', undefined]] = Object.entries(value);
  return inner === undefined ? outer : `${outer}.${placeOf(inner)}`;
}

export const layoutOf = (chart: string): ChartLayout | undefined =>
  (layouts as unknown as ChartLayout[]).find(({ machine }) => machine === chart);

/** Colour of a lit state: that of the step that it names, else how the actor is. */
export function litHealth(state: string, health: Health): Health {
  if (state === '') return 'gone';
  if (/in-doubt/.test(state)) return 'in-doubt';
  if (/(^|\.)(calling|first-call)$/.test(state)) return 'working';
  return /\.(backing-off|due)$|(^|\.)waiting-for-/.test(state) ? 'waiting' : health;
}

/** State of a part before a step. */
export function partBefore(line: HistoryLine | undefined, id: string): string {
  return line?.parts.find((part) => part.id === id)?.before ?? '';
}

/** Name of a part within its kind: `worker-1` of `publication/worker-1`. */
export const partName = ({ id, chart }: Pick<PartSummary, 'id' | 'chart'>): string =>
  id.startsWith(`${chart}/`) ? id.slice(chart.length + 1) : id.replace(/^volume\//, '');

const kinds: Record<string, string> = {
  lifecycle: 'Lifecycle',
  publication: 'Publications',
  expansion: 'Changes',
  modification: 'Changes',
  staging: 'Staging',
  target: 'Targets',
  'alloc-volume': 'Volumes',
};

/** Parts by kind, in their order. */
export function partsByKind(parts: readonly PartSummary[]): [kind: string, parts: PartSummary[]][] {
  const found = new Map<string, PartSummary[]>();
  for (const part of parts) {
    const kind = kinds[part.chart] ?? part.chart;
    found.set(kind, [...(found.get(kind) ?? []), part]);
  }
  return [...found];
}
