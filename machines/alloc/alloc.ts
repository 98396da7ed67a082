/**
 * The volumes of one alloc on this node: all of them prepared, or none. What is begun is finished or undone, whoever is
 * killed meanwhile. Diagram: docs/machines/alloc.md (generated).
 */

import { assign, emit, setup } from 'xstate';
import { defaultBackoff, jittered } from '../kit/backoff.js';
import type { CallFailure, CallOutcome } from '../kit/csi-types.js';
import type { ErrorCode } from '../kit/error-table.js';
import { type Failure, failureIn, hostActions, stampOf, unbound } from '../kit/host.js';
import { isSameData } from '../kit/same-data.js';
import { differencesOf } from './differences.js';
import type {
  AllocChanged,
  AllocContext,
  AllocEvent,
  AllocInput,
  AllocMount,
  AllocVolume,
  AllocWish,
} from './types.js';

export interface AllocWork {
  allocId: string;
  volumes: AllocVolume[];
  /** By the name of a volume: the generation of its claim, as far as that is known. */
  generations: Record<string, number>;
  /** Whether what somebody has to change first is waited for. */
  wait: boolean;
}

const workOf = ({ context: { allocId, volumes, generations, wait = true } }: { context: AllocContext }): AllocWork => ({
  allocId,
  volumes,
  generations,
  wait,
});

type Lost = Extract<AllocEvent, { type: 'alloc.lost' }>;

const answerIn = (outcome: CallOutcome<AllocMount[]>): AllocMount[] =>
  outcome.status === 'done' ? outcome.answer : [];

const failureOf = (outcome: CallOutcome<unknown>): CallFailure | null =>
  outcome.status === 'done' ? null : outcome.failure;

const nothing = {
  ...{ volumes: [], untilMs: null, bootId: '', generations: {}, mounts: null },
  ...{ waits: {}, failure: null, isDropped: false },
};

const conflictIn = ({ allocId, volumes }: AllocContext, asked: AllocVolume[]): Failure => {
  const how = differencesOf(volumes, asked).join('; ');
  return {
    code: 'CLAIM_CONFLICT',
    message: `alloc ${allocId} has other volumes, or has them otherwise (${how}): release it first, or give it what it has`,
    final: true,
  };
};

const leavingIn = ({ allocId }: AllocContext): Failure => ({
  code: 'ABORTED',
  message: `alloc ${allocId} is being released: prepare it again once that is done`,
  final: false,
});

type Waiting = Pick<AllocContext, 'allocId' | 'waits'>;

const undoneFor =
  (code: ErrorCode, why: string) =>
  ({ allocId, waits }: Waiting): Failure => {
    const reasons = Object.entries(waits).map(([name, reason]) => `${name}: ${reason}`);
    const still = reasons.length > 0 ? ` (${reasons.join('; ')})` : '';
    return { code, message: `alloc ${allocId} ${why}${still}: what was begun is undone`, final: false };
  };

/** Why it is undone where its time is over. */
export const lateIn = undoneFor('TIMEOUT', 'was not prepared in time');

/** Why it is undone where whoever asked for it wants it no more. */
export const givenUpIn = undoneFor('ABORTED', 'was given up before it was prepared');

/** Its claim is lost, whatever it is at: it is undone. */
const whenLost = {
  guard: { type: 'isItsClaim' as const, params: ({ event }: { event: Lost }) => event },
  target: '#alloc.releasing' as const,
  actions: [
    { type: 'keepFailure' as const, params: ({ event }: { event: Lost }) => event.failure },
    { type: 'tell' as const, params: 'claim-lost' as const },
  ],
};

