/**
 * Public surface for nodes: `runtime.nodes`. Takes reports of nodes about their plugins, and fences nodes that are lost.
 */
import { z } from 'zod';
import { addressParts, nodeAddress, volumeAddress } from '../../machines/kit/addresses.js';
import type { Segments } from '../../machines/kit/csi-types.js';
import { isSameData } from '../../machines/kit/same-data.js';
import { stateName } from '../../machines/kit/state-path.js';
import {
  isHeard,
  type NodeContext,
  type NodePlugin,
  nodeMachine,
  nodeNotFound,
  notReady,
  type ReportMark,
} from '../../machines/node/node.js';
import { volumeName } from '../../machines/volume/requests.js';
import type { VolumeRequest } from '../../machines/volume/types.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import { lockKey } from '../calls/volume-locks.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf, type ViewOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import { asData } from '../engine/machine/data.js';
import type { FollowOptions } from '../engine/topics/topic-reader.js';
import { StagecraftError } from '../errors.js';
import { nodeIdSchema } from '../host/names.js';
import { ActorClient } from '../requests/actor-client.js';
import { checked, type VolumeKeyInput, volumeKeyOf } from '../requests/fields.js';
import { ExclusiveRequests, type Holding } from '../volumes/exclusive-requests.js';
import type { UnstagedWitness } from '../volumes/node-records.js';
import { notFoundError } from '../volumes/volume-checks.js';
import { isAccessibleFrom } from '../volumes/volume-placement.js';
import type { NodeTarget } from './node-admission.js';
import { type NodeUpdate, nodesTopic, nodeUpdateOf } from './node-kind.js';
import { reportSchema, unstagedSchema } from './node-report.js';

export interface NodeStatus {
  id: string;
  /** `gone`: removed, while some volumes have not handled that yet. */
  state: 'ready' | 'down' | 'gone';
  plugins: NodePlugin[];
  /**
   * Last fence. `at` is in ms since the epoch; `isDone`: all volumes have handled it; `unread`: volumes out of
   * service, or whose records could not be read: they may be on the node.
   */
  fence?: { reason: string; at: number; isDone: boolean; unread?: string[] };
}

const reasonSchema = z.string().trim().min(1, 'must not be empty').max(1_024);
export type UnstagedReport = z.input<typeof unstagedSchema>;

export type NodeReport = z.input<typeof reportSchema>;

interface NodeManagerPorts {
  engine: ActorSystem;
  clock: Clock;
  witness: Pick<UnstagedWitness, 'contradicts'>;
  ownReport?(id: string): NodePlugin[] | undefined;
}

type NodeView = ViewOf<typeof nodeMachine>;

export class NodeManager {
  readonly #client: ActorClient<typeof nodeMachine, string>;
  readonly #nodes: ActorsOf<typeof nodeMachine>;
  readonly #volumes: ActorsOf<typeof volumeMachine>;
  readonly #holders: ExclusiveRequests;
  readonly #witness: Pick<UnstagedWitness, 'contradicts'>;
  readonly #ownReport: (id: string) => NodePlugin[] | undefined;
  /** Errors for refused reports of agents, by node, as far as known here. */
  readonly #refused = new Map<string, StagecraftError>();

