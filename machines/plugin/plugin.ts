/** One running plugin instance behind one socket. Diagram: docs/machines/plugin.md (generated). */
import { assign, emit, enqueueActions, setup } from 'xstate';
import type { PluginScope } from '../kit/csi-types.js';
import { type Stamped, unboundLoop } from '../kit/host.js';
import { isSameData } from '../kit/same-data.js';
import type { StateWords } from '../kit/state-words.js';

/** Definition of an instance: fixed unless it is registered again with another one. */
export interface PluginInfo {
  type: string;
  name: string;
  allocId: string;
  version?: string;
  connection: { socketPath: string };
  /**
   * `scope`: `shared` or `host`, see PluginScope; default: as the driver says. `controllers`: `any` or `one`, which instances
   * on all hosts get controller calls; default: any. Other options are kept as they are. */
  options?: Record<string, string>;
}

/** The node of a plugin, as the plugin reports it. */
export interface NodeInfo {
  nodeId?: string;
  /** Absent: no limit. */
  maxVolumes?: number;
  /** Topology segments of this node, as the driver reports them. */
  topology?: Record<string, string>;
}

/** Facts that are read once per instance and kept. Further fields belong to the kind of plugin. */
export interface PluginBasics extends NodeInfo {
  /** Name that the driver gives itself; it may differ from the registered one. */
  pluginName: string;
  vendorVersion: string;
  /** Services of the plugin as a whole, e.g. `CONTROLLER_SERVICE`. */
  pluginCapabilities?: string[];
  /** Scope that the driver reports. Absent: none. */
  scope?: PluginScope;
}

/** Findings of one look at a plugin. Absent fields are not known (yet). */
export interface Fingerprint {
  healthy: boolean;
  description: string;
  basic?: PluginBasics;
  /** Capabilities of its service, e.g. `STAGE_UNSTAGE_VOLUME`; absent: unknown, never unsupported. */
  capabilities?: string[];
}

interface PluginInput {
  info: PluginInfo;
}

export interface PluginContext {
  info: PluginInfo;
  fingerprint: Fingerprint;
  /** Node as broadcast last; kept over a restart, so that a change is broadcast with what was before. */
  node?: NodeInfo;
  /** Broadcast as healthy before it was defined anew: still so until the first look at the new definition. */
  isToldHealthy?: boolean;
}

type FingerprintEvent = { type: 'fingerprint.changed'; fingerprint: Fingerprint };
export type PluginEvent = (
  | FingerprintEvent
  | { type: 'plugin.restart'; info: PluginInfo }
  /** The process is gone, or is being ended: reported by its task. */
  | { type: 'plugin.lost'; description: string }
  | { type: 'plugin.shutdown' }
) &
  Stamped;

export interface FingerprintInput {
  info: PluginInfo;
}

/** Broadcast when the health of an instance changes. */
export interface HealthChanged {
  type: 'health';
  info: PluginInfo;
  from: 'healthy' | 'unhealthy' | 'unknown';
  healthy: boolean;
  description: string;
}

/**
 * Broadcast when an instance reports its node for the first time, without `before`, and at each change. Always the
 * whole report. Comes before the health of the same look.
 */
export interface NodeInfoChanged extends NodeInfo {
  type: 'node-info';
  info: PluginInfo;
  before?: NodeInfo;
}

const unknown: Fingerprint = { healthy: false, description: 'not yet fingerprinted' };
const shutDown: Fingerprint = { healthy: false, description: 'shut down' };

/**
 * Joins findings: what a later, poorer look leaves out stays known, as an unhealthy plugin has not lost its
 * capabilities.
 */
function together(known: Fingerprint, seen: Fingerprint): Fingerprint {
  const all: Fingerprint = Object.assign({}, known, seen);
  if (seen.healthy || !seen.basic || !known.basic) return all;
  // A look may fail midway; it has read the node whole or not at all.
  const { nodeId, maxVolumes, topology, ...rest } = known.basic;
  const node = nodeInfoOf(seen.basic.nodeId === undefined ? known.basic : seen.basic);
  return { ...all, basic: { ...rest, ...seen.basic, ...node } };
}

function nodeInfoOf({ nodeId, maxVolumes, topology }: PluginBasics): NodeInfo {
  return {
    ...(nodeId !== undefined && { nodeId }),
    ...(maxVolumes !== undefined && { maxVolumes }),
    ...(topology !== undefined && { topology }),
  };
}

/** Undefined if the node is not known: a failed look may not have come that far, and an empty node id is a fault. */
function knownNode({ healthy, basic }: Fingerprint): NodeInfo | undefined {
  return basic && (healthy || basic.nodeId) ? nodeInfoOf(basic) : undefined;
}

