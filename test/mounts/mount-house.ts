/**
 * A runtime on real time over the bundled driver with a script in between, on a real socket: what it mounts is mounted. The
 * runtime can be started again on what it has left. It cleans up after itself, whatever a test has left.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Capability } from '../../machines/kit/csi-types.js';
import type { AllocStatus } from '../../src/allocs/alloc-view.js';
import type { CsiHandlers } from '../../src/csi/server.js';
import { parseMountInfo } from '../../src/host/mount-table.js';
import type { AllocVolumeRequest } from '../../src/mounts/mount-spec.js';
import type { MountEvent } from '../../src/mounts/mount-view.js';
import type { RuntimeOptions } from '../../src/runtime/options.js';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.js';
import {
  type FaultDriver,
  type FaultyServer,
  faultDriver,
  serveFaulty,
  violationsIn,
} from '../../src/testing/index.js';
import { inMemory } from '../registry/kept-data.js';
import { until } from '../until.js';
import { unmountBelow } from './unmount-below.js';

export const node = 'node-a';
export const plugin = 'disk';
export const mib = 1_048_576;

export const many: Capability = { accessMode: 'single-node-multi-writer', attachmentMode: 'file-system' };
export const single: Capability = { accessMode: 'single-node-writer', attachmentMode: 'file-system' };
export const block: Capability = { accessMode: 'single-node-writer', attachmentMode: 'block-device' };

export interface HouseOptions extends Partial<RuntimeOptions> {
  /** In place of the driver's own. */
  handlers?: CsiHandlers;
  /** Volumes are published by the controller before they are used on a node. */
  attach?: boolean;
  /** Other users can pass to the data directory. */
  isReachable?: boolean;
  /** The driver has a process of its own, which can be killed; it takes no `handlers`. */
  ownProcess?: boolean;
}

export class MountHouse {
  readonly folder: string;
  readonly dataDir: string;
  readonly driver: FaultyServer | FaultDriver;
  readonly events: MountEvent[] = [];
  readonly #options: Partial<RuntimeOptions>;
  readonly #data = inMemory();
  #runtime: Runtime | undefined;

  private constructor(folder: string, driver: FaultyServer | FaultDriver, options: Partial<RuntimeOptions>) {
    this.folder = folder;
    this.dataDir = join(folder, 'd');
    this.driver = driver;
    this.#options = options;
  }

