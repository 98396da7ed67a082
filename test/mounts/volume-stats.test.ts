/** Stats of volumes, by themselves: their plugins answer when the test says so. */
import { expect } from 'chai';
import { mountAddress } from '../../machines/kit/addresses.js';
import { noMount } from '../../machines/mount/changes.js';
import type { MountContext } from '../../machines/mount/types.js';
import { PluginAccess } from '../../src/calls/plugin-access.js';
import { lockKey, nodeCallsOf, VolumeLocks } from '../../src/calls/volume-locks.js';
import { silentLogger } from '../../src/engine/logger.js';
import { StagecraftError } from '../../src/errors.js';
import type { NodeStats } from '../../src/mounts/node-port.js';
import { mountPaths } from '../../src/mounts/paths.js';
import { Stats } from '../../src/mounts/volume-stats.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { refusalOf } from '../refusal.js';
import { actorSystem } from '../support/actor-system.js';

const capability = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const keyOf = (id: string) => ({ namespace: 'default', id });
const addressOf = (id: string): string => mountAddress('n1', 'default', id);
const lockOf = (id: string): string[] => [lockKey(`of-${id}`, nodeCallsOf(id))];

function mounted(id: string, { plugin = `of-${id}`, csiId = id } = {}): MountContext {
  const user = { allocId: 'a', readOnly: false, isClaimed: true, capability, number: 2, sinceMs: 0 };
  return {
    ...noMount({ node: 'n1', ...keyOf(id) }),
    volume: { uid: id, plugin, csiId, volumeContext: {}, publishContext: {}, secrets: {} },
    users: [{ ...user, at: 'published' }],
  };
}

class Scene {
  readonly clock = simulatedClock();
  readonly locks = new VolumeLocks();
  readonly asked: string[] = [];
  readonly mounts = new Map(['one', 'two'].map((id) => [addressOf(id), mounted(id)]));
  /** Of those that are not answered. */
  readonly hanging = new Set<string>();
  /** Where they are, as their plugins were told. */
  readonly paths: string[] = [];
  /** Plugins that can't be called; `changed` tells of a change. */
  readonly away = new Set<string>();
  readonly changed = new Map<string, () => void>();
  /** Volumes that an agent of another place has mounted. */
  readonly former = new Set<string>();
  /** No call ends. */
  heedless = false;
  client = async (): Promise<unknown> => ({});
  readonly stats: Stats;

  constructor(timeoutMs = 120_000) {
    this.stats = this.#stats(timeoutMs);
  }

  #stats(timeoutMs: number): Stats {
    const { clock, locks, asked, mounts, hanging, away, changed, former } = this;
    const viewOf = (context: MountContext) => ({ seq: 1, state: 'published', context });
    const access = new PluginAccess(
      {
        isKnown: () => true,
        observation: (plugin) => ({
          ...(away.has(plugin) && { trouble: 'it is away' }),
          capabilities: new Set(['GET_VOLUME_STATS', 'VOLUME_CONDITION']),
          pluginCapabilities: new Set(),
          hasService: true,
          wellAtMs: 1,
        }),
        client: () => this.client(),
        lookAgain: () => {},
        watch: (plugin, tell) => {
          changed.set(plugin, tell);
          return () => {};
        },
      },
      { clock, maxInFlight: 10 },
    );
    return new Stats({
      nodeId: 'n1',
      engine: actorSystem({
        *views() {
          for (const [address, context] of mounts) yield [address, viewOf(context)];
        },
        peek: (address) => {
          const context = mounts.get(address);
          return context && viewOf(context);
        },
      }),
      node: {
        stats: (_, { csiId, volumePath, stagingPath }, { signal }) =>
          new Promise<NodeStats>((resolve, reject) => {
            asked.push(csiId);
            this.paths.push([volumePath, ...(stagingPath ? [stagingPath] : [])].join(', '));
            if (this.heedless) return;
            signal.addEventListener('abort', () => reject(signal.reason));
            if (!hanging.has(csiId)) resolve({ usage: [] });
          }),
      },
      ...{ access, locks, clock, logger: silentLogger, intervalMs: 60_000, timeoutMs },
      former: {
        why: ({ id }) => (former.has(id) ? 'another agent has it' : undefined),
        refuse: ({ id }) => {
          if (former.has(id)) throw new StagecraftError('MOUNT_ELSEWHERE', 'another agent has it');
        },
      },
      paths: mountPaths({ dataDir: '/d', socketRoot: '/d' }),
      baseDirOf: (plugin) => (plugin === 'in-a-task' ? '/seen' : undefined),
    });
  }
}