export const allocMachine = setup({
  types: {} as { context: AllocContext; events: AllocEvent; input: AllocInput; emitted: AllocChanged },
  actors: {
    /** All of its volumes are claimed, published and mounted, or why that can't be. */
    prepareAlloc: unbound<CallOutcome<AllocMount[]>, AllocWork>(),
    /** The same, of one that was prepared: as long as it takes, unless its claim is lost. */
    recoverAlloc: unbound<CallOutcome<AllocMount[]>, AllocWork>(),
    /** All of them are unmounted, and their slots free: as long as it takes. */
    releaseAlloc: unbound<void, AllocWork>(),
  },
  guards: {
    isOther: ({ context }, volumes: AllocVolume[]) => !isSameData(context.volumes, volumes),
    isSame: ({ context }, volumes: AllocVolume[]) => isSameData(context.volumes, volumes),
    isDone: (_, outcome: CallOutcome<unknown>) => outcome.status === 'done',
    isNewBoot: (_, isNewBoot: boolean) => isNewBoot,
    isItsClaim: ({ context }, { name, generation }: { name: string; generation: number }) =>
      context.generations[name] === generation,
    isLimited: ({ context }) => context.untilMs !== null,
    wasPrepared: ({ context }, volumes: AllocVolume[]) =>
      context.mounts !== null && isSameData(context.volumes, volumes),
    hasFailed: ({ context }) => context.failure !== null && !context.isDropped,
  },
  actions: {
    ...hostActions,
    take: assign((_, { volumes, untilMs, bootId, wait = true }: AllocWish) => ({
      ...nothing,
      ...{ volumes, untilMs, bootId, wait },
    })),
    /** What it has claimed it has still. */
    takeAgain: assign((_, { untilMs, bootId, wait = true }: AllocWish) => ({ untilMs, bootId, wait })),
    drop: assign({ isDropped: true }),
    keepBoot: assign((_, bootId: string) => ({ bootId })),
    /** Asked for twice, it has the time of whoever waits longer. */
    keepLimit: assign(({ context }, untilMs: number | null) => ({
      untilMs: untilMs === null || context.untilMs === null ? null : Math.max(untilMs, context.untilMs),
    })),
    keepMounts: assign((_, mounts: AllocMount[]) => ({ mounts, waits: {} })),
    keepFailure: assign((_, failure: CallFailure | null) => ({ failure, mounts: null, waits: {} })),
    keepWait: assign(({ context }, { name, reason }: { name: string; reason: string | null }) => {
      const { [name]: _, ...others } = context.waits;
      return { waits: reason === null ? others : { ...others, [name]: reason } };
    }),
    keepGeneration: assign(({ context }, { name, generation }: { name: string; generation: number }) => ({
      generations: { ...context.generations, [name]: generation },
    })),
    forgetWaits: assign({ waits: {} }),
    forget: assign(nothing),
    tell: emit(({ context: { node, allocId, failure } }, type: AllocChanged['type']) => ({
      type,
      node,
      allocId,
      ...(failure && { failure }),
    })),
  },
  delays: {
    untilLate: ({ context, event }) => Math.max(0, (context.untilMs ?? 0) - stampOf(event).at),
    backoff: ({ event }) => jittered(defaultBackoff, 5, stampOf(event).random),
  },
}).createMachine({
  id: 'alloc',
  version: '1',
  context: ({ input }) => ({ ...input, ...nothing }),
  initial: 'released',
  on: {
    'alloc.waits': { actions: { type: 'keepWait', params: ({ event }) => event } },
    'alloc.claimed': { actions: { type: 'keepGeneration', params: ({ event }) => event } },
    // What another run has waited for.
    'alloc.recover': { actions: 'forgetWaits' },
    'alloc.prepare': {
      guard: { type: 'isOther', params: ({ event }) => event.volumes },
      actions: { type: 'answer', params: ({ context, event }) => ({ error: conflictIn(context, event.volumes) }) },
    },
    'alloc.release': {
      target: '.releasing',
      actions: { type: 'keepFailure', params: null },
    },
  },
  states: {
    released: {
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
        'alloc.waits': {},
        'alloc.claimed': {},
      },
    },
    preparing: {
      invoke: {
        id: 'prepareAlloc',
        src: 'prepareAlloc',
        input: workOf,
        onDone: [
          {
            guard: { type: 'isDone', params: ({ event }) => event.output },
            target: 'prepared',
            actions: { type: 'keepMounts', params: ({ event }) => answerIn(event.output) },
          },
          {
            target: 'releasing',
            actions: { type: 'keepFailure', params: ({ event }) => failureOf(event.output) },
          },
        ],
        onError: { target: 'releasing', actions: { type: 'keepFailure', params: ({ event }) => failureIn(event) } },
      },
      on: {
        'alloc.prepare': {
          guard: { type: 'isSame', params: ({ event }) => event.volumes },
          target: '.choosing',
          actions: { type: 'keepLimit', params: ({ event }) => event.untilMs },
        },
        'alloc.recover': [
          {
            guard: { type: 'isNewBoot', params: ({ event }) => event.isNewBoot },
            target: 'recovering.waiting',
          },
          // Begun anew, as it has claimed something meanwhile.
          { target: 'preparing', reenter: true, actions: 'forgetWaits' },
        ],
        'alloc.lost': whenLost,
        'alloc.abort': { target: 'releasing', actions: { type: 'keepFailure', params: ({ event }) => event.failure } },
      },
      initial: 'choosing',
      states: {
        choosing: { always: [{ guard: 'isLimited', target: 'limited' }, { target: 'unlimited' }] },
        limited: {
          after: {
            untilLate: {
              target: '#alloc.releasing',
              actions: { type: 'keepFailure', params: ({ context }) => lateIn(context) },
            },
          },
        },
        unlimited: {},
      },
    },
    prepared: {
      entry: { type: 'tell', params: 'prepared' },
      on: {
        'alloc.recover': [
          {
            guard: { type: 'isNewBoot', params: ({ event }) => event.isNewBoot },
            target: 'recovering.waiting',
          },
          { target: 'recovering.working' },
        ],
        'alloc.lost': whenLost,
      },
    },
    recovering: {
      entry: { type: 'tell', params: 'recovering' },
      initial: 'working',
      states: {
        working: {
          invoke: {
            id: 'recoverAlloc',
            src: 'recoverAlloc',
            input: workOf,
            onDone: [
              {
                guard: { type: 'isDone', params: ({ event }) => event.output },
                target: '#alloc.prepared',
                actions: { type: 'keepMounts', params: ({ event }) => answerIn(event.output) },
              },
              {
                target: '#alloc.releasing',
                actions: [
                  { type: 'keepFailure', params: ({ event }) => failureOf(event.output) },
                  { type: 'tell', params: 'claim-lost' },
                ],
              },
            ],
            onError: 'backing-off',
          },
        },
        'backing-off': { entry: 'forgetWaits', after: { backoff: 'working' } },
        /** The host was started anew, and its workloads are gone: whoever wants it asks for it again. */
        waiting: {
          entry: 'forgetWaits',
          on: {
            'alloc.prepare': [
              {
                guard: { type: 'wasPrepared', params: ({ event }) => event.volumes },
                target: 'working',
                actions: { type: 'keepBoot', params: ({ event }) => event.bootId },
              },
              {
                guard: { type: 'isSame', params: ({ event }) => event.volumes },
                target: '#alloc.preparing',
                actions: [
                  { type: 'takeAgain', params: ({ event }) => event },
                  { type: 'tell', params: 'preparing' },
                ],
              },
            ],
          },
        },
      },
      on: {
        'alloc.lost': whenLost,
        'alloc.recover': [
          { guard: { type: 'isNewBoot', params: ({ event }) => event.isNewBoot }, target: '.waiting' },
          { actions: 'forgetWaits' },
        ],
      },
    },
    releasing: {
      entry: { type: 'tell', params: 'releasing' },
      initial: 'working',
      states: {
        working: {
          invoke: {
            id: 'releaseAlloc',
            src: 'releaseAlloc',
            input: workOf,
            onDone: [
              { guard: 'hasFailed', target: '#alloc.failed' },
              { target: '#alloc.released', actions: ['forget', { type: 'tell', params: 'released' }] },
            ],
            onError: 'backing-off',
          },
        },
        'backing-off': { entry: 'forgetWaits', after: { backoff: 'working' } },
      },
      on: {
        'alloc.prepare': { actions: { type: 'answer', params: ({ context }) => ({ error: leavingIn(context) }) } },
        'alloc.release': { actions: 'drop' },
      },
    },
    /** Nothing of it is left; why is kept until it is released, or prepared again. */
    failed: {
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
      },
    },
  },
});
