/**
 * Steps of one volume of an alloc, from its claim to its mount and back: a record of the work, for people and for the next
 * run. Plain code does the work (src/allocs/alloc-work.ts) and reports each step. Why: docs/decisions/0037-the-work-of-an-alloc.md
 */
import type { CallFailure } from '../kit/csi-types.js';
import type { Said } from '../kit/state-words.js';
import type { VolumeKey } from '../volume/wishes.js';

/** Mount of a volume of an alloc. */
export interface AllocMount {
  name: string;
  volume: VolumeKey;
  /** Directory on this host, or the file of a block device. */
  hostPath: string;
  taskPath: string;
  readOnly: boolean;
  isDevice: boolean;
  /** Propagation of mounts below it: `shared`, `slave` or `private`, as the kernel has it. */
  propagation?: string;
}

/** The steps, and how each is shown. Meanings: docs/mounts.md */
export const volumeSteps = {
  'preparing.claiming': { health: 'working', why: 'being claimed' },
  'preparing.waiting-for-claim': { health: 'waiting', why: 'waits for its claim' },
  'preparing.publishing': { health: 'working', why: 'being published' },
  'preparing.mounting': { health: 'working', why: 'being mounted' },
  mounted: { health: 'healthy', why: '' },
  'confirming-claim': { health: 'working', why: 'asks whether it still has its claim' },
  'lost-at-reboot': { health: 'failed', why: 'lost when the host was booted, mounted again on request' },
  'releasing.unmounting': { health: 'working', why: 'being unmounted' },
  'releasing.releasing-claim': { health: 'working', why: 'its claim is being released' },
  'releasing.reporting': { health: 'working', why: 'unmounted, that is being reported' },
  released: { health: 'gone', why: '' },
  failed: { health: 'failed', why: 'could not be had' },
} as const satisfies Record<string, Said>;

type Path = keyof typeof volumeSteps;

/** Volume of an alloc in the alloc's record. */
export interface VolumePart {
  at: Path;
  /** Generation of its claim; absent: no claim is known. */
  generation?: number;
  /** Absent: not mounted yet, or to be unmounted. */
  mount?: AllocMount;
  /** Reason why it makes no progress; absent: it does. */
  reason?: string;
  /** Reason why the alloc is undone, if this volume is to blame. */
  failure?: CallFailure;
}

type Innermost<TPath extends string> = TPath extends `${string}.${infer Inner}` ? Innermost<Inner> : TPath;

/** Step that a volume of an alloc is at. */
export type AllocStep = Innermost<Path>;

/** Innermost part of the path: each step has a name of its own. */
export const stepOf = ({ at }: VolumePart): AllocStep => at.slice(at.lastIndexOf('.') + 1) as AllocStep;

/** Report that the run has ended a step. */
type EndedStep =
  | { type: 'claim.taken'; generation: number }
  /** Another alloc has the claim. */
  | { type: 'claim.refused'; reason: string }
  /** The earlier claim is still the alloc's own. */
  | { type: 'claim.confirmed' }
  | { type: 'volume.published' }
  | { type: 'volume.mounted'; mount: AllocMount }
  | { type: 'volume.unmounted' }
  | { type: 'claim.released' }
  /** The claim is gone, and the volume is detached unless another alloc here needs it. */
  | { type: 'slot.freed' };

/** Report of the run on one volume. */
export type ReportedStep =
  | EndedStep
  /** The run was started again, and does each step again. */
  | { type: 'restart' }
  /** Null: the volume makes progress again. */
  | { type: 'volume.waits'; reason: string | null };

/** Step that follows each report, and the steps at which the run may make that report. */
const next: Record<EndedStep['type'], { from: readonly Path[]; to: Path }> = {
  'claim.taken': {
    from: ['preparing.claiming', 'preparing.waiting-for-claim', 'confirming-claim'],
    to: 'preparing.publishing',
  },
  'claim.refused': {
    from: ['preparing.claiming', 'preparing.waiting-for-claim'],
    to: 'preparing.waiting-for-claim',
  },
  'claim.confirmed': { from: ['confirming-claim'], to: 'preparing.publishing' },
  'volume.published': { from: ['preparing.publishing'], to: 'preparing.mounting' },
  'volume.mounted': { from: ['preparing.mounting', 'confirming-claim'], to: 'mounted' },
  'volume.unmounted': { from: ['releasing.unmounting'], to: 'releasing.releasing-claim' },
  'claim.released': { from: ['releasing.releasing-claim'], to: 'releasing.reporting' },
  'slot.freed': { from: ['releasing.releasing-claim', 'releasing.reporting'], to: 'released' },
};

/**
 * Applies a report. Each but a wait says, too, that the volume makes progress.
 * @throws Error for a report that the run can't make at the step that the volume is at
 */
export function reported(before: VolumePart, report: ReportedStep): VolumePart {
  if (report.type === 'restart') return restarted(before);
  if (report.type === 'volume.waits') return waiting(before, report.reason);
  const { reason: _, ...part } = before;
  const { type, ...data } = report;
  const { from, to } = next[type];
  if (!from.includes(part.at)) throw new Error(`'${type}' was reported of a volume that is ${part.at}`);
  return { ...part, ...data, at: to === 'released' && part.failure ? 'failed' : to };
}

/** Keeps the reason to wait, except of a volume of which nothing is left. */
function waiting({ reason: _, ...part }: VolumePart, reason: string | null): VolumePart {
  const at = part.at === 'preparing.waiting-for-claim' ? 'preparing.claiming' : part.at;
  return { ...part, at, ...(reason !== null && !hasEnded(at) && { reason }) };
}

/** Has the next run do each step again. */
export function restarted({ reason: _, ...part }: VolumePart): VolumePart {
  if (part.at.startsWith('releasing.') || hasEnded(part.at)) return { ...part, at: 'releasing.unmounting' };
  return { ...part, at: part.generation === undefined ? 'preparing.claiming' : 'confirming-claim' };
}

const hasEnded = (at: Path): boolean => at === 'released' || at === 'failed';

/** Notes that the host was booted again: nothing is mounted, and nobody knows whether the workload is to run again. */
export const rebooted = ({ reason: _, ...part }: VolumePart): VolumePart => ({ ...part, at: 'lost-at-reboot' });

/**
 * Has the volume unmounted, as the alloc is released or undone. Of the record only its claim is kept.
 * @param failure absent: this volume is not to blame
 */
export const left = ({ generation }: VolumePart, failure?: CallFailure): VolumePart => ({
  at: 'releasing.unmounting',
  ...(generation !== undefined && { generation }),
  ...(failure && { failure }),
});
