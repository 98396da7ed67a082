/** `runtime.nodes`: what nodes report of their plugins, and what becomes of those that do not. */
import { z } from 'zod';
import { nodeAddress, nodesPrefix } from '../../machines/addresses.js';
import type { NodeContext, NodeEvent, NodePlugin } from '../../machines/node.js';
import type { ActorDoor } from '../engine/actor-door.js';
import { pages } from '../engine/pages.js';
import { StagecraftError } from '../errors.js';
import type { NodeTarget } from './node-port.js';
import { checked, nodeIdSchema, segmentsSchema, textSchema } from './spec.js';
import { stateOf } from './volume-view.js';

export interface NodeStatus {
  id: string;
  state: 'ready' | 'down' | 'gone';
  plugins: NodePlugin[];
  /** What is on it was taken for lost. */
  fence?: { reason: string; at: number; isDone: boolean };
}

const reportSchema = z.strictObject({
  id: nodeIdSchema,
  plugins: z
    .array(
      z.strictObject({
        name: textSchema,
        nodeId: nodeIdSchema,
        topology: segmentsSchema.optional(),
        maxVolumes: z.int().positive().optional(),
      }),
    )
    .refine((plugins) => new Set(plugins.map(({ name }) => name)).size === plugins.length, 'names a plugin twice'),
});

export type NodeReport = z.input<typeof reportSchema>;

export class NodeManager {
  readonly #engine: ActorDoor;
  #closed: StagecraftError | undefined;

  constructor(engine: ActorDoor) {
    this.#engine = engine;
  }

  /**
   * What a node has now; replaces what it reported before, as a whole.
   * @throws StagecraftError INVALID_ARGUMENT with every fault
   */
  async report(report: NodeReport): Promise<void> {
    this.#refuseIfClosed();
    const { id, plugins } = checked(reportSchema, report, 'the report of the node');
    await this.#ask(id, { type: 'node.report', plugins: plugins.map(definedPlugin) });
  }

  /** @throws StagecraftError NODE_NOT_FOUND */
  async status(id: string): Promise<NodeStatus> {
    this.#refuseIfClosed();
    const view = await this.#engine.read(nodeAddress(checked(nodeIdSchema, id, 'the node id')));
    if (!view) throw new StagecraftError('NODE_NOT_FOUND', `there is no node ${id}: list them, or report it`);
    return statusOf(view.state, view.context as NodeContext);
  }

  /** Where a volume of this plugin can go on a node. @throws StagecraftError NODE_NOT_FOUND, NODE_NOT_READY, NODE_UNFIT */
  async target(id: string, plugin: string): Promise<NodeTarget> {
    const { state, plugins } = await this.status(id);
    if (state !== 'ready')
      throw new StagecraftError('NODE_NOT_READY', `node ${id} is ${state}: it takes no volume until it reports`);
    const own = plugins.find(({ name }) => name === plugin);
    if (own)
      return {
        csiNodeId: own.nodeId,
        ...(own.topology && { topology: own.topology }),
        ...(own.maxVolumes && { maxVolumes: own.maxVolumes }),
      };
    const has = plugins.map(({ name }) => name).join(', ') || 'none';
    throw new StagecraftError('NODE_UNFIT', `node ${id} has no plugin '${plugin}', but ${has}: run it there first`);
  }

  /** By a plugin's own names for them, the nodes that have reported it. */
  async byCsiId(plugin: string): Promise<Map<string, string>> {
    const names = new Map<string, string>();
    for await (const [, view] of pages((after) => this.#engine.page({ prefix: nodesPrefix, limit: 512, ...after }))) {
      const { id, plugins } = view.context as NodeContext;
      for (const { name, nodeId } of plugins) if (name === plugin) names.set(nodeId, id);
    }
    return names;
  }

  close(reason = new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed')): void {
    this.#closed ??= reason;
  }

  async #ask(id: string, event: NodeEvent): Promise<void> {
    await this.#engine.ask(nodeAddress(id), event);
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw this.#closed;
  }
}

const statusOf = (state: import('xstate').StateValue, { id, plugins, fence }: NodeContext): NodeStatus => ({
  id,
  state: stateOf(state) as unknown as NodeStatus['state'],
  plugins: structuredClone(plugins),
  ...(fence && { fence: { ...fence } }),
});

const definedPlugin = ({
  topology,
  maxVolumes,
  ...rest
}: z.output<typeof reportSchema>['plugins'][number]): NodePlugin => ({
  ...rest,
  ...(topology && { topology }),
  ...(maxVolumes !== undefined && { maxVolumes }),
});
