/** One runtime of a history of volumes: what belongs to volumes and nodes of it, composed as src/runtime/runtime.ts does. */

import { PluginAccess } from '../../src/calls/plugin-access.js';
import { PluginCalls } from '../../src/calls/plugin-calls.js';
import type { PluginPort } from '../../src/calls/plugin-port.js';
import { VolumeLocks } from '../../src/calls/volume-locks.js';
import { csiController } from '../../src/csi-plugins/controller.js';
import { csiSnapshots } from '../../src/csi-plugins/snapshots.js';
import type { ActorPolicy } from '../../src/engine/actor/policy.js';
import { Engine } from '../../src/engine/engine.js';
import type { Logger } from '../../src/engine/logger.js';
import type { Random } from '../../src/engine/random.js';
import { TroubleLog } from '../../src/engine/storage/trouble-log.js';
import type { Store } from '../../src/engine/store.js';
import { NodeAdmission, type NodeTarget } from '../../src/nodes/node-admission.js';
import { NodeFence, nodeKind } from '../../src/nodes/node-kind.js';
import { NodeManager } from '../../src/nodes/node-manager.js';
import type { SecretsProvider } from '../../src/secrets/secrets.js';
import { snapshotKinds } from '../../src/snapshots/snapshot-kinds.js';
import { groupSnapshotManager, snapshotManager } from '../../src/snapshots/snapshot-manager.js';
import { seededRandom } from '../../src/testing/index.js';
import { CopySources } from '../../src/volumes/copy-sources.js';
import { IdOwners, snapshotIds, volumeIds } from '../../src/volumes/id-owners.js';
import { OrphanedVolumes } from '../../src/volumes/orphaned-volumes.js';
import { Reconciler } from '../../src/volumes/reconciler.js';
import { volumeKind } from '../../src/volumes/volume-kind.js';
import { VolumeManager } from '../../src/volumes/volume-manager.js';
import { askedAsBefore, committingRefusals } from './asked-as-before.js';
import { chance, mixed } from './dice.js';
import { lifeStore } from './life-store.js';
import type { Mood, Outage } from './plan.js';
import { MortalClock, type Timeline } from './timeline.js';
import type { Caller } from './volumes-driver.js';
import type { Traits } from './volumes-plan.js';

export const callTimeoutMs = 5_000;
const patienceMs = 300;
const moods: Mood[] = [
  { answer: 'fails', moment: 'before' },
  { answer: 'fails', moment: 'after' },
  { answer: 'late', fails: false, delayMs: 1_000 },
];

const unasked = (): Promise<never> => Promise.reject(new Error('nobody asks for this here'));

interface VolumesLifeOptions {
  seed: number;
  number: number;
  timeline: Timeline;
  store: Store;
  traits: Traits;
  plugins(life: VolumesLife): PluginPort;
  secrets: SecretsProvider;
  logger: Logger;
  /** Default: by seed and number. */
  random?: Random;
  tell(line: string): void;
  /** See HistoryOptions. */
  policy?: Partial<ActorPolicy>;
  isAskedAsBefore?: boolean;
}

interface Ending {
  how: 'crash' | 'freeze';
  calls: number;
  moment: 'before' | 'after';
  ended(): void;
}

export class VolumesLife implements Caller {
  readonly number: number;
  readonly clock: MortalClock;
  readonly engine: Engine;
  readonly volumes: VolumeManager;
  readonly nodes: NodeManager;
  readonly snapshots: ReturnType<typeof snapshotManager>;
  readonly groupSnapshots: ReturnType<typeof groupSnapshotManager>;
  state: 'opening' | 'up' | 'frozen' | 'dead' = 'opening';
  isReplaced = false;
  readonly #tell: (line: string) => void;
  readonly #outages: Outage[] = [];
  #ending: Ending | undefined;

