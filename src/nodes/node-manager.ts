/** `runtime.nodes`: what nodes report of their plugins, and what becomes of those that do not. */
import { z } from 'zod';
import { addressParts, nodeAddress, volumeAddress } from '../../machines/kit/addresses.js';
import type { Segments } from '../../machines/kit/csi-types.js';
import { isSameData } from '../../machines/kit/same-data.js';
import {
  isHeard,
  type NodeContext,
  type NodeEvent,
  type NodePlugin,
  nodeMachine,
  notReady,
  type ReportMark,
} from '../../machines/node/node.js';
import { nameOf } from '../../machines/volume/requests.js';
import type { VolumeRequest } from '../../machines/volume/types.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import { lockKey } from '../calls/volume-locks.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf, type ViewOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import { asData } from '../engine/machine/data.js';
import { type FollowOptions, followAs } from '../engine/topics/follow-as.js';
import { messageOf, StagecraftError } from '../errors.js';
import { csiNodeIdSchema, nameSchema, nodeIdSchema } from '../host/names.js';
import { checked, keyOf, segmentsSchema, type VolumeKeyInput } from '../requests/fields.js';
import { stateName } from '../requests/state-name.js';
import { ExclusiveRequests, type Holding } from '../volumes/exclusive-requests.js';
import type { UnstagedWitness } from '../volumes/unstaged-witness.js';
import { isWithin } from '../volumes/volume-checks.js';
import { type NodeUpdate, nodeUpdateOf } from './node-events.js';
import { nodesTopic } from './node-kind.js';
import type { NodeTarget } from './node-port.js';

export interface NodeStatus {
  id: string;
  /** `gone`: it was removed, and its volumes are still being told. */
  state: 'ready' | 'down' | 'gone';
  /** As reported last. */
  plugins: NodePlugin[];
  /** What is on it was taken for lost. */
  fence?: { reason: string; at: number; isDone: boolean };
}

const pluginSchema = z.strictObject({
  name: nameSchema,
  nodeId: csiNodeIdSchema,
  topology: segmentsSchema.optional(),
  maxVolumes: z.int().positive().optional(),
});

const reportSchema = z.strictObject({
  id: nodeIdSchema,
  plugins: z.array(pluginSchema).superRefine((plugins, context) => {
    const names = plugins.map(({ name }) => name);
    for (const [at, name] of names.entries()) {
      if (names.indexOf(name) < at)
        context.addIssue({ code: 'custom', path: [at, 'name'], message: `names '${name}' a second time` });
    }
  }),
});

const reasonSchema = z.string().trim().min(1, 'must not be empty').max(1_024);
const unstagedSchema = z.strictObject({ claimGeneration: z.int().nonnegative(), allocId: nameSchema.optional() });

export type UnstagedReport = z.input<typeof unstagedSchema>;

