/** Stats of volumes, by themselves: their plugins answer when the test says so. */
import { expect } from 'chai';
import { mountAddress } from '../../machines/addresses.js';
import { noMount } from '../../machines/mount-changes.js';
import type { MountContext } from '../../machines/mount-types.js';
import { PluginAccess } from '../../src/calls/plugin-access.js';
import { lockKey, nodeCallsOf, VolumeLocks } from '../../src/calls/volume-locks.js';
import { silentLogger } from '../../src/engine/logger.js';
import type { NodeStats } from '../../src/mounts/node-port.js';
import { mountPaths } from '../../src/mounts/paths.js';
import { Stats } from '../../src/mounts/volume-stats.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { refusalOf } from '../refusal.js';

const capability = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const keyOf = (id: string) => ({ namespace: 'default', id });
const addressOf = (id: string): string => mountAddress('n1', 'default', id);
const lockOf = (id: string): string[] => [lockKey(`of-${id}`, nodeCallsOf(id))];

function mounted(id: string): MountContext {
  const user = { allocId: 'a', readOnly: false, isClaimed: true, capability, number: 2, sinceMs: 0 };
  return {
    ...noMount({ node: 'n1', ...keyOf(id) }),
    volume: { uid: id, plugin: `of-${id}`, csiId: id, volumeContext: {}, publishContext: {}, secrets: {} },
    users: [{ ...user, state: 'published' }],
  };
}

class Scene {
  readonly clock = simulatedClock();
  readonly locks = new VolumeLocks();
  readonly asked: string[] = [];
  readonly mounts = new Map(['one', 'two'].map((id) => [addressOf(id), mounted(id)]));
  /** Of those that are not answered. */
  readonly hanging = new Set<string>();
  readonly stats = this.#stats();

  #stats(): Stats {
    const { clock, locks, asked, mounts, hanging } = this;
    const viewOf = (context: MountContext) => ({ seq: 1, state: 'published', context });
    const access = new PluginAccess(
      {
        isKnown: () => true,
        sight: () => ({
          capabilities: new Set(['GET_VOLUME_STATS', 'VOLUME_CONDITION']),
          pluginCapabilities: new Set(),
          hasService: true,
          wellAtMs: 1,
        }),
        client: async () => ({}),
        lookAgain: () => {},
        watch: () => () => {},
      },
      { clock, maxInFlight: 10 },
    );
    return new Stats({
      nodeId: 'n1',
      engine: {
        *views() {
          for (const [address, context] of mounts) yield [address, viewOf(context)];
        },
        peek: (address) => {
          const context = mounts.get(address);
          return context && viewOf(context);
        },
        ask: async () => {},
      },
      node: {
        stats: (_, { csiId }, { signal }) =>
          new Promise<NodeStats>((resolve, reject) => {
            asked.push(csiId);
            signal.addEventListener('abort', () => reject(signal.reason));
            if (!hanging.has(csiId)) resolve({ usage: [] });
          }),
      },
      ...{ access, locks, clock, logger: silentLogger, intervalMs: 60_000, timeoutMs: 30_000 },
      paths: mountPaths({ dataDir: '/d', socketRoot: '/d' }),
      baseDirOf: () => undefined,
    });
  }
}

describe('stats of volumes', () => {
  let scene: Scene;
  beforeEach(() => {
    scene = new Scene();
  });

  it('V9 no other node call is made about a volume that is being asked about, nor is it asked about during one', async () => {
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
    await clock.advance(30_000);
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