const isToldHealthy = ({ fingerprint, isToldHealthy = false }: PluginContext): boolean =>
  fingerprint.healthy || isToldHealthy;

interface Seen {
  event: FingerprintEvent;
}

const isSeenHealthy = { type: 'isHealthy', params: ({ event }: Seen) => event.fingerprint } as const;
const seen = [{ type: 'remember', params: ({ event }: Seen) => event.fingerprint }, 'tellNode'] as const;
const remembersLoss = {
  type: 'remember',
  params: ({ event: { description } }: { event: { description: string } }): Fingerprint => ({
    healthy: false,
    description,
  }),
} as const;

/** Broadcasts that the health is another one than before. */
const changedFrom = (from: HealthChanged['from']) => ({ type: 'emitHealth', params: from }) as const;
const seenOtherThan = (from: HealthChanged['from']) => [...seen, changedFrom(from)] as const;
const lostWhile = (from: HealthChanged['from']) => [remembersLoss, changedFrom(from)] as const;

export const pluginMachine = setup({
  types: {} as {
    context: PluginContext;
    events: PluginEvent;
    input: PluginInput;
    emitted: HealthChanged | NodeInfoChanged;
    meta: StateWords;
  },
  actors: { fingerprintLoop: unboundLoop<FingerprintEvent, FingerprintInput>() }, // one long effect: an event at each change only
  guards: {
    isHealthy: (_, seen: Fingerprint) => seen.healthy,
    wasHealthy: ({ context }) => isToldHealthy(context),
  },
  actions: {
    remember: assign(({ context }, seen: Fingerprint) => ({
      fingerprint: together(context.fingerprint, seen),
      ...(context.isToldHealthy && { isToldHealthy: false }),
    })),
    redefine: assign(({ context }, info: PluginInfo) => ({
      info,
      fingerprint: unknown,
      ...(isToldHealthy(context) && { isToldHealthy: true }),
    })),
    tellNode: enqueueActions(({ context: { info, fingerprint, node: before }, enqueue }) => {
      const node = knownNode(fingerprint);
      if (!node || isSameData(node, before ?? {})) return;
      enqueue.assign({ node });
      enqueue.emit({ type: 'node-info', info, ...node, ...(before && { before }) });
    }),
    emitHealth: emit(({ context }, from: HealthChanged['from']) => ({
      type: 'health' as const,
      info: context.info,
      from,
      healthy: context.fingerprint.healthy,
      description: context.fingerprint.description,
    })),
  },
}).createMachine({
  id: 'plugin',
  version: '1',
  context: ({ input }) => ({ info: input.info, fingerprint: unknown }),
  initial: 'registering',
  invoke: {
    id: 'fingerprintLoop',
    src: 'fingerprintLoop',
    input: ({ context }) => ({ info: context.info }),
  },
  on: {
    'plugin.restart': {
      target: '.registering',
      reenter: true, // the loop begins anew on the new socket
      actions: { type: 'redefine', params: ({ event }) => event.info },
    },
    'plugin.shutdown': [
      {
        guard: 'wasHealthy',
        target: '.shutdown',
        actions: [
          { type: 'remember', params: shutDown },
          { type: 'emitHealth', params: 'healthy' },
        ],
      },
      { target: '.shutdown', actions: { type: 'remember', params: shutDown } },
    ],
  },
  states: {
    registering: { meta: { health: 'unknown', words: 'not checked yet' }, always: 'fingerprinting' },
    fingerprinting: {
      meta: { health: 'unknown', words: 'not checked yet' },
      on: {
        'fingerprint.changed': [
          { guard: isSeenHealthy, target: 'healthy', actions: seenOtherThan('unknown') },
          { target: 'unhealthy', actions: seenOtherThan('unknown') },
        ],
        'plugin.lost': { target: 'unhealthy', actions: lostWhile('unknown') },
      },
    },
    healthy: {
      meta: { health: 'healthy', words: 'answers' },
      on: {
        'fingerprint.changed': [
          { guard: isSeenHealthy, actions: seen },
          { target: 'unhealthy', actions: seenOtherThan('healthy') },
        ],
        'plugin.lost': { target: 'unhealthy', actions: lostWhile('healthy') },
      },
    },
    unhealthy: {
      meta: { health: 'failed', words: 'does not answer as it should' },
      on: {
        'fingerprint.changed': [
          { guard: isSeenHealthy, target: 'healthy', actions: seenOtherThan('unhealthy') },
          { actions: seen },
        ],
        'plugin.lost': { actions: remembersLoss },
      },
    },
    shutdown: { type: 'final', meta: { health: 'gone', words: 'deregistered' } },
  },
});
