/**
 * Runtimes to measure mounts in, over the bundled driver in a process of its own, on a real socket: what is mounted is
 * mounted. To be used in a mount namespace of its own (mounts.ts): what is left there goes with its last process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CsiClient } from '../../dist/src/csi/client.js';
import type { Store } from '../../dist/src/engine/store.js';
import type { AllocVolumeRequest } from '../../dist/src/mounts/mount-spec.js';
import { createRuntime, type Runtime } from '../../dist/src/runtime/runtime.js';

const nodeId = 'bench';
const types = ['csi-controller', 'csi-node'];
const capacity = { requiredBytes: 2 ** 20 };

/** Many allocs may have the volume at a time. */
const shared = { accessMode: 'single-node-multi-writer', attachmentMode: 'file-system' } as const;

const cli = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

/** The bundled driver as a process, which ends with this one however that ends. */
export class Driver {
  readonly socketPath: string;
  readonly #child: ChildProcess;

  private constructor(socketPath: string, child: ChildProcess) {
    this.socketPath = socketPath;
    this.#child = child;
  }

  static async start(folder: string): Promise<Driver> {
    mkdirSync(folder);
    const socketPath = join(folder, 'csi.sock');
    const places = ['--endpoint', `unix://${socketPath}`, '--data-dir', join(folder, 'data')];
    const command = [process.execPath, cli, 'driver', '--node-id', nodeId, ...places];
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...command], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    return new Driver(socketPath, child);
  }

  /** It answers nothing any more, until it goes on. */
  stop(): void {
    this.#child.kill('SIGSTOP');
  }

  goOn(): void {
    this.#child.kill('SIGCONT');
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
  }
}

interface HouseOptions {
  dataDir: string;
  store: Store;
  /** By the name that their plugin has. */
  drivers: Record<string, Driver>;
  /** The plugins are in the store already; nothing is waited for. */
  isFurnished?: boolean;
}

export async function openHouse({ dataDir, store, drivers, isFurnished }: HouseOptions): Promise<Runtime> {
  const runtime = await createRuntime({ nodeId, dataDir, store });
  if (isFurnished) return runtime;
  for (const [name, { socketPath }] of Object.entries(drivers)) {
    const instance = { name, allocId: `${name}-1`, connection: { socketPath } };
    for (const type of types) await runtime.plugins.register({ type, ...instance });
    for (const type of types) await runtime.plugins.waitFor(type, name);
  }
  return runtime;
}

export const makeVolume = async (runtime: Runtime, id: string, plugin: string): Promise<void> => {
  await runtime.volumes.create({ id, plugin, capacity, capabilities: [shared] });
};

const wanted = (id: string): AllocVolumeRequest => ({
  ...{ name: 'data', volume: { id }, mode: 'write', taskPath: '/data' },
  ...shared,
});

export const prepare = async (runtime: Runtime, allocId: string, id: string): Promise<void> => {
  await runtime.allocations.prepare(allocId, [wanted(id)]);
};

/** The calls that mounting a volume takes, and the directories that a driver wants for them, with nothing kept. */
export class BareNode {
  readonly #client: CsiClient;
  readonly #folder: string;
  readonly #volumeCapability = { mount: {}, accessMode: { mode: 'SINGLE_NODE_MULTI_WRITER' } } as const;

  constructor({ socketPath }: Driver, folder: string) {
    this.#client = new CsiClient({ socketPath });
    this.#folder = folder;
    mkdirSync(folder);
  }

  /** @returns its id */
  async make(name: string): Promise<string> {
    const request = { name, capacityRange: capacity, volumeCapabilities: [this.#volumeCapability] };
    const { volume } = await this.#client.createVolume(request);
    return volume?.volumeId ?? '';
  }

  async stage(volumeId: string): Promise<void> {
    const stagingTargetPath = this.#staging(volumeId);
    mkdirSync(stagingTargetPath);
    await this.#client.nodeStageVolume({ volumeId, stagingTargetPath, volumeCapability: this.#volumeCapability });
  }

  async publish(volumeId: string, alloc: string): Promise<void> {
    const volumeCapability = this.#volumeCapability;
    mkdirSync(join(this.#folder, alloc));
    const paths = { stagingTargetPath: this.#staging(volumeId), targetPath: this.#target(alloc) };
    await this.#client.nodePublishVolume({ volumeId, ...paths, volumeCapability });
  }

  async unpublish(volumeId: string, alloc: string): Promise<void> {
    await this.#client.nodeUnpublishVolume({ volumeId, targetPath: this.#target(alloc) });
    rmdirSync(join(this.#folder, alloc));
  }

  async unstage(volumeId: string): Promise<void> {
    await this.#client.nodeUnstageVolume({ volumeId, stagingTargetPath: this.#staging(volumeId) });
    rmdirSync(this.#staging(volumeId));
  }

  /** All of it, for one alloc. */
  async mountAndUnmount(volumeId: string, alloc: string): Promise<void> {
    await this.stage(volumeId);
    await this.publish(volumeId, alloc);
    await this.unpublish(volumeId, alloc);
    await this.unstage(volumeId);
  }

  close(): void {
    this.#client.close();
  }

  #staging(volumeId: string): string {
    return join(this.#folder, `staging-${volumeId}`);
  }

  #target(alloc: string): string {
    return join(this.#folder, alloc, 'data');
  }
}
