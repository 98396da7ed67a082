/** Machines that note their actions in order, driven side by side with XState. */
import { expect } from 'chai';
import {
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  and,
  assign,
  emit,
  setup,
  stateIn,
} from 'xstate';
import { hostActions, unbound } from '../../machines/kit/host.js';
import { Rivals } from './rivals.js';

export interface Noted {
  notes: string[];
  count: number;
}

/** Machine setup whose actions note their names in order. */
export const base = setup({
  types: {} as { context: Noted; events: AnyEventObject; input: { count?: number }; tags: string },
  actors: { work: unbound<void, object>() },
  guards: {
    isEven: ({ context }) => context.count % 2 === 0,
    isAtLeast: ({ context }, least: number) => context.count >= least,
    isGiven: (_, given: boolean) => given,
    isSettled: stateIn('settled'),
    isEvenAndSettled: and(['isEven', stateIn('settled')]),
    isBroken: () => {
      throw new Error('can not tell');
    },
  },
  actions: {
    ...hostActions,
    note: assign(({ context, event }, note: string) => ({ notes: [...context.notes, `${note} ${event.type}`] })),
    count: assign({ count: ({ context }) => context.count + 1 }),
    reset: assign({ count: 0, notes: ({ context }) => [...context.notes, 'reset'] }),
    tell: emit(({ context }, what: string) => ({ type: 'told', what, count: context.count })),
    fail: assign(() => {
      throw new Error('can not take this');
    }),
  },
  delays: { long: 10_000, byCount: ({ context }) => context.count * 100, unset: 1 },
});

export type Config = Parameters<typeof base.createMachine>[0];

export const note = (note: string) => ({ type: 'note' as const, params: note });
export const made = (config: Omit<Config, 'context'>): AnyStateMachine =>
  base.createMachine({
    id: 'm',
    context: ({ input }: { input: { count?: number } }) => ({ notes: [], count: input.count ?? 0 }),
    ...config,
  });

interface Drive {
  input?: object;
  /** Positions of events that go through XState's interpreter; `begin` is -1. */
  unplanned?: number[];
  /** Positions of events that end in an error. */
  thrown?: number[];
}

/** Compares each step with XState's, and returns where it led. */
export function drive(
  machine: AnyStateMachine,
  types: (string | AnyEventObject)[],
  options: Drive = {},
): AnyMachineSnapshot {
  const { input = {}, thrown = [], unplanned = thrown } = options;
  const rivals = new Rivals(machine);
  const outcomes = [
    rivals.begin(input),
    ...types.map((type) => rivals.step(typeof type === 'string' ? { type, at: 5, random: 0.5 } : type)),
  ];
  const positions = (of: (outcome: (typeof outcomes)[number]) => boolean): number[] =>
    outcomes.flatMap((outcome, at) => (of(outcome) ? [at - 1] : []));
  expect(positions(({ isPlanned }) => !isPlanned)).to.deep.equal(unplanned);
  expect(positions(({ thrown }) => thrown !== undefined)).to.deep.equal(thrown);
  return rivals.snapshot;
}

export const notesOf = ({ context: { notes } }: AnyMachineSnapshot): string[] => notes;
