/** A driver on a real socket in a folder of its own, and what tests ask of it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openChannels } from '../../src/csi/channel.js';
import { CsiClient } from '../../src/csi/client.js';
import type { Given } from '../../src/csi/codec.js';
import type {
  CreateVolumeRequest,
  Snapshot,
  Volume,
  VolumeCapability,
  VolumeCapabilityAccessModeMode,
} from '../../src/csi/generated/plain.js';
import { StagecraftError } from '../../src/errors.js';
import { type ServedDriverOptions, startDriver } from '../../src/tools/driver/driver.js';
import type { Serving } from '../../src/tools/driver/serve.js';

export const nodeId = 'node-1';

export const mi = 2 ** 20;
export const gi = 2 ** 30;

export const mounted = (mode: VolumeCapabilityAccessModeMode = 'SINGLE_NODE_WRITER'): Given<VolumeCapability> => ({
  mount: {},
  accessMode: { mode },
});

export const asBlock = (mode: VolumeCapabilityAccessModeMode = 'SINGLE_NODE_WRITER'): Given<VolumeCapability> => ({
  block: {},
  accessMode: { mode },
});

export const exactly = (bytes: number) => ({ requiredBytes: bytes, limitBytes: bytes });

export class DriverLab {
  readonly folder = mkdtempSync(join(tmpdir(), 'driver-'));
  readonly socketPath = join(this.folder, 'csi.sock');
  readonly dataDir = join(this.folder, 'data');
  readonly client = new CsiClient({ socketPath: this.socketPath });
  #driver: Serving | undefined;

  async start(options: Partial<ServedDriverOptions> = {}): Promise<void> {
    const endpoint = `unix://${this.socketPath}`;
    this.#driver = await startDriver({ endpoint, nodeId, dataDir: this.dataDir, getSnapshot: true, ...options });
  }

  async stop(): Promise<void> {
    await this.#driver?.stop();
    this.#driver = undefined;
  }

  async restart(options: Partial<ServedDriverOptions> = {}): Promise<void> {
    await this.stop();
    await this.start(options);
  }

  async close(): Promise<void> {
    this.client.close();
    await this.stop();
    rmSync(this.folder, { recursive: true });
    expect(openChannels()).to.equal(0);
  }

  async create(name: string, request: Given<CreateVolumeRequest> = {}): Promise<Volume> {
    const { volume } = await this.client.createVolume({ name, volumeCapabilities: [mounted()], ...request });
    return there(volume);
  }

  async snapshot(name: string, sourceVolumeId: string): Promise<Snapshot> {
    const { snapshot } = await this.client.createSnapshot({ name, sourceVolumeId });
    return there(snapshot);
  }

  async volumeIds(): Promise<string[]> {
    const { entries } = await this.client.listVolumes({});
    return entries.map(({ volume }) => there(volume).volumeId);
  }

  async snapshotIds(): Promise<string[]> {
    const { entries } = await this.client.listSnapshots({});
    return entries.map(({ snapshot }) => there(snapshot).snapshotId);
  }

  contentOf(id: string): string {
    return join(this.dataDir, 'content', id);
  }
}

export function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('it is missing');
  return value;
}

/** The gRPC code that a call is answered with. */
export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof StagecraftError && 'grpcCode' in error) return error.grpcCode;
    throw error;
  }
  return 'OK';
}
