/**
 * The driver ends before, and after, each single thing that it does to the host; a new one takes over. What was begun is
 * then repeated, or undone. Real mounts and devices: needs root and loop devices. Real kills: node-kill.test.ts
 */
import { expect } from 'chai';
import { runner } from '../../src/tools/driver/commands.js';
import { hostLoopDevices, type LoopDevices } from '../../src/tools/driver/loop-devices.js';
import { type HostMounts, hostMounts } from '../../src/tools/driver/mounts.js';
import { thirdOf } from '../support/third.js';
import { NodeScene, needLoopDevices } from './node-scene.js';
import { expectNothingLeft, makeTravellers } from './traveller.js';

/** After so many moments nothing is done any more. */
class Life {
  #left: number;

  constructor(moments: number) {
    this.#left = moments;
  }

  get isOver(): boolean {
    return this.#left <= 0;
  }

  /** What is done has a moment before it, and one after it. */
  async through<T>(work: () => Promise<T>): Promise<T> {
    this.#pass();
    const done = await work();
    this.#pass();
    return done;
  }

  #pass(): void {
    this.#left -= 1;
    if (this.isOver) throw new Error('the driver is dead');
  }
}

const mortalMounts = (mounts: HostMounts, life: Life): HostMounts => ({
  table: mounts.table,
  bind: (source, target) => life.through(() => mounts.bind(source, target)),
  setOptions: (target, options) => life.through(() => mounts.setOptions(target, options)),
  unmount: (target) => life.through(() => mounts.unmount(target)),
});

const mortalDevices = (devices: LoopDevices, life: Life): LoopDevices => ({
  of: devices.of,
  attach: (...asked) => life.through(() => devices.attach(...asked)),
  detachAll: (image) => life.through(() => devices.detachAll(image)),
  resize: (image) => life.through(() => devices.resize(image)),
});

describe('node service: the driver ends at every moment', () => {
  const run = runner({ timeoutMs: 120_000 });
  let scene: NodeScene;

  before(needLoopDevices);

  beforeEach(() => {
    scene = new NodeScene();
  });

  afterEach(() => scene.close());

  for (const [index, id, then] of thirdOf([
    [0, 'dir', 'repeated'],
    [1, 'block', 'repeated'],
    [0, 'dir', 'undone'],
    [1, 'block', 'undone'],
  ] as const)) {
    it(`${id}: what was begun is ${then}, and nothing is left but the data`, async () => {
      const traveller = (await makeTravellers(scene))[index];
      let moments = 0;
      for (let survived = false; !survived; moments += 1) {
        const life = new Life(moments + 1);
        const mounts = mortalMounts(hostMounts(run), life);
        await scene.start({ mounts, loopDevices: mortalDevices(hostLoopDevices(run), life) });
        const failed = await traveller?.travel().catch((error: unknown) => error);
        survived = !life.isOver;
        expect(String(failed)).to.contain(survived ? 'undefined' : 'the driver is dead');
        await scene.stop();
        await scene.start();
        if (then === 'repeated') await traveller?.travel();
        await traveller?.undo();
        expectNothingLeft(scene);
        await scene.stop();
      }
      expect(moments).to.be.above(12);
    });
  }
});
