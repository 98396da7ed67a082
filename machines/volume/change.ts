/**
 * A change of a volume at its plugin: an expansion, or a modification of its parameters. A part of its volume
 * (volume.ts), present until the change is done. Diagrams: docs/machines/expansion.md, docs/machines/modification.md
 * (generated).
 */
import { assign, setup } from 'xstate';
import type { CallFailure, CapacityRange, Tries } from '../kit/csi-types.js';
import { Chart, type Part } from '../kit/parts.js';
import { workStates } from '../kit/work-states.js';

export interface ChangeData<TWish> {
  /** Present wish. */
  wish: TWish;
  /** Asked for during a call: the wish after it, if it is done or refused, and if it has failed. */
  next?: { wish: TWish; ifFailed: TWish } | undefined;
  /** Earlier wish that the plugin has refused: its callers are told. */
  refused?: { wish: TWish; failure: CallFailure } | undefined;
  tries?: Tries | undefined;
  /** Reason of the failed state. */
  failure?: CallFailure | undefined;
}

export type ChangeEvent<TWish> =
  /** @param ifFailed wish if the present call fails: it may have changed nothing */
  | { type: 'asked'; wish: TWish; ifFailed: TWish }
  | { type: 'retry' }
  /** The obstacle is gone. */
  | { type: 'hasten' }
  // The turn that the volume gives, and the outcome of the call.
  | { type: 'turn.given' }
  | { type: 'turn.lost' }
  | { type: 'call.waits' }
  | { type: 'change.done' }
  /** The plugin would refuse the same call again. */
  | { type: 'change.refused'; failure: CallFailure }
  | { type: 'change.failed'; failure: CallFailure; tries: Tries }
  /** The runtime ended while the call was under way: no attempt. */
  | { type: 'change.interrupted' };

/** @param call as in workStates */
const changeMachine = <TWish, const TId extends string>(id: TId, call: string) =>
  setup({
    types: {} as {
      context: ChangeData<TWish>;
      events: ChangeEvent<TWish>;
      input: ChangeData<TWish>;
      tags: 'has-turn';
    },
    actions: {
      count: assign(({ event }) => ({ tries: event.type === 'change.failed' ? event.tries : undefined })),
      restart: assign({ tries: undefined, failure: undefined }),
      keepFailure: assign(({ event }) => ({
        failure: event.type === 'change.refused' ? event.failure : undefined,
        tries: undefined,
        refused: undefined,
      })),
      replaceWish: assign(({ context, event }) => ({
        wish: event.type === 'asked' ? event.wish : context.wish,
        refused: undefined,
      })),
      keepNext: assign(({ context, event }) => ({
        next: event.type === 'asked' ? { wish: event.wish, ifFailed: event.ifFailed } : context.next,
      })),
      noteRefused: assign(({ context, event }) => ({
        refused: event.type === 'change.refused' ? { wish: context.wish, failure: event.failure } : context.refused,
      })),
      forgetRefused: assign({ refused: undefined }),
      goOnWithNext: assign(({ context: { wish, next } }) => ({ wish: next?.wish ?? wish, next: undefined })),
      goOnWithBoth: assign(({ context: { wish, next } }) => ({ wish: next?.ifFailed ?? wish, next: undefined })),
    },
  }).createMachine({
    id,
    version: '1',
    context: ({ input }) => input,
    initial: 'pending',
    states: {
      /** Asked for, and not done. */
      pending: {
        initial: 'due',
        states: workStates({
          call,
          restart: 'restart',
          outcomes: {
            asked: { target: `#${id}.overtaken`, actions: 'keepNext' },
            'change.done': `#${id}.done`,
            'change.refused': { target: `#${id}.failed`, actions: 'keepFailure' },
            'change.failed': { target: 'backing-off', actions: 'count' },
            'change.interrupted': 'due',
          },
          waiting: { asked: { actions: ['replaceWish', 'restart'] } },
        }),
        on: {
          hasten: { actions: 'restart' },
          asked: { target: '.due', actions: ['replaceWish', 'restart'] },
        },
      },
      /** Something else was asked for during the call. */
      overtaken: {
        tags: 'has-turn',
        on: {
          hasten: { actions: 'restart' },
          retry: { actions: 'restart' },
          asked: { actions: 'keepNext' },
          'call.waits': { target: 'pending.waiting-for-plugin', actions: ['goOnWithBoth', 'restart'] },
          'turn.lost': { target: 'pending', actions: ['goOnWithBoth', 'restart'] },
          'change.done': { target: 'pending', actions: ['goOnWithNext', 'restart', 'forgetRefused'] },
          'change.refused': { target: 'pending', actions: ['noteRefused', 'goOnWithNext', 'restart'] },
          'change.failed': { target: 'pending', actions: ['goOnWithBoth', 'restart'] },
          'change.interrupted': { target: 'pending', actions: ['goOnWithBoth', 'restart'] },
        },
      },
      /** Refused by the plugin: the volume is used as before. */
      failed: {
        on: {
          hasten: {},
          retry: { target: 'pending', actions: 'restart' },
          asked: { target: 'pending', actions: ['replaceWish', 'restart'] },
        },
      },
      done: { type: 'final' },
    },
  });

export const expansionMachine = changeMachine<CapacityRange, 'expansion'>('expansion', 'ControllerExpandVolume');
export const modificationMachine = changeMachine<Record<string, string>, 'modification'>(
  'modification',
  'ControllerModifyVolume',
);

export type Expansion = Part<typeof expansionMachine>;
export type Modification = Part<typeof modificationMachine>;

export const expansionChart = new Chart(expansionMachine);
export const modificationChart = new Chart(modificationMachine);

/** Whether the call is under way, and may take effect. */
export const isCalled = ({ at }: { at: Expansion['at'] }): boolean => at === 'pending.calling' || at === 'overtaken';