  static async start({
    attach = false,
    ownProcess = false,
    isReachable = false,
    handlers = {},
    ...options
  }: HouseOptions = {}): Promise<MountHouse> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sc-mounts-')));
    if (isReachable) chmodSync(folder, 0o711);
    const place = { socketPath: join(folder, 'csi.sock'), nodeId: node, dataDir: join(folder, 'driver'), attach };
    const driver = await (ownProcess ? faultDriver(place) : serveFaulty({ ...place, handlers }));
    const house = new MountHouse(folder, driver, options);
    await house.open();
    await house.register();
    return house;
  }

  /** Starts the driver again, whose process has died. */
  async startDriver(): Promise<void> {
    if (!('start' in this.driver)) throw new Error('the driver has no process of its own');
    await this.driver.start();
  }

  async register(): Promise<void> {
    const connection = { socketPath: join(this.folder, 'csi.sock') };
    for (const type of ['csi-controller', 'csi-node'])
      await this.runtime.plugins.register({ type, name: plugin, allocId: 'disk-1', connection });
    await this.healthy();
  }

  get runtime(): Runtime {
    if (!this.#runtime) throw new Error('it is not open');
    return this.#runtime;
  }

  async open(options: Partial<RuntimeOptions> = {}): Promise<void> {
    this.#runtime = await createRuntime({
      nodeId: node,
      dataDir: this.dataDir,
      store: this.#data.store(),
      retry: { initialMs: 5, maxMs: 50 },
      calls: { nodeTimeoutMs: 2_000 },
      ...this.#options,
      ...options,
    });
    // None is missed of those that the start itself has told.
    const updates = this.#runtime.mounts.updates({ from: this.events.at(-1)?.id ?? 'now' });
    void (async () => {
      for await (const event of updates) this.events.push(event);
    })().catch(() => {});
  }

  /** The runtime ends in order, and another one comes up on what it has left. */
  async reopen(options: Partial<RuntimeOptions> = {}): Promise<void> {
    await this.runtime.close();
    await this.open(options);
  }

  async healthy(): Promise<void> {
    for (const type of ['csi-controller', 'csi-node']) await this.runtime.plugins.waitFor(type, plugin);
    // Its node is reported with its plugins.
    for (;;) {
      const nodes = await this.runtime.nodes.list();
      if (nodes.some(({ plugins }) => plugins.length > 0)) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async make(id: string, ...capabilities: Capability[]): Promise<void> {
    await this.runtime.volumes.create({ id, plugin, capacity: { requiredBytes: mib }, capabilities });
  }

  /** A volume of an alloc, named as its id. */
  wanted(id: string, capability: Capability, more: Partial<AllocVolumeRequest> = {}): AllocVolumeRequest {
    return { name: id, volume: { id }, mode: 'write', taskPath: `/${id}`, ...capability, ...more };
  }

  /** The Node calls since the last time, in order, without those that change nothing. */
  nodeCalls(): string[] {
    return this.driver
      .calls()
      .map(({ rpc }) => rpc)
      .filter((rpc) => /^Node(Stage|Unstage|Publish|Unpublish|Expand)/.test(rpc))
      .map((rpc) => rpc.replace(/^Node|Volume$/g, ''));
  }

  /** The first event of this kind that was told since it was opened; waits for it. */
  async told(kind: MountEvent['kind']): Promise<MountEvent> {
    const find = () => this.events.find((event) => event.kind === kind);
    await until(
      () => find() !== undefined,
      () => this.events.map((event) => event.kind).join(', '),
    );
    const event = find();
    if (!event) throw new Error(`no ${kind} was told`);
    return event;
  }

  /** The alloc once it is so. */
  async allocIs(allocId: string, isSo: (alloc: AllocStatus) => boolean): Promise<AllocStatus> {
    let alloc: AllocStatus | undefined;
    const look = async (): Promise<void> => {
      alloc = (await this.runtime.allocations.list()).find((one) => one.allocId === allocId);
    };
    await until(
      () => {
        void look();
        return alloc !== undefined && isSo(alloc);
      },
      () => JSON.stringify(alloc),
    );
    if (!alloc) throw new Error(`there is no alloc ${allocId}`);
    return alloc;
  }

  /** What the kernel shows below the directory of mounts. */
  mounted(): { path: string; isReadOnly: boolean; root: string }[] {
    return parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8'))
      .filter(({ path }) => path.startsWith(`${this.dataDir}/csi/`))
      .map(({ path, isReadOnly, root }) => ({ path, isReadOnly, root }));
  }

  /** All that is left below the directory of mounts, but what belongs to the plugin as a whole. */
  leftovers(): string[] {
    const csi = join(this.dataDir, 'csi');
    const all = readdirSync(csi, { recursive: true, encoding: 'utf8' });
    return all.filter((path) => !/^(salted|[0-9a-f]{16}(\.json|\/staging|\/per-alloc)?)$/.test(path));
  }

  violations() {
    return violationsIn(this.driver.calls());
  }

  async end(): Promise<void> {
    await this.#runtime?.close().catch(() => {});
    await this.driver.stop();
    unmountBelow(this.folder);
    const loops = execFileSync('losetup', ['--list', '--noheadings', '--output', 'NAME,BACK-FILE'], {
      encoding: 'utf8',
    });
    for (const line of loops.split('\n'))
      if (line.includes(this.folder)) execFileSync('losetup', ['--detach', line.trim().split(/\s+/)[0] ?? '']);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
