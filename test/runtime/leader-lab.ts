/**
 * Agents that share one store and one plugin on a simulated clock. Each may be frozen, as by SIGSTOP, and go on later;
 * or die: then nothing that it still holds has any influence. What it asked of the plugin goes on in any case.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/engine/clock.js';
import { SharedStore } from '../../src/engine/storage/shared-store.js';
import type { Store, Wire } from '../../src/engine/store.js';
import type { RuntimeOptions } from '../../src/runtime/options.js';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { faultyStore } from '../support/faulty-store.js';
import type { MemoryWires } from '../support/memory-wire.js';
import { type Call, FakePlugin, type Step } from '../volumes/fake-plugin.js';
import { nodes, pluginName } from '../volumes/volume-house.js';

export const leaseTtlMs = 6_000;

interface LogLine {
  level: 'info' | 'warn' | 'error';
  message: string;
}

/** One runtime, as its process lives. */
export class Agent {
  readonly logged: LogLine[] = [];
  /** What it waits for before anything else happens in it. */
  #thawed: Promise<void> | undefined;
  #thaw = (): void => {};
  #isDead = false;
  #runtime: Runtime | undefined;

  get runtime(): Runtime {
    if (!this.#runtime) throw new Error('it is not up');
    return this.#runtime;
  }

  /** @param options with a wire as this process has it; default: none */
  async open({ wire, ...options }: RuntimeOptions & { store: Store; clock: Clock; wire?: Wire }): Promise<void> {
    const { store, clock } = options;
    const keep =
      (level: LogLine['level']) =>
      (_: object, message: string): void => {
        this.logged.push({ level, message });
      };
    this.#runtime = await createRuntime({
      ...options,
      logger: { debug: () => {}, info: keep('info'), warn: keep('warn'), error: keep('error') },
      store: {
        ...faultyStore(store, { how: (_, proceed) => this.#whileAlive(proceed) }),
        ...(store.wire && { wire: this.#wire(store.wire) }),
        ...(wire && { wire }),
      },
      clock: {
        now: () => clock.now(),
        monotonicMs: () => clock.monotonicMs(),
        after: (delayMs, callback) => {
          let isCancelled = false;
          const fire = async (): Promise<void> => {
            if (this.#thawed || this.#isDead) await this.live();
            if (!isCancelled) callback();
          };
          const cancel = clock.after(delayMs, () => void fire());
          return () => {
            isCancelled = true;
            cancel();
          };
        },
      },
    });
  }

  freeze(): void {
    this.#thawed = new Promise((resolve) => {
      this.#thaw = resolve;
    });
  }

  thaw(): void {
    this.#thawed = undefined;
    this.#thaw();
  }

  die(): void {
    this.#isDead = true;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  #wire(wire: Wire): Wire {
    return {
      post: (...given) => this.#whileAlive(() => wire.post(...given)),
      listen: (inbox, receive, signal) => {
        const hear = async (text: string, ageMs: number): Promise<void> => {
          await this.live();
          receive(text, ageMs);
        };
        return this.#whileAlive(() => wire.listen(inbox, (text, ageMs) => void hear(text, ageMs), signal));
      },
      beat: (beat) => this.#whileAlive(() => wire.beat(beat)),
      leave: (...given) => this.#whileAlive(() => wire.leave(...given)),
      roster: (since) => this.#whileAlive(() => wire.roster(since)),
    };
  }

  async #whileAlive<T>(proceed: () => Promise<T>): Promise<T> {
    await this.live();
    const answer = await proceed();
    await this.live();
    return answer;
  }

  /** Resolves at once while it runs, later while it is frozen, and never once it is dead. */
  async live(): Promise<void> {
    await this.#thawed;
    if (this.#isDead) await new Promise(() => {});
  }
}

export class LeaderLab {
  readonly clock = simulatedClock();
  readonly plugin = new FakePlugin();
  readonly data = memoryStore({ monotonicMs: () => this.clock.monotonicMs() });
  readonly #shared = new SharedStore(this.data);
  readonly #keeper = this.#shared.handle();
  readonly #directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
  readonly #agents: Agent[] = [];
  /** Between agents that are brought up from now on. Absent: they have none. */
  wires: MemoryWires | undefined;

  /** Brings an agent up, its plugin registered and seen well. The same name again is the same host after a reboot. */
  async agent(nodeId: string, options: Partial<RuntimeOptions> = {}): Promise<Agent> {
    await this.#keeper.open();
    const agent = new Agent();
    this.#agents.push(agent);
    const { clock } = this;
    const dataDir = join(this.#directory, `${nodeId}-${this.#agents.length}`);
    const random = seededRandom(this.#agents.length);
    const dispensers = { 'csi-controller': this.plugin };
    const store = { ...this.#shared.handle(), ...(this.wires && { wire: this.wires.wire() }) };
    await agent.open({ nodeId, dataDir, store, clock, random, dispensers, ...options });
    const connection = { socketPath: '/nowhere/disk.sock' };
    await agent.runtime.plugins.register({ type: 'csi-controller', name: pluginName, allocId: 'disk-1', connection });
    await this.rest();
    return agent;
  }

  /** Tells the one that leads of the nodes that there are. */
  async report({ runtime }: Agent): Promise<void> {
    for (const [id, nodeId] of Object.entries(nodes))
      await runtime.nodes.report({ id, plugins: [{ name: pluginName, nodeId }] });
  }

  rest(): Promise<void> {
    return this.clock.advance(0);
  }

  /** Closes it, letting the time pass that its calls in flight have. */
  async close({ runtime }: Agent): Promise<void> {
    const closed = runtime.close();
    await this.clock.advance(10_000);
    await closed;
  }

  /** The next call of this kind waits, at the plugin, until it is let go. */
  hold(rpc: Call['rpc'], step: Step = {}): () => void {
    let release = (): void => {};
    const before = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isTaken = false;
    this.plugin.script = (call) => {
      if (isTaken || call.rpc !== rpc) return undefined;
      isTaken = true;
      return { before, ...step };
    };
    return release;
  }

  async dispose(): Promise<void> {
    for (const agent of this.#agents) {
      agent.thaw();
      if (!agent.isDead) await this.close(agent).catch(() => {});
    }
    await this.#keeper.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
