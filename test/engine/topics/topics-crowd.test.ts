/**
 * Thousands of followers of one topic with different habits: none misses or delays an event, and nothing is left over.
 */
import { expect } from 'chai';
import type { Random } from '../../../src/engine/random.js';
import type { Topics } from '../../../src/engine/topics/topics.js';
import { seededRandom } from '../../../src/testing/index.js';
import { lateStore, run, TopicLab, topic } from '../topic-lab.js';

const manners = ['steady', 'greedy', 'slow', 'stuck', 'leaving', 'aborting', 'aborted'] as const;

/** Follower with its habit and the events that it got. */
class Follower {
  readonly got: number[] = [];
  readonly start: number;
  readonly manner: (typeof manners)[number];
  readonly #end = new AbortController();
  readonly #enough: number;
  #goOn = (): void => {};
  hasEnded = false;

  constructor(lab: TopicLab, topics: Topics, random: Random) {
    const isNow = random.next() < 0.3;
    this.start = isNow ? lab.said : Math.floor(random.next() * (lab.said + 1));
    this.manner = manners[Math.floor(random.next() * manners.length)] ?? 'steady';
    this.#enough = Math.floor(random.next() * 600);
    const rows = topics.follow(topic, isNow ? 'now' : this.start, this.#end.signal);
    void this.#read(rows.reading(({ cursor }) => cursor)).then(() => {
      this.hasEnded = true;
    });
  }

  /** Runs another round: slow followers read one more event, and some followers are aborted. */
  round(random: Random): void {
    this.#goOn();
    if (this.manner === 'aborted' && random.next() < 0.2) this.#end.abort();
  }

  leave(): void {
    this.#end.abort();
    this.#goOn();
  }

  async #read(cursors: AsyncIterableIterator<number, void>): Promise<void> {
    if (this.manner === 'greedy') return this.#readInBunches(cursors);
    for await (const cursor of cursors) {
      this.got.push(cursor);
      const hasEnough = this.got.length >= this.#enough;
      if (this.manner === 'leaving' && hasEnough) return;
      if (this.manner === 'aborting' && hasEnough) this.#end.abort();
      if (this.manner === 'slow' || (this.manner === 'stuck' && hasEnough)) await this.#pause();
    }
  }

  /** Calls next() several times before the first result. */
  async #readInBunches(cursors: AsyncIterableIterator<number, void>): Promise<void> {
    for (;;) {
      for (const { value, done } of await Promise.all([cursors.next(), cursors.next(), cursors.next()])) {
        if (done) return;
        this.got.push(value);
      }
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#goOn = this.manner === 'stuck' && !this.#end.signal.aborted ? () => {} : resolve;
    });
  }
}

describe('a topic with thousands of followers', () => {
  for (const seed of [1, 2, 3]) {
    it(`R10 2,000 followers come and go: each gets all events from its cursor on, no gaps (seed ${seed})`, async () => {
      const random = seededRandom(seed);
      const lab = await new TopicLab((store) => lateStore(store, seededRandom(seed))).open();
      const [here, elsewhere] = [lab.topics(), lab.topics()];
      await lab.say(here, 900);
      const followers: Follower[] = [];
      for (let round = 0; round < 20; round += 1) {
        for (let n = 0; n < 100; n += 1) followers.push(new Follower(lab, here, random));
        await lab.say(random.next() < 0.8 ? here : elsewhere, Math.floor(random.next() * 60));
        for (const follower of followers) follower.round(random);
        await lab.clock.advance(random.next() * 1_500);
      }
      await lab.clock.advance(5_000);
      for (const { got, start, manner } of followers) {
        expect(got).to.deep.equal(run(start + 1, start + got.length));
        if (manner === 'steady') expect(start + got.length).to.equal(lab.said);
      }
      expect(followers.filter(({ hasEnded }) => hasEnded)).to.have.length.greaterThan(500);
      for (const follower of followers) follower.leave();
      await lab.rest();
      expect(followers.every(({ hasEnded, manner }) => hasEnded || manner === 'stuck')).to.equal(true);
      expect(lab.clock.pending).to.equal(0);
    });
  }
});
