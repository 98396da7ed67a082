/**
 * An agent of somebody's own that embeds the runtime, and does with its allocs what its parent says. It tells each step
 * that it takes, and at one of them kills who it is told to kill: itself, the driver, or both. It dies with its parent.
 * Its argument: MatrixAgentOptions as JSON.
 */

import type { AllocMount } from '../../dist/machines/alloc-types.js';
import { CsiClient } from '../../dist/src/csi/client.js';
import { csiDispensers } from '../../dist/src/csi/dispenser.js';
import { createRuntime, type Volume, type VolumeSpec } from '../../dist/src/index.js';
import type { AllocStatus } from '../../dist/src/mounts/allocations.js';
import type { AllocVolumeRequest } from '../../dist/src/mounts/mount-spec.js';
import type { MountStatus } from '../../dist/src/mounts/mount-view.js';
import { type Commit, lmdbStore, type Store } from '../../dist/src/stores/index.js';
import { interceptedStore } from '../engine/intercepted-store.js';

export interface MatrixAgentOptions {
  dataDir: string;
  socketPath: string;
}

/** What an agent does: a commit by its actor and event, a call by its RPC and volume; the how manieth of those. */
export interface MatrixStep {
  kind: 'commit' | 'call';
  /** The address of an actor, or the id of a volume. */
  of: string;
  /** The type of an event, or an RPC. */
  what: string;
  /** Counted from 1, from where it was armed on. */
  nth: number;
}

export type Mortal = 'agent' | 'driver';

/** Who dies where. */
export interface MatrixMoment {
  step: MatrixStep;
  when: 'before' | 'after';
  dying: Mortal[];
}

/** All that it believes. */
export interface Belief {
  mounts: MountStatus[];
  allocs: AllocStatus[];
  volumes: Volume[];
}

export type MatrixAsk =
  | { op: 'arm'; moment: MatrixMoment | null; driverPid: number }
  | { op: 'steps' }
  | { op: 'prepare'; allocId: string; volumes: AllocVolumeRequest[] }
  | { op: 'release'; allocId: string }
  | { op: 'create'; spec: VolumeSpec }
  | { op: 'delete'; id: string }
  | { op: 'look' };

/** To `arm`, `create`, `release` and `delete` there is nothing to say but that it is done. */
export interface MatrixAnswer {
  number: number;
  failed?: { code: string; message: string };
  steps?: MatrixStep[];
  mounts?: AllocMount[];
  belief?: Belief;
}

const plugin = 'disk';
/** Of whose commits it tells. */
const watchedAddresses = /^(alloc|mount|volume|node)\//;
/** Calls that are asked for by mounts and volumes, by the names of the client's methods. */
const watchedCalls = new Set([
  'controllerPublishVolume',
  'controllerUnpublishVolume',
  'nodeStageVolume',
  'nodeUnstageVolume',
  'nodePublishVolume',
  'nodeUnpublishVolume',
]);

/** Knows each step that is taken, and kills at one of them. */
class Steps {
  taken: MatrixStep[] = [];
  #moment: MatrixMoment | null = null;
  #driverPid = 0;
  /** By the plugin's ids of volumes. */
  #ids = new Map<string, string>();

  arm(moment: MatrixMoment | null, driverPid: number, volumes: Volume[]): void {
    this.taken = [];
    this.#moment = moment;
    this.#driverPid = driverPid;
    this.#ids = new Map(volumes.flatMap(({ csiId, key }) => (csiId === undefined ? [] : [[csiId, key.id]])));
  }

