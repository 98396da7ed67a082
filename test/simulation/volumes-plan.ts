/** What happens in a history of volumes, as data: told by its seed, made smaller by leaving steps out. */
import type { AccessMode } from '../../machines/kit/csi-types.js';
import type { GrpcCode } from '../../src/csi/grpc-codes.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import type { SnapshotStep, SnapshotTraits } from './snapshots-plan.js';

export const nodeIds = ['a', 'b', 'c'] as const;
export const csiNodeIdOf = (node: string): string => `csi-${node}`;

/** Each at its time, as far as there is a runtime to hear of it. */
export type Step = { atMs: number } & (
  | { do: 'create'; volume: string; size: number; timeoutMs?: number }
  | { do: 'publish'; volume: string; node: string; readOnly: boolean; capability: number; timeoutMs?: number }
  | { do: 'unpublish'; volume: string; node: string; timeoutMs?: number }
  | { do: 'delete'; volume: string; force: boolean; timeoutMs?: number }
  | {
      do: 'claim';
      volume: string;
      alloc: string;
      node: string;
      mode: 'read' | 'write';
      capability: number;
      wait: boolean;
    }
  | { do: 'release'; volume: string; alloc: string }
  | { do: 'retry' | 'acknowledge' | 'expand' | 'modify'; volume: string }
  | { do: 'availability'; volume: string; availability: 'active' | 'pause' | 'drain' }
  | { do: 'node'; node: string; change: 'report' | 'down' | 'fence' | 'remove' }
  | SnapshotStep
  /** Somebody else takes it from a node. */
  | { do: 'detach'; volume: string; node: string }
  | { do: 'reconcile' }
  /** Every call to the plugin ends so for a while; whether it does what it is asked all the same. */
  | { do: 'spell'; code: GrpcCode; works: boolean; forMs: number }
  /** Its process is gone for a while, and what it was at; or it lives, but is not known well enough to be called. */
  | { do: 'plugin'; is: 'dead' | 'unhealthy' | 'unknown' | 'deregistered'; forMs: number }
  | { do: 'secrets'; are: 'missing' | 'wrong' | 'slow' | 'rotated'; forMs: number }
  /** The runtime dies, or stands still and goes on beside its successor, at one of its next calls of the store. */
  | { do: 'crash' | 'freeze'; calls: number; moment: 'before' | 'after'; downMs: number }
);

export interface Traits {
  /** Of each volume, the modes that it can be used in. */
  modes: Record<string, AccessMode[]>;
  /** Volumes whose calls need secrets. */
  secret: string[];
  /** The driver answers ABORTED to a second call for a volume; else it does both. */
  isLocking: boolean;
  /** How often a call of the plugin goes wrong. */
  faults: number;
  /** How many times the store fails each runtime for a few calls. */
  storeOutages: number;
  storeLatencyMs: number;
  lacks: string[];
  fencingAfterMs?: number;
  maxInFlight: number;
  leaseTtlMs: number;
  /** What failed for good is tried again in the end. */
  isRetried: boolean;
  /** Absent: there are none. */
  snapshots?: SnapshotTraits;
  /** How many volumes each node takes, most of the time; absent: any number. */
  limit?: number;
}

export interface VolumesPlan {
  seed: number;
  traits: Traits;
  steps: Step[];
}

