/** The node side of a runtime, composed as src/runtime/node-side.ts does, on a host that is simulated: mounts and allocs of one node. */
import { nodeOwnedPrefix } from '../../machines/kit/addresses.js';
import { AllocClient } from '../../src/allocs/alloc-client.js';
import { AllocWorker, allocKind } from '../../src/allocs/alloc-work.js';
import { Allocations } from '../../src/allocs/allocations.js';
import { SingleMounts } from '../../src/allocs/single-mounts.js';
import { PluginAccess } from '../../src/calls/plugin-access.js';
import { PluginCalls } from '../../src/calls/plugin-calls.js';
import type { PluginPort } from '../../src/calls/plugin-port.js';
import { VolumeLocks } from '../../src/calls/volume-locks.js';
import { csiNode } from '../../src/csi-plugins/node.js';
import { Engine } from '../../src/engine/engine.js';
import { Gate } from '../../src/engine/gate.js';
import { silentLogger } from '../../src/engine/logger.js';
import type { Random } from '../../src/engine/random.js';
import { TroubleLog } from '../../src/engine/storage/trouble-log.js';
import type { Store } from '../../src/engine/store.js';
import type { ClaimClient } from '../../src/mounts/claim-client.js';
import type { HostTool } from '../../src/mounts/host-tool.js';
import { MountClient } from '../../src/mounts/mount-client.js';
import { mountKind } from '../../src/mounts/mount-kind.js';
import { MountManager } from '../../src/mounts/mount-manager.js';
import { MountReconciler } from '../../src/mounts/mount-reconciler.js';
import { MountSteps } from '../../src/mounts/mount-steps.js';
import { MountTables } from '../../src/mounts/mount-tables.js';
import { MountUndoing } from '../../src/mounts/mount-undoing.js';
import { OrphanedMounts } from '../../src/mounts/orphaned-mounts.js';
import { mountPaths } from '../../src/mounts/paths.js';
import { Stats } from '../../src/mounts/volume-stats.js';
import { LostClaims, VolumeWatch } from '../../src/mounts/volume-watch.js';
import { noSecrets } from '../../src/secrets/secrets.js';
import type { SimulatedKernel } from '../simulation/mounts-kernel.js';
import type { MortalClock } from '../simulation/timeline.js';
import { callTimeoutMs } from '../simulation/volumes-life.js';
import { noFormerMounts } from '../support/no-former-mounts.js';

const dataDir = '/var/lib/stagecraft';

interface WorkerOptions {
  nodeId: string;
  /** Names the runtime. */
  holder: string;
  store: Store;
  clock: MortalClock;
  random: Random;
  kernel: SimulatedKernel;
  claims: ClaimClient;
  plugins: PluginPort;
}

export class Worker {
  readonly allocations: Allocations;
  readonly #engine: Engine;
  readonly #nodeId: string;
  readonly #watch: MountReconciler;
  readonly #volumeWatch: VolumeWatch;
  readonly #compared = new Gate();

  constructor({ nodeId, holder, store, clock, random, kernel, claims, plugins }: WorkerOptions) {
    const logger = silentLogger;
    const access = new PluginAccess(plugins, { clock, maxInFlight: 64 });
    const node = csiNode({ timeoutMs: callTimeoutMs });
    const locks = new VolumeLocks();
    const tables = new MountTables(() => kernel.read());
    const tool = toolOf(kernel);
    const paths = mountPaths({ dataDir, socketRoot: dataDir });
    const { bootId } = kernel;
    const isDead = async (path: string): Promise<boolean> => kernel.isDead(path);
    const shared = async (): Promise<void> => {};
    const baseDirOf = (): undefined => undefined;
    const secrets = noSecrets;
    this.#nodeId = nodeId;
    const compared = (): Promise<void> | undefined => this.#compared.whenOpen();
    const lease = { name: `node/${nodeId}`, holder, ttlMs: 15_000 };
    this.#engine = new Engine({ store, clock, random, logger, lease });
    const engine = this.#engine;
    const former = noFormerMounts;
    const troubles = new TroubleLog({ clock, logger });
    const client = new MountClient({ node: nodeId, engine, clock });
    const mounting = new MountSteps({
      ...{ client, clock, claims, secrets, paths, tables, access, baseDirOf, shared, former },
    });
    const orphans = new OrphanedMounts({ nodeId, engine, paths, tables, tool, logger });
    const times = { intervalMs: 60_000, timeoutMs: callTimeoutMs };
    const stats = new Stats({ nodeId, engine, node, access, locks, paths, former, baseDirOf, clock, logger, ...times });
    this.#watch = new MountReconciler({
      ...{ nodeId, engine, paths, tables, orphans, bootId, clock, logger, isDead },
      troubles,
      former,
      onPluginLoss: 'remount',
    });
    this.#volumeWatch = new VolumeWatch({ nodeId, claims, concerns: [new LostClaims(engine)], clock, troubles });
    const compare = this.#watch.compare.bind(this.#watch);
    const allocs = new AllocClient({ node: nodeId, engine, clock });
    const singles = new SingleMounts({ client: allocs, logger, bootId, mounting, compare });
    const mounter = new MountManager({
      ...{ client, singles, paths, tables, access, orphans, former, stats, compare },
      holds: { claim: async () => {}, unmount: async () => {} },
    });
    this.allocations = new Allocations({
      ...{ client: allocs, engine, claims, bootId, compare, singles, former },
      mounts: (volumes) => mounter.told(volumes),
    });
    engine.host([
      mountKind({
        ...{ nodeId, node, claims, paths, tables, baseDirOf, bootId, isDead, shared, compared, logger, isClosed: true },
        directories: {
          makeStaging: async () => {},
          makeParent: async () => {},
          isFile: () => false,
          remove: async () => undefined,
        },
        former,
        processes: { of: () => ({}), hasEnded: async () => false },
        timeoutMs: callTimeoutMs,
        calls: new PluginCalls({ access, secrets, clock, retry: { initialMs: 100, maxMs: 4_000 }, locks }),
        undoing: new MountUndoing({ tables, tool, bootId, logger }),
        blockDeviceAt: async () => undefined,
        lookSoon: (plugin) => this.#watch.lookSoon(plugin),
      }),
      allocKind(new AllocWorker({ node: nodeId, claims, clock, compared, mounting })),
    ]);
  }

  async begin(): Promise<void> {
    await this.#engine.open();
    await this.#engine.restore(['mount', 'alloc'].map((kind) => nodeOwnedPrefix(kind, this.#nodeId)));
    await this.#watch.start();
    await this.allocations.recover();
    this.#compared.open();
    this.#volumeWatch.start();
  }
}

const toolOf = (kernel: SimulatedKernel): HostTool => ({
  run: async (_, args) => {
    const why = kernel.unmount(args.at(-1) ?? '');
    return { status: why === undefined ? 0 : 32, stdout: '', stderr: why ?? '' };
  },
  isAlive: async (path) => (kernel.isDead(path) ? 'dead' : 'alive'),
});
