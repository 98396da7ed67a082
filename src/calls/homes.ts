/**
 * Finds the node whose plugin gets the calls of a volume. A plugin of scope `host` knows only the volumes of its own
 * host; asked to delete another volume, it would report success. Therefore such a volume has a home, the node that made
 * it, and only the instance there is called. Which instance a call goes to: plugin-access.ts
 */
import type { PluginScope, Segments } from '../../machines/kit/csi-types.js';
import type { VolumeCall } from '../../machines/volume/calls.js';
import { StagecraftError } from '../errors.js';
import type { PluginTarget } from './plugin-port.js';

/** Home node of a volume or snapshot, and the driver that made it, by the driver's own name. Absent: not known. */
export interface Origin {
  home?: string | undefined;
  driver?: string | undefined;
}

/** Fields that every call to a plugin has. */
export type PluginCall = Pick<VolumeCall, 'plugin' | 'secrets' | 'isForced' | 'driver' | 'home' | 'topology'>;

interface HomesOptions {
  nodeId: string;
  /** Undefined: not known now. */
  scopeOf(plugin: string): PluginScope | undefined;
  /** Lists the nodes that have reported this plugin and match the topology; an empty topology matches all. */
  nodesAt(plugin: string, topology: Segments[]): Promise<string[]>;
  /** Describes the state of a node; undefined: no such node. */
  stateOf(nodeId: string): Promise<string | undefined>;
  /**
   * Returns why the instance of a plugin on another node cannot be called from here; undefined if it can. Default: no other
   * node's instance can.
   */
  troubleAt?(plugin: string, node: string): string | undefined;
  /** Returns the node whose instance would be called now; undefined: this node. Default: this node. */
  nodeFor?(target: PluginTarget): string | undefined;
  /** Tells whether a node has an instance of the plugin. Default: only this node may have one. */
  hasInstance?(plugin: string, node: string): boolean;
}

/** Where a new volume is wanted. */
export interface NewHome {
  /** Node that its user named. */
  named?: string | undefined;
  /** Node of the agent that was asked; default: this one. */
  askedOn?: string | undefined;
  /** The volume exists at the plugin. */
  isExternal?: boolean;
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

  /**
   * Tells whether the call must not go to the instance on this node.
   * @param node node of the instance; default: this one
   */
  isElsewhere({ plugin, home }: HomeOf, node = this.#options.nodeId): boolean {
    return home !== undefined && home !== node && this.#options.scopeOf(plugin) !== 'shared';
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
    if (this.#options.troubleAt) return found;
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

  /** Tells whether what the plugin says on a node applies to this volume. @param node default: this one */
  isAt(plugin: string, home: string | null | undefined, node = this.#options.nodeId): boolean {
    return this.#options.scopeOf(plugin) !== 'host' || home === node;
  }

  /** Tells whether another agent would make the calls now, and resolve their secrets. */
  isFar(target: PluginTarget): boolean {
    return this.#options.nodeFor?.(target) !== undefined;
  }

  /** Tells whether a new volume would be made where it is asked for, but that node is not known to have the plugin. */
  isUnknown(plugin: string, { named, askedOn = this.own }: NewHome): boolean {
    const { scopeOf, hasInstance } = this.#options;
    return named === undefined && scopeOf(plugin) === 'host' && hasInstance?.(plugin, askedOn) === false;
  }

  /**
   * Returns the home of a new volume; undefined if it needs none, or if that shows only once it is made.
   * @throws {StagecraftError} INVALID_ARGUMENT: a home was named, and the plugin has the same volumes on all hosts
   */
  ofNew(plugin: string, { named, askedOn, isExternal }: NewHome): string | undefined {
    const { scopeOf, hasInstance, nodeId } = this.#options;
    const scope = scopeOf(plugin);
    if (named !== undefined) {
      if (scope !== 'shared') return named;
      const message = `plugin '${plugin}' has the same volumes on all hosts: leave home out`;
      throw new StagecraftError('INVALID_ARGUMENT', message, { faults: [`home: ${message}`] });
    }
    if (scope !== 'host') return undefined;
    if (!hasInstance) return isExternal ? nodeId : undefined;
    const asked = askedOn ?? nodeId;
    return hasInstance(plugin, asked) ? asked : undefined;
  }

  /**
   * Refuses a home where no agent could ever make the volume.
   * @throws {StagecraftError} NODE_NOT_FOUND names the nodes that have the plugin
   */
  async refuseUnknown(plugin: string, node: string): Promise<void> {
    const { nodeId, hasInstance, stateOf, nodesAt } = this.#options;
    if (node === nodeId || hasInstance?.(plugin, node)) return;
    const state = await stateOf(node);
    if (state !== undefined && state !== 'gone') return;
    const others = await nodesAt(plugin, []);
    const advice = others.length > 0 ? `choose among ${others.join(', ')}` : 'see stagecraft node list';
    throw new StagecraftError('NODE_NOT_FOUND', `there is no node ${node} to make the volume on: ${advice}`);
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
    const { nodeId, stateOf, troubleAt } = this.#options;
    const state = await stateOf(home);
    const how = state === undefined ? ', which is not among the nodes' : state === 'ready' ? '' : `, which is ${state}`;
    const trouble = troubleAt?.(plugin, home);
    const why = troubleAt
      ? `gets its calls, and can't now: ${trouble ?? 'its agent is to be asked'}`
      : `makes its calls, once that agent leads; node ${nodeId} leads now`;
    const reason = `it is on node ${home}${how}: plugin '${plugin}' has separate volumes on each host, so only the agent of node ${home} ${why}`;
    if (state === 'ready' || isForced) return reason;
    return `${reason}; if that host is gone for good, delete it with force, then acknowledge what is left`;
  }
}
