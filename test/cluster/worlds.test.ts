/**
 * Whole worlds of agents on a wire with faults: users ask for volumes on any of them while agents die, freeze and come again.
 * `SEEDS=200` for more of them, `SEED=7` for that one; a failure tells its seed.
 */
import { expect } from 'chai';
import { pause } from '../../src/engine/clock.js';
import { StagecraftError } from '../../src/errors.js';
import { nodes, spec } from '../volumes/volume-house.js';
import { type Member, World } from './world.js';

const seeds = Number(process.env.SEEDS ?? 6);
const only = process.env.SEED === undefined ? undefined : Number(process.env.SEED);
const users = 4;
const steps = 40;

const faults = { lost: 0.05, doubled: 0.05, delayed: 0.03, overtaken: 0.05, failed: 0.03, longestDelayMs: 7_000 };

/** Whether each agent has the plugin. */
const agents = [true, true, false];

class Life {
  readonly world: World;
  readonly #seed: number;
  readonly #ending = new AbortController();
  /** By volume: where it is to be; `nothing` and `volume` are no nodes. */
  readonly #wishes = new Map<string, string>();
  readonly #told: string[] = [];
  answered = 0;
  #started = 0;

  constructor(seed: number) {
    this.#seed = seed;
    this.world = new World(seed, faults);
  }

