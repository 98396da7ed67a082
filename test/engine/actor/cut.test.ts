/** The process dies at every single store call, before or after its effect; the next process completes the work. */
import { expect } from 'chai';
import type { Commit, Store } from '../../../src/engine/store.js';
import { seededRandom } from '../../../src/testing/index.js';
import { type Death, dies, failsAtRandom, faultyStore } from '../../support/faulty-store.js';
import { builderAddress, clerkAddress, plannerAddress } from '../building-site.js';
import { SiteRun } from '../site-run.js';

interface Site {
  seed: number;
  atOnce?: boolean;
}

const seeds = [1, 2, 3];
const sites: Site[] = [...seeds.map((seed) => ({ seed })), { seed: 4, atOnce: true }];

/** Runs without a cut. @returns the outcome */
async function undisturbed({ seed, atOnce }: Site): Promise<object> {
  const run = new SiteRun(seed, atOnce);
  const engine = await run.live();
  if (!engine) throw new Error('a life that nobody killed has died');
  await run.check(engine);
  return run.outcome(engine);
}

/** Continues after the cuts and compares the outcome with a run without cuts. @returns whether a cut happened */
async function expectSameOutcome(site: Site, cuts: Death[], expected: object): Promise<boolean> {
  const run = new SiteRun(site.seed, site.atOnce);
  let wasCut = false;
  for (const cut of cuts) {
    const engine = await run.live((store, kill) => faultyStore(store, { how: dies(cut, kill) }));
    wasCut ||= engine === undefined;
  }
  const engine = await run.live();
  if (!engine) throw new Error('a life that nobody killed has died');
  expect(await run.outcome(engine), JSON.stringify({ ...site, cuts })).to.deep.equal(expected);
  await run.check(engine);
  return wasCut;
}

describe('a process that dies at the n-th call of its store', () => {
  const expected = new Map<Site, object>();

  before(async () => {
    for (const site of sites) expected.set(site, await undisturbed(site));
  });

  it('no cut: every house is ordered, built, filed and announced once, in order', () => {
    const houses = ['house-0', 'house-1', 'house-2', 'house-3'];
    for (const site of sites) {
      expect(expected.get(site)).to.deep.equal({
        actors: [
          [plannerAddress, {}, { ordered: houses, built: houses, filed: houses }],
          [builderAddress, 'idle', { waiting: [], attempt: 1 }],
          [clerkAddress, {}, { files: houses }],
        ],
        told: {
          [`${plannerAddress} ordered`]: houses,
          [`${builderAddress} built`]: houses,
          [`${clerkAddress} filing`]: houses,
          [`${plannerAddress} filed`]: houses,
        },
        answers: houses.map((id, index) => [id, index + 1]),
      });
    }
  });

  for (const site of sites) {
    const which = site.atOnce ? 'all ordered at once' : `seed ${site.seed}`;
    for (const moment of ['before', 'after'] as const) {
      it(`cut ${moment} the effect of call n, for every n (${which}): same outcome in the next life`, async () => {
        let at = 1;
        while (await expectSameOutcome(site, [{ at, moment }], expected.get(site) ?? {})) at += 1;
        expect(at).to.be.greaterThan(50);
      });
    }
  }

  it('all ordered at once: their steps share a commit, and its outbox', async () => {
    const shared: Commit[] = [];
    const noting = (store: Store): Store => ({
      ...store,
      commit: (items) => {
        shared.push(...items.filter(({ journalBefore, outbox }) => journalBefore && outbox));
        return store.commit(items);
      },
    });
    await new SiteRun(4, true).live(noting);
    expect(shared.map(({ address }) => address)).to.include(plannerAddress);
  });

  it('repeated cuts at random calls: the last life reaches the same outcome', async () => {
    const random = seededRandom(99);
    for (let round = 0; round < 60; round += 1) {
      const site = sites[round % sites.length] ?? { seed: 1 };
      const cuts = Array.from({ length: 6 }, () => ({
        at: 1 + Math.floor(random.next() * 25),
        moment: random.next() < 0.5 ? ('before' as const) : ('after' as const),
      }));
      await expectSameOutcome(site, cuts, expected.get(site) ?? {});
    }
  });
});

describe('a store that fails at random calls', () => {
  for (const likelihood of [0.1, 0.3, 0.6]) {
    it(`${likelihood * 100} % of calls fail, before or after their effect: same outcome in one life`, async () => {
      for (let seed = 1; seed <= 10; seed += 1) {
        const run = new SiteRun(seed);
        const flaky = { random: seededRandom(seed), likelihood };
        const engine = await run.live((store) => faultyStore(store, { how: failsAtRandom(flaky) }), 300);
        if (!engine) throw new Error('a life that nobody killed has died');
        expect(await run.outcome(engine), `seed ${seed}`).to.deep.equal(await undisturbed({ seed }));
      }
    });
  }
});
