/** A runtime on real time, with drivers on real sockets: what is seen of them, and what they were asked. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  type FaultDriver,
  type FaultDriverOptions,
  faultDriver,
} from '../../dist/src/tools/fault-driver/fault-driver.js';
import type { PluginInfo } from '../../machines/plugin/plugin.js';
import { openChannels } from '../../src/csi/channel.js';
import type { CsiHandlers } from '../../src/csi/server.js';
import { type Clock, systemClock } from '../../src/engine/clock.js';
import type { PluginEvent } from '../../src/registry/plugin-events.js';
import type { PluginStatus } from '../../src/registry/plugin-statuses.js';
import { watchedDirectories } from '../../src/registry/socket-watch.js';
import type { RuntimeOptions } from '../../src/runtime/options.js';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { type FaultyServer, serveFaulty } from '../../src/testing/index.js';
import { until } from '../until.js';
import { inShort } from './house.js';

const firstRetryMs = 500;
const farMs = 3_600_000;

/** Longer than an answer takes on a machine that has much to do. */
const timeoutMs = 5_000;

/** Rounds come one after the other. */
export const often: Partial<RuntimeOptions> = { fingerprint: { intervalMs: 20, timeoutMs } };

/** The same, and each is given up soon: a first one may be, before its driver is at work. */
export const impatient: Partial<RuntimeOptions> = { fingerprint: { intervalMs: 20, timeoutMs: 300 } };

/** After the first, no round comes because time has passed: neither the next one nor a retry. */
export const onlyIfStirred: Partial<RuntimeOptions> = {
  fingerprint: { intervalMs: farMs, timeoutMs },
  clock: {
    ...systemClock,
    after: (delayMs, callback) => systemClock.after(isRetry(delayMs) ? farMs : delayMs, callback),
  } satisfies Clock,
};

const isRetry = (delayMs: number): boolean =>
  Number.isInteger(Math.log2(delayMs / firstRetryMs)) && delayMs >= firstRetryMs;

class RealScene {
  readonly folder = mkdtempSync(join(tmpdir(), 'stagecraft-real-'));
  readonly socketPath = join(this.folder, 'csi.sock');
  readonly #watched = watchedDirectories();
  readonly #endings: (() => unknown)[] = [];
  #runtime: Runtime | undefined;
  #drivers = 0;

  get runtime(): Runtime {
    if (!this.#runtime) throw new Error('open it first');
    return this.#runtime;
  }

  async open(options: Partial<RuntimeOptions>): Promise<void> {
    const dataDir = join(this.folder, 'data');
    this.#runtime = await createRuntime({ nodeId: 'worker-1', dataDir, store: memoryStore(), ...options });
  }

  /** A driver in this process. */
  async server(handlers: CsiHandlers = {}, more: Partial<FaultDriverOptions> = {}): Promise<FaultyServer> {
    const server = await serveFaulty({ ...this.#options(), ...more, handlers });
    this.#endings.push(() => server.stop());
    return server;
  }

  /** A driver in a process of its own; each has its own data, and its number in its node id. */
  async driver(options: Partial<FaultDriverOptions> = {}): Promise<FaultDriver> {
    const driver = await faultDriver({ ...this.#options(), ...options });
    this.#endings.push(() => driver.stop());
    return driver;
  }

  /** Called when the test is over. */
  finally(ending: () => unknown): void {
    this.#endings.push(ending);
  }

  instance(type = 'csi-node', more: Partial<PluginInfo> = {}): PluginInfo {
    return { type, name: 'disk', allocId: 'a1', connection: { socketPath: this.socketPath }, ...more };
  }

  register(type?: string): Promise<void> {
    return this.runtime.plugins.register(this.instance(type));
  }

  deregister(type = 'csi-node'): Promise<void> {
    return this.runtime.plugins.deregister(type, 'disk', 'a1');
  }

  status(type = 'csi-node'): PluginStatus {
    return this.runtime.plugins.status(type, 'disk');
  }

  /** The first status that is as expected. */
  async seen(isExpected: (status: PluginStatus) => boolean, type?: string): Promise<PluginStatus> {
    await until(
      () => isExpected(this.status(type)),
      () => JSON.stringify(this.status(type)),
    );
    return this.status(type);
  }

  seenHealthy(type?: string): Promise<PluginStatus> {
    return this.seen(({ healthy }) => healthy, type);
  }

  seenUnhealthy(description: RegExp, type?: string): Promise<PluginStatus> {
    return this.seen((status) => !status.healthy && description.test(status.description), type);
  }

  /** The first so many events from the beginning, in short; those of node ids only if they are asked for. */
  async told(count: number, isMeant = ({ kind }: PluginEvent): boolean => kind !== 'node-info'): Promise<string[]> {
    const told: string[] = [];
    for await (const event of this.runtime.plugins.updates(undefined, { from: '0' })) {
      if (isMeant(event)) told.push(inShort(event));
      if (told.length === count) break;
    }
    return told;
  }

  /** Fails where something stayed open. */
  async end(): Promise<void> {
    try {
      await this.#runtime?.close();
      expect([openChannels(), watchedDirectories()]).to.deep.equal([0, this.#watched]);
    } finally {
      for (const ending of this.#endings.reverse()) await ending();
      rmSync(this.folder, { recursive: true });
    }
  }

  #options(): FaultDriverOptions {
    this.#drivers += 1;
    const name = `node-${this.#drivers}`;
    return { socketPath: this.socketPath, nodeId: name, dataDir: join(this.folder, name), mounts: 'memory' };
  }
}

/** A scene for each test of a suite, its runtime open. */
export function inRealScenes(options: Partial<RuntimeOptions>): { readonly scene: RealScene } {
  let scene: RealScene;
  beforeEach(async () => {
    scene = new RealScene();
    await scene.open(options);
  });
  afterEach(() => scene.end());
  return {
    get scene() {
      return scene;
    },
  };
}
