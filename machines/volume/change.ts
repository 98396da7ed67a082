/**
 * A change of a volume at its plugin: an expansion, or a modification of its parameters. A part of its volume
 * (volume.ts), present until the change is done. Diagrams: docs/machines/expansion.md, docs/machines/modification.md
 * (generated).
 */
import { assign, setup } from 'xstate';
import type { CallFailure, CapacityRange, Tries } from '../kit/csi-types.js';
import { Chart, type Part, type PhaseMeta } from '../kit/parts.js';
import type { StateWords } from '../kit/state-words.js';
import type { FailedWork } from './wishes.js';

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

export type ChangeEvent<TWish> = ChangeRequest<TWish> | ChangeOutcome;

export type ChangeRequest<TWish> =
  /** @param ifFailed wish if the call that is under way fails: it may have changed nothing */
  | { type: 'asked'; wish: TWish; ifFailed: TWish; isUnderWay: boolean }
  | { type: 'retry' }
  /** The obstacle is gone. */
  | { type: 'hasten' };

/** Outcome of the call. */
export type ChangeOutcome =
  /** No call was made: it waits, or is made anew. */
  | { type: 'call.not-made' }
  | { type: 'change.done' }
  /** The plugin would refuse the same call again. */
  | { type: 'change.refused'; failure: CallFailure }
  | ({ type: 'change.failed' } & FailedWork)
  /** The runtime ended while the call was under way: no attempt. */
  | { type: 'change.interrupted' };

/** @param call kind of the call that makes the change */
const changeMachine = <TWish, const TId extends string>(id: TId, call: 'expand' | 'modify') =>
  setup({
    types: {} as {
      context: ChangeData<TWish>;
      events: ChangeEvent<TWish>;
      input: ChangeData<TWish>;
      meta: PhaseMeta<never, 'expand' | 'modify'> & StateWords;
    },
    guards: {
      isCallUnderWay: ({ event }) => event.type === 'asked' && event.isUnderWay,
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
    version: '2',
    context: ({ input }) => input,
    initial: 'pending',
    // Sent whenever a call was not made: most phases have nothing to do.
    on: { 'call.not-made': {} },
    states: {
      /** Asked for, and not done. */
      pending: {
        meta: { call, words: { calling: 'being changed', restsAfter: 'not done yet' } },
        on: {
          hasten: { actions: 'restart' },
          retry: { actions: 'restart' },
          asked: [
            { guard: 'isCallUnderWay', target: 'overtaken', actions: 'keepNext' },
            { actions: ['replaceWish', 'restart'] },
          ],
          'change.done': 'done',
          'change.refused': { target: 'failed', actions: 'keepFailure' },
          'change.failed': { actions: 'count' },
          'change.interrupted': {},
        },
      },
      /** Something else was asked for during the call. */
      overtaken: {
        meta: {
          call,
          health: 'working',
          words: { calling: 'being changed, a newer request comes next', restsAfter: 'a newer request comes next' },
        },
        on: {
          hasten: { actions: 'restart' },
          retry: { actions: 'restart' },
          asked: { actions: 'keepNext' },
          'call.not-made': { target: 'pending', actions: ['goOnWithBoth', 'restart'] },
          'change.done': { target: 'pending', actions: ['goOnWithNext', 'restart', 'forgetRefused'] },
          'change.refused': { target: 'pending', actions: ['noteRefused', 'goOnWithNext', 'restart'] },
          'change.failed': { target: 'pending', actions: ['goOnWithBoth', 'restart'] },
          'change.interrupted': { target: 'pending', actions: ['goOnWithBoth', 'restart'] },
        },
      },
      /** Refused by the plugin: the volume is used as before. */
      failed: {
        meta: { health: 'failed', words: 'refused' },
        on: {
          hasten: {},
          retry: { target: 'pending', actions: 'restart' },
          asked: { target: 'pending', actions: ['replaceWish', 'restart'] },
        },
      },
      done: { meta: { health: 'healthy', words: '' }, type: 'final' },
    },
  });

export const expansionMachine = changeMachine<CapacityRange, 'expansion'>('expansion', 'expand');
export const modificationMachine = changeMachine<Record<string, string>, 'modification'>('modification', 'modify');

export type Expansion = Part<typeof expansionMachine>;
export type Modification = Part<typeof modificationMachine>;

export const expansionChart = new Chart(expansionMachine);
export const modificationChart = new Chart(modificationMachine);