/** What is wrong with a plugin as a node has it; absent: nothing. */
export const faultsOf = (plugin: NodePlugin): string | undefined => {
  try {
    checked(pluginSchema, plugin, `plugin '${plugin.name}'`);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
};

export type NodeReport = z.input<typeof reportSchema>;

export interface NodeManagerPorts {
  engine: ActorSystem;
  clock: Clock;
  witness: Pick<UnstagedWitness, 'contradicts'>;
  ownReport?(id: string): NodePlugin[] | undefined;
}

type NodeView = ViewOf<typeof nodeMachine>;

export class NodeManager {
  readonly #engine: ActorSystem;
  readonly #nodes: ActorsOf<typeof nodeMachine>;
  readonly #volumes: ActorsOf<typeof volumeMachine>;
  readonly #holders: ExclusiveRequests;
  readonly #witness: Pick<UnstagedWitness, 'contradicts'>;
  readonly #ownReport: (id: string) => NodePlugin[] | undefined;
  /** By node: why what its own agent reports is not taken, as far as that is known here. */
  readonly #refused = new Map<string, StagecraftError>();
  #closed: StagecraftError | undefined;

  /** @param ports `ownReport`: what this very runtime reports of a node; undefined: nothing */
  constructor({ ownReport = () => undefined, ...ports }: NodeManagerPorts) {
    this.#engine = ports.engine;
    this.#nodes = new ActorsOf(ports.engine, nodeMachine);
    this.#volumes = new ActorsOf(ports.engine, volumeMachine);
    this.#witness = ports.witness;
    this.#holders = new ExclusiveRequests(ports);
    this.#ownReport = ownReport;
  }

  /**
   * What a node has now; replaces what it reported before, as a whole.
   * @throws StagecraftError INVALID_ARGUMENT with every fault; NODE_EXISTS: one of its plugins knows another node by that
   *   name; NODE_REPORTED: its own agent reports it, and something else
   */
  report(report: NodeReport): Promise<void> {
    return this.#report(report);
  }

  /** The same from the node's own agent, which may say it again: what was heard before changes nothing. */
  async hear(report: NodeReport, mark: ReportMark): Promise<void> {
    try {
      await this.#report(report, mark);
      this.#refused.delete(report.id);
    } catch (error) {
      this.#keepRefusal(report.id, error);
      throw error;
    }
  }

  /** @throws StagecraftError NODE_EXISTS: the agent that leads can't take this report; also where another one leads */
  async refuseUntakeable({ id, plugins }: NodeReport): Promise<void> {
    const address = nodeAddress(id);
    const refusal = (thing: string, holder: string): StagecraftError => isOther(id, thing, holder);
    try {
      await this.#refuseIfHeld(namesOf({ plugins: plugins.map(definedPlugin) }), { address, refusal });
      this.#refused.delete(id);
    } catch (error) {
      this.#keepRefusal(id, error);
      throw error;
    }
  }

  #keepRefusal(id: string, error: unknown): void {
    if (error instanceof StagecraftError && error.code === 'NODE_EXISTS') this.#refused.set(id, error);
  }

  async #report(report: NodeReport, mark?: ReportMark): Promise<void> {
    this.#refuseIfClosed();
    const { id, plugins: given } = checked(reportSchema, report, 'the report of the node');
    const plugins = given.map(definedPlugin);
    const address = nodeAddress(id);
    const view = await this.#nodes.read(address);
    if (!mark) this.#refuseIfReported(id, plugins, view);
    const ask = (): Promise<void> => this.#ask(id, { type: 'node.report', plugins, ...(mark && { mark }) });
    // What was heard before changes nothing.
    if (view && isHeard(view.context, mark)) return ask();
    const own = view ? namesOf(view.context) : [];
    const things = namesOf({ plugins });
    const refusal = (thing: string, holder: string): StagecraftError => isOther(id, thing, holder);
    await this.#holders.within({ address, things, refusal }, async () => {
      const fresh = things.filter((thing) => !own.includes(thing));
      if (fresh.length > 0) await this.#refuseIfHeld(fresh, { address, refusal });
      await ask();
    });
  }

  /** Refuses a report that differs from the node's own agent. A caller may repeat the agent's report, as for a down node. */
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
   * Nothing is heard of a node any more. What is on it stays, and it gets nothing new until it reports; after
   * `fencing.afterMs`, as this process sees them pass, it is fenced.
   * @throws StagecraftError NODE_NOT_FOUND
   */
  async down(id: string): Promise<void> {
    await this.#tell(id, { type: 'node.down' });
  }

  /**
   * Takes what is on a node for lost: its claims are released and its volumes unpublished, without its report. Say so only
   * where it can't use them any more. Resolves when that is on record; `status().fence.isDone` says when all volumes know.
   * @throws StagecraftError NODE_NOT_FOUND, INVALID_ARGUMENT
   */
  async fence(id: string, reason: string): Promise<void> {
    this.#refuseIfClosed();
    await this.#tell(id, { type: 'node.fence', reason: checked(reasonSchema, reason, 'the reason') });
  }

  /** Fences a node, and forgets it. @throws StagecraftError NODE_NOT_FOUND */
  async remove(id: string): Promise<void> {
    await this.#tell(id, { type: 'node.remove' });
  }

  /**
   * A node has let go of a volume, as far as claims up to this generation have used it; what was taken later is not meant.
   * @param report with `allocId`: only that alloc's claim of this very generation is meant, as where others on the node may
   *   use the volume still
   * @throws StagecraftError NODE_NOT_FOUND, VOLUME_NOT_FOUND, INVALID_ARGUMENT; VOLUME_IN_USE: the claim of this generation
   *   is not released yet, or the volume is there still: the kernel of this host shows it, or the node's own agent says so
   */
  async reportUnstaged(nodeId: string, key: VolumeKeyInput, report: UnstagedReport): Promise<void> {
    this.#refuseIfClosed();
    const id = checkedId(nodeId);
    const known = keyOf(key);
    const { claimGeneration, allocId } = checked(unstagedSchema, report, 'the report');
    if (!(await this.#nodes.read(nodeAddress(id)))) throw this.#notFound(id);
    const address = volumeAddress(known.namespace, known.id);
    if (!(await this.#volumes.read(address)))
      throw new StagecraftError('VOLUME_NOT_FOUND', `there is no ${nameOf(known)}: list them`, { address });
    const contradiction = await this.#witness.contradicts({ nodeId: id, key: known, allocId });
    if (contradiction !== undefined) {
      const message = `${nameOf(known)}: the report is not true: ${contradiction}`;
      throw new StagecraftError('VOLUME_IN_USE', message, { address });
    }
    const unstaged: VolumeRequest = {
      ...{ type: 'volume.unstaged', nodeId: id, claimGeneration },
      ...(allocId !== undefined && { allocId }),
    };
    await this.#volumes.ask(address, unstaged);
  }

  /** @throws StagecraftError NODE_NOT_FOUND */
  async status(id: string): Promise<NodeStatus> {
    this.#refuseIfClosed();
    const known = checkedId(id);
    const view = await this.#nodes.read(nodeAddress(known));
    if (!view) throw this.#notFound(known);
    return statusOf(view);
  }

  /** All nodes, in the order of their ids. @throws StagecraftError STORE_UNAVAILABLE */
  async list(): Promise<NodeStatus[]> {
    this.#refuseIfClosed();
    const nodes: NodeStatus[] = [];
    for await (const [, view] of this.#nodes.all()) nodes.push(statusOf(view));
    return nodes;
  }

  /**
   * Follows the changes of nodes, in one order, none left out, from now or from after an event's id. Ends with its signal,
   * its iterator or the runtime.
   * @throws StagecraftError CURSOR_EXPIRED, EVENT_DAMAGED, INVALID_ARGUMENT
   */
  updates(options?: FollowOptions): AsyncIterable<NodeUpdate> {
    this.#refuseIfClosed();
    return followAs(this.#engine, nodesTopic, options).reading(nodeUpdateOf);
  }

  /**
   * Where a volume of this plugin can go on a node, as is committed now: all nodes are in memory.
   * @throws StagecraftError NODE_NOT_FOUND, NODE_NOT_READY, NODE_UNFIT
   */
  target(id: string, plugin: string): NodeTarget {
    const view = this.#nodes.peek(nodeAddress(id));
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

  /** What a node has reported last; absent: there is none. */
  async reported(id: string): Promise<NodePlugin[] | undefined> {
    const view = await this.#nodes.read(nodeAddress(id));
    return view && statusOf(view).plugins;
  }

  /** Whether a report of the node's own agent is committed, whatever was said of the node since. */
  async hasHeard(id: string, mark: ReportMark): Promise<boolean> {
    const view = await this.#nodes.read(nodeAddress(id));
    return view !== undefined && isHeard(view.context, mark);
  }

  /** The nodes that have reported this plugin at one of these places; no place given: all that have it. */
  async at(plugin: string, places: Segments[]): Promise<string[]> {
    const found: string[] = [];
    for (const { id, plugins } of await this.list())
      if (plugins.some(({ name, topology }) => name === plugin && isWithin(topology, places))) found.push(id);
    return found;
  }

  /** How a node is; undefined where there is none. */
  async stateOf(id: string): Promise<NodeStatus['state'] | undefined> {
    const view = await this.#nodes.read(nodeAddress(id));
    return view && statusOf(view).state;
  }

  /** By a plugin's own names for them, the nodes that have reported it. */
  async byCsiId(plugin: string): Promise<Map<string, string>> {
    const names = new Map<string, string>();
    for await (const [, view] of this.#nodes.all()) {
      const { id, plugins } = statusOf(view);
      for (const { name, nodeId } of plugins) if (name === plugin) names.set(nodeId, id);
    }
    return names;
  }

  close(reason = new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed')): void {
    this.#closed ??= reason;
  }

  #notFound(id: string): StagecraftError {
    const refusal = this.#refused.get(id);
    const why = refusal ? `what its agent reports is refused: ${refusal.message}` : 'list them, or report it';
    return new StagecraftError('NODE_NOT_FOUND', `there is no node ${id}: ${why}`, {
      address: nodeAddress(id),
      cause: refusal,
    });
  }

  async #tell(id: string, event: NodeEvent): Promise<void> {
    this.#refuseIfClosed();
    const known = checkedId(id);
    // One that was never there leaves no trace.
    if (!(await this.#nodes.read(nodeAddress(known)))) throw this.#notFound(known);
    await this.#ask(known, event);
  }

  async #ask(id: string, event: NodeEvent): Promise<void> {
    await this.#nodes.ask(nodeAddress(id), event);
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw this.#closed;
  }
}

const checkedId = (id: unknown): string => checked(nodeIdSchema, id, 'the node id');

/** What plugins call a node: a name that only one node may have. */
const namesOf = ({ plugins }: Pick<NodeContext, 'plugins'>): string[] =>
  plugins.map(({ name, nodeId }) => lockKey(name, nodeId));

/** Its plugin would take the one for the other: what is taken from the one would be gone from the other. */
function isOther(id: string, thing: string, holder: string): StagecraftError {
  const [plugin, csiNodeId] = thing.split('\n');
  const other = addressParts(holder)[1];
  const message = `node ${id} can't be taken: plugin '${plugin}' knows node ${other} as '${csiNodeId}'; where that is the same host, renamed, remove node ${other} first, else mend what the plugin says there`;
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
