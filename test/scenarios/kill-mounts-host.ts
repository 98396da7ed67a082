/** What the host shows of mounts below a directory, from outside the runtime: the kernel's table, files, what is readable. */
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isWithin, parseMountInfo } from '../../src/host/mount-table.js';

/** Each as often as it is mounted. */
export const mountPathsBelow = (directory: string): string[] =>
  parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8'))
    .map(({ path }) => path)
    .filter((path) => path !== directory && isWithin(path, directory))
    .sort();

/** All that is in a directory, without what is in mounts. */
export function treeBelow(directory: string): string[] {
  const mounted = new Set(mountPathsBelow(directory));
  const within = (path: string): string[] =>
    readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
      const own = join(path, entry.name);
      const isEntered = entry.isDirectory() && !mounted.has(own);
      return [relative(directory, own), ...(isEntered ? within(own) : [])];
    });
  return within(directory).sort();
}

interface LoopDevice {
  device: string;
  file: string;
}

/** Those whose files are below a directory. */
function loopDevicesBelow(directory: string): LoopDevice[] {
  const columns = ['--list', '--noheadings', '--raw', '--output', 'NAME,BACK-FILE'];
  const listed = execFileSync('losetup', columns, { encoding: 'utf8' });
  return listed.split('\n').flatMap((line) => {
    const [device = '', file = ''] = line.split(' ');
    return isWithin(file, directory) ? [{ device, file }] : [];
  });
}

/** How many devices are made of files in a directory. */
export const countDevicesBelow = (directory: string): number => loopDevicesBelow(directory).length;

/** Removes what a test has left mounted below a directory. */
export function unmountBelow(directory: string): void {
  for (const path of mountPathsBelow(directory).reverse()) spawnSync('umount', ['--lazy', path]);
  for (const { device } of loopDevicesBelow(directory)) spawnSync('losetup', ['--detach', device]);
}

/** A volume as a workload has it: a directory, or a device. */
export interface Used {
  hostPath: string;
  isDevice: boolean;
}

const blockBytes = 4_096;

export function writeTo({ hostPath, isDevice }: Used, text: string): void {
  if (!isDevice) {
    writeFileSync(join(hostPath, 'data'), text);
    return;
  }
  const device = openSync(hostPath, 'r+');
  try {
    writeSync(device, Buffer.alloc(blockBytes, text.padEnd(blockBytes, '\n')), 0, blockBytes, 0);
    fsyncSync(device);
  } finally {
    closeSync(device);
  }
}

export function readFrom({ hostPath, isDevice }: Used): string {
  if (!isDevice) return readFileSync(join(hostPath, 'data'), 'utf8');
  const device = openSync(hostPath, 'r');
  try {
    const found = Buffer.alloc(blockBytes);
    readSync(device, found, 0, blockBytes, 0);
    return found.toString('utf8').trimEnd();
  } finally {
    closeSync(device);
  }
}

const readEveryMs = 5;

/** A workload that has its volume all the time: holds a file open, and reads it by its path too. */
export class Reader {
  readonly #path: string;
  readonly #text: string;
  readonly #file: number;
  readonly #timer: NodeJS.Timeout;
  readonly faults: string[] = [];
  reads = 0;

  /** @param hostPath of a directory that is mounted */
  constructor(hostPath: string, text: string) {
    this.#path = join(hostPath, 'kept');
    this.#text = text;
    writeFileSync(this.#path, text);
    this.#file = openSync(this.#path, 'r');
    this.#timer = setInterval(() => this.look(), readEveryMs);
  }

  look(): void {
    try {
      const held = Buffer.alloc(Buffer.byteLength(this.#text));
      readSync(this.#file, held, 0, held.length, 0);
      const texts = { 'by its file': held.toString('utf8'), 'by its path': readFileSync(this.#path, 'utf8') };
      for (const [how, text] of Object.entries(texts))
        if (text !== this.#text) this.faults.push(`${how} it read ${JSON.stringify(text)}`);
      this.reads += 1;
    } catch (error) {
      this.faults.push(String(error));
    }
  }

  close(): void {
    clearInterval(this.#timer);
    closeSync(this.#file);
  }
}
