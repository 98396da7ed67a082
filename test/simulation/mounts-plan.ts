/** Steps of one simulated history of mounts, as data: drawn from its seed, made smaller by leaving steps out. */
import type { AccessMode, AttachmentMode, Capability } from '../../machines/kit/csi-types.js';
import type { GrpcCode } from '../../src/csi/grpc-codes.js';
import type { OnPluginLoss } from '../../src/mounts/mount-reconciler.js';
import { Hand } from './volumes-plan.js';

export const allocIds = ['a', 'b', 'c'] as const;

/** Place of a volume on the host: its staging path, or the target of an alloc. */
export interface PlaceName {
  volume: string;
  /** Absent: the staging path. */
  alloc?: string;
}

/** Each step is taken at its time, if a runtime is up then. */
export type MountsStep = { atMs: number } & (
  | { do: 'mount'; volume: string; alloc: string; usage: number; readOnly: boolean; timeoutMs?: number }
  | { do: 'unmount'; volume: string; alloc: string; timeoutMs?: number }
  | { do: 'retry' | 'expand'; volume: string }
  | { do: 'condition'; volume: string; abnormal: boolean }
  | { do: 'hasten' | 'compare' }
  /** Somebody unmounts what is seen there, mounts something over it, or mounts something else in its place for a while. */
  | ({ do: 'by-hand'; act: 'unmount' | 'cover' | 'replace'; forMs: number } & PlaceName)
  /** The kernel's table can't be read for a while. */
  | { do: 'unreadable'; forMs: number }
  /** Whoever has the volumes gives no answer for a while, or refuses. */
  | { do: 'claims'; are: 'silent' | 'refusing'; forMs: number }
  /** Whoever has the volumes takes all holds and claims from this node. */
  | { do: 'fence' }
  /** Every call to the plugin ends so for a while; `works`: done all the same. */
  | { do: 'spell'; code: GrpcCode; works: boolean; forMs: number }
  /** `dead`: its process ends, with all calls under way; a new one starts after the time. */
  | { do: 'plugin'; is: 'dead' | 'unhealthy' | 'unknown' | 'deregistered'; forMs: number }
  /** Another plugin takes its place at once, which stages volumes or not. */
  | { do: 'replace'; stages: boolean }
  /** The runtime dies, or stands still beside its successor, at one of its next calls to the store or to the plugin. */
  | { do: 'crash' | 'freeze'; calls: number; of: 'store' | 'plugin'; moment: 'before' | 'after'; downMs: number }
  | { do: 'reboot'; downMs: number }
);

export interface MountsTraits {
  capabilities: Record<string, Capability[]>;
  /** Allocs that are prepared; all others are of single mounts. */
  claiming: string[];
  /** The plugin stages volumes. */
  stages: boolean;
  /** What it mounts: a disk; a network share; a file system that its own process serves, which dies with that. */
  serves: 'disk' | 'share' | 'process';
  /** What it makes of a mount that is dead: it refuses, takes it for mounted, or mounts over it. */
  overDead: 'fails' | 'accepts' | 'covers';
  /** Its process forgets what it has mounted as it ends. */
  forgets: boolean;
  /** It answers NOT_FOUND where nothing is mounted. */
  denies: boolean;
  /** It binds the empty directory where a volume is not staged any more. */
  isBlind: boolean;
  /** It mounts for writing, whatever it was asked. */
  isCareless: boolean;
  /** It answers ABORTED to a second call for a volume; else it does both. */
  isLocking: boolean;
  /** How often a call to it goes wrong. */
  faults: number;
  onPluginLoss: OnPluginLoss;
  /** How often the store fails each runtime for a few calls. */
  storeOutages: number;
  storeLatencyMs: number;
  maxInFlight: number;
  leaseTtlMs: number;
  /** Failures that are final are retried in the end. */
  isRetried: boolean;
}

export interface MountsPlan {
  seed: number;
  traits: MountsTraits;
  steps: MountsStep[];
}

const modes: readonly AccessMode[] = [
  'single-node-writer',
  'single-node-writer',
  'single-node-single-writer',
  'single-node-reader-only',
  'single-node-multi-writer',
  'multi-node-multi-writer',
  'multi-node-multi-writer',
  'multi-node-single-writer',
  'multi-node-reader-only',
];

const attachments: readonly AttachmentMode[] = ['file-system', 'file-system', 'file-system', 'block-device'];

const spells: readonly { code: GrpcCode; works: boolean }[] = [
  { code: 'UNAVAILABLE', works: true },
  { code: 'UNAVAILABLE', works: false },
  { code: 'INTERNAL', works: true },
  { code: 'INTERNAL', works: false },
  { code: 'ABORTED', works: false },
  { code: 'FAILED_PRECONDITION', works: false },
  { code: 'NOT_FOUND', works: false },
  { code: 'RESOURCE_EXHAUSTED', works: false },
  { code: 'INVALID_ARGUMENT', works: false },
  { code: 'PERMISSION_DENIED', works: false },
];

