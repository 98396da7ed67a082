/**
 * Root of one node's actors: prepares the host, restores the actors, runs, and stops in order. Diagram:
 * docs/machines/registry.md (generated).
 */
import { assign, setup } from 'xstate';
import { failureIn, type RestoreReport, type Stamped, unbound } from '../kit/host.js';

export interface RegistryContext {
  /** Findings of the last restore. */
  restored: RestoreReport;
  /** Reason why the registry has stopped, if that was not asked for. */
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
  // After a crash the record has the state of before: a start begins anew from any state.
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
