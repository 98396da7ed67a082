/**
 * Agents on one simulated clock that have each other's calls made, over a wire with faults. Each agent can be frozen, as by
 * SIGSTOP, or closed; each call is followed from its declaration to its beginning at a plugin.
 */
import { PluginAccess } from '../../src/calls/plugin-access.js';
import type { PluginObservation } from '../../src/calls/plugin-port.js';
import { VolumeLocks } from '../../src/calls/volume-locks.js';
import { Cluster } from '../../src/cluster/cluster.js';
import { MessageCounts } from '../../src/cluster/message-counts.js';
import { rosterPluginOf } from '../../src/cluster/roster-entry.js';
import { pause } from '../../src/engine/clock.js';
import { silentLogger } from '../../src/engine/logger.js';
import { putWithinMs, type Wire } from '../../src/engine/store.js';
import { StagecraftError } from '../../src/errors.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { type FrozenClock, frozenClock } from '../support/frozen-clock.js';
import { MemoryWires, type WireFaults } from '../support/memory-wire.js';

export const timeoutMs = 10_000;
const plugin = 'disk';
const never = new AbortController().signal;

/** A call as the world sees it. */
export interface Tracked {
  declaredMs: number;
  /** Each time that a plugin got it. */
  made: { nodeId: string; begunMs: number; endedMs?: number }[];
  end?: { atMs: number; value?: unknown; error?: unknown };
}

export interface CallWorldOptions {
  seed: number;
  faults?: Partial<WireFaults>;
  /** Longest time that a put takes; default: none. */
  longestPutMs?: number;
}

export class CallWorld {
  readonly clock = simulatedClock();
  readonly random: { next(): number };
  readonly wires: MemoryWires;
  readonly calls: Tracked[] = [];
  /** Time that a plugin takes for a call, and an agent for its secrets. */
  workMs: () => number = () => 10;
  secretsMs: () => number = () => 0;
  /** Probability that a reader does not know the age of a text. */
  unknownAges = 0;
  readonly #options: CallWorldOptions;

  constructor(options: CallWorldOptions) {
    this.#options = options;
    this.random = seededRandom(options.seed);
    this.wires = new MemoryWires({ clock: this.clock, random: this.random, ...(options.faults && options) });
  }

  async agent(nodeId: string, run = '1'): Promise<CallAgent> {
    const agent = new CallAgent(this, nodeId, run);
    await agent.cluster.start({
      ...{ noticed: () => {}, watch: () => () => {} },
      entry: () => ({
        ...{ host: 'h', version: '1', startedAtMs: 0 },
        plugins: { [plugin]: rosterPluginOf(agent.observation, ['csi-controller']) },
      }),
    });
    return agent;
  }

  /** The wire of a process: a put takes its time on the server, the answer comes once the process runs. */
  wireOf(clock: FrozenClock): Wire {
    const wire = this.wires.wire();
    const { longestPutMs = 0 } = this.#options;
    return {
      ...wire,
      post: async (inbox, text) => {
        const putMs = Math.min(this.random.next() * longestPutMs, putWithinMs);
        if (putMs > 0) await pause(this.clock, putMs);
        const posted = await wire.post(inbox, text).then(
          (isThere) => () => isThere,
          (error: unknown) => () => {
            throw error;
          },
        );
        await pause(clock, 0);
        return posted();
      },
      leave: async (nodeId, run) => {
        if (longestPutMs > 0) await pause(this.clock, longestPutMs);
        await wire.leave(nodeId, run);
      },
      listen: (inbox, receive, signal) =>
        wire.listen(
          inbox,
          (text, ageMs) => receive(text, this.random.next() < this.unknownAges ? Number.POSITIVE_INFINITY : ageMs),
          signal,
        ),
    };
  }

  /** Declares a call and has it made. @returns its number */
  call(
    asker: CallAgent,
    callee: CallAgent,
    { signal, limitMs = timeoutMs }: { signal?: AbortSignal; limitMs?: number } = {},
  ): number {
    const number = this.calls.length;
    const tracked: Tracked = { declaredMs: this.clock.monotonicMs(), made: [] };
    this.calls.push(tracked);
    const bounds = { secrets: { token: 'TOKEN' }, volumes: [`v-${number % 5}`], signal: signal ?? never };
    const far = { plugin, method: 'work', request: number, timeoutMs: limitMs, bounds };
    asker.cluster.calls.call({ nodeId: callee.nodeId, inbox: callee.cluster.inbox }, far).then(
      (value) => this.#end(tracked, { value }),
      (error: unknown) => this.#end(tracked, { error }),
    );
    return number;
  }

  #end(tracked: Tracked, how: { value?: unknown; error?: unknown }): void {
    tracked.end = { atMs: this.clock.monotonicMs(), ...how };
  }

  tracked(number: number): Tracked {
    const tracked = this.calls[number];
    if (!tracked) throw new Error(`there is no call ${number}`);
    return tracked;
  }
}

export class CallAgent {
  readonly nodeId: string;
  readonly cluster: Cluster;
  readonly observation: PluginObservation = {
    ...{ capabilities: new Set(), pluginCapabilities: new Set(), hasService: true, wellAtMs: 1, scope: 'shared' },
  };
  isFrozen = false;
  isClosed = false;
  readonly #clock: FrozenClock;
  readonly #world: CallWorld;

  constructor(world: CallWorld, nodeId: string, run: string) {
    this.#world = world;
    this.nodeId = nodeId;
    const clock = frozenClock(world.clock);
    this.#clock = clock;
    this.cluster = new Cluster({
      ...{ wire: world.wireOf(clock), nodeId, run, clock, messages: new MessageCounts(), logger: silentLogger },
      route: async () => undefined,
      refusal: () => new StagecraftError('NOT_LEADER', 'nobody works on volumes'),
      epoch: () => undefined,
      released: () => {},
    });
    const port = {
      isKnown: () => true,
      observation: () => this.observation,
      client: async () => ({}),
      lookAgain: () => {},
      watch: () => () => {},
    };
    this.cluster.serveCalls({
      access: new PluginAccess(port, { clock, maxInFlight: 3 }),
      locks: new VolumeLocks(),
      secrets: {
        resolve: async () => {
          await pause(clock, world.secretsMs());
          return { token: 'known' };
        },
      },
      methods: new Map([['work', (_, request, { signal }) => this.#work(Number(request), signal)]]),
    });
  }

  freeze(): void {
    this.isFrozen = true;
    this.#clock.freeze();
    this.#world.wires.freeze(`${this.nodeId}/`);
  }

  thaw(): void {
    this.isFrozen = false;
    this.#world.wires.thaw(`${this.nodeId}/`);
    this.#clock.thaw();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.cluster.stop();
  }

  /** The plugin. It heeds the abort of its caller, and the time limit by itself. */
  async #work(number: number, signal: AbortSignal): Promise<string> {
    const { clock, calls, workMs } = this.#world;
    const made: Tracked['made'][number] = { nodeId: this.nodeId, begunMs: clock.monotonicMs() };
    calls[number]?.made.push(made);
    await pause(clock, Math.min(workMs(), timeoutMs), signal);
    made.endedMs = clock.monotonicMs();
    await pause(this.#clock, 0);
    signal.throwIfAborted();
    return `done ${number}`;
  }
}
