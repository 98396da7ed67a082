/**
 * Users of volumes, each of one: they ask for one thing after the other, some too impatient to wait until it is done, and
 * ask again where the answer was lost. What they were promised is what they wish.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../src/engine/random.js';
import { StagecraftError } from '../../src/errors.js';
import type { Ask } from './kill-volumes-agent.js';
import { nodes, pick, type VolumeScene } from './kill-volumes-scene.js';

/** What there is to be of a volume, once all that was asked for is done. */
export type Wish = 'nothing' | 'volume' | keyof typeof nodes;

const nodeIds = Object.keys(nodes) as (keyof typeof nodes)[];
const impatience = 0.3;
const againMs = 20;

export class User {
  readonly id: string;
  wish: Wish = 'nothing';
  /** Requests that were answered, or promised. */
  answered = 0;
  readonly #scene: VolumeScene;
  readonly #random: Random;

  constructor(id: string, scene: VolumeScene, random: Random) {
    this.id = id;
    this.#scene = scene;
    this.#random = random;
  }

  /** Until it is to end: what was asked for then is still waited for. */
  async live(ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      const [ask, wish] = this.#next();
      await this.#insist(ask);
      this.wish = wish;
      this.answered += 1;
    }
  }

  #next(): [Ask, Wish] {
    const { id, wish } = this;
    const patience = this.#random.next() < impatience ? { timeoutMs: 1 } : {};
    if (wish === 'nothing') return [{ op: 'create', id, ...patience }, 'volume'];
    if (wish !== 'volume') return [{ op: 'unpublish', id, nodeId: wish, ...patience }, 'volume'];
    const nodeId = pick(this.#random, nodeIds);
    return this.#random.next() < 0.3
      ? [{ op: 'delete', id, ...patience }, 'nothing']
      : [{ op: 'publish', id, nodeId, ...patience }, nodeId];
  }

  /** Until it is done, or promised. */
  async #insist(ask: Ask): Promise<void> {
    let isRepeat = false;
    for (;;) {
      try {
        return await this.#scene.ask(ask);
      } catch (error) {
        const { code, outcome }: Partial<StagecraftError> = error instanceof StagecraftError ? error : {};
        if (code === 'TIMEOUT' && outcome !== 'refused') return; // it stands
        if (code === 'VOLUME_NOT_FOUND' && ask.op === 'delete' && isRepeat) return;
        const isLost = code === 'AGENT_LOST' || code === 'STORE_UNAVAILABLE';
        const isLeaving = code === 'VOLUME_DELETING' && ask.op === 'create';
        if (!isLost && !isLeaving && code !== 'TIMEOUT') throw error;
        isRepeat ||= isLost;
        await pause(againMs); // as users do
      }
    }
  }
}