describe('stats of volumes', () => {
  let scene: Scene;
  beforeEach(() => {
    scene = new Scene();
  });

  it('V9 statistics and other node calls of one volume never overlap', async () => {
    const { stats, locks, clock, asked, hanging } = scene;
    locks.take(lockOf('one'));
    const told = stats.of(keyOf('one'));
    await clock.advance(0);
    expect(asked).to.deep.equal([]);

    hanging.add('one');
    locks.leave(lockOf('one'));
    await clock.advance(0);
    expect([asked, locks.take(lockOf('one'))]).to.deep.equal([['one'], false]);

    const late = refusalOf(told);
    await clock.advance(10_000);
    expect((await late).code).to.equal('TIMEOUT');
    expect(locks.take(lockOf('one'))).to.equal(true);
  });

  it('V9 unmounted while its turn was waited for, nothing is asked', async () => {
    const { stats, locks, clock, asked, mounts } = scene;
    locks.take(lockOf('one'));
    const told = refusalOf(stats.of(keyOf('one')));
    await clock.advance(0);
    mounts.delete(addressOf('one'));
    locks.leave(lockOf('one'));
    expect([(await told).code, asked]).to.deep.equal(['MOUNT_NOT_FOUND', []]);
    expect(locks.take(lockOf('one'))).to.equal(true);
  });

  it('M15 a turn that does not come is given up after a while', async () => {
    const { stats, locks, clock, asked } = scene;
    locks.take(lockOf('one'));
    const told = refusalOf(stats.of(keyOf('one')));
    await clock.advance(10_000);
    expect([(await told).code, asked]).to.deep.equal(['TIMEOUT', []]);
  });

  it('M15 a plugin that does not answer delays its own volumes only', async () => {
    const { stats, clock, asked, hanging } = scene;
    hanging.add('one');
    stats.start();
    await clock.advance(60_000);
    expect(asked).to.deep.equal(['one', 'two']);
    stats.stop();
  });

  it('M15 a plugin that does not answer delays its own volumes only, in each look', async () => {
    const { stats, clock, asked, hanging, mounts } = scene;
    for (const id of ['one', ...Array.from({ length: 30 }, (_, at) => `one-${at}`)]) {
      mounts.set(addressOf(id), mounted(id, { plugin: 'of-one' }));
      hanging.add(id);
    }
    stats.start();
    for (let looks = 0; looks < 5; looks += 1) await clock.advance(60_000);
    stats.stop();
    expect(asked.filter((id) => id === 'two')).to.have.length(5);
  });

  it('M15 V9 of one plugin four volumes at once are asked about, each once, however long it takes', async () => {
    const { stats, clock, asked, hanging, mounts } = scene;
    mounts.clear();
    const ids = Array.from({ length: 30 }, (_, at) => `v-${at}`);
    for (const id of ids) {
      mounts.set(addressOf(id), mounted(id, { plugin: 'of-one' }));
      hanging.add(id);
    }
    stats.start();
    await clock.advance(60_000);
    expect(asked).to.deep.equal(ids.slice(0, 4));
    await clock.advance(10_000);
    expect(asked).to.deep.equal(ids.slice(0, 8));
    // The next look at all finds it in the midst of them.
    await clock.advance(50_000);
    expect(asked).to.deep.equal(ids.slice(0, 28));
    stats.stop();
  });

  it('M15 a plugin that can not be called keeps no volume from other calls, and is asked once it can', async () => {
    const { stats, clock, asked, locks, away, changed } = scene;
    away.add('of-one');
    stats.start();
    await clock.advance(60_000);
    expect([asked, locks.take(lockOf('one'))]).to.deep.equal([['two'], true]);
    locks.leave(lockOf('one'));
    away.clear();
    changed.get('of-one')?.();
    await clock.advance(60_000);
    expect(asked).to.deep.equal(['two', 'one', 'two']);
    stats.stop();
  });

  it('M15 who asks waits only so long for a plugin that is away', async () => {
    const { stats, clock, away } = scene;
    away.add('of-one');
    const told = refusalOf(stats.of(keyOf('one')));
    await clock.advance(10_000);
    expect((await told).code).to.equal('PLUGIN_UNAVAILABLE');
  });

  it('M15 where calls to the node side have less time than a question for stats has, that is its time', async () => {
    const { stats, clock, hanging } = new Scene(3_000);
    hanging.add('one');
    const told = refusalOf(stats.of(keyOf('one')));
    await clock.advance(3_000);
    const { code, message } = await told;
    expect([code, message]).to.deep.equal(['TIMEOUT', "plugin 'of-one' gave no stats within 3000 ms"]);
  });

  it('M15, 34.32 a mount of an agent at another place: nothing is asked at intervals, a request is refused', async () => {
    const { stats, clock, asked, former } = scene;
    former.add('one');
    stats.start();
    await clock.advance(60_000);
    stats.stop();
    expect([asked, (await refusalOf(stats.of(keyOf('one')))).code]).to.deep.equal([['two'], 'MOUNT_ELSEWHERE']);
  });

  it('V9 a client that is had too late is asked nothing any more', async () => {
    const { stats, clock, asked } = scene;
    let give = (_: object): void => {};
    scene.client = () =>
      new Promise((resolve) => {
        give = resolve;
      });
    const told = refusalOf(stats.of(keyOf('one')));
    await clock.advance(10_000);
    expect((await told).code).to.equal('TIMEOUT');
    give({});
    await clock.advance(0);
    expect(asked).to.deep.equal([]);
  });

  for (const [what, never] of [
    ['is never had', { client: () => new Promise<never>(() => {}) }],
    ['heeds no signal', { heedless: true }],
  ] as const) {
    it(`V9 a client that ${what} does not keep the turn of its volume`, async () => {
      const { stats, clock, locks } = scene;
      Object.assign(scene, never);
      const told = refusalOf(stats.of(keyOf('one')));
      await clock.advance(0);
      expect(locks.take(lockOf('one'))).to.equal(false);
      await clock.advance(10_000);
      expect([(await told).code, locks.take(lockOf('one'))]).to.deep.equal(['TIMEOUT', true]);
    });
  }

  it('V9 another volume of that name by the time of its turn: it is asked about in a turn of its own', async () => {
    const { stats, clock, locks, asked, hanging, mounts } = scene;
    const first = [lockKey('disk', nodeCallsOf('vol-1'))];
    const second = [lockKey('disk', nodeCallsOf('vol-2'))];
    mounts.set(addressOf('one'), mounted('one', { plugin: 'disk', csiId: 'vol-1' }));
    hanging.add('vol-2');
    locks.take(first);
    const told = refusalOf(stats.of(keyOf('one')));
    await clock.advance(0);
    mounts.set(addressOf('one'), mounted('one', { plugin: 'disk', csiId: 'vol-2' }));
    locks.leave(first);
    await clock.advance(0);
    expect([asked, locks.take(second)]).to.deep.equal([['vol-2'], false]);
    await clock.advance(10_000);
    expect((await told).code).to.equal('TIMEOUT');
    expect([locks.take(first), locks.take(second)]).to.deep.equal([true, true]);
  });

  it('M1 M15 a plugin that sees the host elsewhere is asked by the paths that it knows', async () => {
    const { stats, mounts, paths } = scene;
    const { staging } = mounted('one');
    const context = mounted('one', { plugin: 'in-a-task' });
    mounts.set(addressOf('one'), { ...context, staging: { ...staging, at: 'staged', number: 1 } });
    await stats.of(keyOf('one'));
    await stats.of(keyOf('two'));
    expect(paths[0]).to.match(/^\/seen\/per-alloc\/[^/]+\/[^/]+, \/seen\/staging\/[^/]+$/);
    expect(paths[1]).to.match(/^\/d\/csi\/[^/]+\/per-alloc\/[^/]+\/[^/]+$/);
  });

  it('M15 what is under way ends with the runtime, and leaves no timer', async () => {
    const { stats, clock, asked, hanging, locks } = scene;
    hanging.add('one');
    const told = refusalOf(stats.of(keyOf('one')));
    await clock.advance(0);
    expect(asked).to.deep.equal(['one']);
    stats.stop();
    expect((await told).code).to.equal('RUNTIME_CLOSED');
    expect([clock.pending, locks.take(lockOf('one'))]).to.deep.equal([0, true]);
  });
});
