/**
 * The driver is killed at random moments while volumes come and go, and started again: each call is then repeated, or
 * undone, and in the end nothing is left but the data. Needs root and loop devices. `ROUNDS=100 SEED=7` for more; a
 * failing run prints its seed.
 */
import { setTimeout } from 'node:timers/promises';
import { StagecraftError } from '../../src/errors.js';
import { seededRandom } from '../../src/testing/index.js';
import { DriverProcess } from './driver-process.js';
import { NodeScene, needLoopDevices } from './node-scene.js';
import { expectNothingLeft, makeTravellers, type Traveller } from './traveller.js';

const rounds = Number(process.env.ROUNDS ?? 12);
const seed = Number(process.env.SEED ?? 20261121);
/** About as long as a volume takes to come and go. */
const longestLifeMs = 250;

async function untilItFails(traveller: Traveller): Promise<never> {
  for (;;) await traveller.travel();
}

describe(`node service: ${rounds} rounds of SIGKILL, seed ${seed}`, () => {
  const random = seededRandom(seed);
  let scene: NodeScene;
  let driver: DriverProcess | undefined;

  before(needLoopDevices);

  beforeEach(() => {
    scene = new NodeScene();
  });

  afterEach(async () => {
    await driver?.kill();
    await scene.close();
  });

  it('repeated or undone after each, nothing is left but the data', async () => {
    const travellers = await makeTravellers(scene);
    for (let round = 0; round < rounds; round += 1) {
      driver = await DriverProcess.start(scene);
      const journeys = travellers.map(untilItFails);
      const ended = Promise.allSettled(journeys);
      await Promise.race([setTimeout(random.next() * longestLifeMs), ended]);
      await driver.kill();
      for (const result of await ended) {
        const { reason } = result as PromiseRejectedResult;
        if (!(reason instanceof StagecraftError && reason.grpcCode === 'UNAVAILABLE')) throw reason;
      }
      for (const traveller of travellers) if (random.next() < 0.3) traveller.turnBack();
    }
    driver = await DriverProcess.start(scene);
    for (const traveller of travellers) await traveller.undo();
    expectNothingLeft(scene);
  });
});
