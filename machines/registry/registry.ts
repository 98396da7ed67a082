/**
 * Root of one node's actors: prepares the host, restores the actors, runs, and stops in order. Diagram:
 * docs/machines/registry.md (generated).
 */
import { assign, setup } from 'xstate';
import { failureIn, type RestoreReport, type Stamped, stampOf, unbound } from '../kit/host.js';
import type { StateWords } from '../kit/state-words.js';
import { type AgentPlace, type FormerMountsByAddress, type MountsOf, placed } from './former-mounts.js';

export interface RegistryContext {
  /** Findings of the last restore. */
  restored: RestoreReport;
  /** Reason why the registry has stopped, if that was not asked for. */
  error: string | null;
  /** Place of the agent that runs the node. Absent: an earlier version has not noted it. */
  place?: AgentPlace;
  /** Mounts that agents at other places have made under this node id, and that may still be there. Absent: none. */
  former?: FormerMountsByAddress;
}

export type RegistryEvent = (
  | { type: 'registry.start' }
  | { type: 'registry.stop'; release: boolean }
  /** The agent has restored its actors, and has called no plugin yet. */
  | ({ type: 'registry.placed' } & MountsOf)
  /** The volume was given up on this node, as by a fence. */
  | { type: 'registry.former-mount-over'; address: string }
) &
  Stamped;

const nothing: RestoreReport = { actors: 0, quarantined: [] };

export const registryMachine = setup({
  types: {} as { context: RegistryContext; events: RegistryEvent; meta: StateWords },
  actors: {
    prepareHost: unbound<void, object>(),
    restoreActors: unbound<RestoreReport, object>(),
    drainActors: unbound<void, { release: boolean }>(),
  },
  actions: {
    forget: assign({ restored: nothing, error: null }),
    keepReport: assign((_, restored: RestoreReport) => ({ restored })),
    keepPlace: assign(({ context, event }, mounts: MountsOf) => placed(context, mounts, stampOf(event).at)),
    dropFormer: assign(({ context: { former = {} } }, address: string) => ({
      former: Object.fromEntries(Object.entries(former).filter(([other]) => other !== address)),
    })),
    keepError: assign(({ event }) => ({ error: failureIn(event).message })),
  },
}).createMachine({
  id: 'registry',
  version: '1',
  context: { restored: nothing, error: null },
  initial: 'stopped',
  // After a crash the record has the state of before: a start begins anew from any state.
  on: {
    'registry.start': { target: '.starting', reenter: true, actions: 'forget' },
    'registry.placed': {
      actions: { type: 'keepPlace', params: ({ event }) => ({ place: event.place, mounts: event.mounts }) },
    },
    'registry.former-mount-over': { actions: { type: 'dropFormer', params: ({ event }) => event.address } },
  },
  states: {
    stopped: { meta: { health: 'gone', words: 'stopped' } },
    starting: {
      meta: { health: 'working', words: 'starts' },
      invoke: {
        id: 'prepareHost',
        src: 'prepareHost',
        input: {},
        onDone: 'restoring',
        onError: { target: 'stopped', actions: 'keepError' },
      },
    },
    restoring: {
      meta: { health: 'working', words: 'restores its actors' },
      invoke: {
        id: 'restoreActors',
        src: 'restoreActors',
        input: {},
        onDone: { target: 'running', actions: { type: 'keepReport', params: ({ event }) => event.output } },
        onError: { target: 'stopped', actions: 'keepError' },
      },
    },
    running: { meta: { health: 'healthy', words: 'running' }, on: { 'registry.stop': 'draining' } },
    draining: {
      meta: { health: 'working', words: 'stops' },
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