const allModes: AccessMode[] = [
  'single-node-writer',
  'single-node-writer',
  'multi-node-multi-writer',
  'multi-node-multi-writer',
  'single-node-reader-only',
  'single-node-single-writer',
  'single-node-multi-writer',
  'multi-node-reader-only',
  'multi-node-single-writer',
];
const allocs = ['x', 'y', 'z'];
const spells: { code: GrpcCode; works: boolean }[] = [
  ...(['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'UNKNOWN', 'INTERNAL', 'CANCELLED', 'RESOURCE_EXHAUSTED'] as const).flatMap(
    (code) => [
      { code, works: false },
      { code, works: true },
    ],
  ),
  { code: 'ABORTED', works: false },
  { code: 'FAILED_PRECONDITION', works: false },
  { code: 'PERMISSION_DENIED', works: false },
  { code: 'NOT_FOUND', works: false },
];

/** Chance in the hands of a plan. */
export class Hand {
  readonly next: () => number;

  constructor(seed: number) {
    const random = seededRandom(seed);
    this.next = () => random.next();
  }

  of<T>(items: readonly [T, ...T[]] | readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new Error('there is nothing to choose from');
    return item;
  }

  is(probability: number): boolean {
    return this.next() < probability;
  }

  upTo(most: number): number {
    return Math.floor(this.next() * most);
  }
}

/** What happens to volumes, by the seed alone: the same for ever, as long as this file stays as it is. */
export function volumesPlanOf(seed: number): VolumesPlan {
  const hand = new Hand(seed);
  const volumes = ['u', 'v', 'w'].slice(0, 1 + hand.upTo(3));
  const hasFreeze = hand.is(0.15);
  const traits = traitsOf(hand, volumes, hasFreeze);
  const steps: Step[] = volumes.map((volume) => ({ atMs: hand.upTo(50), do: 'create', volume, size: 1 }));
  const count = 4 + hand.upTo(20);
  let atMs = 60;
  for (let n = 0; n < count; n += 1) {
    atMs += hand.is(0.3) ? 0 : hand.is(0.6) ? hand.upTo(150) : hand.upTo(6_000);
    steps.push({ atMs, ...stepOf(hand, { volumes, hasFreeze }) });
  }
  return { seed, traits, steps };
}

function traitsOf(hand: Hand, volumes: string[], hasFreeze: boolean): Traits {
  return {
    modes: Object.fromEntries(volumes.map((volume) => [volume, [...new Set([hand.of(allModes), hand.of(allModes)])]])),
    secret: volumes.filter(() => hand.is(0.4)),
    isLocking: hand.is(0.6),
    faults: hand.of([0, 0.1, 0.3, 0.6]),
    storeOutages: hand.of([0, 0, 0, 4]),
    storeLatencyMs: hand.of([0, 0, 5]),
    lacks: hand.of([[], [], [], [], ['PUBLISH_UNPUBLISH_VOLUME'], ['CREATE_DELETE_VOLUME']]),
    ...(hand.is(0.3) && { fencingAfterMs: 3_000 }),
    maxInFlight: hand.of([1, 64]),
    leaseTtlMs: hasFreeze ? 15_000 : 10 ** 9,
    isRetried: hand.is(0.7),
  };
}

// Omit of a union would leave its common keys only.
type Undated<One = Step> = One extends Step ? Omit<One, 'atMs'> : never;

function stepOf(hand: Hand, { volumes, hasFreeze }: { volumes: string[]; hasFreeze: boolean }): Undated {
  const volume = hand.of(volumes);
  const node = hand.of(nodeIds);
  const patience = hand.is(0.3) ? { timeoutMs: hand.upTo(5_000) } : {};
  const forMs = hand.is(0.5) ? hand.upTo(2_000) : hand.upTo(30_000);
  const kinds: [weight: number, make: () => Undated][] = [
    [8, () => ({ do: 'create', volume, size: hand.is(0.8) ? 1 : 2, ...patience })],
    [22, () => ({ do: 'publish', volume, node, readOnly: hand.is(0.2), capability: hand.upTo(2), ...patience })],
    [12, () => ({ do: 'unpublish', volume, node, ...patience })],
    [8, () => ({ do: 'delete', volume, force: hand.is(0.35), ...patience })],
    [12, () => claimStep(hand, volume, node)],
    [8, () => ({ do: 'release', volume, alloc: hand.of(allocs) })],
    [3, () => ({ do: 'retry', volume })],
    [1, () => ({ do: 'acknowledge', volume })],
    [2, () => ({ do: hand.of(['expand', 'modify'] as const), volume })],
    [3, () => ({ do: 'availability', volume, availability: hand.of(['active', 'active', 'pause', 'drain']) })],
    [5, () => ({ do: 'node', node, change: hand.of(['report', 'report', 'down', 'fence']) })],
    [6, () => ({ do: 'spell', ...hand.of(spells), forMs })],
    [5, () => ({ do: 'plugin', is: hand.of(['dead', 'unhealthy', 'unknown', 'deregistered']), forMs })],
    [3, () => ({ do: 'secrets', are: hand.of(['missing', 'wrong', 'slow', 'rotated']), forMs })],
    [7, () => crashStep(hand, hasFreeze)],
  ];
  let place = hand.next() * kinds.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, make] of kinds) {
    place -= weight;
    if (place < 0) return make();
  }
  return { do: 'retry', volume };
}

const claimStep = (hand: Hand, volume: string, node: string): Undated => ({
  do: 'claim',
  volume,
  alloc: hand.of(allocs),
  node,
  mode: hand.of(['read', 'write']),
  capability: hand.upTo(2),
  wait: hand.is(0.5),
});

const crashStep = (hand: Hand, hasFreeze: boolean): Undated => ({
  do: hasFreeze && hand.is(0.5) ? 'freeze' : 'crash',
  calls: 1 + hand.upTo(8),
  moment: hand.of(['before', 'after']),
  downMs: hand.of([0, 100, 4_000, 12_000]),
});
