/**
 * A driver with volumes of its own below one folder, over a real socket. Whatever a test leaves there, its mounts and
 * loop devices go at the end.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CsiClient } from '../../src/csi/client.js';
import type { VolumeCapability, VolumeCapabilityAccessModeMode } from '../../src/csi/generated/plain.js';
import { type MountEntry, parseMountInfo } from '../../src/host/mount-table.js';
import { type ServedDriverOptions, startDriver } from '../../src/tools/driver/driver.js';
import type { Serving } from '../../src/tools/driver/serve.js';
import { openState, type VolumeRecord } from '../../src/tools/driver/state.js';
import { refusalOf } from '../refusal.js';

export const capacityBytes = 4 * 2 ** 20;

export const mountCapability = (
  mode: VolumeCapabilityAccessModeMode = 'SINGLE_NODE_WRITER',
  mountFlags: string[] = [],
): VolumeCapability => ({ mount: { fsType: '', mountFlags, volumeMountGroup: '' }, accessMode: { mode } });

export const blockCapability = (mode: VolumeCapabilityAccessModeMode = 'SINGLE_NODE_WRITER'): VolumeCapability => ({
  block: {},
  accessMode: { mode },
});

/** What the tests of block volumes need; says so where it is missing. */
export function needLoopDevices(): void {
  const folder = mkdtempSync(join(tmpdir(), 'loop-'));
  try {
    const image = join(folder, 'image');
    writeFileSync(image, '');
    truncateSync(image, capacityBytes);
    const device = hostTool('losetup', '--find', '--show', image).trim();
    hostTool('losetup', '--detach', device);
  } catch (cause) {
    throw new Error('these tests need root and loop devices', { cause });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function hostTool(tool: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(tool, args, { encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(`${tool} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

export async function expectRefusal(promise: Promise<unknown>, grpcCode: string, text: string | RegExp): Promise<void> {
  const error = await refusalOf(promise);
  expect(`${error.grpcCode} ${error.message}`).to.match(new RegExp(`^${grpcCode} `));
  if (typeof text === 'string') expect(error.message).to.contain(text);
  else expect(error.message).to.match(text);
}

export class NodeScene {
  readonly folder: string;
  readonly dataDir: string;
  readonly socketPath: string;
  readonly client: CsiClient;
  readonly #drivers: Serving[] = [];

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'node-'));
    this.dataDir = join(this.folder, 'data');
    this.socketPath = join(this.folder, 'csi.sock');
    this.client = new CsiClient({ socketPath: this.socketPath });
  }

  /** While no driver runs. */
  async addVolume(id: string, accessType: 'mount' | 'block', more: Partial<VolumeRecord> = {}): Promise<void> {
    const { state, close } = await openState({ nodeId: 'node-1', dataDir: this.dataDir });
    try {
      await state.volumes.put({
        id,
        name: id,
        accessType,
        capacityBytes,
        capabilities: [
          accessType === 'block'
            ? blockCapability('MULTI_NODE_MULTI_WRITER')
            : mountCapability('MULTI_NODE_MULTI_WRITER'),
        ],
        parameters: {},
        mutableParameters: {},
        publications: {},
        ...more,
      });
    } finally {
      close();
    }
    if (accessType === 'mount') {
      mkdirSync(this.content(id), { recursive: true });
      return;
    }
    writeFileSync(this.image(id), '', { flag: 'a' });
    truncateSync(this.image(id), more.capacityBytes ?? capacityBytes);
  }

  async start(options: Partial<ServedDriverOptions> = {}): Promise<Serving> {
    const driver = await startDriver({
      endpoint: this.socketPath,
      nodeId: 'node-1',
      dataDir: this.dataDir,
      stopGraceMs: 100,
      ...options,
    });
    this.#drivers.push(driver);
    return driver;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#drivers.splice(0).map((driver) => driver.stop()));
  }

  content = (id: string): string => join(this.dataDir, 'content', id);
  image = (id: string): string => join(this.dataDir, 'content', `${id}.img`);

  /** A directory below the folder. */
  directory(...names: string[]): string {
    const path = join(this.folder, ...names);
    mkdirSync(path, { recursive: true });
    return path;
  }

  path = (...names: string[]): string => join(this.folder, ...names);

  stage(volumeId: string, stagingTargetPath: string, volumeCapability = mountCapability()): Promise<void> {
    return this.client.nodeStageVolume({ volumeId, stagingTargetPath, volumeCapability });
  }

  unstage(volumeId: string, stagingTargetPath: string): Promise<void> {
    return this.client.nodeUnstageVolume({ volumeId, stagingTargetPath });
  }

  publish(
    volumeId: string,
    [stagingTargetPath, targetPath]: [string, string],
    { volumeCapability = mountCapability(), readonly = false } = {},
  ): Promise<void> {
    return this.client.nodePublishVolume({ volumeId, stagingTargetPath, targetPath, volumeCapability, readonly });
  }

  unpublish(volumeId: string, targetPath: string): Promise<void> {
    return this.client.nodeUnpublishVolume({ volumeId, targetPath });
  }

  /** The mounts below the folder. */
  mounts(): MountEntry[] {
    const table = parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8'));
    return table.filter(({ path }) => path.startsWith(`${this.folder}/`));
  }

  mountPaths = (): string[] => this.mounts().map(({ path }) => path);

  /** The loop devices of images below the folder. */
  loopDevices(): string[] {
    const listed = hostTool('losetup', '--list', '--noheadings', '--raw', '--output', 'NAME,BACK-FILE');
    return listed
      .split('\n')
      .filter((line) => line.includes(` ${this.folder}/`))
      .map((line) => line.split(' ')[0] ?? '');
  }

  async close(): Promise<void> {
    this.client.close();
    await this.stop();
    for (const path of this.mountPaths().reverse()) spawnSync('umount', ['--lazy', path]);
    for (const device of this.loopDevices()) spawnSync('losetup', ['--detach', device]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
