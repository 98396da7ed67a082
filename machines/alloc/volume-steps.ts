/**
 * Steps of one volume of an alloc, from its claim to its mount and back. A part of the alloc (alloc.ts), which steps
 * it with the events that its effect reports. Diagram: docs/machines/alloc-volume.md (generated).
 */
import { assign, setup } from 'xstate';
import type { CallFailure } from '../kit/csi-types.js';
import { Chart, type Part } from '../kit/parts.js';
import type { StateWords } from '../kit/state-words.js';
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

/** Data of a volume beside its state. */
interface StepData {
  /** Generation of its claim; absent: no claim is known. */
  generation?: number | undefined;
  /** Absent: not mounted yet, or to be unmounted. */
  mount?: AllocMount | undefined;
  /** Reason why it makes no progress; absent: it does. */
  reason?: string | undefined;
  /** Reason why the alloc is undone, if this volume is to blame. */
  failure?: CallFailure | undefined;
}

/** Step that the run has reached for a volume, or what it waits for. */
export type ReportedStep =
  /** The run was started again, and does each step again. */
  | { type: 'restart' }
  | { type: 'claim.taken'; generation: number }
  /** Another alloc has the claim. */
  | { type: 'claim.refused'; reason: string }
  /** The earlier claim is still the alloc's own. */
  | { type: 'claim.confirmed' }
  | { type: 'volume.published' }
  | { type: 'volume.mounted'; mount: AllocMount }
  /** Null: the volume makes progress again. */
  | { type: 'volume.waits'; reason: string | null }
  | { type: 'volume.unmounted' }
  | { type: 'claim.released' }
  /** The claim is gone, and the volume is detached unless another alloc here needs it. */
  | { type: 'slot.freed' };

export type StepEvent =
  | ReportedStep
  /** The host was booted again. */
  | { type: 'reboot' }
  /** The alloc is released, or undone; `failure`: because of this volume. */
  | { type: 'leave'; failure?: CallFailure };

type Leave = Extract<StepEvent, { type: 'leave' }>;
type Taken = Extract<StepEvent, { type: 'claim.taken' }>;
type Mounted = Extract<StepEvent, { type: 'volume.mounted' }>;
type Told = Extract<StepEvent, { reason: unknown }>;

const keepsReason = { type: 'keepReason' as const, params: ({ event }: { event: Told }) => event.reason };

const waits = { 'volume.waits': { actions: keepsReason } };

/** Transitions of a volume that is not to be unmounted yet. */
const wanted = {
  ...waits,
  leave: {
    target: '#alloc-volume.releasing' as const,
    actions: { type: 'giveUp' as const, params: ({ event }: { event: Leave }) => event.failure },
  },
  reboot: { target: '#alloc-volume.lost-at-reboot' as const, actions: 'clearReason' as const },
};

const takesClaim = {
  target: '#alloc-volume.preparing.publishing' as const,
  actions: { type: 'keepClaim' as const, params: ({ event }: { event: Taken }) => event.generation },
};

const isMounted = {
  target: '#alloc-volume.mounted' as const,
  actions: { type: 'keepMount' as const, params: ({ event }: { event: Mounted }) => event.mount },
};

const isFreed = [
  { guard: 'hasFailed' as const, target: '#alloc-volume.failed' as const, actions: 'clearReason' as const },
  { target: '#alloc-volume.released' as const, actions: 'clearReason' as const },
];

/** Transitions of a run that is started again: it does each step again. */
const restarted = [
  { guard: 'hasClaim' as const, target: '#alloc-volume.confirming-claim' as const, actions: 'clearReason' as const },
  { target: '#alloc-volume.preparing.claiming' as const, actions: 'clearReason' as const },
];

