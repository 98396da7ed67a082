/**
 * SIGKILL on the agent, on the driver of its volumes or on both at random moments, round after round on the same data,
 * while volumes are asked for, used and deleted. `ROUNDS=200 SEED=7` for more of them; the title tells the seed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { volumeAddress } from '../../machines/kit/addresses.js';
import { createRuntime, type Runtime, type Volume } from '../../src/index.js';
import { seededRandom } from '../../src/testing/index.js';
import { eventually } from '../until.js';
import { type nodes, pick, type Victim, VolumeScene } from './kill-volumes-scene.js';
import { User, type Wish } from './kill-volumes-users.js';

const rounds = Number(process.env.ROUNDS ?? 4);
const seed = Number(process.env.SEED ?? 20261121);
const users = 12;
const longestRoundMs = 400;

const victims: Victim[] = ['agent', 'driver', 'driver, then agent', 'agent, then driver'];

const random = seededRandom(seed);
const plan = Array.from({ length: rounds }, () => ({
  victim: pick(random, victims),
  delayMs: Math.floor(random.next() * longestRoundMs),
}));

/** What is there of a volume, in the words of its user; undefined while something is under way. */
function reached(volume: Volume | undefined): Wish | undefined {
  if (!volume) return 'nothing';
  const [publication, ...others] = Object.entries(volume.publications);
  if (!publication) return volume.state === 'created' ? 'volume' : undefined;
  const [nodeId, { state }] = publication;
  if (others.length > 0 || state !== 'published' || volume.state !== 'published') return undefined;
  return nodeId as keyof typeof nodes;
}

describe(`V1 V13 ${rounds} rounds of SIGKILL while volumes are used, seed ${seed}`, () => {
  let scene: VolumeScene;
  let all: User[] = [];
  let living: Promise<unknown>;
  const ending = new AbortController();

  before(async () => {
    scene = await VolumeScene.start();
    all = Array.from({ length: users }, (_, n) => new User(`v${n}`, scene, seededRandom(seed + n)));
    living = Promise.all(all.map((user) => user.live(ending.signal)));
    living.catch(() => {}); // told at their end
  });
  after(async () => {
    ending.abort();
    await scene.end();
  });

  for (const [index, { victim, delayMs }] of plan.entries()) {
    it(`round ${index + 1}: ${victim} after ${delayMs} ms`, async () => {
      scene.setFaults(random);
      await pause(delayMs); // the moment itself, not a wait for something
      await scene.strike(victim);
    });
  }

  describe('after them', () => {
    let runtime: Runtime;

    before(async () => {
      await scene.endFaults();
      ending.abort();
      await living;
      await scene.endAgent();
      runtime = await createRuntime({
        nodeId: 'controller-1',
        dataDir: scene.dataDir,
        calls: { timeoutMs: 1_000 },
        retry: { initialMs: 5, maxMs: 50 },
        fingerprint: { intervalMs: 100 },
      });
    });
    after(() => runtime?.close());

    it('each user has what was promised, and nothing else', async () => {
      for (const { id, wish } of all) {
        let volume: Volume | undefined;
        await eventually(`${id} is ${wish}`, async () => {
          volume = await runtime.volumes.get({ id });
          return reached(volume) === wish;
        }).catch((cause: unknown) => {
          throw new Error(`${String(cause)}, but ${JSON.stringify(volume)}`, { cause });
        });
      }
      expect(Math.min(...all.map(({ answered }) => answered))).to.be.greaterThan(0);
    });

    it('the driver has what is believed: nothing is lost, nothing leaked', async () => {
      const volumes = await Promise.all(all.map(({ id }) => runtime.volumes.get({ id })));
      const believed = volumes
        .filter((volume) => volume !== undefined)
        .map(({ csiId, publications }) => ({
          id: csiId,
          attached: Object.values(publications).map(({ csiNodeId }) => csiNodeId),
        }));
      expect(scene.real()).to.have.deep.members(believed);
    });

    it('no call was made that must not be: never two at once on a volume, none out of order', () => {
      expect(scene.driver.violations().map(({ text }) => text)).to.deep.equal([]);
    });

    it('every journal replays, and no actor is out of service', async () => {
      expect(runtime.actors.quarantined()).to.deep.equal([]);
      for (const { id } of all) {
        const { seq } = await runtime.journal.replay(volumeAddress('default', id));
        expect(seq).to.be.greaterThan(0);
      }
    });
  });
});
