/**
 * Followers that go on by the id of the last event they saw, from one runtime to the next on the same data: runtimes
 * that are closed or die amid their work. And where the event is not kept any more. What followers get: updates.test.ts
 */
import { existsSync, rmSync } from 'node:fs';
import { expect } from 'chai';
import type { Random } from '../../src/engine/random.js';
import type { PluginEvent } from '../../src/registry/plugin-events.js';
import type { Plugins } from '../../src/runtime/runtime.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { cursorIn } from '../event-cursor.js';
import { Cable } from './cable.js';
import { device, House, refusal, take } from './house.js';
import { inLmdb, inRedis, type KeptData } from './kept-data.js';

const root = existsSync('/dev/shm') ? '/dev/shm' : undefined;
const seeds = [1, 2, 3];
const runs = 12;

/** Outlives the runtimes: what it saw, and from where it goes on. */
class Reader {
  readonly got: PluginEvent[] = [];

  get from(): string {
    return this.got.at(-1)?.id ?? '0';
  }

  /** Reads so many, then leaves; at once where the process that it is in is dead. */
  async read(plugins: Plugins, count: number, isDead: () => boolean): Promise<void> {
    if (count === 0) return;
    let left = count;
    for await (const event of plugins.updates(undefined, { from: this.from })) {
      if (isDead()) return;
      this.got.push(event);
      left -= 1;
      if (left === 0) return;
    }
  }
}

/** Registers and deregisters, some calls at a time, until it is told to stop or a call fails. */
async function work(plugins: Plugins, random: Random, calls: number): Promise<void> {
  for (let n = 0; n < calls; n += 3) {
    const some = Array.from({ length: 3 }, () => {
      const [name, allocId] = [`n${Math.floor(random.next() * 5)}`, `a${Math.floor(random.next() * 4)}`];
      return random.next() < 0.6
        ? plugins.register(device(allocId, { name }))
        : plugins.deregister('device', name, allocId);
    });
    await Promise.all(some);
  }
}

/** One runtime on the data, that works while the reader reads, and ends in one way or the other. */
async function oneRun(data: KeptData, random: Random, reader: Reader): Promise<void> {
  const crashes = random.next() < 0.5;
  const cut = { afterWrites: Math.floor(random.next() * 60), done: random.next() < 0.5 };
  const store = data.store();
  const cable = crashes ? new Cable(store, cut) : new Cable(store);
  const house = new House(cable);
  const isDead = (): boolean => cable.isCut;
  const unlessDead = async (part: Promise<void>): Promise<void> => {
    await part.catch((error: unknown) => {
      if (!isDead()) throw error;
    });
  };
  const live = async (): Promise<void> => {
    await house.open();
    const reading = unlessDead(reader.read(house.plugins, Math.floor(random.next() * 40), isDead));
    await work(house.plugins, random, 30);
    // Some leave before the runtime does; the end of it ends the others.
    await house.runtime.close();
    await reading;
  };
  await Promise.race([unlessDead(live()), cable.whenCut]);
  await Promise.race([house.dispose().catch(() => {}), cable.whenCut]);
  rmSync(house.directory, { recursive: true, force: true });
  await data.bury(store);
}

for (const [name, make] of [
  ['lmdb', () => inLmdb(root)],
  ['redis', inRedis],
] satisfies [string, () => Promise<KeptData>][]) {
  describe(`events followed across restarts on ${name}`, () => {
    let data: KeptData;
    let house: House | undefined;

    beforeEach(async () => {
      data = await make();
    });

    afterEach(async () => {
      await house?.dispose();
      house = undefined;
      await data.remove();
    });

    for (const seed of seeds) {
      it(`R10 R11 ${runs} runtimes that close or die while working, seed ${seed}: each event once, in one order`, async () => {
        const random = seededRandom(seed);
        const reader = new Reader();
        for (let run = 0; run < runs; run += 1) await oneRun(data, random, reader);
        house = await new House(new Cable(data.store())).open();
        await house.rest();
        const all = await house.events();
        expect(all.length).to.be.greaterThan(50);
        expect(reader.got.length).to.be.greaterThan(20);
        await reader.read(house.plugins, all.length - reader.got.length, () => false);
        expect(reader.got).to.deep.equal(all);
        expect(all.map(({ id }) => cursorIn(id))).to.deep.equal(all.map((_, n) => n + 1));
      });
    }

    it('R10 a reader away for too long: CURSOR_EXPIRED with the oldest cursor, valid in the next runtime, too', async () => {
      house = await new House(new Cable(data.store())).open({ retention: { topicEvents: 20 } });
      await house.register(device('a0'));
      const [seen] = await house.events();
      for (let n = 1; n <= 60; n += 1) await house.plugins.register(device(`a${n}`, { name: `n${n}` }));
      await house.rest();
      for (const restarts of [0, 1]) {
        if (restarts === 1) {
          await house.restart(new Cable(data.store()));
          await house.rest();
        }
        const { plugins } = house;
        const error = await refusal(() => take(plugins.updates(undefined, { from: seen?.id ?? '' }), 1));
        expect(error.code).to.equal('CURSOR_EXPIRED');
        const { oldest = '', newest = '' } = error;
        const count = cursorIn(newest) - cursorIn(oldest);
        expect(count).to.be.at.least(20).and.below(40);
        const kept = await take(plugins.updates(undefined, { from: oldest }), count);
        expect(kept.map(({ id }) => cursorIn(id))).to.deep.equal(kept.map((_, n) => cursorIn(oldest) + 1 + n));
        // One that is a single event further back has lost it.
        const before = oldest.replace(/\d+$/, String(cursorIn(oldest) - 1));
        expect((await refusal(() => take(plugins.updates(undefined, { from: before }), 1))).code).to.equal(
          'CURSOR_EXPIRED',
        );
        const next = take(plugins.updates(undefined, { from: newest }), 1);
        await plugins.register(device('later', { name: `later-${restarts}` }));
        expect((await next).map(({ info }) => info.name)).to.deep.equal([`later-${restarts}`]);
        await house.rest();
      }
    });
  });
}
