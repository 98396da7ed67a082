/** What the alloc machine (alloc.ts) is given, keeps and tells. */
import type { CallFailure, Capability } from '../kit/csi-types.js';
import type { Failure, Stamped } from '../kit/host.js';
import type { VolumeKey } from '../volume/wishes.js';
import type { ReportedStep, VolumePart } from './volume-steps.js';

/** A volume that an alloc is to have, checked and complete. */
export interface AllocVolume extends Capability {
  /** Of this volume among those of the alloc. */
  name: string;
  volume: VolumeKey;
  /** How it is claimed. */
  mode: 'read' | 'write';
  /** How it is mounted. */
  readOnly: boolean;
  /** Where the workload has it. */
  taskPath: string;
}

export interface AllocInput {
  node: string;
  allocId: string;
}

/** What is asked for. */
export interface AllocWish {
  volumes: AllocVolume[];
  /** Prepared by then, milliseconds since the epoch, or undone; null: whenever it is. */
  untilMs: number | null;
  /** The boot of the host in which it is asked for. */
  bootId: string;
  /** Whether it also waits for what somebody has to change first; absent: it does. */
  wait?: boolean;
}

export interface AllocContext extends AllocWish {
  node: string;
  allocId: string;
  /** By the name of a volume: how far it is. */
  parts: Record<string, VolumePart>;
  /** Why it is undone. */
  failure: CallFailure | null;
}

export type AllocRequest = ({ type: 'alloc.prepare' } & AllocWish) | { type: 'alloc.release' };

/** A step that one of the volumes has reached. */
export type NamedStep = { name: string } & ReportedStep;

/** What came of the work on all volumes: the steps that were not reported before, or why one of them can't be had. */
export type AllocOutcome =
  | { status: 'done'; steps: NamedStep[] }
  /** `name`: of that volume; absent: none is to blame. */
  | { status: 'failed'; failure: CallFailure; name?: string };

export type AllocEvent = (
  | AllocRequest
  /** Whoever asked for it wants it no more. */
  | { type: 'alloc.abort'; failure: Failure }
  /** The runtime has started again. `isNewBoot`: no mount and no workload of before is there any more. */
  | { type: 'alloc.recover'; isNewBoot: boolean }
  /** The claim of this generation is not its own any more. */
  | { type: 'alloc.lost'; name: string; generation: number; failure: CallFailure }
  /** What the work on its volumes has reached, in its order. */
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
  /** Why it failed, or is released though it was to be prepared. */
  failure?: Failure;
}
