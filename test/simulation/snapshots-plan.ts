/**
 * What happens to snapshots and to nodes in a history, beside what happens to its volumes (volumes-plan.ts): of many seeds
 * some snapshots of volumes and of groups, nodes that go and come, with crashes close to that, and volumes that somebody
 * else takes away.
 */
import { mixed } from './dice.js';
import { Hand, nodeIds, type Step, type VolumesPlan, volumesPlanOf } from './volumes-plan.js';

export type SnapshotVariant = 'one' | 'group';

export type SnapshotStep =
  | { do: 'snapshot'; sort: SnapshotVariant; id: string; volumes: string[]; timeoutMs?: number }
  | { do: 'snapshot-delete'; sort: SnapshotVariant; id: string; force: boolean; timeoutMs?: number }
  | { do: 'snapshot-retry' | 'snapshot-acknowledge'; sort: SnapshotVariant; id: string };

export interface SnapshotTraits {
  /** So often a new one is not ready yet. */
  unreadyFor: number;
  /** How one whose volume is gone can be found. */
  finds: string[];
}

/** The plan of a seed, with snapshots and with nodes that change: the same for ever, as long as both files stay as they are. */
export function fullPlanOf(seed: number): VolumesPlan {
  const plan = volumesPlanOf(seed);
  const hand = new Hand(mixed(seed, 'snapshots and nodes'));
  const steps = [
    ...(hand.is(0.6) ? snapshotSteps(hand, Object.keys(plan.traits.modes)) : []),
    ...(hand.is(0.3) ? nodeSteps(hand) : []),
    ...(hand.is(0.25) ? driftSteps(hand, Object.keys(plan.traits.modes)) : []),
  ];
  if (steps.length === 0) return plan;
  const snapshots = { unreadyFor: hand.of([0, 0, 1, 3]), finds: hand.of([[], ['GET_SNAPSHOT'], ['LIST_SNAPSHOTS']]) };
  const inOrder = [...plan.steps, ...steps].sort((one, other) => one.atMs - other.atMs);
  return { seed, traits: { ...plan.traits, snapshots }, steps: inOrder };
}

function snapshotSteps(hand: Hand, volumes: string[]): Step[] {
  const steps: Step[] = [];
  const count = 2 + hand.upTo(10);
  let atMs = 60 + hand.upTo(4_000);
  for (let n = 0; n < count; n += 1) {
    atMs += hand.is(0.3) ? 0 : hand.is(0.6) ? hand.upTo(150) : hand.upTo(6_000);
    steps.push({ atMs, ...snapshotStep(hand, volumes) });
    if (hand.is(0.2)) steps.push(crash(hand, atMs));
  }
  return steps;
}

function snapshotStep(hand: Hand, volumes: string[]): SnapshotStep {
  const sort = hand.of(['one', 'one', 'group'] as const);
  const id = hand.of(['s', 't']);
  const patience = hand.is(0.3) ? { timeoutMs: hand.upTo(5_000) } : {};
  const place = hand.next();
  if (place < 0.5) {
    const of = sort === 'one' ? [hand.of(volumes)] : volumes.filter((_, at) => at === 0 || hand.is(0.6));
    return { do: 'snapshot', sort, id, volumes: of, ...patience };
  }
  if (place < 0.85) return { do: 'snapshot-delete', sort, id, force: hand.is(0.25), ...patience };
  return { do: hand.of(['snapshot-retry', 'snapshot-retry', 'snapshot-acknowledge'] as const), sort, id };
}

function nodeSteps(hand: Hand): Step[] {
  const steps: Step[] = [];
  const count = 1 + hand.upTo(6);
  let atMs = 100 + hand.upTo(6_000);
  for (let n = 0; n < count; n += 1) {
    atMs += hand.is(0.4) ? hand.upTo(20) : hand.upTo(5_000);
    const change = hand.of(['report', 'report', 'down', 'fence', 'fence', 'remove'] as const);
    steps.push({ atMs, do: 'node', node: hand.of(nodeIds), change });
    if (hand.is(0.4)) steps.push(crash(hand, atMs));
  }
  return steps;
}

function driftSteps(hand: Hand, volumes: string[]): Step[] {
  const steps: Step[] = [];
  const count = 1 + hand.upTo(5);
  let atMs = 100 + hand.upTo(6_000);
  for (let n = 0; n < count; n += 1) {
    atMs += hand.is(0.3) ? hand.upTo(20) : hand.upTo(4_000);
    if (hand.is(0.7)) steps.push({ atMs, do: 'detach', volume: hand.of(volumes), node: hand.of(nodeIds) });
    steps.push({ atMs: atMs + hand.upTo(300), do: 'reconcile' });
  }
  return steps;
}

/** At one of the next calls of the store. */
const crash = (hand: Hand, atMs: number): Step => ({
  atMs,
  do: 'crash',
  calls: 1 + hand.upTo(6),
  moment: hand.of(['before', 'after']),
  downMs: hand.of([0, 100, 4_000]),
});
