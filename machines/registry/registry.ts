/**
 * The root of one node's actors: prepares the host, restores what was there, runs, and stops in order.
 * Diagram: docs/machines/registry.md (generated).
 */
import { assign, setup } from 'xstate';
import { failureIn, type RestoreReport, type Stamped, unbound } from '../kit/host.js';

export interface RegistryContext {
  /** What the last restore found. */
  restored: RestoreReport;
  /** Why the registry stopped, where it was not asked to. */
  error: string | null;
}

export type RegistryEvent = ({ type: 'registry.start' } | { type: 'registry.stop'; release: boolean }) & Stamped;

const nothing: RestoreReport = { actors: 0, quarantined: [] };

export const registryMachine = setup({
  types: {} as { context: RegistryContext; events: RegistryEvent },
  actors: {
    prepareHost: unbound<void, object>(),
    restoreActors: unbound<RestoreReport, object>(),
    drainActors: unbound<void, { release: boolean }>(),
  },
  actions: {
    forget: assign({ restored: nothing, error: null }),
    keepReport: assign((_, restored: RestoreReport) => ({ restored })),
    keepError: assign(({ event }) => ({ error: failureIn(event).message })),
  },
}).createMachine({
  id: 'registry',
  version: '1',
  context: { restored: nothing, error: null },
  initial: 'stopped',
  // After a crash the record still says what it said then: a start begins anew from wherever that was.
  on: { 'registry.start': { target: '.starting', reenter: true, actions: 'forget' } },
  states: {
    stopped: {},
    starting: {
      invoke: {
        id: 'prepareHost',
        src: 'prepareHost',
        input: {},
        onDone: 'restoring',
        onError: { target: 'stopped', actions: 'keepError' },
      },
    },
    restoring: {
      invoke: {
        id: 'restoreActors',
        src: 'restoreActors',
        input: {},
        onDone: { target: 'running', actions: { type: 'keepReport', params: ({ event }) => event.output } },
        onError: { target: 'stopped', actions: 'keepError' },
      },
    },
    running: { on: { 'registry.stop': 'draining' } },
    draining: {
      invoke: {
        id: 'drainActors',
        src: 'drainActors',
        input: ({ event }) => ({ release: event.type === 'registry.stop' && event.release }),
        onDone: 'stopped',
        onError: { target: 'stopped', actions: 'keepError' },
      },
    },
  },
});
