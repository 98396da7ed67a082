/** Drivers that fail on command, with a client each, in a folder of its own; afterwards nothing of them is left. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  type FaultDriver,
  type FaultDriverOptions,
  faultDriver,
} from '../../dist/src/tools/fault-driver/fault-driver.js';
import { openChannels } from '../../src/csi/channel.js';
import { CsiClient, type CsiClientOptions } from '../../src/csi/client.js';
import type { CsiHandlers } from '../../src/csi/server.js';
import { type FaultyServer, serveFaulty } from '../../src/testing/index.js';

export class Scene {
  readonly folder = mkdtempSync(join(tmpdir(), 'faults-'));
  readonly socketPath = join(this.folder, 'csi.sock');
  readonly #endings: Array<() => unknown> = [];
  readonly #pids: number[] = [];

  async driver(options: Partial<FaultDriverOptions> = {}): Promise<FaultDriver> {
    const driver = await faultDriver({ ...this.#options('data'), ...options });
    this.watch(driver.pid);
    this.#endings.push(async () => {
      this.watch(driver.pid); // perhaps started again
      await driver.stop();
    });
    return driver;
  }

  async server(handlers: CsiHandlers = {}): Promise<FaultyServer> {
    const server = await serveFaulty({ ...this.#options('data'), handlers });
    this.#endings.push(() => server.stop());
    return server;
  }

  client(options: Partial<CsiClientOptions> = {}): CsiClient {
    const client = new CsiClient({ socketPath: this.socketPath, ...options });
    this.#endings.push(() => client.close());
    return client;
  }

  /** A process that has to be gone in the end. */
  watch(pid: number | undefined): void {
    if (pid !== undefined) this.#pids.push(pid);
  }

  async end(): Promise<void> {
    try {
      for (const ending of this.#endings.reverse()) await ending();
      expect(this.#pids.filter(isAlive)).to.deep.equal([]);
      expect(openChannels()).to.equal(0);
    } finally {
      for (const pid of this.#pids.filter(isAlive)) process.kill(pid, 'SIGKILL');
      rmSync(this.folder, { recursive: true });
    }
  }

  #options(data: string): FaultDriverOptions {
    return { socketPath: this.socketPath, nodeId: 'node-1', dataDir: join(this.folder, data) };
  }
}

/** A scene for each test of a suite. */
export function inScenes(): { readonly scene: Scene } {
  let scene: Scene;
  beforeEach(() => {
    scene = new Scene();
  });
  afterEach(() => scene.end());
  return {
    get scene() {
      return scene;
    },
  };
}

export const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

/** Short, for calls that are to run into their deadline. */
export const deadline = { timeoutMs: 150 };