  /** @param ports `ownReport`: plugins that this runtime itself reports for a node; undefined if it reports none */
  constructor({ ownReport = () => undefined, ...ports }: NodeManagerPorts) {
    this.#client = new ActorClient(ports, {
      machine: nodeMachine,
      keyOf: checkedId,
      addressOf: nodeAddress,
      nameOf: (id) => `node ${id}`,
      describe: ({ state }) => stateName(state),
      notFound: (id) => this.#notFound(id),
    });
    this.#nodes = this.#client.actors;
    this.#volumes = new ActorsOf(ports.engine, volumeMachine);
    this.#witness = ports.witness;
    this.#holders = new ExclusiveRequests(ports);
    this.#ownReport = ownReport;
  }

  /**
   * Registers the plugins of a node. Replaces its earlier report as a whole.
   * @throws StagecraftError INVALID_ARGUMENT with every fault; NODE_EXISTS: a plugin has this CSI node id for another node;
   *   NODE_REPORTED: the node's own agent reports other plugins
   */
  report(report: NodeReport): Promise<void> {
    return this.#report(report);
  }

  /** Takes a report of the node's own agent. A repeated report, by its mark, changes nothing. */
  async hear(report: NodeReport, mark: ReportMark): Promise<void> {
    try {
      await this.#report(report, mark);
      this.keepRefusal(report.id, undefined);
    } catch (error) {
      this.keepRefusal(report.id, error);
      throw error;
    }
  }

  /** Keeps why the report of a node's agent is refused, for later errors about that node. @param error undefined: it is accepted */
  keepRefusal(id: string, error: unknown): void {
    if (error === undefined) this.#refused.delete(id);
    else if (error instanceof StagecraftError && error.code === 'NODE_EXISTS') this.#refused.set(id, error);
  }

  async #report(report: NodeReport, mark?: ReportMark): Promise<void> {
    this.#client.refuseIfClosed();
    const { id, plugins: given } = checked(reportSchema, report, 'the report of the node');
    const plugins = given.map(definedPlugin);
    const address = nodeAddress(id);
    const view = await this.#client.view(id);
    if (!mark) this.#refuseIfReported(id, plugins, view);
    const ask = (): Promise<unknown> => this.#client.ask(id, { type: 'node.report', plugins, ...(mark && { mark }) });
    if (view && isHeard(view.context, mark)) {
      await ask();
      return;
    }
    const own = view ? namesOf(view.context) : [];
    const things = namesOf({ plugins });
    const refusal = (thing: string, holder: string): StagecraftError => isOther(id, thing, holder);
    await this.#holders.within({ address, things, refusal }, async () => {
      const fresh = things.filter((thing) => !own.includes(thing));
      if (fresh.length > 0) await this.#refuseIfHeld(fresh, { address, refusal });
      await ask();
    });
  }

  /**
   * Refuses a report that differs from that of the node's own agent. The same report is allowed, e.g. for a node that is
   * down.
   */
  #refuseIfReported(id: string, plugins: NodePlugin[], view: NodeView | undefined): void {
    const heard =
      view?.context.heard && stateName<NodeStatus['state']>(view.state) !== 'gone' ? view.context.plugins : undefined;
    const said = this.#ownReport(id) ?? heard;
    if (!said || isSameData(said.toSorted(byName), plugins.toSorted(byName))) return;
    const has = said.map(({ name, nodeId }) => `${name} as '${nodeId}'`).join(', ') || 'no plugin';
    const message = `node ${id} is reported by its own agent, which has ${has}: change the plugins there; where that agent is gone for good, remove the node first`;
    throw new StagecraftError('NODE_REPORTED', message, { address: nodeAddress(id) });
  }

  async #refuseIfHeld(things: string[], { address, refusal }: Omit<Holding, 'things'>): Promise<void> {
    for await (const [other, view] of this.#nodes.all()) {
      const names = other === address ? [] : namesOf(view.context);
      const thing = things.find((one) => names.includes(one));
      if (thing !== undefined) throw refusal(thing, other);
    }
  }

  /**
   * Marks a node as down. Its volumes stay, and it gets no new ones until it reports again. After `fencing.afterMs`, as
   * observed by this process, it is fenced.
   * @throws StagecraftError NODE_NOT_FOUND
   */
  async down(id: string): Promise<void> {
    await this.#client.askExisting(id, { type: 'node.down' });
  }

  /**
   * Fences a node: releases its claims and unpublishes its volumes without its report. Call it only if the node can no longer
   * use them. Resolves once the fence is committed; `status().fence.isDone` tells when all volumes have handled it.
   * @throws StagecraftError NODE_NOT_FOUND, INVALID_ARGUMENT
   */
  async fence(id: string, reason: string): Promise<void> {
    this.#client.refuseIfClosed();
    await this.#client.askExisting(id, { type: 'node.fence', reason: checked(reasonSchema, reason, 'the reason') });
  }

  /** Fences a node and forgets it. @throws StagecraftError NODE_NOT_FOUND */
  async remove(id: string): Promise<void> {
    await this.#client.askExisting(id, { type: 'node.remove' });
  }

  /**
   * Reports that a node has unmounted a volume for all claims up to a generation. Later claims are not affected.
   * @param report with `allocId`: only that alloc's claim of exactly this generation, as others on the node may still use
   *   the volume
   * @throws StagecraftError NODE_NOT_FOUND, VOLUME_NOT_FOUND, INVALID_ARGUMENT; VOLUME_IN_USE: the claim of this generation is
   *   not released yet; or the kernel of this host, or the records of the node's own agent, still show the volume mounted
   */
  async reportUnstaged(nodeId: string, key: VolumeKeyInput, report: UnstagedReport): Promise<void> {
    const id = this.#client.accept(nodeId);
    const known = volumeKeyOf(key);
    const { claimGeneration, allocId } = checked(unstagedSchema, report, 'the report');
    if (!(await this.#client.view(id))) throw this.#notFound(id);
    const address = volumeAddress(known.namespace, known.id);
    if (!(await this.#volumes.read(address))) throw notFoundError(known);
    const contradiction = await this.#witness.contradicts({ nodeId: id, key: known, allocId });
    if (contradiction !== undefined) {
      const message = `${volumeName(known)}: cannot accept the report: ${contradiction}`;
      throw new StagecraftError('VOLUME_IN_USE', message, { address });
    }
    const unstaged: VolumeRequest = {
      ...{ type: 'volume.unstaged', nodeId: id, claimGeneration },
      ...(allocId !== undefined && { allocId }),
    };
    await this.#volumes.ask(address, unstaged);
  }

  /** Returns the committed state of a node. @throws StagecraftError NODE_NOT_FOUND */
  async status(id: string): Promise<NodeStatus> {
    const known = this.#client.accept(id);
    const status = await this.find(known);
    if (!status) throw this.#notFound(known);
    return status;
  }

  /** Lists all nodes in the order of their ids. @throws StagecraftError STORE_UNAVAILABLE */
  async list(): Promise<NodeStatus[]> {
    this.#client.refuseIfClosed();
    const nodes: NodeStatus[] = [];
    for await (const [, view] of this.#nodes.all()) nodes.push(statusOf(view));
    return nodes;
  }

  /**
   * Follows the changes of nodes in order and without gaps, from now on or after the id of an event. Ends with its signal,
   * its iterator or the runtime.
   * @throws StagecraftError CURSOR_EXPIRED, EVENT_DAMAGED, INVALID_ARGUMENT
   */
  updates(options?: FollowOptions): AsyncIterable<NodeUpdate> {
    return this.#client.updates(nodesTopic, options, nodeUpdateOf);
  }

  /**
   * Returns the committed data of a plugin on a node. Synchronous, as all nodes are in memory.
   * @throws StagecraftError NODE_NOT_FOUND, NODE_NOT_READY, NODE_UNFIT
   */
  target(id: string, plugin: string): NodeTarget {
    const view = this.#client.peek(id);
    if (!view) throw this.#notFound(id);
    const { plugins } = view.context;
    const state = stateName<NodeStatus['state']>(view.state);
    if (state !== 'ready') {
      const { code, message } = notReady(id, state);
      throw new StagecraftError(code, message);
    }
    const own = plugins.find(({ name }) => name === plugin);
    if (own)
      return {
        csiNodeId: own.nodeId,
        ...(own.topology && { topology: own.topology }),
        ...(own.maxVolumes !== undefined && { maxVolumes: own.maxVolumes }),
      };
    const has = plugins.length > 0 ? `but ${plugins.map(({ name }) => name).join(', ')}` : 'nor any other';
    throw new StagecraftError('NODE_UNFIT', `node ${id} has no plugin '${plugin}', ${has}: run it there first`);
  }

  /** Returns the committed state of a node; undefined if there is no such node. */
  async find(id: string): Promise<NodeStatus | undefined> {
    const view = await this.#client.view(id);
    return view && statusOf(view);
  }

  /** Finds the nodes with this plugin in one of these topologies; all nodes with it if none is given. */
  async at(plugin: string, places: Segments[]): Promise<string[]> {
    const found: string[] = [];
    for (const { id, plugins } of await this.list())
      if (plugins.some(({ name, topology }) => name === plugin && isAccessibleFrom(topology, places))) found.push(id);
    return found;
  }

  /** Maps the ready nodes that have this plugin to their topologies, as far as the plugin has told them. Synchronous, as `target`. */
  topologiesOf(plugin: string): Map<string, Segments> {
    const topologies = new Map<string, Segments>();
    for (const [, view] of this.#nodes.views()) {
      const { id, state, plugins } = statusOf(view);
      const { topology = {} } = plugins.find(({ name }) => name === plugin) ?? {};
      if (state === 'ready' && Object.keys(topology).length > 0) topologies.set(id, topology);
    }
    return topologies;
  }

  /** Returns the state of a node; undefined if there is no such node. */
  async stateOf(id: string): Promise<NodeStatus['state'] | undefined> {
    return (await this.find(id))?.state;
  }

  /** Maps the CSI node ids of a plugin to the nodes that have reported it. */
  async byCsiId(plugin: string): Promise<Map<string, string>> {
    const names = new Map<string, string>();
    for await (const [, view] of this.#nodes.all()) {
      const { id, plugins } = statusOf(view);
      for (const { name, nodeId } of plugins) if (name === plugin) names.set(nodeId, id);
    }
    return names;
  }

  /** Refuses every later request. */
  close(reason?: StagecraftError): void {
    this.#client.close(reason);
  }

  #notFound(id: string): StagecraftError {
    const refusal = this.#refused.get(id);
    const { code, message } = nodeNotFound({ id });
    const why = refusal && `there is no node ${id}: what its agent reports is refused: ${refusal.message}`;
    return new StagecraftError(code, why ?? message, { address: nodeAddress(id), cause: refusal });
  }
}

const checkedId = (id: unknown): string => checked(nodeIdSchema, id, 'the node id');

/** CSI node ids of a node, one for each plugin. Only one node may have each. */
const namesOf = ({ plugins }: Pick<NodeContext, 'plugins'>): string[] =>
  plugins.map(({ name, nodeId }) => lockKey(name, nodeId));

/** Makes the error for two nodes with one CSI node id. To unpublish a volume from one would take it from the other. */
function isOther(id: string, thing: string, holder: string): StagecraftError {
  const [plugin, csiNodeId] = thing.split('\n');
  const other = addressParts(holder)[1];
  const message = `cannot register node ${id}: plugin '${plugin}' knows node ${other} as '${csiNodeId}'; if that is the same host, renamed, remove node ${other} first, else give the plugin another node id on one of them`;
  return new StagecraftError('NODE_EXISTS', message, { address: nodeAddress(id) });
}

function statusOf(view: NodeView): NodeStatus {
  const { id, plugins, fence } = view.context;
  return {
    id,
    state: stateName<NodeStatus['state']>(view.state),
    plugins: asData(plugins),
    ...(fence && { fence: { ...fence } }),
  };
}

const byName = (one: NodePlugin, other: NodePlugin): number => (one.name < other.name ? -1 : 1);

const definedPlugin = ({
  topology,
  maxVolumes,
  ...rest
}: z.output<typeof reportSchema>['plugins'][number]): NodePlugin => ({
  ...rest,
  ...(topology && { topology }),
  ...(maxVolumes !== undefined && { maxVolumes }),
});
