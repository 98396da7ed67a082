/** Fixture: agents that share a store, and a node with room for two volumes. Agents can be killed at a commit. */
import { expect } from 'chai';
import type { NodeContext } from '../../machines/node/node.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import type { Commit } from '../../src/engine/store.js';
import type { Runtime } from '../../src/runtime/runtime.js';
import { type Agent, LeaderLab, leaseTtlMs } from '../runtime/leader-lab.js';
import { pluginName, spec } from '../volumes/volume-house.js';

export const ids = ['v0', 'v1', 'v2', 'v3'];
const limit = 2;
export const full = `node a has 2 volumes of plugin 'disk', and takes 2: unpublish one there, or take another node`;

export const isEvent =
  (type: string) =>
  ({ journal }: Commit): boolean =>
    JSON.parse(journal).event?.type === type;

export class SlotsScene {
  readonly lab = new LeaderLab();
  readonly commits: Commit[] = [];
  /** Handles each commit; default: writes it. */
  gate: (items: readonly Commit[], write: () => Promise<unknown>) => Promise<unknown> = (_, write) => write();
  #agent: Agent | undefined;
  #agents = 0;

  async open(): Promise<this> {
    const { data } = this.lab;
    const commit = data.commit.bind(data);
    data.commit = async (items) => {
      this.commits.push(...items);
      // A gate that does not write never answers.
      return (await this.gate(items, () => commit(items))) as Awaited<ReturnType<typeof commit>>;
    };
    await this.next();
    await this.lab.report(this.agent);
    await this.report(limit);
    await this.prepare();
    return this;
  }

  get agent(): Agent {
    if (!this.#agent) throw new Error('open it first');
    return this.#agent;
  }

  get runtime(): Runtime {
    return this.agent.runtime;
  }

  report(maxVolumes?: number): Promise<void> {
    const plugin = { name: pluginName, nodeId: 'csi-a', ...(maxVolumes !== undefined && { maxVolumes }) };
    return this.runtime.nodes.report({ id: 'a', plugins: [plugin] });
  }

  async next(): Promise<void> {
    this.#agents += 1;
    this.#agent = await this.lab.agent(`n${this.#agents}`);
    await this.lab.clock.advance(leaseTtlMs + 2_000);
    expect(this.runtime.leadership.isOurs).to.equal(true);
  }

  /** Kills the agent before or after the next such commit is written. @returns whether the agent is dead */
  dies(is: (item: Commit) => boolean, done: boolean): () => boolean {
    const { agent } = this;
    let isDead = false;
    this.gate = async (items, write) => {
      if (isDead || !items.some(is)) return write();
      isDead = true;
      const answer = done ? await write() : undefined;
      agent.die();
      return answer ?? new Promise(() => {});
    };
    return () => isDead;
  }

  publish(id: string): Promise<string> {
    return this.runtime.volumes.publish({ id }, 'a').then(
      () => 'there',
      (error: { code: string; message: string }) => (error.code === 'NODE_FULL' ? error.message : error.code),
    );
  }

  async node(): Promise<NodeContext> {
    const { snapshot } = await this.runtime.journal.replay('node/a');
    return snapshot?.context as NodeContext;
  }

  async volume(id: string): Promise<VolumeContext | undefined> {
    const { snapshot } = await this.runtime.journal.replay(`volume/default/${id}`);
    return snapshot?.context as VolumeContext | undefined;
  }

  /** Checks that exactly as many volumes fit as the node takes, and that each of them has one slot. */
  async checkRoom(): Promise<void> {
    const there: string[] = [];
    for (const id of ids) {
      const outcome = await this.publish(id);
      expect(outcome).to.be.oneOf(['there', full]);
      if (outcome === 'there') there.push(id);
    }
    expect(there).to.have.lengthOf(limit);
    const reserved = (await this.node()).slots.disk?.reserved ?? [];
    const held: object[] = [];
    for (const id of ids) {
      const reservation = (await this.volume(id))?.slots?.a;
      if (reservation !== undefined) held.push({ volume: `volume/default/${id}`, reservation });
    }
    expect(reserved).to.have.deep.members(held);
    expect(held).to.have.lengthOf(limit);
    expect(this.lab.plugin.wrongs).to.deep.equal([]);
  }

  async unpublishAll(): Promise<void> {
    for (const id of ids) await this.runtime.volumes.unpublish({ id }, 'a');
    await this.lab.rest();
    expect((await this.node()).slots.disk?.reserved).to.deep.equal([]);
  }

  async prepare(): Promise<void> {
    for (const id of ids) {
      await this.runtime.volumes.create(spec(id));
      await this.runtime.volumes.setAvailability({ id }, 'active');
    }
  }

  dispose(): Promise<void> {
    this.gate = (_, write) => write();
    return this.lab.dispose();
  }
}
