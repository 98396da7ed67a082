/** A runtime on real time with tasks of real processes; all of them are ended at the end, whatever has become of the test. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  createRuntime,
  type Runtime,
  type RuntimeOptions,
  type TaskOptions,
  type TaskUpdate,
} from '../../src/index.js';
import { signalGroup } from '../../src/tasks/processes.js';
import { findProcesses } from './found.js';

const mainPath = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

/** The bundled driver. */
export const command = [process.execPath, mainPath, 'driver', '--node-id', 'n1'];
export const hostpath: TaskOptions = {
  id: 'hostpath',
  type: 'node',
  command,
  restart: { maxRestarts: 3, windowMs: 600_000, backoff: { initialMs: 1, maxMs: 2 } },
};

/** Reads until one update matches, and gives all that came up to it. */
export async function until(
  updates: AsyncIterator<TaskUpdate>,
  type: TaskUpdate['change']['type'],
): Promise<TaskUpdate['change'][]> {
  const seen: TaskUpdate['change'][] = [];
  for (;;) {
    const { value, done } = await updates.next();
    if (done) throw new Error(`the updates ended without '${type}', after ${JSON.stringify(seen)}`);
    seen.push(value.change);
    if (value.change.type === type) return seen;
  }
}

export class TaskHouse {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'stagecraft-tasks-'));
  #runtime: Runtime | undefined;
  /** From the opening of the runtime on. */
  updates: AsyncIterator<TaskUpdate> = (async function* () {})();

  async open(options: Partial<RuntimeOptions> = {}): Promise<this> {
    this.#runtime = await createRuntime({ nodeId: 'n1', dataDir: this.dataDir, ...options });
    this.updates = this.#runtime.tasks.updates()[Symbol.asyncIterator]();
    return this;
  }

  get runtime(): Runtime {
    if (!this.#runtime) throw new Error('open it first');
    return this.#runtime;
  }

  /** Of the bundled driver's task. */
  get pid(): number {
    const { pid } = this.runtime.tasks.status('hostpath');
    if (pid === undefined) throw new Error('the task has no process');
    return pid;
  }

  /** The pids of all processes of the task. */
  get pids(): number[] {
    return findProcesses(`${this.dataDir}#hostpath`).map(({ identity }) => identity.pid);
  }

  async dispose(): Promise<void> {
    await this.#runtime?.close().catch(() => {}); // a test may have had its drain fail
    for (const { group } of findProcesses(`${this.dataDir}#hostpath`)) signalGroup(group, 'SIGKILL');
    // A plugin that sees the directory of mounts elsewhere has it as it is.
    spawnSync('umount', ['--no-canonicalize', join(this.dataDir, 'csi')]);
    rmSync(this.dataDir, { recursive: true });
  }
}
