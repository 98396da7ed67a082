/**
 * An alloc: all of its volumes prepared on this node, or none. What is begun is finished or undone, whichever process
 * is killed meanwhile. Steps of each volume: volume-steps.ts. Diagram: docs/machines/alloc.md (generated).
 */

import { assign, emit, setup } from 'xstate';
import { defaultBackoff, jittered } from '../kit/backoff.js';
import type { CallFailure } from '../kit/csi-types.js';
import { failureIn, hostActions, stampOf, unbound } from '../kit/host.js';
import { isSameData } from '../kit/same-data.js';
import type { StateWords } from '../kit/state-words.js';
import { advanced, begunParts, completed, generationsOf, mapped, mountsOf, reasonsOf } from './parts.js';
import { conflictIn, lateIn, leavingIn } from './refusals.js';
import type {
  AllocChanged,
  AllocContext,
  AllocEvent,
  AllocInput,
  AllocOutcome,
  AllocVolume,
  AllocWish,
  NamedStep,
} from './types.js';
import { left, rebooted, restarted } from './volume-steps.js';

export interface AllocWork {
  allocId: string;
  volumes: AllocVolume[];
  /** Generation of each claim, by the name of the volume, as far as it is known. */
  generations: Record<string, number>;
  /** Whether to wait also for what somebody has to change first. */
  wait: boolean;
}

const workOf = ({ context }: { context: AllocContext }): AllocWork => {
  const { allocId, volumes, wait = true } = context;
  return { allocId, volumes, generations: generationsOf(context), wait };
};

/** Volume because of which the alloc is undone; without a name, none is to blame. */
interface Blame {
  name?: string;
  failure: CallFailure;
}

type Lost = Extract<AllocEvent, { type: 'alloc.lost' }>;

/** @throws Error if the work has failed */
function stepsIn(outcome: AllocOutcome): NamedStep[] {
  if (outcome.status === 'done') return outcome.steps;
  throw new Error(`the work has failed: ${outcome.failure.message}`);
}

/** @throws Error if the work is done */
function blameIn(outcome: AllocOutcome): Blame {
  if (outcome.status === 'failed') return outcome;
  throw new Error('the work has not failed');
}

const nothing = { volumes: [], untilMs: null, bootId: '', parts: {}, failure: null };

/** Undoes the alloc: a claim is lost, wherever the alloc is. */
const whenLost = {
  guard: { type: 'isItsClaim' as const, params: ({ event }: { event: Lost }) => event },
  target: '#alloc.releasing.undoing' as const,
  actions: [
    { type: 'undo' as const, params: ({ event }: { event: Lost }) => event },
    { type: 'tell' as const, params: 'claim-lost' as const },
  ],
};

interface Ended {
  event: { output: AllocOutcome };
}

const finish = { type: 'finishReleasing', params: ({ event }: Ended) => stepsIn(event.output) } as const;

/** Gives the volumes back, for as long as it takes. */
const givingBack = <const TDone extends object>(whileResting: string, whenDone: TDone) => ({
  initial: 'working' as const,
  states: {
    working: {
      invoke: {
        id: 'releaseAlloc',
        src: 'releaseAlloc' as const,
        input: workOf,
        onDone: whenDone,
        onError: 'backing-off' as const,
      },
    },
    'backing-off': {
      meta: { health: 'waiting' as const, words: whileResting },
      entry: 'restart' as const,
      after: { backoff: 'working' as const },
    },
  },
});

/** The host was booted again: nothing is mounted any more. */
const onNewBoot = {
  guard: { type: 'isNewBoot', params: ({ event }: { event: { isNewBoot: boolean } }) => event.isNewBoot },
  target: '#alloc.recovering.awaiting-prepare',
  actions: 'reboot',
} as const;

const onPrepared = {
  guard: { type: 'isDone', params: ({ event }: Ended) => event.output },
  target: '#alloc.prepared',
  actions: { type: 'finishPreparing', params: ({ event }: Ended) => stepsIn(event.output) },
} as const;

