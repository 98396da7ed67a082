/**
 * The driver is killed at random moments while volumes come and go, and started again: each call is then repeated, or
 * undone, and in the end nothing is left but the data. Needs root and loop devices. `ROUNDS=100 SEED=7` for more; a
 * failing run prints its seed.
 */
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import type { VolumeCapability } from '../../src/csi/generated/plain.js';
import { StagecraftError } from '../../src/errors.js';
import { seededRandom } from '../../src/testing/index.js';
import { DriverProcess } from './driver-process.js';
import { blockCapability, mountCapability, NodeScene, needLoopDevices } from './node-scene.js';

const rounds = Number(process.env.ROUNDS ?? 12);
const seed = Number(process.env.SEED ?? 20261121);
/** About as long as a volume takes to come and go. */
const longestLifeMs = 250;
const textBytes = 16;

/** One volume that comes and goes, step by step, over all kills. */
class Traveller {
  readonly #scene: NodeScene;
  readonly #id: string;
  readonly #capability: VolumeCapability;
  readonly #staging: string;
  readonly #writer: string;
  readonly #reader: string;
  #step = 0;
  #written = '';
  #writes = 0;

  constructor(scene: NodeScene, id: string, capability: VolumeCapability) {
    this.#scene = scene;
    this.#id = id;
    this.#capability = capability;
    this.#staging = scene.directory(`${id} staging`);
    this.#writer = scene.path(`${id} writer`);
    this.#reader = scene.path(`${id} reader`);
  }

  /** Goes on, round and round, until a call fails. */
  async travel(): Promise<never> {
    const { steps } = this;
    for (;;) {
      await steps[this.#step % steps.length]?.();
      this.#step += 1;
    }
  }

  /** What is half done is undone instead of repeated. */
  turnBack(): void {
    const { length } = this.steps;
    if (this.#step % length < length - 3) this.#step = length - 3;
  }

  async undo(): Promise<void> {
    for (const undo of this.steps.slice(-3)) await undo();
    this.expectData(this.#source());
    for (const path of [this.#writer, this.#reader]) expect(existsSync(path), path).to.equal(false);
    expect(readdirSync(this.#staging)).to.deep.equal([]);
  }

  get steps(): (() => Promise<void>)[] {
    const [scene, id, volumeCapability] = [this.#scene, this.#id, this.#capability];
    return [
      () => scene.stage(id, this.#staging, volumeCapability),
      () => scene.publish(id, [this.#staging, this.#writer], { volumeCapability }),
      () => scene.publish(id, [this.#staging, this.#reader], { volumeCapability, readonly: true }),
      async () => this.#use(),
      () => scene.unpublish(id, this.#reader),
      () => scene.unpublish(id, this.#writer),
      () => scene.unstage(id, this.#staging),
    ];
  }

  #use(): void {
    this.expectData(this.#fileAt(this.#reader));
    expect(() => this.#write(this.#reader, 'never')).to.throw(/EROFS|EPERM|EACCES/);
    this.#writes += 1;
    const text = `${this.#writes} of ${this.#id}`.padEnd(textBytes);
    this.#write(this.#writer, text);
    this.#written = text;
  }

  #write(target: string, text: string): void {
    const file = openSync(this.#fileAt(target), this.#capability.block ? 'rs+' : 'w');
    try {
      writeSync(file, text, 0);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }

  expectData(path: string): void {
    if (this.#written === '') return;
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(textBytes);
      readSync(file, bytes, 0, textBytes, 0);
      expect(bytes.toString()).to.equal(this.#written);
    } finally {
      closeSync(file);
    }
  }

  #fileAt = (target: string): string => (this.#capability.block ? target : join(target, 'file'));

  #source = (): string =>
    this.#capability.block ? this.#scene.image(this.#id) : join(this.#scene.content(this.#id), 'file');
}

describe(`node service: ${rounds} rounds of SIGKILL, seed ${seed}`, function () {
  this.timeout(30_000 + rounds * 10_000);
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
    await scene.addVolume('dir', 'mount');
    await scene.addVolume('block', 'block');
    const travellers = [
      new Traveller(scene, 'dir', mountCapability('SINGLE_NODE_MULTI_WRITER', ['noexec'])),
      new Traveller(scene, 'block', blockCapability('SINGLE_NODE_MULTI_WRITER')),
    ];
    for (let round = 0; round < rounds; round += 1) {
      driver = await DriverProcess.start(scene);
      const journeys = travellers.map((traveller) => traveller.travel());
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
    expect(scene.mounts()).to.deep.equal([]);
    expect(scene.loopDevices()).to.deep.equal([]);
    expect(readdirSync(join(scene.dataDir, 'uses'))).to.deep.equal([]);
    expect(readFileSync(join(scene.content('dir'), 'file'), 'utf8')).to.match(/^\d+ of dir/);
  });
});
