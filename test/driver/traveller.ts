/** A volume that comes to a node and goes, step by step, over all that happens to the driver in between. */
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { VolumeCapability } from '../../src/csi/generated/plain.js';
import { blockCapability, mountCapability, type NodeScene } from './node-scene.js';

const textBytes = 16;
/** How many of its steps undo what the others did. */
const undoSteps = 3;

/** A directory and a block device, each with a target to write to and one to read from. */
export async function makeTravellers(scene: NodeScene): Promise<Traveller[]> {
  await scene.addVolume('dir', 'mount');
  await scene.addVolume('block', 'block');
  return [
    new Traveller(scene, 'dir', mountCapability('SINGLE_NODE_MULTI_WRITER', ['noexec'])),
    new Traveller(scene, 'block', blockCapability('SINGLE_NODE_MULTI_WRITER')),
  ];
}

/** Of all that was ever there: no mount, no device, no record. */
export function expectNothingLeft(scene: NodeScene): void {
  expect(scene.mounts()).to.deep.equal([]);
  expect(scene.loopDevices()).to.deep.equal([]);
  expect(readdirSync(join(scene.dataDir, 'uses'))).to.deep.equal([]);
}

/** One volume that comes and goes, step by step, over all kills. */
export class Traveller {
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

  /** From the step that failed last to the end of the round. */
  async travel(): Promise<void> {
    const steps = this.#steps();
    for (; this.#step < steps.length; this.#step += 1) await steps[this.#step]?.();
    this.#step = 0;
  }

  /** What is half done is undone instead of repeated. */
  turnBack(): void {
    this.#step = Math.max(this.#step, this.#steps().length - undoSteps);
  }

  /** Undoes all, and expects that nothing is left but the data. */
  async undo(): Promise<void> {
    for (const undo of this.#steps().slice(-undoSteps)) await undo();
    this.#step = 0;
    this.#expectData(this.#source());
    for (const path of [this.#writer, this.#reader]) expect(existsSync(path), path).to.equal(false);
    expect(readdirSync(this.#staging)).to.deep.equal([]);
  }

  #steps(): (() => Promise<void>)[] {
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
    this.#expectData(this.#fileAt(this.#reader));
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

  #expectData(path: string): void {
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
