/**
 * Where calls about a volume are made. An instance of a plugin of scope `host` knows the volumes of its own host only: asked
 * to delete another host's volume, it would say that this is done. So such a volume has a home, the node that it was made on,
 * and only the agent of that node makes its calls. What the others do about that: plugin-calls.ts
 */
import type { PluginScope, Segments } from '../../machines/kit/csi-types.js';
import type { VolumeCall } from '../../machines/volume/calls.js';
import { StagecraftError } from '../errors.js';

/** Where calls about something are made, and the own name of the driver that made it. Absent: not known. */
export interface Origin {
  home?: string | undefined;
  driver?: string | undefined;
}

/** All that a call is made with, whatever it asks. */
export type PluginCall = Pick<VolumeCall, 'plugin' | 'secrets' | 'isForced' | 'driver' | 'home' | 'topology'>;

export interface HomesOptions {
  /** This node. */
  nodeId: string;
  /** Absent: not known now. */
  scopeOf(plugin: string): PluginScope | undefined;
  /** The nodes that have reported this plugin, and whose place is among these; no place given: all of them. */
  nodesAt(plugin: string, topology: Segments[]): Promise<string[]>;
  /** How a node is, in words; absent: there is no such node. */
  stateOf(nodeId: string): Promise<string | undefined>;
}

type HomeOf = Pick<VolumeCall, 'plugin' | 'home'> & Partial<Pick<VolumeCall, 'isForced'>>;
export type HomedCall = Pick<VolumeCall, 'plugin' | 'home' | 'topology'>;

export class Homes {
  readonly #options: HomesOptions;

  constructor(options: HomesOptions) {
    this.#options = options;
  }

  /** Why this node does not make the call, in words; undefined where it may. */
  async elsewhere(call: HomeOf): Promise<string | undefined> {
    const { home } = call;
    return home !== undefined && this.isElsewhere(call) ? this.#away({ ...call, home }) : undefined;
  }

  /** Whether the agent of another node makes the call. */
  isElsewhere({ plugin, home }: HomeOf): boolean {
    const { nodeId, scopeOf } = this.#options;
    return home !== undefined && home !== nodeId && scopeOf(plugin) !== 'shared';
  }

  /**
   * The home of what something new is to be made of; undefined where it has none.
   * @param what in words, e.g. `volume default/data`
   * @throws StagecraftError VOLUME_ELSEWHERE: it is on another node, so that nothing can be made of it here
   */
  async here(what: string, call: HomedCall): Promise<string | undefined> {
    const { plugin, home, topology = [] } = call;
    if (this.#options.scopeOf(plugin) === 'shared') return undefined;
    const found = this.isToBeFound(call) ? await this.find(plugin, topology) : home;
    const why = await this.elsewhere({ plugin, ...(found !== undefined && { home: found }) });
    if (why === undefined) return found;
    throw new StagecraftError(
      'VOLUME_ELSEWHERE',
      `${what}: ${why}; copies and snapshots of it are made there, too: ask again then`,
    );
  }

  /** Whether the plugin has volumes for its own host only, and the home of this one is not committed yet. */
  isToBeFound({ plugin, home }: HomeOf): boolean {
    return home === undefined && this.#options.scopeOf(plugin) === 'host';
  }

  /** Whether what the plugin on this host says is meant of this volume, too. */
  isHere(plugin: string, home: string | null | undefined): boolean {
    const { nodeId, scopeOf } = this.#options;
    return scopeOf(plugin) !== 'host' || home === nodeId;
  }

  /** The home of what is taken over here; undefined where it has none, or that is not known yet. */
  ofNew(plugin: string): string | undefined {
    return this.#options.scopeOf(plugin) === 'host' ? this.own : undefined;
  }

  /** This node: the home of what is made here. */
  get own(): string {
    return this.#options.nodeId;
  }

  /**
   * The home of what was made before homes were kept.
   * @throws StagecraftError VOLUME_ELSEWHERE: several nodes may have it, or none that is known
   */
  async find(plugin: string, topology: Segments[]): Promise<string> {
    const [node, ...others] = await this.#options.nodesAt(plugin, topology);
    if (node !== undefined && others.length === 0) return node;
    const places = topology.map((segments) => JSON.stringify(segments)).join(' or ');
    const where = places ? `it can be used at ${places}` : 'it can be used anywhere';
    const fits = node === undefined ? 'no known node is there' : `nodes ${[node, ...others].join(', ')} are there`;
    throw new StagecraftError(
      'VOLUME_ELSEWHERE',
      `plugin '${plugin}' has other volumes on each host, and it is not known which host has this one: ${where}, and ` +
        `${fits}; remove the nodes that are gone, or delete it with force`,
    );
  }

  async #away({ plugin, home, isForced = false }: HomeOf & { home: string }): Promise<string> {
    const { nodeId, stateOf } = this.#options;
    const state = await stateOf(home);
    const how = state === undefined ? ', which is not among the nodes' : state === 'ready' ? '' : `, which is ${state}`;
    const reason =
      `it is on node ${home}${how}: plugin '${plugin}' has other volumes on each host, so only the agent of node ${home} ` +
      `makes its calls, once that leads; node ${nodeId} leads now`;
    if (state === 'ready' || isForced) return reason;
    return `${reason}; where that host is gone for good, delete it with force, then acknowledge what is left`;
  }
}