export const allocVolumeMachine = setup({
  types: {} as { context: StepData; events: StepEvent; meta: StateWords },
  guards: {
    hasClaim: ({ context }) => context.generation !== undefined,
    hasFailed: ({ context }) => context.failure !== undefined,
  },
  actions: {
    keepClaim: assign((_, generation: number) => ({ generation, reason: undefined })),
    keepMount: assign((_, mount: AllocMount) => ({ mount, reason: undefined })),
    keepReason: assign((_, reason: string | null) => ({ reason: reason ?? undefined })),
    clearReason: assign({ reason: undefined }),
    giveUp: assign((_, failure: CallFailure | undefined) => ({ failure, mount: undefined, reason: undefined })),
  },
}).createMachine({
  id: 'alloc-volume',
  version: '1',
  context: {},
  initial: 'preparing',
  states: {
    preparing: {
      initial: 'claiming',
      states: {
        claiming: {
          meta: { health: 'working', words: 'being claimed' },
          on: { 'claim.taken': takesClaim, 'claim.refused': { target: 'waiting-for-claim', actions: keepsReason } },
        },
        /** Another alloc has the claim. */
        'waiting-for-claim': {
          meta: { health: 'waiting', words: 'waits for its claim' },
          on: {
            'claim.taken': takesClaim,
            'claim.refused': { actions: keepsReason },
            'volume.waits': { target: 'claiming', actions: keepsReason },
          },
        },
        /** The controller side attaches the volume. */
        publishing: {
          meta: { health: 'working', words: 'being published' },
          on: { 'volume.published': { target: 'mounting', actions: 'clearReason' } },
        },
        /** The node stages the volume, then mounts it. */
        mounting: { meta: { health: 'working', words: 'being mounted' }, on: { 'volume.mounted': isMounted } },
      },
      on: { ...wanted, restart: restarted },
    },
    mounted: {
      meta: { health: 'healthy', words: '' },
      on: { ...wanted, restart: { target: 'confirming-claim', actions: 'clearReason' } },
    },
    /** The agent was away: another alloc may have the claim by now. */
    'confirming-claim': {
      meta: { health: 'working', words: 'asks whether it still has its claim' },
      on: {
        ...wanted,
        restart: { actions: 'clearReason' },
        'claim.taken': takesClaim,
        'claim.confirmed': { target: 'preparing.publishing', actions: 'clearReason' },
        'volume.mounted': isMounted,
      },
    },
    /** Nothing is mounted any more, and it is not known whether the workload is to run again. */
    'lost-at-reboot': {
      meta: { health: 'failed', words: 'lost when the host was booted, mounted again on request' },
      on: { ...wanted, reboot: {}, restart: restarted },
    },
    releasing: {
      initial: 'unmounting',
      states: {
        unmounting: {
          meta: { health: 'working', words: 'being unmounted' },
          on: { 'volume.unmounted': { target: 'releasing-claim', actions: 'clearReason' } },
        },
        'releasing-claim': {
          meta: { health: 'working', words: 'its claim is being released' },
          on: {
            'claim.released': { target: 'reporting', actions: 'clearReason' },
            // No claim was taken.
            'slot.freed': isFreed,
          },
        },
        reporting: {
          meta: { health: 'working', words: 'unmounted, that is being reported' },
          on: { 'slot.freed': isFreed },
        },
      },
      on: { ...waits, restart: { target: '.unmounting', actions: 'clearReason' } },
    },
    released: { meta: { health: 'gone', words: '' }, on: { restart: 'releasing', 'volume.waits': {} } },
    /** The alloc was undone because of this volume. */
    failed: { meta: { health: 'failed', words: 'could not be had' }, on: { restart: 'releasing', 'volume.waits': {} } },
  },
});

export const volumeSteps = new Chart<typeof allocVolumeMachine>(allocVolumeMachine);

/** Volume of an alloc in the alloc's record. */
export type VolumePart = Part<typeof allocVolumeMachine>;

type Innermost<TPath extends string> = TPath extends `${string}.${infer Inner}` ? Innermost<Inner> : TPath;

/** Step that a volume of an alloc is at. */
export type AllocStep = Innermost<VolumePart['at']>;

/** Innermost state: each has a name of its own. */
export const stepOf = ({ at }: VolumePart): AllocStep => at.slice(at.lastIndexOf('.') + 1) as AllocStep;
