/** Lanes of an actor in time: who asked, its state, its parts, the calls to plugins, the commits. Pure. */
import type { EffectInFlight, Health } from '../../api/actor-routes.js';
import type { HistoryLine } from '../../journal/history.js';
import { healthOfTone } from '../common/tones.js';

/** A stretch of time. `seq`: the step that it belongs to. */
export interface Bar {
  from: number;
  to: number;
  text: string;
  health: Health;
  seq: number;
}

export interface CallBar extends Bar {
  code?: string;
  attempt?: number;
  message?: string;
  /** Its answer has not come yet. */
  isOpen?: true;
}

export interface Point {
  at: number;
  text: string;
  seq: number;
}

export type Lane =
  | { kind: 'callers'; name: string; about: string; points: Point[] }
  | { kind: 'states'; name: string; about: string; bars: Bar[] }
  | { kind: 'calls'; name: string; about: string; calls: CallBar[]; pauses: { from: number; to: number }[] }
  | { kind: 'commits'; name: string; about: string; points: Point[] };

export interface TimelineModel {
  lanes: Lane[];
  from: number;
  to: number;
  /** Moments at which something happens, in order. */
  moments: number[];
}

export interface TimelineInput {
  name: string;
  machine: string;
  lines: readonly HistoryLine[];
  effects: readonly EffectInFlight[];
  now: number;
}

export function timelineOf({ name, machine, lines, effects, now }: TimelineInput): TimelineModel {
  const end = Math.max(now, lines.at(-1)?.at ?? now);
  const own = statesOf(lines, ({ after }) => after, end);
  const partIds = [...new Set(lines.flatMap(({ parts }) => parts.map(({ id }) => id)))];
  const parts = partIds.map((id): Lane => {
    const slash = id.indexOf('/');
    return {
      kind: 'states',
      name: slash < 0 ? id : id.slice(slash + 1),
      about: slash < 0 ? `part of the ${machine}` : id.slice(0, slash),
      bars: statesOf(lines, (line, before) => partAfter(line, id, before), end),
    };
  });
  const calls = callLanes(lines, effects, end);
  const lanes: Lane[] = [
    { kind: 'callers', name: 'Asked', about: 'by callers and other actors', points: pointsOf(lines.filter(isAsked)) },
    { kind: 'states', name, about: machine, bars: own },
    ...parts,
    ...calls,
    { kind: 'commits', name: 'Store', about: 'commits', points: pointsOf(lines) },
  ];
  const begins = calls.flatMap((lane) => (lane.kind === 'calls' ? lane.calls.map(({ from }) => from) : []));
  const moments = [...new Set([...lines.map(({ at }) => at), ...begins, end])].sort((a, b) => a - b);
  return { lanes, from: moments[0] ?? end, to: end, moments };
}

/** Inputs that somebody else asked for. */
const isAsked = ({ from }: HistoryLine): boolean => from === 'caller' || from.includes('/');

const pointsOf = (lines: readonly HistoryLine[]): Point[] =>
  lines.map(({ at, what, seq }) => ({ at, text: what, seq }));

const partAfter = ({ parts }: HistoryLine, id: string, before: string | undefined): string | undefined => {
  const change = parts.find((part) => part.id === id);
  return change ? change.after : before;
};

/** Stretches in which a state stays the same. */
function statesOf(
  lines: readonly HistoryLine[],
  stateAfter: (line: HistoryLine, before: string | undefined) => string | undefined,
  end: number,
): Bar[] {
  const bars: Bar[] = [];
  let state: string | undefined;
  for (const line of lines) {
    const next = stateAfter(line, state);
    if (next === state) continue;
    const last = bars.at(-1);
    if (last && state !== undefined) last.to = line.at;
    if (next !== undefined) bars.push({ from: line.at, to: end, text: next, health: healthAt(next), seq: line.seq });
    state = next;
  }
  return bars;
}

/** Colour of a state in a lane, by its name. */
function healthAt(state: string): Health {
  const [outer = ''] = state.split('.');
  if (outer === 'failed') return 'failed';
  if (/in-doubt|cancelling|finding-out/.test(outer)) return 'in-doubt';
  if (/(^|\.)(calling|first-call|working)$|ing$/.test(state) && !state.includes('waiting')) return 'working';
  if (/\.(backing-off|due)$|waiting/.test(state)) return 'waiting';
  return /^(deleted|removed|released|absent|gone|not-staged|unstaged)/.test(outer) ? 'gone' : 'healthy';
}

type CallLane = Extract<Lane, { kind: 'calls' }>;

/** A lane for each plugin that was called, or is. */
function callLanes(lines: readonly HistoryLine[], effects: readonly EffectInFlight[], end: number): CallLane[] {
  const lanes = new Map<string, CallLane>();
  const laneOf = (plugin: string): CallLane => {
    const lane = lanes.get(plugin) ?? { kind: 'calls', name: plugin, about: 'plugin calls', calls: [], pauses: [] };
    lanes.set(plugin, lane);
    return lane;
  };
  for (const [index, line] of lines.entries()) {
    const { rpc, at, seq, tookMs, code, attempt, message, tone, from, nextAttemptAtMs } = line;
    if (!rpc || from === 'engine' || tookMs === undefined) continue;
    laneOf(from).calls.push({
      ...{ from: at - tookMs, to: at, text: rpc, health: healthOfTone[tone] ?? 'unknown', seq },
      ...(code !== undefined && { code }),
      ...(attempt !== undefined && { attempt }),
      ...(message !== undefined && { message }),
    });
    const next = lines[index + 1];
    if (nextAttemptAtMs !== undefined)
      laneOf(from).pauses.push({ from: at, to: next?.at ?? Math.min(nextAttemptAtMs, end) });
  }
  for (const { rpc, seq, sentAtMs, input } of effects) {
    if (!rpc || sentAtMs === undefined) continue;
    const plugin: unknown = input instanceof Object ? Reflect.get(input, 'plugin') : undefined;
    const lane = laneOf(typeof plugin === 'string' ? plugin : 'plugin');
    lane.calls.push({ from: sentAtMs, to: end, text: rpc, health: 'working', seq, isOpen: true });
  }
  return [...lanes.values()];
}

/** Calls of all lanes, oldest first. */
export const callsIn = ({ lanes }: TimelineModel): (CallBar & { plugin: string })[] =>
  lanes
    .flatMap((lane) => (lane.kind === 'calls' ? lane.calls.map((call) => ({ ...call, plugin: lane.name })) : []))
    .sort((a, b) => a.from - b.from);
