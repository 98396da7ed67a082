/**
 * Tells the live feed as the messages of Stately's inspector (@statelyai/inspect): each actor as a machine with its
 * snapshots, each part of an actor as a machine of its own below it. Pure. The socket: feed-sockets.ts
 */
import { type AnyEventObject, type AnyStateMachine, pathToStateValue, type StateValue } from 'xstate';
import { catalogEntryOf } from '../../machines/catalog.js';
import type { PartView } from '../../machines/kit/parts.js';
import type { FeedRecord } from '../engine/feed.js';
import type { Shown } from '../runtime/runtime.js';
import { machineOf, partsIn } from './health.js';

/** Version of the messages. */
const protocol = '0.7.2';

interface Base {
  /** Address of the actor; of a part, with its id after `#`. */
  sessionId: string;
  rootId: string;
  /** Milliseconds since the epoch, as text. */
  createdAt: string;
  id: string;
  _version: string;
}

interface InspectedSnapshot {
  status: 'active' | 'done';
  value?: StateValue;
  context?: object;
}

/** Messages of @statelyai/inspect, as they are on the wire. */
type StatelyMessage =
  | (Base & {
      type: '@xstate.actor';
      name: string;
      /** Configuration of its machine, as JSON text. */
      definition: string | undefined;
      parentId: string | undefined;
      snapshot: InspectedSnapshot;
    })
  | (Base & { type: '@xstate.event'; event: AnyEventObject; sourceId: string | undefined })
  | (Base & { type: '@xstate.snapshot'; event: AnyEventObject; snapshot: InspectedSnapshot });

type Message = StatelyMessage;

/** An actor as it is when a viewer comes. */
interface Present {
  address: string;
  state: StateValue;
  context: object;
}

/** Makes the messages for one viewer. Each actor is told once, before anything that happens to it. */
export class StatelyMessages {
  readonly #rootId: string;
  readonly #known = new Set<string>();

  /** @param rootId address of the actor that all others stand below */
  constructor(rootId: string) {
    this.#rootId = rootId;
  }

  /** An actor that is there already, and its parts. */
  present({ address, state, context }: Shown<Present>, at: number): Message[] {
    const parts = partsIn(machineOf(address), context);
    return [
      this.#actor(address, { status: 'active', value: state, context }, at),
      ...parts.map((part) => this.#part(address, part, at)),
    ];
  }

  /** Messages for a record of the feed. */
  of(record: Shown<FeedRecord>): Message[] {
    const { address, at } = record;
    switch (record.kind) {
      case 'event': {
        const { entry } = record;
        const event = entry.event ?? { type: 'xstate.init', ...(entry.input && { input: entry.input }) };
        const sourceId = entry.source.kind === 'message' ? entry.source.address : undefined;
        return [{ ...this.#base(address, at), type: '@xstate.event', event, sourceId }];
      }
      case 'snapshot': {
        const { state, context } = record;
        if (state === undefined || !context) return this.#end(address, at);
        const snapshot = { status: 'active' as const, value: state, context };
        if (!this.#known.has(address)) return [this.#actor(address, snapshot, at)];
        return [this.#snapshot(address, snapshot, at)];
      }
      case 'part': {
        const sessionId = partId(address, record.id);
        if (!record.part) return this.#end(sessionId, at);
        if (!this.#known.has(sessionId)) return [this.#part(address, record.part, at)];
        return [this.#snapshot(sessionId, snapshotOf(record.part, chartOf(address, record.part)), at)];
      }
      default:
        return [];
    }
  }

  #actor(address: string, snapshot: InspectedSnapshot, at: number): Message {
    this.#known.add(address);
    return {
      ...this.#base(address, at),
      type: '@xstate.actor',
      name: address,
      definition: definitionOf(catalogEntryOf(address)?.machine),
      parentId: address === this.#rootId ? undefined : this.#rootId,
      snapshot,
    };
  }

  #part(address: string, part: PartView, at: number): Message {
    const sessionId = partId(address, part.id);
    this.#known.add(sessionId);
    const chart = chartOf(address, part);
    return {
      ...this.#base(sessionId, at),
      type: '@xstate.actor',
      name: part.id,
      definition: definitionOf(chart),
      parentId: address,
      snapshot: snapshotOf(part, chart),
    };
  }

  #snapshot(sessionId: string, snapshot: InspectedSnapshot, at: number): Message {
    return { ...this.#base(sessionId, at), type: '@xstate.snapshot', event: { type: '' }, snapshot };
  }

  #end(sessionId: string, at: number): Message[] {
    if (!this.#known.delete(sessionId)) return [];
    return [this.#snapshot(sessionId, { status: 'done' }, at)];
  }

  #base(sessionId: string, at: number): Base {
    return { sessionId, rootId: this.#rootId, createdAt: String(at), id: sessionId, _version: protocol };
  }
}

const partId = (address: string, id: string): string => `${address}#${id}`;

const chartOf = (address: string, part: PartView): AnyStateMachine | undefined =>
  catalogEntryOf(address)?.charts.find(({ id }) => id === part.chart);

const snapshotOf = ({ at, why, nextAttemptAtMs }: PartView, chart: AnyStateMachine | undefined): InspectedSnapshot => ({
  status: 'active',
  value: pathToStateValue(keysIn(chart, at)),
  context: { ...(why !== undefined && { why }), ...(nextAttemptAtMs !== undefined && { nextAttemptAtMs }) },
});

/** States of the chart in this path: keys after them say how far the call is, which the chart does not know. */
function keysIn(chart: AnyStateMachine | undefined, path: string): string[] {
  const keys = path.split('.');
  if (!chart) return keys;
  let { states } = chart.root;
  const end = keys.findIndex((key) => {
    const known = states[key];
    states = known?.states ?? {};
    return known === undefined;
  });
  return end < 0 ? keys : keys.slice(0, end);
}

const definitions = new WeakMap<AnyStateMachine, string>();

/** Keys of a definition that only a running machine has a use for. */
const dynamic: ReadonlySet<string> = new Set(['context', 'input', 'output', 'params', 'types']);

/** Definition of a machine as JSON text: its states and transitions, with guards and actions by their names. */
export function definitionOf(machine: AnyStateMachine | undefined): string | undefined {
  if (!machine) return undefined;
  let known = definitions.get(machine);
  if (known === undefined) {
    known = JSON.stringify(machine.config, (key, value: unknown) => {
      if (dynamic.has(key)) return undefined;
      return typeof value === 'function' ? { type: value.name || 'inline' } : value;
    });
    definitions.set(machine, known);
  }
  return known;
}
