/** A task whose driver takes its time, with a call to it in flight; also as a process that can be killed meanwhile. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CsiClient } from '../../src/csi/client.js';
import { createRuntime, type Runtime, type TaskOptions } from '../../src/index.js';
import { builtProgram } from '../built.js';
import { until } from '../until.js';

const driverPath = builtProgram(new URL('slow-driver.ts', import.meta.url));

export class SlowScene {
  readonly dataDir: string;
  /** The call ends when there is a file here. */
  readonly targetPath: string;
  readonly #recordPath: string;

  constructor(readonly folder: string) {
    this.dataDir = join(folder, 'data');
    this.targetPath = join(folder, 'target');
    this.#recordPath = join(folder, 'record');
  }

  get task(): TaskOptions {
    const command = [process.execPath, driverPath];
    return { id: 'slow', type: 'node', command, env: { RECORD: this.#recordPath } };
  }

  /** What the driver has done, in order. */
  get record(): string[] {
    return existsSync(this.#recordPath) ? readFileSync(this.#recordPath, 'utf8').trim().split('\n') : [];
  }

  /** Starts the task; resolves when the driver is at the call. */
  async begin(runtime: Runtime, plugin = 'slow'): Promise<{ client: CsiClient; call: Promise<void> }> {
    await runtime.tasks.start({ ...this.task, plugin });
    await runtime.plugins.waitFor('csi-node', plugin);
    const client = await runtime.plugins.dispense<CsiClient>('csi-node', plugin);
    const { targetPath } = this;
    const volumeCapability = { mount: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } } as const;
    const call = client.nodePublishVolume({ volumeId: 'v', targetPath, volumeCapability });
    call.catch(() => {}); // who made it looks at it later
    await until(() => this.record.includes('begun'));
    return { client, call };
  }
}

/** Until the stop of the task waits for the call: its instance has shut down, and its process lives. */
export const waitsForCall = (runtime: Runtime): Promise<void> =>
  until(() => !runtime.actors.list().some(({ address }) => address.startsWith('plugin/')));

const [, path, folder] = process.argv;
if (path === fileURLToPath(import.meta.url) && folder) {
  const scene = new SlowScene(folder);
  const runtime = await createRuntime({ nodeId: 'n1', dataDir: scene.dataDir });
  await scene.begin(runtime);
  void runtime.tasks.stop('slow');
  await waitsForCall(runtime);
  console.log(runtime.tasks.status('slow').state);
}
