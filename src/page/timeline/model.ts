/** Lanes of actors in time: who asked, their states, their parts, the calls to plugins, the commits. Pure. */
import type { EffectInFlight, Health } from '../../api/actor-routes.js';
import { healthOfStep } from '../../inspector/state-health.js';
import type { HistoryLine } from '../../journal/history.js';
import { layoutOf } from '../actor/shown.js';
import { healthIn } from '../chart/lit.js';
import { healthOfTone } from '../common/tones.js';

/** A step of an actor. */
export interface StepPoint {
  address: string;
  seq: number;
}

export const isSameStep = (one: StepPoint, other: StepPoint | undefined): boolean =>
  one.seq === other?.seq && one.address === other.address;

/** A stretch of time, with the step that it belongs to. */
export interface Bar extends StepPoint {
  from: number;
  to: number;
  text: string;
  health: Health;
}

export interface CallBar extends Bar {
  code?: string;
  attempt?: number;
  message?: string;
  /** Its answer has not come yet. */
  isOpen?: true;
}

export interface Point extends StepPoint {
  at: number;
  text: string;
}

/** `address`: of its actor; the commits are those of all. */
export type Lane = { address: string; name: string; about: string } & (
  | { kind: 'callers'; points: Point[] }
  | { kind: 'states'; bars: Bar[] }
  | { kind: 'calls'; calls: CallBar[]; pauses: { from: number; to: number }[] }
  | { kind: 'commits'; points: Point[] }
);

export interface TimelineModel {
  lanes: Lane[];
  from: number;
  to: number;
  /** Moments at which something happens, in order. */
  moments: number[];
  /** All steps, in order. */
  steps: Point[];
}

/** An actor of the timeline. */
export interface TimelineInput {
  address: string;
  name: string;
  machine: string;
  lines: readonly HistoryLine[];
  effects: readonly EffectInFlight[];
}

export function timelineOf(inputs: readonly TimelineInput[], now: number): TimelineModel {
  const end = Math.max(now, ...inputs.map(({ lines }) => lines.at(-1)?.at ?? now));
  const own = inputs.flatMap((input) => lanesOf(input, end));
  const steps = inputs.flatMap(({ address, lines }) => pointsOf(address, lines)).sort((a, b) => a.at - b.at);
  const begins = own.flatMap((lane) => (lane.kind === 'calls' ? lane.calls.map(({ from }) => from) : []));
  const moments = [...new Set([...steps.map(({ at }) => at), ...begins, end])].sort((a, b) => a - b);
  const store: Lane = { kind: 'commits', address: '', name: 'Store', about: 'commits', points: steps };
  return { lanes: [...own, store], from: moments[0] ?? end, to: end, moments, steps };
}

function lanesOf({ address, name, machine, lines, effects }: TimelineInput, end: number): Lane[] {
  const states = (stateAfter: StateAfter, healthOf: Stretches['healthOf']): Bar[] =>
    statesOf({ address, lines, stateAfter, healthOf, end });
  const partIds = [...new Set(lines.flatMap(({ parts }) => parts.map(({ id }) => id)))];
  const parts = partIds.map((id): Lane => {
    const slash = id.indexOf('/');
    return {
      ...{ kind: 'states', address },
      name: slash < 0 ? id : id.slice(slash + 1),
      about: slash < 0 ? `part of the ${machine}` : id.slice(0, slash),
      bars: states(
        (line, before) => partAfter(line, id, before),
        (state) => healthIn(layoutOf(chartOf(id)), state) ?? healthOfStep(chartOf(id), state),
      ),
    };
  });
  const asked = pointsOf(address, lines.filter(isAsked));
  return [
    { kind: 'callers', address, name: 'Asked', about: 'by callers and other actors', points: asked },
    {
      kind: 'states',
      address,
      name,
      about: machine,
      bars: states(
        ({ after }) => after,
        (state) => healthIn(layoutOf(machine), state) ?? healthOfStep(machine, state),
      ),
    },
    ...parts,
    ...callLanes({ address, lines, effects }, end),
  ];
}

/** Inputs that somebody else asked for. */
const isAsked = ({ from }: HistoryLine): boolean => from === 'caller' || from.includes('/');

const pointsOf = (address: string, lines: readonly HistoryLine[]): Point[] =>
  lines.map(({ at, what, seq }) => ({ address, at, text: what, seq }));

const partAfter = ({ parts }: HistoryLine, id: string, before: string | undefined): string | undefined => {
  const change = parts.find((part) => part.id === id);
  return change ? change.after : before;
};

type StateAfter = (line: HistoryLine, before: string | undefined) => string | undefined;

interface Stretches extends Pick<TimelineInput, 'address' | 'lines'> {
  stateAfter: StateAfter;
  healthOf: (state: string) => Health;
  end: number;
}

/** Stretches in which a state stays the same. */
function statesOf({ address, lines, stateAfter, healthOf, end }: Stretches): Bar[] {
  const bars: Bar[] = [];
  let state: string | undefined;
  for (const line of lines) {
    const next = stateAfter(line, state);
    if (next === state) continue;
    const last = bars.at(-1);
    if (last && state !== undefined) last.to = line.at;
    const { at: from, seq } = line;
    if (next !== undefined) bars.push({ ...{ address, seq, from, to: end }, text: next, health: healthOf(next) });
    state = next;
  }
  return bars;
}

/** Chart of a part, by its id. */
const chartOf = (id: string): string => {
  const [kind = ''] = id.split('/', 1);
  return kind === 'volume' ? 'alloc-volume' : kind;
};

type CallLane = Extract<Lane, { kind: 'calls' }>;

/** A lane for each plugin that was called, or is. */
function callLanes(
  { address, lines, effects }: Pick<TimelineInput, 'address' | 'lines' | 'effects'>,
  end: number,
): CallLane[] {
  const lanes = new Map<string, CallLane>();
  const laneOf = (plugin: string): CallLane => {
    const known = lanes.get(plugin);
    if (known) return known;
    const lane: CallLane = { kind: 'calls', address, name: plugin, about: 'plugin calls', calls: [], pauses: [] };
    lanes.set(plugin, lane);
    return lane;
  };
  for (const [index, line] of lines.entries()) {
    const { rpc, at, seq, tookMs, code, attempt, message, tone, from, nextAttemptAtMs } = line;
    if (!rpc || from === 'engine' || tookMs === undefined) continue;
    laneOf(from).calls.push({
      ...{ from: at - tookMs, to: at, text: rpc, health: healthOfTone[tone] ?? 'unknown' },
      ...{ address, seq },
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
    lane.calls.push({ ...{ address, seq, from: sentAtMs, to: end }, text: rpc, health: 'working', isOpen: true });
  }
  return [...lanes.values()];
}

/** Calls of all lanes, oldest first. */
export const callsIn = ({ lanes }: TimelineModel): (CallBar & { plugin: string })[] =>
  lanes
    .flatMap((lane) => (lane.kind === 'calls' ? lane.calls.map((call) => ({ ...call, plugin: lane.name })) : []))
    .sort((a, b) => a.from - b.from);