  constructor(options: VolumesLifeOptions) {
    const { seed, number, timeline, traits, logger, secrets, tell } = options;
    this.number = number;
    this.clock = new MortalClock(timeline);
    this.#tell = tell;
    const { clock } = this;
    const { random = seededRandom(mixed(seed, 'life', number)) } = options;
    const access = new PluginAccess(options.plugins(this), { clock, maxInFlight: traits.maxInFlight });
    const controller = csiController({ timeoutMs: callTimeoutMs });
    const calls = new PluginCalls({
      access,
      secrets,
      clock,
      retry: { initialMs: 100, maxMs: 4_000 },
      locks: new VolumeLocks(),
    });
    this.engine = new Engine({
      store: this.#mortal(options),
      clock,
      random,
      logger,
      lease: { name: 'node/n1', holder: this.name, ttlMs: traits.leaseTtlMs },
      policy: options.policy ?? {},
    });
    const engine = options.isAskedAsBefore ? askedAsBefore(this.engine) : this.engine;
    const ports = { engine: this.engine, clock };
    const ids = { volumes: new IdOwners(ports, volumeIds), snapshots: new IdOwners(ports, snapshotIds) };
    const sources = new CopySources(ids);
    this.nodes = new NodeManager({ engine: this.engine, clock, witness: { contradicts: async () => undefined } });
    const target = (node: string, plugin: string): NodeTarget => this.nodes.target(node, plugin);
    const admission = new NodeAdmission({ engine, clock, random, target });
    const troubles = new TroubleLog({ clock, logger });
    const fence = new NodeFence({ engine: this.engine, clock, logger, troubles, admission });
    const orphans = new OrphanedVolumes({ changed: () => {} });
    const reconciler = new Reconciler({
      orphans,
      plugins: () => [],
      engine: this.engine,
      controller,
      access,
      nodesOf: (plugin) => this.nodes.byCsiId(plugin),
      refusal: () => undefined,
      clock,
      logger,
      troubles,
      intervalMs: Number.POSITIVE_INFINITY, // only when it is asked for
    });
    this.volumes = new VolumeManager({
      publishesHere: () => false,
      former: { of: async () => [] },
      engine,
      clock,
      random,
      namePrefix: 'sc',
      secrets,
      reconciler,
      orphans,
      ids: ids.volumes,
      sources,
      capacity: unasked,
      isKnownPlugin: () => true,
      admission,
      target,
    });
    const managed = { engine: this.engine, clock, random, namePrefix: 'sc', secrets, sources };
    this.snapshots = snapshotManager(managed);
    this.groupSnapshots = groupSnapshotManager(managed);
    const timeoutMs = callTimeoutMs;
    const kinds = [
      volumeKind({ controller, calls, timeoutMs, ids: ids.volumes, sources, topologiesOf: () => new Map() }),
      nodeKind({ afterMs: traits.fencingAfterMs, clock, fence }),
      ...snapshotKinds({ snapshots: csiSnapshots({ timeoutMs }), calls, timeoutMs, ids: ids.snapshots, sources }),
    ];
    this.engine.host(options.isAskedAsBefore ? kinds.map(committingRefusals) : kinds);
  }

  get name(): string {
    return `life ${this.number}`;
  }

  get isAlive(): boolean {
    return this.clock.isAlive;
  }

  /** @param opened called once all others have lost their right to act @param prefixes addresses of its actors; default all */
  async begin(opened: () => void, prefixes = ['']): Promise<void> {
    await this.engine.open();
    opened();
    await this.engine.restore(prefixes);
    if (this.state === 'opening') this.state = 'up';
  }

  /** Ends at one of its next calls of the store, or soon. */
  endAt(ending: Ending): void {
    if (this.#ending) return;
    this.#ending = ending;
    this.clock.after(patienceMs, () => this.#end());
  }

  /** Nothing ends it any more. */
  spare(): void {
    this.#ending = undefined;
    this.#outages.length = 0;
  }

  kill(): void {
    if (this.state === 'dead') return;
    this.#tell(`${this.name} is dead`);
    this.state = 'dead';
    this.clock.kill();
  }

  thaw(): void {
    this.#tell(`${this.name} goes on`);
    this.clock.thaw();
  }

  whenAwake(hear: () => void): void {
    this.clock.whenAwake(hear);
  }

  #end(): void {
    const ending = this.#ending;
    if (!ending || this.state === 'dead' || this.state === 'frozen') return;
    if (ending.how === 'crash') this.kill();
    else {
      this.#tell(`${this.name} stands still`);
      this.state = 'frozen';
      this.clock.freeze();
    }
    ending.ended();
  }

  #mortal({ seed, number, store, traits: { storeOutages, storeLatencyMs } }: VolumesLifeOptions): Store {
    for (let at = 0; at < storeOutages; at += 1) {
      const from = 5 + Math.floor(chance(seed, number, 'outage', at) * 80);
      this.#outages.push({ from, to: from + Math.floor(chance(seed, number, 'outage', at, 'to') * 4), moods });
    }
    return lifeStore(store, {
      clock: this.clock,
      seed: mixed(seed, number),
      latencyMs: storeLatencyMs,
      outages: this.#outages,
      passed: (_, moment) => {
        const ending = this.#ending;
        if (!ending || ending.moment !== moment) return;
        ending.calls -= 1;
        if (ending.calls === 0) this.#end();
      },
      log: () => {},
    });
  }
}