  async live(): Promise<void> {
    const { world } = this;
    for (const hasPlugin of agents) await this.#start(hasPlugin);
    world.workMs = () => (world.random.next() < 0.1 ? 9_000 : 200) * world.random.next();
    await world.report(this.#pick([...world.members.values()]));
    const living = Promise.all(Array.from({ length: users }, (_, n) => this.#use(`v${n}`)));
    let isOver = false;
    living.then(
      () => {
        isOver = true;
      },
      () => {
        isOver = true;
      },
    );
    for (let step = 0; step < steps; step += 1) {
      await this.#strike();
      await world.clock.advance(Math.floor(world.random.next() * 4_000));
    }
    for (const member of world.members.values()) if (member.isFrozen) member.thaw();
    world.wires.heal();
    this.#ending.abort();
    for (let seconds = 0; !isOver && seconds < 300; seconds += 1) await world.clock.advance(1_000);
    expect(isOver, `${this.#title}: all requests have ended`).to.equal(true);
    await living;
    await world.clock.advance(60_000);
  }

  async judge(): Promise<void> {
    const { plugin, wrongs, members } = this.world;
    expect(wrongs, `${this.#title}: nothing undoes what is under way`).to.deep.equal([]);
    expect(plugin.wrongs, this.#title).to.deep.equal([]);
    const leaders = [...members.values()].filter(({ agent }) => agent.runtime.leadership.isOurs);
    expect(leaders, `${this.#title}: one works on volumes`).to.have.lengthOf(1);
    for (const [id, wish] of this.#wishes)
      for (const { agent, nodeId } of members.values()) {
        const what = `${this.#title}: ${id}, as ${nodeId} tells`;
        const volume = await agent.runtime.volumes.get({ id });
        const kept = plugin.made(volume?.name ?? '');
        if (wish === 'nothing') {
          expect(volume, what).to.equal(undefined);
          continue;
        }
        const on = wish === 'volume' ? [] : [wish];
        expect(
          Object.entries(volume?.publications ?? {}).map(([node, { state }]) => [node, state]),
          what,
        ).to.deep.equal(on.map((node) => [node, 'published']));
        const attached = on.map((node) => Reflect.get(nodes, node));
        expect([...(kept?.attached ?? ['nothing is kept'])], `${what}, at the plugin`).to.deep.equal(attached);
      }
    const wanted = [...this.#wishes.values()].filter((wish) => wish !== 'nothing');
    expect(plugin.volumes.size, `${this.#title}: nothing leaked`).to.equal(wanted.length);
  }

  get #title(): string {
    return `seed ${this.#seed}\n${this.#told.slice(-30).join('\n')}\n`;
  }

  async #strike(): Promise<void> {
    const { random, members } = this.world;
    const member = this.#pick([...members.values()]);
    const dial = random.next();
    if (member.isFrozen) {
      if (dial < 0.5) member.thaw();
    } else if (dial < 0.15) member.freeze();
    else if (dial < 0.3) {
      member.die();
      members.delete(member.nodeId);
      await this.#start(member.hasPlugin);
    }
    if (dial < 0.3 || member.isFrozen) this.#tell(`${member.nodeId}: ${dial < 0.15 ? 'frozen or thawed' : dial}`);
  }

  /** A successor of one that died has a name of its own. */
  async #start(hasPlugin: boolean): Promise<void> {
    this.#started += 1;
    await this.world.start(`n${this.#started}`, hasPlugin);
  }

  async #use(id: string): Promise<void> {
    this.#wishes.set(id, 'nothing');
    while (!this.#ending.signal.aborted) {
      const wish = this.#wishes.get(id) ?? '';
      const next = this.#next(wish);
      await this.#insist(id, { from: wish, to: next });
      this.#wishes.set(id, next);
      this.answered += 1;
      await pause(this.world.clock, 300 * this.world.random.next());
    }
  }

  #next(wish: string): string {
    if (wish !== 'volume') return 'volume';
    return this.world.random.next() < 0.3 ? 'nothing' : this.#pick(Object.keys(nodes));
  }

  /** Asks any agent, and another one if that dies, until it is done. */
  async #insist(id: string, change: { from: string; to: string }): Promise<void> {
    const { members, clock } = this.world;
    let isRepeat = false;
    for (;;) {
      const awake = [...members.values()].filter(({ isFrozen }) => !isFrozen);
      if (awake.length > 0) {
        const member = this.#pick(awake);
        try {
          const how = await Promise.race([this.#ask(member, id, change), member.died]);
          this.#tell(`${member.nodeId}, ${id} from ${change.from} to ${change.to}: ${how ?? 'done'}`);
          if (how !== 'died') return;
          // Requests of a dead agent may arrive yet: only after that they can't come between later ones.
          await pause(clock, faults.longestDelayMs + 1_000);
        } catch (error) {
          const code = error instanceof StagecraftError ? error.code : undefined;
          this.#tell(`${member.nodeId}, ${id} from ${change.from} to ${change.to}: ${String(error)}`);
          if (code === 'VOLUME_NOT_FOUND' && change.to === 'nothing' && isRepeat) return;
          if (code !== 'STORE_UNAVAILABLE') throw new Error(`${this.#title}${String(error)}`, { cause: error });
        }
        isRepeat = true;
      }
      await pause(clock, 100);
    }
  }

  async #ask({ agent }: Member, id: string, { from, to }: { from: string; to: string }): Promise<void> {
    const { volumes } = agent.runtime;
    if (from === 'nothing') await volumes.create(spec(id));
    else if (to === 'nothing') await volumes.delete({ id });
    else if (from === 'volume') await volumes.publish({ id }, to);
    else await volumes.unpublish({ id }, from);
  }

  #tell(what: string): void {
    this.#told.push(`${(this.world.clock.monotonicMs() / 1_000).toFixed(1)} s: ${what}`);
  }

  #pick<T>(of: readonly T[]): T {
    const one = of[Math.floor(this.world.random.next() * of.length)];
    if (one === undefined) throw new Error('nothing to choose from');
    return one;
  }
}

describe('worlds of several agents', () => {
  for (const seed of only === undefined ? Array.from({ length: seeds }, (_, n) => n + 1) : [only])
    it(`D5 seed ${seed}: one outcome per request, nothing undone while under way, record and plugin agree`, async () => {
      const life = new Life(seed);
      try {
        await life.live();
        await life.judge();
        expect(life.answered).to.be.above(users);
      } finally {
        await life.world.dispose();
      }
    });
});