/** All that happens to mounts in one history, by the seed alone: the same as long as this file stays as it is. */
export function mountsPlanOf(seed: number): MountsPlan {
  const hand = new Hand(seed);
  const volumes = hand.is(0.7) ? ['v'] : ['v', 'w'];
  const hasFreeze = hand.is(0.12);
  const traits = traitsOf(hand, volumes, hasFreeze);
  const steps: MountsStep[] = [{ atMs: 10, ...mountStep(hand, 'v') }];
  const count = 5 + hand.upTo(22);
  let atMs = 10;
  for (let n = 0; n < count; n += 1) {
    atMs += hand.is(0.25) ? 0 : hand.is(0.6) ? hand.upTo(150) : hand.upTo(8_000);
    steps.push({ atMs, ...stepOf(hand, { volumes, hasFreeze }) });
  }
  return { seed, traits, steps };
}

function traitsOf(hand: Hand, volumes: string[], hasFreeze: boolean): MountsTraits {
  const capability = (): Capability => {
    const attachmentMode = hand.of(attachments);
    const accessMode = hand.of(modes);
    // Whether a device is read-only, the real kernel of this host is asked: none of the simulated ones is.
    const isOfReaders = accessMode.endsWith('reader-only') && attachmentMode === 'block-device';
    return { accessMode: isOfReaders ? 'multi-node-multi-writer' : accessMode, attachmentMode };
  };
  return {
    capabilities: Object.fromEntries(volumes.map((volume) => [volume, [capability(), capability()]])),
    claiming: allocIds.filter(() => hand.is(0.5)),
    stages: hand.is(0.85),
    serves: hand.of(['disk', 'disk', 'share', 'process', 'process']),
    overDead: hand.of(['fails', 'accepts', 'covers']),
    forgets: hand.is(0.15),
    denies: hand.is(0.3),
    isBlind: hand.is(0.15),
    isCareless: hand.is(0.04),
    isLocking: hand.is(0.6),
    faults: hand.of([0, 0.1, 0.3, 0.6]),
    onPluginLoss: hand.is(0.7) ? 'remount' : 'report',
    storeOutages: hand.of([0, 0, 0, 4]),
    storeLatencyMs: hand.of([0, 0, 5]),
    maxInFlight: hand.of([1, 64]),
    leaseTtlMs: hasFreeze ? 15_000 : 10 ** 9,
    isRetried: hand.is(0.7),
  };
}

// Omit of a union would leave its common keys only.
type Undated<One = MountsStep> = One extends MountsStep ? Omit<One, 'atMs'> : never;

function mountStep(hand: Hand, volume: string): Undated {
  return {
    do: 'mount',
    volume,
    alloc: hand.of(allocIds),
    usage: hand.is(0.8) ? 0 : 1,
    readOnly: hand.is(0.2),
    ...(hand.is(0.25) && { timeoutMs: hand.upTo(6_000) }),
  };
}

function stepOf(hand: Hand, { volumes, hasFreeze }: { volumes: string[]; hasFreeze: boolean }): Undated {
  const volume = hand.of(volumes);
  const alloc = hand.of(allocIds);
  const forMs = hand.is(0.5) ? hand.upTo(2_000) : hand.upTo(40_000);
  const place = hand.is(0.5) ? { volume } : { volume, alloc };
  const kinds: [weight: number, make: () => Undated][] = [
    [26, () => mountStep(hand, volume)],
    [20, () => ({ do: 'unmount', volume, alloc, ...(hand.is(0.25) && { timeoutMs: hand.upTo(6_000) }) })],
    [4, () => ({ do: 'retry', volume })],
    [4, () => ({ do: 'expand', volume })],
    [1, () => ({ do: 'condition', volume, abnormal: hand.is(0.5) })],
    [3, () => ({ do: hand.of(['hasten', 'compare', 'compare'] as const) })],
    [6, () => ({ do: 'by-hand', act: hand.of(['unmount', 'unmount', 'cover', 'replace']), forMs, ...place })],
    [1, () => ({ do: 'unreadable', forMs: hand.upTo(5_000) })],
    [3, () => ({ do: 'claims', are: hand.of(['silent', 'refusing']), forMs })],
    [2, () => ({ do: 'fence' })],
    [6, () => ({ do: 'spell', ...hand.of(spells), forMs: hand.upTo(15_000) })],
    [8, () => ({ do: 'plugin', is: hand.of(['dead', 'dead', 'unhealthy', 'unknown', 'deregistered']), forMs })],
    [1, () => ({ do: 'replace', stages: hand.is(0.7) })],
    [10, () => crashStep(hand, hasFreeze)],
    [3, () => ({ do: 'reboot', downMs: hand.upTo(20_000) })],
  ];
  let left = hand.next() * kinds.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, make] of kinds) {
    left -= weight;
    if (left < 0) return make();
  }
  return { do: 'retry', volume };
}

const crashStep = (hand: Hand, hasFreeze: boolean): Undated => ({
  do: hasFreeze && hand.is(0.4) ? 'freeze' : 'crash',
  ...(hand.is(0.4) ? { of: 'plugin', calls: 1 + hand.upTo(2) } : { of: 'store', calls: 1 + hand.upTo(8) }),
  moment: hand.of(['before', 'after']),
  downMs: hand.of([0, 100, 4_000, 12_000]),
});
