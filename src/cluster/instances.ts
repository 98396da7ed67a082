/**
 * Instances of plugins on all agents, as the agent that works on volumes sees them: its own, and those of the roster. A call to
 * one of another agent goes through that agent.
 */
import { createHash } from 'node:crypto';
import type { CallBounds, FarBounds } from '../calls/call-bounds.js';
import type { PluginObservation, PluginPort } from '../calls/plugin-port.js';
import type { CallClient, Callee } from './call-client.js';
import type { CallMethod } from './call-server.js';
import type { Member, Roster } from './roster.js';
import { observationIn } from './roster-entry.js';

/** Client of a plugin on another host, in place of one that has a socket. */
export class FarPlugin {
  readonly callee: Callee;
  readonly plugin: string;

  constructor(plugin: string, callee: Callee) {
    this.plugin = plugin;
    this.callee = callee;
  }
}

interface InstancesOptions {
  /** Plugins of this agent. */
  local: PluginPort;
  roster: Pick<Roster, 'members' | 'onChange'>;
  nodeId: string;
}

/**
 * Makes the port to the plugins of all agents. Its own instance comes first; but all agents have the same order for a plugin of
 * which only one instance may get calls.
 */
export function clusterPluginPort({ local, roster, nodeId }: InstancesOptions): PluginPort {
  const others = (plugin: string): Member[] =>
    [...roster.members.values()].filter((member) => member.nodeId !== nodeId && Object.hasOwn(member.plugins, plugin));
  const known = new Map<string, readonly (string | undefined)[]>();
  const nodesWith = (plugin: string): (string | undefined)[] => {
    const far = others(plugin).map((member) => member.nodeId);
    const isHere = local.isKnown(plugin) || far.length === 0;
    const ranked = (nodes: string[]): string[] =>
      nodes.toSorted((one, other) => rank(plugin, one) - rank(plugin, other));
    const isSole =
      local.observation(plugin).isSole || others(plugin).some((member) => member.plugins[plugin]?.isSole === true);
    if (isSole) return ranked(isHere ? [nodeId, ...far] : far).map((node) => (node === nodeId ? undefined : node));
    return [...(isHere ? [undefined] : []), ...ranked(far)];
  };
  const observed = (plugin: string, node: string): PluginObservation => {
    const member = roster.members.get(node);
    const entry = member && Object.hasOwn(member.plugins, plugin) ? member.plugins[plugin] : undefined;
    if (!entry) return { ...absent, trouble: 'it is not registered there' };
    const observation = observationIn(entry);
    if (member?.silentSinceMs === undefined) return observation;
    const since = new Date(member.silentSinceMs).toISOString();
    return { ...observation, troubleKind: 'absent', trouble: `its agent has been silent since ${since}` };
  };
  return {
    isKnown: (plugin) => local.isKnown(plugin) || others(plugin).length > 0,
    nodes: (plugin) => {
      let nodes = known.get(plugin);
      if (!nodes) {
        nodes = nodesWith(plugin);
        known.set(plugin, nodes);
      }
      return nodes;
    },
    observation: (plugin, node) => (node === undefined ? local.observation(plugin) : observed(plugin, node)),
    client: async (plugin, node) => {
      if (node === undefined) return local.client(plugin);
      const inbox = roster.members.get(node)?.inbox ?? '';
      return new FarPlugin(plugin, { nodeId: node, inbox });
    },
    // The agent there probes its plugin by itself.
    lookAgain: (plugin, node) => (node === undefined ? local.lookAgain(plugin) : undefined),
    watch: (plugin, changed) => {
      const onChange = (): void => {
        known.delete(plugin);
        changed();
      };
      const ends = [
        local.watch(plugin, onChange),
        roster.onChange((plugins) => (plugins.has(plugin) ? onChange() : undefined)),
      ];
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

const absent: PluginObservation = {
  troubleKind: 'absent',
  pluginCapabilities: new Set(),
  hasService: false,
  wellAtMs: 0,
};

/** Spreads plugins over nodes; the same for all agents. */
const rank = (plugin: string, node: string): number =>
  createHash('sha256')
    .update(JSON.stringify([plugin, node]))
    .digest()
    .readUInt32BE();

/** Ports whose methods take the client of a plugin, a request and bounds. */
type Port<K extends string> = Record<K, (client: unknown, request: never, bounds: never) => Promise<unknown>>;

export interface FarCalls {
  calls: Pick<CallClient, 'call'>;
  /** Limit of a call at its plugin. */
  timeoutMs: number;
}

/** Makes a port whose named methods have the call made by the agent that has the plugin, where that is another one. */
export function anywhere<K extends string, P extends Port<K>>(port: P, names: readonly K[], far: FarCalls): P {
  const methods = names.map((name) => {
    const local: CallMethod = port[name].bind(port) as CallMethod;
    const method: CallMethod = (client, request, bounds) => {
      if (!(client instanceof FarPlugin)) return local(client, request, bounds);
      const { plugin, callee } = client;
      // A call about no volume asks the instance as it is.
      const about: FarBounds = bounds.far ?? { secrets: {}, volumes: [], home: callee.nodeId };
      const limits = { timeoutMs: far.timeoutMs, bounds: { ...about, signal: sourceOf(bounds) } };
      return far.calls.call(callee, { plugin, method: name, request, ...limits });
    };
    return [name, method] as const;
  });
  return { ...port, ...Object.fromEntries(methods) };
}

const sourceOf = (bounds: CallBounds): AbortSignal | { onAbort: NonNullable<CallBounds['onAbort']> } =>
  bounds.onAbort ? { onAbort: (callback) => bounds.onAbort?.(callback) ?? (() => {}) } : bounds.signal;

/** Lists the methods of a port, for the agents that have them called. */
export function callMethods<K extends string>(port: Port<K>, names: readonly K[]): [string, CallMethod][] {
  return names.map((name) => [
    name,
    (client, request, bounds) => port[name](client, request as never, bounds as never),
  ]);
}