export const allocMachine = setup({
  types: {} as {
    context: AllocContext;
    events: AllocEvent;
    input: AllocInput;
    emitted: AllocChanged;
    meta: StateWords;
  },
  actors: {
    /** Claims, publishes and mounts all volumes, or says why that can't be. */
    prepareAlloc: unbound<AllocOutcome, AllocWork>(),
    /** Restores an alloc that was prepared. Has no time limit; ends without success only if the claim is lost. */
    recoverAlloc: unbound<AllocOutcome, AllocWork>(),
    /** Unmounts all volumes and frees their slots, for as long as it takes. */
    releaseAlloc: unbound<AllocOutcome, AllocWork>(),
  },
  guards: {
    isOther: ({ context }, volumes: AllocVolume[]) => !isSameData(context.volumes, volumes),
    isSame: ({ context }, volumes: AllocVolume[]) => isSameData(context.volumes, volumes),
    isDone: (_, outcome: AllocOutcome) => outcome.status === 'done',
    isNewBoot: (_, isNewBoot: boolean) => isNewBoot,
    isItsClaim: ({ context }, { name, generation }: { name: string; generation: number }) =>
      context.parts[name]?.generation === generation,
    isLimited: ({ context }) => context.untilMs !== null,
    wasPrepared: ({ context }, volumes: AllocVolume[]) =>
      mountsOf(context) !== null && isSameData(context.volumes, volumes),
  },
  actions: {
    ...hostActions,
    take: assign((_, { volumes, untilMs, bootId, wait = true }: AllocWish) => ({
      ...nothing,
      ...{ volumes, untilMs, bootId, wait, parts: begunParts(volumes) },
    })),
    /** Keeps what is claimed. */
    takeAgain: assign((_, { untilMs, bootId, wait = true }: AllocWish) => ({ untilMs, bootId, wait })),
    keepBoot: assign((_, bootId: string) => ({ bootId })),
    /** Keeps the later of two time limits. */
    keepLimit: assign(({ context }, untilMs: number | null) => ({
      untilMs: untilMs === null || context.untilMs === null ? null : Math.max(untilMs, context.untilMs),
    })),
    advance: assign(({ context }, steps: NamedStep[]) => ({ parts: advanced(context.parts, steps) })),
    finishPreparing: assign(({ context }, steps: NamedStep[]) => ({
      parts: completed(context.parts, steps, ['mounted']),
    })),
    finishReleasing: assign(({ context }, steps: NamedStep[]) => ({
      parts: completed(context.parts, steps, ['released', 'failed']),
    })),
    /** Begins the steps again: another run does each of them. */
    restart: assign(({ context }) => ({ parts: mapped(context.parts, restarted) })),
    reboot: assign(({ context }) => ({ parts: mapped(context.parts, rebooted) })),
    letGo: assign(({ context }) => ({ parts: mapped(context.parts, (part) => left(part)), failure: null })),
    undo: assign(({ context }, { name, failure }: Blame) => ({
      parts: mapped(context.parts, (part, of) => left(part, of === name ? failure : undefined)),
      failure,
    })),
    forget: assign(nothing),
    tell: emit(({ context: { node, allocId, single, failure } }, type: AllocChanged['type']) => ({
      type,
      node,
      allocId,
      ...(single && { single }),
      ...(failure && { failure }),
    })),
  },
  delays: {
    untilLate: ({ context, event }) => Math.max(0, (context.untilMs ?? 0) - stampOf(event).at),
    backoff: ({ event }) => jittered(defaultBackoff, 5, stampOf(event).random),
  },
}).createMachine({
  id: 'alloc',
  version: '2',
  context: ({ input }) => ({ ...input, ...nothing }),
  initial: 'released',
  on: {
    'alloc.progress': { actions: { type: 'advance', params: ({ event }) => event.steps } },
    'alloc.prepare': {
      guard: { type: 'isOther', params: ({ event }) => event.volumes },
      actions: { type: 'answer', params: ({ context, event }) => ({ error: conflictIn(context, event.volumes) }) },
    },
    'alloc.release': { target: '.releasing.asked-for', actions: 'letGo' },
  },
  states: {
    released: {
      meta: { health: 'gone', words: 'released' },
      tags: 'absent',
      on: {
        'alloc.prepare': {
          target: 'preparing',
          actions: [
            { type: 'take', params: ({ event }) => event },
            { type: 'tell', params: 'preparing' },
          ],
        },
        'alloc.release': {},
      },
    },
    preparing: {
      meta: { health: 'working', words: 'being prepared' },
      invoke: {
        id: 'prepareAlloc',
        src: 'prepareAlloc',
        input: workOf,
        onDone: [
          onPrepared,
          {
            target: 'releasing.undoing',
            actions: { type: 'undo', params: ({ event }) => blameIn(event.output) },
          },
        ],
        onError: {
          target: 'releasing.undoing',
          actions: { type: 'undo', params: ({ event }) => ({ failure: failureIn(event) }) },
        },
      },
      on: {
        'alloc.prepare': {
          guard: { type: 'isSame', params: ({ event }) => event.volumes },
          target: '.choosing',
          actions: { type: 'keepLimit', params: ({ event }) => event.untilMs },
        },
        'alloc.recover': [
          onNewBoot,
          // The run before does not know what was claimed since it began.
          { target: 'preparing', reenter: true, actions: 'restart' },
        ],
        'alloc.lost': whenLost,
        'alloc.abort': {
          target: 'releasing.undoing',
          actions: { type: 'undo', params: ({ event: { failure } }) => ({ failure }) },
        },
      },
      initial: 'choosing',
      states: {
        choosing: { always: [{ guard: 'isLimited', target: 'limited' }, { target: 'unlimited' }] },
        limited: {
          after: {
            untilLate: {
              target: '#alloc.releasing.undoing',
              actions: {
                type: 'undo',
                params: ({ context }) => ({
                  failure: lateIn({ allocId: context.allocId, waits: reasonsOf(context) }),
                }),
              },
            },
          },
        },
        unlimited: {},
      },
    },
    prepared: {
      meta: { health: 'healthy', words: 'prepared' },
      entry: { type: 'tell', params: 'prepared' },
      on: {
        'alloc.recover': [onNewBoot, { target: 'recovering.working', actions: 'restart' }],
        'alloc.lost': whenLost,
      },
    },
    recovering: {
      meta: { health: 'working', words: 'being checked after a restart' },
      entry: { type: 'tell', params: 'recovering' },
      initial: 'working',
      states: {
        working: {
          invoke: {
            id: 'recoverAlloc',
            src: 'recoverAlloc',
            input: workOf,
            onDone: [
              onPrepared,
              {
                target: '#alloc.releasing.undoing',
                actions: [
                  { type: 'undo', params: ({ event }) => blameIn(event.output) },
                  { type: 'tell', params: 'claim-lost' },
                ],
              },
            ],
            onError: 'backing-off',
          },
        },
        'backing-off': {
          meta: { health: 'waiting', words: 'the restart waits for its next attempt' },
          entry: 'restart',
          after: { backoff: 'working' },
        },
        /** The host was booted again, and the workload is gone: the alloc has to be asked for again. */
        'awaiting-prepare': {
          meta: { health: 'waiting', words: 'waits to be prepared again' },
          on: {
            'alloc.prepare': [
              {
                guard: { type: 'wasPrepared', params: ({ event }) => event.volumes },
                target: 'working',
                actions: ['restart', { type: 'keepBoot', params: ({ event }) => event.bootId }],
              },
              {
                guard: { type: 'isSame', params: ({ event }) => event.volumes },
                target: '#alloc.preparing',
                actions: [
                  'restart',
                  { type: 'takeAgain', params: ({ event }) => event },
                  { type: 'tell', params: 'preparing' },
                ],
              },
            ],
            'alloc.recover': {},
          },
        },
      },
      on: {
        'alloc.lost': whenLost,
        'alloc.recover': [onNewBoot, { actions: 'restart' }],
      },
    },
    releasing: {
      entry: { type: 'tell', params: 'releasing' },
      initial: 'asked-for',
      states: {
        'asked-for': {
          meta: { health: 'working', words: 'being released' },
          ...givingBack('its release waits for the next attempt', {
            target: '#alloc.released',
            actions: [finish, 'forget', { type: 'tell', params: 'released' }],
          }),
          on: { 'alloc.release': {} },
        },
        /** The alloc can't be had, or is not wanted any more. */
        undoing: {
          meta: { health: 'working', words: 'what was done for it is being undone' },
          ...givingBack('what was done for it is undone at the next attempt', {
            target: '#alloc.failed',
            actions: finish,
          }),
          on: { 'alloc.release': { target: 'asked-for', actions: 'restart' } },
        },
      },
      on: {
        'alloc.prepare': { actions: { type: 'answer', params: ({ context }) => ({ error: leavingIn(context) }) } },
        'alloc.recover': { actions: 'restart' },
      },
    },
    /** Nothing of the alloc is left. The reason is kept until it is released, or prepared again. */
    failed: {
      meta: { health: 'failed', words: 'can not be prepared' },
      entry: { type: 'tell', params: 'failed' },
      on: {
        'alloc.prepare': {
          target: 'preparing',
          actions: [
            { type: 'take', params: ({ event }) => event },
            { type: 'tell', params: 'preparing' },
          ],
        },
        'alloc.release': { target: 'released', actions: ['forget', { type: 'tell', params: 'released' }] },
        'alloc.forget': { target: 'released', actions: ['forget', { type: 'tell', params: 'released' }] },
      },
    },
  },
});
