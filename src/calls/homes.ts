/**
 * Finds the node that makes the calls of a volume. A plugin of scope `host` knows only the volumes of its own host;
 * asked to delete another volume, it would report success. Therefore such a volume has a home, the node that made it,
 * and only the agent of that node makes its calls. Calls elsewhere: plugin-calls.ts
 */
import type { PluginScope, Segments } from '../../machines/kit/csi-types.js';
import type { VolumeCall } from '../../machines/volume/calls.js';
import { StagecraftError } from '../errors.js';

/** Home node of a volume or snapshot, and the driver that made it, by the driver's own name. Absent: not known. */
export interface Origin {
  home?: string | undefined;
  driver?: string | undefined;
}

/** Fields that every call to a plugin has. */
export type PluginCall = Pick<VolumeCall, 'plugin' | 'secrets' | 'isForced' | 'driver' | 'home' | 'topology'>;

export interface HomesOptions {
  nodeId: string;
  /** Undefined: not known now. */
  scopeOf(plugin: string): PluginScope | undefined;
  /** Lists the nodes that have reported this plugin and match the topology; an empty topology matches all. */
  nodesAt(plugin: string, topology: Segments[]): Promise<string[]>;
  /** Describes the state of a node; undefined: no such node. */
  stateOf(nodeId: string): Promise<string | undefined>;
}

type HomeOf = Pick<VolumeCall, 'plugin' | 'home'> & Partial<Pick<VolumeCall, 'isForced'>>;
export type HomedCall = Pick<VolumeCall, 'plugin' | 'home' | 'topology'>;

export class Homes {
  readonly #options: HomesOptions;

  constructor(options: HomesOptions) {
    this.#options = options;
  }

  /** Returns why this node must not make the call; undefined if it may. */
  async elsewhere(call: HomeOf): Promise<string | undefined> {
    const { home } = call;
    return home !== undefined && this.isElsewhere(call) ? this.#away({ ...call, home }) : undefined;
  }

  /** Tells whether the agent of another node makes the call. */
  isElsewhere({ plugin, home }: HomeOf): boolean {
    const { nodeId, scopeOf } = this.#options;
    return home !== undefined && home !== nodeId && scopeOf(plugin) !== 'shared';
  }

  /**
   * Returns the home for a copy or snapshot of a volume; undefined if it needs none.
   * @param what names the volume, e.g. `volume default/data`
   * @throws {StagecraftError} VOLUME_ELSEWHERE if another node must make it
   */
  async here(what: string, call: HomedCall): Promise<string | undefined> {
    const { plugin, home, topology = [] } = call;
    if (this.#options.scopeOf(plugin) === 'shared') return undefined;
    const found = this.isToBeFound(call) ? await this.find(plugin, topology) : home;
    const why = await this.elsewhere({ plugin, ...(found !== undefined && { home: found }) });
    if (why === undefined) return found;
    throw new StagecraftError(
      'VOLUME_ELSEWHERE',
      `${what}: ${why}; copies and snapshots of it are made there too: ask again then`,
    );
  }

  /** Tells whether the plugin has separate volumes per host, and the home of this volume is not committed yet. */
  isToBeFound({ plugin, home }: HomeOf): boolean {
    return home === undefined && this.#options.scopeOf(plugin) === 'host';
  }

  /** Tells whether reports of the plugin on this host apply to this volume. */
  isHere(plugin: string, home: string | null | undefined): boolean {
    const { nodeId, scopeOf } = this.#options;
    return scopeOf(plugin) !== 'host' || home === nodeId;
  }

  /** Returns the home of a volume or snapshot registered here; undefined if it needs none, or that is not known yet. */
  ofNew(plugin: string): string | undefined {
    return this.#options.scopeOf(plugin) === 'host' ? this.own : undefined;
  }

  /** This node: the home of volumes made here. */
  get own(): string {
    return this.#options.nodeId;
  }

  /**
   * Returns the home of a volume made before homes were recorded.
   * @throws {StagecraftError} VOLUME_ELSEWHERE if several nodes, or no known node, may have it
   */
  async find(plugin: string, topology: Segments[]): Promise<string> {
    const [node, ...others] = await this.#options.nodesAt(plugin, topology);
    if (node !== undefined && others.length === 0) return node;
    const places = topology.map((segments) => JSON.stringify(segments)).join(' or ');
    const where = places ? `it can be used at ${places}` : 'it can be used anywhere';
    const fits = node === undefined ? 'no known node is there' : `nodes ${[node, ...others].join(', ')} are there`;
    throw new StagecraftError(
      'VOLUME_ELSEWHERE',
      `plugin '${plugin}' has separate volumes on each host, and it is not known which host has this one: ${where}, and ` +
        `${fits}; remove the nodes that are gone, or delete it with force`,
    );
  }

  async #away({ plugin, home, isForced = false }: HomeOf & { home: string }): Promise<string> {
    const { nodeId, stateOf } = this.#options;
    const state = await stateOf(home);
    const how = state === undefined ? ', which is not among the nodes' : state === 'ready' ? '' : `, which is ${state}`;
    const reason =
      `it is on node ${home}${how}: plugin '${plugin}' has separate volumes on each host, so only the agent of node ${home} ` +
      `makes its calls, once that agent leads; node ${nodeId} leads now`;
    if (state === 'ready' || isForced) return reason;
    return `${reason}; if that host is gone for good, delete it with force, then acknowledge what is left`;
  }
}
