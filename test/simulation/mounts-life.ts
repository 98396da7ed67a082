/** One runtime of a history of mounts: the mounts of its node, composed as src/runtime/node-side.ts does, on a host that is simulated. */

import type { VolumeKey } from '../../machines/volume/wishes.js';
import { AllocClient } from '../../src/allocs/alloc-client.js';
import { AllocWorker, allocKind } from '../../src/allocs/alloc-work.js';
import { Allocations } from '../../src/allocs/allocations.js';
import { EarlierHolds } from '../../src/allocs/earlier-holds.js';
import { SingleMounts } from '../../src/allocs/single-mounts.js';
import { PluginAccess } from '../../src/calls/plugin-access.js';
import { PluginCalls } from '../../src/calls/plugin-calls.js';
import type { PluginPort } from '../../src/calls/plugin-port.js';
import { VolumeLocks } from '../../src/calls/volume-locks.js';
import { csiNode } from '../../src/csi-plugins/node.js';
import type { ActorPolicy } from '../../src/engine/actor/policy.js';
import { pause } from '../../src/engine/clock.js';
import { Engine } from '../../src/engine/engine.js';
import { Gate } from '../../src/engine/gate.js';
import type { Logger } from '../../src/engine/logger.js';
import { TroubleLog } from '../../src/engine/storage/trouble-log.js';
import type { Store } from '../../src/engine/store.js';
import type { HostTool } from '../../src/mounts/host-tool.js';
import { MountClient } from '../../src/mounts/mount-client.js';
import type { MountDirectories } from '../../src/mounts/mount-directories.js';
import { mountKind, type NodeProcesses } from '../../src/mounts/mount-kind.js';
import { MountManager } from '../../src/mounts/mount-manager.js';
import { MountReconciler } from '../../src/mounts/mount-reconciler.js';
import { MountSteps } from '../../src/mounts/mount-steps.js';
import { MountTables } from '../../src/mounts/mount-tables.js';
import { MountUndoing } from '../../src/mounts/mount-undoing.js';
import { OrphanedMounts } from '../../src/mounts/orphaned-mounts.js';
import type { MountPaths } from '../../src/mounts/paths.js';
import { Stats } from '../../src/mounts/volume-stats.js';
import { Expansions, LostClaims, VolumeWatch } from '../../src/mounts/volume-watch.js';
import { noSecrets } from '../../src/secrets/secrets.js';
import { seededRandom } from '../../src/testing/index.js';
import { noFormerMounts } from '../support/no-former-mounts.js';
import { committingRefusals } from './asked-as-before.js';
import { chance, mixed } from './dice.js';
import { lifeStore } from './life-store.js';
import type { MountsAllocs } from './mounts-allocs.js';
import type { SimulatedClaims } from './mounts-claims.js';
import type { NodeCaller } from './mounts-driver.js';
import type { SimulatedKernel } from './mounts-kernel.js';
import type { MountsTraits } from './mounts-plan.js';
import type { Mood, Outage } from './plan.js';
import { MortalClock, type Timeline } from './timeline.js';

export const nodeId = 'n1';
const callTimeoutMs = 5_000;
/** How long a start waits for the kernel and for whoever has the volumes. */
const startLimitMs = 10_000;
/** When a runtime ends at last that does not come to where it is to end. */
const endLimitMs = 300;
const moods: Mood[] = [
  { answer: 'fails', moment: 'before' },
  { answer: 'fails', moment: 'after' },
  { answer: 'late', fails: false, delayMs: 1_000 },
];

/** All that outlives a runtime. */
export interface MountsHost {
  seed: number;
  timeline: Timeline;
  traits: MountsTraits;
  kernel: SimulatedKernel;
  paths: MountPaths;
  places: MountDirectories;
  claims: SimulatedClaims;
  allocs: MountsAllocs;
  processes: NodeProcesses;
  logger: Logger;
  tell(line: string): void;
}

interface MountsLifeOptions {
  host: MountsHost;
  number: number;
  store: Store;
  plugins(life: MountsLife): PluginPort;
  policy: Partial<ActorPolicy>;
  isAskedAsBefore: boolean;
}

interface Ending {
  how: 'crash' | 'freeze';
  of: 'store' | 'plugin';
  calls: number;
  moment: 'before' | 'after';
  ended(): void;
}

