/**
 * Several agents on one store, one wire with faults and one plugin, on a simulated clock. Some have an instance of the plugin.
 * Each may die, or freeze and go on later. The plugin keeps account of the calls of all instances.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pause } from '../../src/engine/clock.js';
import type { Random } from '../../src/engine/random.js';
import { SharedStore } from '../../src/engine/storage/shared-store.js';
import type { Wire } from '../../src/engine/store.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { Agent } from '../runtime/leader-lab.js';
import { MemoryWires, type WireFaults } from '../support/memory-wire.js';
import { type Call, FakePlugin, type Step } from '../volumes/fake-plugin.js';
import { nodes, pluginName } from '../volumes/volume-house.js';

/** Limit of a call at its plugin; all calls there are shorter. */
const timeoutMs = 10_000;

const opposites: Partial<Record<Call['rpc'], Call['rpc']>> = {
  ControllerPublishVolume: 'ControllerUnpublishVolume',
  ControllerUnpublishVolume: 'ControllerPublishVolume',
  DeleteVolume: 'CreateVolume',
  CreateVolume: 'DeleteVolume',
};

/** One run of an agent. */
export class Member {
  readonly nodeId: string;
  readonly hasPlugin: boolean;
  readonly agent = new Agent();
  isFrozen = false;
  /** Resolves with nothing once it is dead: what was asked there gets no answer. */
  readonly died: Promise<'died'>;
  readonly #wires: MemoryWires;
  #dies: (how: 'died') => void = () => {};

  constructor(nodeId: string, hasPlugin: boolean, wires: MemoryWires) {
    this.nodeId = nodeId;
    this.hasPlugin = hasPlugin;
    this.#wires = wires;
    this.died = new Promise((resolve) => {
      this.#dies = resolve;
    });
  }

  freeze(): void {
    this.isFrozen = true;
    this.agent.freeze();
    this.#wires.freeze(`${this.nodeId}/`);
  }

  thaw(): void {
    this.isFrozen = false;
    this.agent.thaw();
    this.#wires.thaw(`${this.nodeId}/`);
  }

  die(): void {
    this.agent.die();
    this.agent.thaw();
    this.#dies('died');
  }

  /** The wire as this process has it: nothing is sent or heard while it is frozen, or after its death. */
  wire(): Wire {
    const wire = this.#wires.wire();
    const live = async <T>(work: () => Promise<T>): Promise<T> => {
      await this.agent.live();
      const answer = await work().then(
        (value) => () => value,
        (error: unknown) => () => {
          throw error;
        },
      );
      await this.agent.live();
      return answer();
    };
    return {
      post: (inbox, text) => live(() => wire.post(inbox, text)),
      beat: (beat) => live(() => wire.beat(beat)),
      leave: (nodeId, run) => live(() => wire.leave(nodeId, run)),
      roster: (since) => live(() => wire.roster(since)),
      listen: (inbox, receive, signal) =>
        live(() => wire.listen(inbox, (text, ageMs) => (this.agent.isDead ? undefined : receive(text, ageMs)), signal)),
    };
  }
}

export class World {
  readonly clock = simulatedClock();
  readonly plugin = new FakePlugin();
  readonly random: Random;
  readonly wires: MemoryWires;
  readonly members = new Map<string, Member>();
  /** Calls that undo another while that is under way. */
  readonly wrongs: string[] = [];
  /** Time that the plugin takes for a call. */
  workMs: () => number = () => 10;
  readonly data = memoryStore({ monotonicMs: () => this.clock.monotonicMs() });
  readonly #shared = new SharedStore(this.data);
  readonly #keeper = this.#shared.handle();
  readonly #directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
  readonly #underWay = new Map<string, Call['rpc'][]>();
  #runs = 0;

  constructor(seed: number, faults: Partial<WireFaults> = {}) {
    this.random = seededRandom(seed);
    this.wires = new MemoryWires({ clock: this.clock, random: this.random, faults });
    // A repeat of the same call elsewhere is no fault.
    this.plugin.overlaps = 'allowed';
    this.plugin.script = (call) => this.#work(call);
  }

  /** Brings an agent up, on a host of its own: what one leaves that died is of no use to it. */
  async start(nodeId: string, hasPlugin: boolean): Promise<Member> {
    await this.#keeper.open();
    this.#runs += 1;
    const member = new Member(nodeId, hasPlugin, this.wires);
    const handle = this.#shared.handle();
    const opened = member.agent.open({
      ...{ nodeId, dataDir: join(this.#directory, `${nodeId}-${this.#runs}`), clock: this.clock },
      ...{ random: seededRandom(this.#runs), dispensers: { 'csi-controller': this.plugin }, calls: { timeoutMs } },
      ...{ store: handle, wire: member.wire(), retry: { initialMs: 50, maxMs: 500 } },
    });
    await this.#until(opened);
    const connection = { socketPath: '/nowhere/disk.sock' };
    const info = { type: 'csi-controller', name: pluginName, allocId: 'disk-1', connection };
    if (hasPlugin) await this.#until(member.agent.runtime.plugins.register(info));
    this.members.set(nodeId, member);
    return member;
  }

  /** Tells of the nodes where volumes can be published. */
  async report({ agent }: Member): Promise<void> {
    for (const [id, nodeId] of Object.entries(nodes))
      await this.#until(agent.runtime.nodes.report({ id, plugins: [{ name: pluginName, nodeId }] }));
  }

  /** Ends an agent in order. */
  async end({ nodeId, agent }: Member): Promise<void> {
    this.members.delete(nodeId);
    await this.#until(agent.runtime.close());
  }

  async dispose(): Promise<void> {
    for (const member of this.members.values()) {
      member.thaw();
      await this.#until(member.agent.runtime.close().catch(() => {}));
    }
    await this.#keeper.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Lets time pass until it is done. */
  async #until<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    work.then(over, over);
    while (!isOver) await this.clock.advance(50);
    return work;
  }

  #work(call: Call): Step | undefined {
    const opposite = opposites[call.rpc];
    if (!opposite) return undefined;
    const volume = [this.plugin.volumes.get(call.volume)?.name ?? call.volume, call.nodeId].join(' ');
    const underWay = this.#underWay.get(volume) ?? [];
    if (underWay.includes(opposite)) this.wrongs.push(`${call.rpc} of ${volume} during ${opposite}`);
    this.#underWay.set(volume, [...underWay, call.rpc]);
    const before = pause(this.clock, Math.min(this.workMs(), timeoutMs - 1)).then(() => {
      const left = [...(this.#underWay.get(volume) ?? [])];
      left.splice(left.indexOf(call.rpc), 1);
      this.#underWay.set(volume, left);
    });
    return { before };
  }
}
