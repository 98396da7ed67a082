/** Types of an alloc (alloc.ts): its events, its record and its broadcasts. */
import type { CallFailure, Capability } from '../kit/csi-types.js';
import type { Failure, Stamped } from '../kit/host.js';
import type { VolumeKey } from '../volume/wishes.js';
import type { ReportedStep, VolumePart } from './volume-steps.js';

/** A volume that an alloc needs, checked and complete. */
export interface AllocVolume extends Capability {
  /** Name of the volume within the alloc. */
  name: string;
  volume: VolumeKey;
  /** Mode of the claim. */
  mode: 'read' | 'write';
  /** Whether it is mounted read-only. */
  readOnly: boolean;
  /** Path where the workload has it. */
  taskPath: string;
}

export interface AllocInput {
  node: string;
  allocId: string;
  /** Volume of a single mount, which is all that this alloc has. */
  single?: VolumeKey;
}

/** Request for one volume of an alloc. */
export interface AllocWish {
  volumes: AllocVolume[];
  /** Moment by which it is prepared or else undone, milliseconds since the epoch; null: no limit. */
  untilMs: number | null;
  /** Boot of the host at the request. */
  bootId: string;
  /** Whether to wait also for what somebody has to change first; default true. */
  wait?: boolean;
}

export interface AllocContext extends AllocWish, AllocInput {
  /** State of each volume, by its name. */
  parts: Record<string, VolumePart>;
  /** Reason why it is undone. */
  failure: CallFailure | null;
}

type AllocRequest = ({ type: 'alloc.prepare' } & AllocWish) | { type: 'alloc.release' };

/** Step that one of the volumes has reached. */
export type NamedStep = { name: string } & ReportedStep;

/** Outcome of the work on all volumes: the steps that were not reported before, or why one of them can't be had. */
export type AllocOutcome =
  | { status: 'done'; steps: NamedStep[] }
  /** `name`: the volume that is to blame; absent: none. */
  | { status: 'failed'; failure: CallFailure; name?: string };

export type AllocEvent = (
  | AllocRequest
  /** Drops the record of a failed alloc. Ignored in any other state. */
  | { type: 'alloc.forget' }
  /** The caller does not want it any more. */
  | { type: 'alloc.abort'; failure: Failure }
  /** The runtime has started again. `isNewBoot`: no mount and no workload from before is there. */
  | { type: 'alloc.recover'; isNewBoot: boolean }
  /** The claim of this generation is not the alloc's any more. */
  | { type: 'alloc.lost'; name: string; generation: number; failure: CallFailure }
  /** Steps that the work on the volumes has reached, in their order. */
  | { type: 'alloc.progress'; steps: NamedStep[] }
) &
  Partial<Stamped>;

export type AllocState = 'preparing' | 'prepared' | 'recovering' | 'releasing' | 'released' | 'failed';

/** Broadcast. */
export interface AllocChanged {
  /** Its state, or: its node was taken for lost meanwhile, and its claim was given to others. */
  type: AllocState | 'claim-lost';
  node: string;
  allocId: string;
  /** Volume of a single mount. */
  single?: VolumeKey;
  /** Why it failed, or is released though it was to be prepared. */
  failure?: Failure;
}
