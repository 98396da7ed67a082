/**
 * Judges a log of calls from the caller's side: what it did that it must not, knowing what it could know from the answers.
 * Pure: any log will do, also several drivers' in one. Rules of order: rules.ts. Source: CSI specification 1.12,
 * "Volume Lifecycle", "Concurrency", and the errors of each RPC.
 */
import type { RecordedCall } from '../call.js';
import { changes, isOnNode, subjectsOf } from '../requests.js';
import { findingsOf, type ViolationKind } from './rules.js';
import { callerHeard, type Offers, World } from './world.js';

export type { ViolationKind } from './rules.js';
export type { Offers } from './world.js';

export interface Violation {
  readonly kind: ViolationKind;
  /** Number of the faulty call; for an overlap, of the later one. */
  readonly call: number;
  /** For people: the call, and why it was wrong. */
  readonly text: string;
}

export interface JudgeOptions {
  /** Ids of fenced nodes: their earlier calls and uses do not count against anybody. */
  fencedNodes?: readonly string[];
}

type Subject = { readonly key: string; readonly name: string };

/**
 * @param offered capabilities by service, as far as known beforehand; answers in the log take precedence. Unknown
 *   capabilities are not judged.
 * @returns faults in the order of the calls
 */
export function violationsIn(
  calls: readonly RecordedCall[],
  offered: Offers = {},
  { fencedNodes = [] }: JudgeOptions = {},
): Violation[] {
  const world = new World(offered, fencedNodes);
  const underWay = new Set<RecordedCall>();
  const violations: Violation[] = [];
  for (const { call, isEnd } of momentsOf(calls)) {
    if (isEnd) {
      underWay.delete(call);
      world.end(call);
      continue;
    }
    for (const [kind, why] of Object.entries({ ...findingsOf(call, world), overlap: overlapOf(call, underWay) })) {
      if (why) violations.push({ kind: kind as ViolationKind, call: call.number, text: `${titleOf(call)}: ${why}` });
    }
    world.begin(call);
    underWay.add(call);
  }
  return violations;
}

interface Moment {
  atMs: number;
  call: RecordedCall;
  isEnd: boolean;
}

/** At the same time, the end of a call counts before the beginning of another. */
function momentsOf(calls: readonly RecordedCall[]): Moment[] {
  const begins = calls.map((call) => ({ atMs: call.beganAtMs, call, isEnd: false }));
  const ends = calls.flatMap((call) => {
    const atMs = callerHeard(call)?.atMs;
    return atMs === undefined ? [] : [{ atMs, call, isEnd: true }];
  });
  return [...begins, ...ends].sort((a, b) => a.atMs - b.atMs || Number(b.isEnd) - Number(a.isEnd));
}

function overlapOf(call: RecordedCall, underWay: ReadonlySet<RecordedCall>): string | undefined {
  const subjects = subjectsWithKeys(call);
  for (const other of underWay) {
    const keys = new Set(subjectsWithKeys(other).map(({ key }) => key));
    const shared = subjects.find(({ key }) => keys.has(key));
    if (shared) return `call ${other.number}, ${other.rpc}, is under way on ${shared.name}`;
  }
  return undefined;
}

/** Node calls may overlap with controller calls, and with node calls on other nodes. */
function subjectsWithKeys({ rpc, request, nodeId }: RecordedCall): Subject[] {
  if (!changes(rpc)) return [];
  const where = isOnNode(rpc) ? nodeId : '';
  return subjectsOf(rpc, request).map((name) => ({ key: `${where}\0${name}`, name }));
}

const titleOf = ({ number, rpc, request }: RecordedCall): string =>
  [`call ${number}`, rpc, ...subjectsOf(rpc, request).slice(0, 1)].join(', ');