export class MountsLife implements NodeCaller {
  readonly number: number;
  readonly clock: MortalClock;
  readonly engine: Engine;
  readonly mounter: MountManager;
  readonly mounting: MountSteps;
  readonly watch: MountReconciler;
  readonly client: MountClient;
  readonly begunAtMs: number;
  state: 'opening' | 'up' | 'frozen' | 'dead' = 'opening';
  isReplaced = false;
  readonly #host: MountsHost;
  readonly #outages: Outage[] = [];
  readonly #allocations: Allocations;
  readonly #singles: SingleMounts;
  readonly #holds: EarlierHolds;
  readonly #volumeWatch: VolumeWatch;
  #ending: Ending | undefined;
  readonly #compared = new Gate();

  constructor({ host, number, store, plugins, policy, isAskedAsBefore }: MountsLifeOptions) {
    const { seed, timeline, traits, kernel, paths, places, logger } = host;
    this.#host = host;
    this.number = number;
    this.begunAtMs = timeline.monotonicMs;
    this.clock = new MortalClock(timeline);
    const { clock } = this;
    const random = seededRandom(mixed(seed, 'life', number));
    const claims = host.claims.client(clock);
    const access = new PluginAccess(plugins(this), { clock, maxInFlight: traits.maxInFlight });
    const node = csiNode({ timeoutMs: callTimeoutMs });
    const locks = new VolumeLocks();
    const tables = new MountTables(() => kernel.read());
    const tool = toolOf(kernel);
    const { bootId } = kernel;
    const troubles = new TroubleLog({ clock, logger });
    const isDead = async (path: string): Promise<boolean> => kernel.isDead(path);
    const baseDirOf = (): undefined => undefined;
    const shared = async (): Promise<void> => {};
    const former = noFormerMounts;
    const retry = { initialMs: 100, maxMs: 4_000 };
    this.engine = new Engine({
      store: this.#mortal(store),
      clock,
      random,
      logger,
      lease: { name: `node/${nodeId}`, holder: this.name, ttlMs: traits.leaseTtlMs },
      policy,
    });
    const { engine } = this;
    const orphans = new OrphanedMounts({ nodeId, engine, paths, tables, tool, logger });
    const timeouts = { intervalMs: 60_000, timeoutMs: callTimeoutMs };
    const stats = new Stats({
      nodeId,
      engine,
      node,
      access,
      locks,
      paths,
      former,
      baseDirOf,
      clock,
      logger,
      ...timeouts,
    });
    this.client = new MountClient({ node: nodeId, engine, clock });
    const { client } = this;
    this.mounting = new MountSteps({
      ...{ client, clock, claims, paths, tables, access, shared, baseDirOf, former },
      secrets: noSecrets,
    });
    this.watch = new MountReconciler({
      ...{ nodeId, engine, paths, tables, orphans, bootId, clock, logger, troubles, isDead },
      onPluginLoss: traits.onPluginLoss,
      former,
    });
    const { mounting } = this;
    const compare = (volumes: readonly VolumeKey[]): Promise<void> => this.watch.compare(volumes);
    const allocs = new AllocClient({ node: nodeId, engine, clock });
    const singles = new SingleMounts({ client: allocs, logger, bootId, mounting, compare });
    const holds = new EarlierHolds({ engine, client, mounting, singles, claims, clock, logger });
    this.mounter = new MountManager({
      ...{ client, singles, holds, paths, tables, access, orphans, former, stats, compare },
    });
    this.#allocations = new Allocations({
      ...{ client: allocs, engine, claims, bootId, compare, singles, former },
      mounts: (volumes) => this.mounter.told(volumes),
    });
    this.#singles = singles;
    this.#holds = holds;
    const concerns = [new LostClaims(engine), new Expansions(engine)];
    this.#volumeWatch = new VolumeWatch({ nodeId, claims, concerns, clock, troubles });
    const kinds = [
      mountKind({
        ...{
          nodeId,
          node,
          claims,
          paths,
          directories: places,
          tables,
          baseDirOf,
          bootId,
          isDead,
          shared,
          logger,
          isClosed: true,
        },
        processes: host.processes,
        timeoutMs: callTimeoutMs,
        calls: new PluginCalls({ access, secrets: noSecrets, clock, retry, locks }),
        undoing: new MountUndoing({ tables, tool, bootId, logger }),
        compared: () => this.#compared.whenOpen(),
        former,
        blockDeviceAt: async (path) => (kernel.at(path)?.fsType === 'devtmpfs' ? { isWritable: false } : undefined),
        lookSoon: (plugin) => this.#lookSoon(plugin),
      }),
      allocKind(new AllocWorker({ node: nodeId, claims, clock, mounting, compared: () => this.#compared.whenOpen() })),
    ];
    engine.host(isAskedAsBefore ? kinds.map(committingRefusals) : kinds);
  }

  get name(): string {
    return `life ${this.number}`;
  }

  get isAlive(): boolean {
    return this.clock.isAlive;
  }

  /** @param opened called once all others have lost their right to act */
  async begin(opened: () => void): Promise<void> {
    await this.engine.open();
    opened();
    await this.engine.restore(['']);
    const begun = new AbortController();
    void this.#start().finally(() => begun.abort());
    await pause(this.clock, startLimitMs, begun.signal);
    if (this.state === 'opening') this.state = 'up';
  }

  /** As the node side begins. */
  async #start(): Promise<void> {
    await this.watch.start();
    await this.#host.allocs.recover(this);
    while (!(await this.#allocations.recover().then(isDone, isNotDone))) await pause(this.clock, 1_000);
    this.#compared.open();
    for (const part of [this.#volumeWatch, this.#singles, this.#holds]) part.start();
  }

  /** Another process is behind the plugin, or it is well again. */
  pluginBack(plugin: string): void {
    this.clock.whenAwake(() => this.#lookSoon(plugin));
  }

  /** The node hears that it has lost all claims. */
  fenced(): void {
    this.clock.whenAwake(() => {
      void this.#volumeWatch.lookAtAll();
      void this.#host.allocs.look(this);
    });
  }

  grown(key: VolumeKey): void {
    this.clock.whenAwake(() => {
      void this.#volumeWatch.noticed(key);
    });
  }

  /** It ends at one of its next calls, or soon. */
  endAt(ending: Ending): void {
    if (this.#ending) return;
    this.#ending = ending;
    this.clock.after(endLimitMs, () => this.#end());
  }

  /** Nothing ends it any more. */
  spare(): void {
    this.#ending = undefined;
    this.#outages.length = 0;
  }

  kill(): void {
    if (this.state === 'dead') return;
    this.#host.tell(`${this.name} is dead`);
    this.state = 'dead';
    this.clock.kill();
  }

  thaw(): void {
    if (this.state === 'dead') return;
    this.#host.tell(`${this.name} goes on`);
    this.clock.thaw();
  }

  whenAwake(hear: () => void): void {
    this.clock.whenAwake(hear);
  }

  passed(of: 'store' | 'plugin', moment: 'before' | 'after'): void {
    const ending = this.#ending;
    if (!ending || ending.of !== of || ending.moment !== moment) return;
    ending.calls -= 1;
    if (ending.calls === 0) this.#end();
  }

  #lookSoon(plugin: string): void {
    const looks = [this.#host.allocs.look(this), this.#volumeWatch.lookAtAll()];
    void Promise.all(looks).then(() => this.watch.lookSoon(plugin));
  }

  #end(): void {
    const ending = this.#ending;
    if (!ending || this.state === 'dead' || this.state === 'frozen') return;
    if (ending.how === 'crash') this.kill();
    else {
      this.#host.tell(`${this.name} stands still`);
      this.state = 'frozen';
      this.clock.freeze();
    }
    ending.ended();
  }

  #mortal(store: Store): Store {
    const { seed, traits } = this.#host;
    for (let at = 0; at < traits.storeOutages; at += 1) {
      const from = 5 + Math.floor(chance(seed, this.number, 'outage', at) * 80);
      this.#outages.push({ from, to: from + Math.floor(chance(seed, this.number, 'outage', at, 'to') * 4), moods });
    }
    return lifeStore(store, {
      clock: this.clock,
      seed: mixed(seed, this.number),
      latencyMs: traits.storeLatencyMs,
      outages: this.#outages,
      passed: (_, moment) => this.passed('store', moment),
      log: () => {},
    });
  }
}

const isDone = (): boolean => true;
const isNotDone = (): boolean => false;

/** The tools of the host that mounts need. */
const toolOf = (kernel: SimulatedKernel): HostTool => ({
  run: async (tool, args) => {
    if (tool !== 'umount') throw new Error(`nobody uses ${tool} here`);
    const why = kernel.unmount(args.at(-1) ?? '');
    return { status: why === undefined ? 0 : 32, stdout: '', stderr: why ?? '' };
  },
  isAlive: async (path) => (kernel.isDead(path) ? 'dead' : 'alive'),
});
