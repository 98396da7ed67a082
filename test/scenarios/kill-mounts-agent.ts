/**
 * An agent of somebody's own that embeds the runtime, and does with its allocs what its parent says. It tells each step
 * that it takes, and at one of them kills who it is told to kill: itself, the driver, or both. It dies with its parent.
 * Its argument: MatrixAgentOptions as JSON.
 */

import type { AllocMount } from '../../dist/machines/alloc/volume-steps.js';
import type { AllocStatus } from '../../dist/src/allocs/alloc-view.js';
import { CsiClient } from '../../dist/src/csi/client.js';
import { csiDispensers } from '../../dist/src/csi-plugins/dispenser.js';
import { createRuntime, type Volume, type VolumeSpec } from '../../dist/src/index.js';
import type { AllocVolumeRequest } from '../../dist/src/mounts/mount-spec.js';
import type { MountStatus } from '../../dist/src/mounts/mount-view.js';
import { type Commit, lmdbStore, type Store } from '../../dist/src/stores/index.js';
import type { ErrorCode } from '../../src/errors.js';
import { faultyStore } from '../support/faulty-store.js';

export interface MatrixAgentOptions {
  dataDir: string;
  /** Where the driver of its volumes listens, or the command of the task that is that. */
  driver: { socketPath: string } | { command: string[] };
  /** Of its calls. */
  timeoutMs: number;
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
  /** `driverPid`: of one that is no task. */
  | { op: 'arm'; moment: MatrixMoment | null; driverPid?: number }
  /** The driver can be asked. */
  | { op: 'await-driver' }
  | { op: 'steps' }
  | { op: 'prepare'; allocId: string; volumes: AllocVolumeRequest[] }
  | { op: 'release'; allocId: string }
  | { op: 'create'; spec: VolumeSpec }
  | { op: 'delete'; id: string }
  | { op: 'look' };

/** To most there is nothing to say but that it is done. */
export interface MatrixAnswer {
  number: number;
  failed?: { code: ErrorCode; message: string };
  steps?: MatrixStep[];
  /** Whether somebody was killed. */
  isMet?: boolean;
  mounts?: AllocMount[];
  belief?: Belief;
}

const plugin = 'disk';
const types = ['csi-node', 'csi-controller'];
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
  #driverPid: number | undefined;
  /** By the plugin's ids of volumes. */
  #ids = new Map<string, string>();

  get isMet(): boolean {
    return this.#moment === null;
  }

  arm(moment: MatrixMoment | null, driverPid: number | undefined, volumes: Volume[]): void {
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
    if (moment.dying.includes('driver') && this.#driverPid !== undefined) process.kill(this.#driverPid, 'SIGKILL');
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
  return { ...faultyStore(inner), commit };
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

const { dataDir, driver, timeoutMs }: MatrixAgentOptions = JSON.parse(process.argv[2] ?? '');
const builtIn = csiDispensers();
const connect: (typeof builtIn)['csi-node']['connect'] = ({ connection: { socketPath } }) =>
  watchedClient(new CsiClient({ socketPath }));
const runtime = await createRuntime({
  nodeId: 'n1',
  dataDir,
  store: watchedStore(lmdbStore(`${dataDir}/state`)),
  dispensers: {
    'csi-node': { ...builtIn['csi-node'], connect },
    'csi-controller': { ...builtIn['csi-controller'], connect },
  },
  calls: { timeoutMs, nodeTimeoutMs: timeoutMs },
  retry: { initialMs: 5, maxMs: 50 },
  fingerprint: { intervalMs: 100 },
});

const pidOfTask = (): number | undefined => runtime.tasks.list().find(({ id }) => id === plugin)?.pid;

async function work(ask: MatrixAsk): Promise<Omit<MatrixAnswer, 'number'>> {
  switch (ask.op) {
    case 'arm':
      steps.arm(ask.moment, ask.driverPid ?? pidOfTask(), (await runtime.volumes.list()).items);
      return {};
    case 'await-driver':
      await Promise.all(types.map((type) => runtime.plugins.waitFor(type, plugin)));
      return {};
    case 'steps':
      return { steps: steps.taken, isMet: steps.isMet };
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

if ('command' in driver) {
  // A stage plays many cells in a minute, and each kills it.
  const restart = { maxRestarts: 1_000, backoff: { initialMs: 1, maxMs: 2 } };
  await runtime.tasks.start({ id: plugin, type: 'monolith', command: driver.command, restart });
} else {
  for (const type of types)
    await runtime.plugins.register({ type, name: plugin, allocId: 'disk-1', connection: driver });
}
process.send?.('ready');
