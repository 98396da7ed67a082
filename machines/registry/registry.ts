/**
 * Root of one node's actors: prepares the host, restores the actors, runs, and stops in order; keeps which mounts another agent
 * has made under its node id. Diagram: docs/machines/registry.md (generated).
 */
import { assign, setup } from 'xstate';
import { failureIn, type RestoreReport, type Stamped, stampOf, unbound } from '../kit/host.js';
import type { StateWords } from '../kit/state-words.js';

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

/** Data directory of an agent. */
export interface AgentPlace {
  /** Tells data directories apart, over restarts of the host. */
  id: string;
  dataDir: string;
  host: string;
}

/** The place where a volume was mounted, and the moment from which another agent had the node. */
export interface FormerMount extends AgentPlace {
  /** Milliseconds since the epoch. */
  replacedAtMs: number;
}

/** By the address of the mount. */
type FormerMountsByAddress = Record<string, FormerMount>;

/** The place of an agent, and what the records of its node show as mounted. */
interface MountsOf {
  place: AgentPlace;
  /** Addresses of all mounts whose volumes are here, or may be. */
  mounts: string[];
}

interface Known {
  place?: AgentPlace;
  former?: FormerMountsByAddress;
}

/** Notes the place. Mounts of the place before are former ones from here on; those of this place are its own again. */
export function placed({ place: before, former = {} }: Known, { place, mounts }: MountsOf, at: number): Known {
  const left = before && before.id !== place.id ? { ...before, replacedAtMs: at } : undefined;
  const all = mounts.flatMap((address): [string, FormerMount][] => {
    const known = former[address] ?? left;
    return known && known.id !== place.id ? [[address, known]] : [];
  });
  return { place, ...((all.length > 0 || Object.keys(former).length > 0) && { former: Object.fromEntries(all) }) };
}

/** Says who has made the mounts, and what to do. */
export const describeFormer = (nodeId: string, { dataDir, host, replacedAtMs }: FormerMount): string =>
  `it was mounted on node ${nodeId} by the agent of ${dataDir} on host ${host}, which another agent with the same nodeId has replaced since ${new Date(replacedAtMs).toISOString()}, and it may be mounted there still: start that agent on its data directory again instead of this one, and release it there; or make sure that nothing there uses it any more, then fence node ${nodeId}`;
