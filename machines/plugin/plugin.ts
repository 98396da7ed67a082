/** One running plugin instance, behind one socket. Diagram: docs/machines/plugin.md (generated). */
import { assign, emit, enqueueActions, setup } from 'xstate';
import type { PluginScope } from '../kit/csi-types.js';
import { type Stamped, unboundLoop } from '../kit/host.js';
import { isSameData } from '../kit/same-data.js';

/** Who and where: the same for all its life unless it is registered again with another definition. */
export interface PluginInfo {
  type: string;
  name: string;
  allocId: string;
  version?: string;
  connection: { socketPath: string };
  /** `scope`: `shared` or `host`, see PluginScope; default: what the driver says. Others are kept as they are. */
  options?: Record<string, string>;
}

/** What a plugin says of the node that it runs on. */
export interface NodeInfo {
  nodeId?: string;
  /** Absent means no limit. */
  maxVolumes?: number;
  /** Topology segments of this node, as the driver gave them. */
  topology?: Record<string, string>;
}

/** Read once per instance and kept; what a kind of plugin puts here is its own affair. */
export interface PluginBasics extends NodeInfo {
  /** The driver's own name, which may differ from the registered one. */
  pluginName: string;
  vendorVersion: string;
  /** What the plugin as a whole offers, e.g. `CONTROLLER_SERVICE`. */
  pluginCapabilities?: string[];
  /** Scope that the driver states for itself. Absent: none. */
  scope?: PluginScope;
}

/** What one round of looking at a plugin found. Absent fields are not known (yet). */
export interface Fingerprint {
  healthy: boolean;
  description: string;
  basic?: PluginBasics;
  /** What its service offers, e.g. `STAGE_UNSTAGE_VOLUME`; absent means unknown, never unsupported. */
  capabilities?: string[];
}

export interface PluginInput {
  info: PluginInfo;
}

export interface PluginContext {
  info: PluginInfo;
  fingerprint: Fingerprint;
  /** What was last told of its node; outlives a restart, so that a change is told with what was before. */
  node?: NodeInfo;
  /** Told as healthy, then defined anew: until the first look at what it is now, that is still the last that was told. */
  isToldHealthy?: boolean;
}

type FingerprintEvent = { type: 'fingerprint.changed'; fingerprint: Fingerprint };
export type PluginEvent = (
  | FingerprintEvent
  | { type: 'plugin.restart'; info: PluginInfo }
  /** Whoever runs it knows that it is gone, or is ending it. */
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
 * Broadcast when an instance tells of its node for the first time, without `before`, and whenever it tells something
 * else: the whole of it, what is left out is none. Comes before the health that the same look led to.
 */
export interface NodeInfoChanged extends NodeInfo {
  type: 'node-info';
  info: PluginInfo;
  before?: NodeInfo;
}

const unknown: Fingerprint = { healthy: false, description: 'not yet fingerprinted' };
const shutDown: Fingerprint = { healthy: false, description: 'shut down' };
const lost = ({ description }: { description: string }): Fingerprint => ({ healthy: false, description });

/** What a later, poorer round leaves out stays known: an unhealthy plugin has not lost its capabilities. */
function together(known: Fingerprint, seen: Fingerprint): Fingerprint {
  const all: Fingerprint = Object.assign({}, known, seen);
  if (seen.healthy || !seen.basic || !known.basic) return all;
  // A round may fail midway; what it read of the node it read as a whole.
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

/** Absent where it is not known: a round that failed may not have come that far, and an empty node id is a fault. */
function knownNode({ healthy, basic }: Fingerprint): NodeInfo | undefined {
  return basic && (healthy || basic.nodeId) ? nodeInfoOf(basic) : undefined;
}

const isToldHealthy = ({ fingerprint, isToldHealthy = false }: PluginContext): boolean =>
  fingerprint.healthy || isToldHealthy;

export const pluginMachine = setup({
  types: {} as {
    context: PluginContext;
    events: PluginEvent;
    input: PluginInput;
    emitted: HealthChanged | NodeInfoChanged;
  },
  actors: { fingerprintLoop: unboundLoop<FingerprintEvent, FingerprintInput>() }, // one long effect: an event only on change
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
      reenter: true, // the loop begins anew, on the new socket
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
    registering: { always: 'fingerprinting' },
    fingerprinting: {
      on: {
        'fingerprint.changed': [
          {
            guard: { type: 'isHealthy', params: ({ event }) => event.fingerprint },
            target: 'healthy',
            actions: [
              { type: 'remember', params: ({ event }) => event.fingerprint },
              'tellNode',
              { type: 'emitHealth', params: 'unknown' },
            ],
          },
          {
            target: 'unhealthy',
            actions: [
              { type: 'remember', params: ({ event }) => event.fingerprint },
              'tellNode',
              { type: 'emitHealth', params: 'unknown' },
            ],
          },
        ],
        'plugin.lost': {
          target: 'unhealthy',
          actions: [
            { type: 'remember', params: ({ event }) => lost(event) },
            { type: 'emitHealth', params: 'unknown' },
          ],
        },
      },
    },
    healthy: {
      on: {
        'fingerprint.changed': [
          {
            guard: { type: 'isHealthy', params: ({ event }) => event.fingerprint },
            actions: [{ type: 'remember', params: ({ event }) => event.fingerprint }, 'tellNode'],
          },
          {
            target: 'unhealthy',
            actions: [
              { type: 'remember', params: ({ event }) => event.fingerprint },
              'tellNode',
              { type: 'emitHealth', params: 'healthy' },
            ],
          },
        ],
        'plugin.lost': {
          target: 'unhealthy',
          actions: [
            { type: 'remember', params: ({ event }) => lost(event) },
            { type: 'emitHealth', params: 'healthy' },
          ],
        },
      },
    },
    unhealthy: {
      on: {
        'fingerprint.changed': [
          {
            guard: { type: 'isHealthy', params: ({ event }) => event.fingerprint },
            target: 'healthy',
            actions: [
              { type: 'remember', params: ({ event }) => event.fingerprint },
              'tellNode',
              { type: 'emitHealth', params: 'unhealthy' },
            ],
          },
          { actions: [{ type: 'remember', params: ({ event }) => event.fingerprint }, 'tellNode'] },
        ],
        'plugin.lost': { actions: { type: 'remember', params: ({ event }) => lost(event) } },
      },
    },
    shutdown: { type: 'final' },
  },
});