  commits(items: readonly Commit[]): MatrixStep[] {
    return items
      .filter(({ address }) => watchedAddresses.test(address))
      .map(({ address, journal }) => this.#take('commit', address, JSON.parse(journal).event?.type ?? 'begin'));
  }

  call(method: string, request: { volumeId?: string }): MatrixStep {
    const id = this.#ids.get(request.volumeId ?? '') ?? 'unknown';
    return this.#take('call', id, method.charAt(0).toUpperCase() + method.slice(1));
  }

  /** Never resolves where it is itself that dies. */
  async pass(when: MatrixMoment['when'], steps: MatrixStep[]): Promise<void> {
    const moment = this.#moment;
    if (!moment || moment.when !== when || !steps.some((step) => isSame(step, moment.step))) return;
    this.#moment = null;
    if (moment.dying.includes('driver')) process.kill(this.#driverPid, 'SIGKILL');
    if (!moment.dying.includes('agent')) return;
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => {});
  }

  #take(kind: MatrixStep['kind'], of: string, what: string): MatrixStep {
    const before = this.taken.filter((step) => step.kind === kind && step.of === of && step.what === what);
    const step = { kind, of, what, nth: before.length + 1 };
    this.taken.push(step);
    return step;
  }
}

const isSame = (one: MatrixStep, other: MatrixStep): boolean =>
  one.kind === other.kind && one.of === other.of && one.what === other.what && one.nth === other.nth;

const steps = new Steps();

function watchedStore(inner: Store): Store {
  const commit: Store['commit'] = async (items) => {
    const taken = steps.commits(items);
    await steps.pass('before', taken);
    const results = await inner.commit(items);
    await steps.pass('after', taken);
    return results;
  };
  return { ...interceptedStore(inner, { pass: (_, proceed) => proceed() }), commit };
}

const watchedClient = (client: CsiClient): CsiClient =>
  new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (typeof name !== 'string' || !watchedCalls.has(name)) return member.bind(target);
      return async (...given: unknown[]) => {
        const step = steps.call(name, Object(given[0]));
        await steps.pass('before', [step]);
        try {
          return await member.apply(target, given);
        } finally {
          await steps.pass('after', [step]);
        }
      };
    },
  });

const { dataDir, socketPath }: MatrixAgentOptions = JSON.parse(process.argv[2] ?? '');
const builtIn = csiDispensers();
const connect = (): CsiClient => watchedClient(new CsiClient({ socketPath }));
const runtime = await createRuntime({
  nodeId: 'n1',
  dataDir,
  store: watchedStore(lmdbStore(`${dataDir}/state`)),
  dispensers: {
    'csi-node': { ...builtIn['csi-node'], connect },
    'csi-controller': { ...builtIn['csi-controller'], connect },
  },
  calls: { timeoutMs: 500, nodeTimeoutMs: 500 },
  retry: { initialMs: 5, maxMs: 50 },
  fingerprint: { intervalMs: 100 },
});

async function work(ask: MatrixAsk): Promise<Omit<MatrixAnswer, 'number'>> {
  switch (ask.op) {
    case 'arm':
      steps.arm(ask.moment, ask.driverPid, (await runtime.volumes.list()).items);
      return {};
    case 'steps':
      return { steps: steps.taken };
    case 'prepare':
      return { mounts: await runtime.allocations.prepare(ask.allocId, ask.volumes) };
    case 'release':
      await runtime.allocations.release(ask.allocId);
      return {};
    case 'create':
      await runtime.volumes.create(ask.spec);
      return {};
    case 'delete':
      await runtime.volumes.delete({ id: ask.id });
      return {};
    case 'look': {
      const [mounts, allocs, { items }] = await Promise.all([
        runtime.mounts.list(),
        runtime.allocations.list(),
        runtime.volumes.list(),
      ]);
      return { belief: { mounts, allocs, volumes: items } };
    }
  }
}

process.on('message', async ({ number, ask }: { number: number; ask: MatrixAsk }) => {
  const answer: MatrixAnswer = await work(ask).then(
    (done) => ({ number, ...done }),
    ({ code, message }) => ({ number, failed: { code, message } }),
  );
  process.send?.(answer);
});
process.on('disconnect', () => process.exit());

for (const type of ['csi-node', 'csi-controller'])
  await runtime.plugins.register({ type, name: plugin, allocId: 'disk-1', connection: { socketPath } });
process.send?.('ready');
