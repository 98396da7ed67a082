/** A volume whose staging path and targets are served by a process that is gone, as with most FUSE drivers. Needs root and /dev/fuse. */
import { execFileSync } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { CsiStatus } from '../../src/csi/server.js';
import type { Store } from '../../src/engine/store.js';
import { refusalOf } from '../refusal.js';
import { inMemory } from '../registry/kept-data.js';
import { until } from '../until.js';
import { type DeadMount, servingDriver } from './dead-fuse.js';
import { type HouseOptions, MountHouse, many, node, plugin } from './mount-house.js';

/** Volumes are many, or far away: it takes a second until those of a node are read. */
function slowStore(store: Store, slow: { isSlow: boolean }): Store {
  return new Proxy(store, {
    get(target, key: keyof Store) {
      if (key === 'list')
        return async (...range: Parameters<Store['list']>) => {
          if (slow.isSlow && range[0].prefix.startsWith('node/')) await pause(1_000);
          return target.list(...range);
        };
      const value = target[key];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe('a staging path that is dead', () => {
  let house: MountHouse;
  let made: DeadMount[];
  const request = (allocId: string) => ({ volume: { id: 'data' }, allocId, usage: many });

  /** With a volume that is mounted for these. */
  async function start(allocIds: string[], options: HouseOptions = {}): Promise<void> {
    made = [];
    house = await MountHouse.start({ handlers: servingDriver(made), ...options });
    await house.make('data', many);
    for (const allocId of allocIds) await house.runtime.mounts.mount(request(allocId));
  }
  afterEach(async () => {
    for (const mount of made.splice(0)) mount.end();
    await house.end();
  });

  const kill = (): void => {
    for (const mount of made) mount.killServer();
  };
  const register = (allocId: string): Promise<void> => {
    const connection = { socketPath: `${house.folder}/csi.sock` };
    return house.runtime.plugins.register({ type: 'csi-node', name: plugin, allocId, connection });
  };

  it('M2 M6 as its plugin is back all is unpublished, unstaged, and made anew in its order', async () => {
    await start(['a', 'b']);
    const before = house.nodeCalls().length;
    kill();
    await register('disk-2');
    await house.told('staging-lost');
    const states = async () => (await house.runtime.mounts.list()).map(({ state }) => state);
    await until(() => house.nodeCalls().length >= before + 6);
    for (const allocId of ['a', 'b']) await house.runtime.mounts.mount(request(allocId));
    expect(house.nodeCalls().slice(before)).to.deep.equal([
      ...['Unpublish', 'Unpublish', 'Unstage'],
      ...['Stage', 'Publish', 'Publish'],
    ]);
    for (const allocId of ['a', 'b']) expect(await house.runtime.mounts.has(request(allocId))).to.equal(true);
    expect([await states(), house.mounted().length, house.violations()]).to.deep.equal([['published'], 3, []]);
  });

  it('M6 M7 it died as it was staged, before that was answered: it is unstaged before it is staged again', async () => {
    made = [];
    const handlers = servingDriver(made);
    house = await MountHouse.start({
      handlers: {
        ...handlers,
        NodeStageVolume: (request, call) => {
          const answer = handlers.NodeStageVolume?.(request, call) ?? {};
          if (made.length > 1) return answer;
          kill();
          throw new CsiStatus('INTERNAL', 'its process is gone');
        },
      },
    });
    await house.make('data', many);
    await house.runtime.mounts.mount(request('a'));
    expect(house.nodeCalls()).to.deep.equal(['Stage', 'Unstage', 'Stage', 'Publish']);
    expect(house.mounted()).to.have.length(2);
  });

  it('M6 M7 dead after its stage was refused for good, with nothing known to be staged: unstaged', async () => {
    made = [];
    const handlers = servingDriver(made);
    house = await MountHouse.start({
      handlers: {
        ...handlers,
        NodeStageVolume: (request, call) => {
          const answer = handlers.NodeStageVolume?.(request, call) ?? {};
          if (made.length > 1) return answer;
          kill();
          throw new CsiStatus('PERMISSION_DENIED', 'no such key');
        },
      },
    });
    await house.make('data', many);
    expect((await refusalOf(house.runtime.mounts.mount(request('a')))).code).to.equal('CSI_ERROR');
    await house.runtime.mounts.mount(request('a'));
    expect(house.nodeCalls()).to.deep.equal(['Stage', 'Unstage', 'Stage', 'Publish']);
  });

  it('N3 M6 fenced as it died while it was staged: its alloc is told before it is staged again', async () => {
    made = [];
    const handlers = servingDriver(made);
    house = await MountHouse.start({
      attach: true,
      handlers: {
        ...handlers,
        NodeStageVolume: async (request, call) => {
          const answer = handlers.NodeStageVolume?.(request, call) ?? {};
          if (made.length > 1) return answer;
          kill();
          await house.runtime.nodes.fence(node, 'its power is cut');
          while (!(await house.runtime.nodes.status(node)).fence?.isDone) await new Promise(setImmediate);
          throw new CsiStatus('INTERNAL', 'its process is gone');
        },
      },
    });
    await house.make('data', many);
    const refusal = await refusalOf(house.runtime.allocations.prepare('web', [house.wanted('data', many)]));
    expect(refusal.code).to.equal('CLAIM_LOST');
    await house.allocIs('web', ({ state }) => state === 'failed');
    expect(house.mounted()).to.deep.equal([]);
  });

  describe('while an alloc has a mount that answers', () => {
    let second: Promise<unknown>;
    const stagingPath = (): string => made[0]?.path ?? '';
    /** What keeps the volume is told under this code. */
    const told = (expected: string): Promise<void> => {
      let code: string | undefined;
      const look = async (): Promise<void> => {
        code = (await house.runtime.mounts.list())[0]?.error?.code;
      };
      return until(
        () => {
          void look();
          return code === expected;
        },
        () => String(code),
      );
    };
    const unmount = (): void => void execFileSync('umount', ['--no-canonicalize', stagingPath()]);

    beforeEach(async () => {
      await start(['a']);
      made[0]?.killServer();
      await register('disk-2');
      await made[1]?.refuseRequest(constants.errno.ENOSYS);
      await house.told('staging-lost');
      second = house.runtime.mounts.mount(request('b'));
      await told('MOUNT_STAYS');
      unmount();
    });
    const bothHaveIt = async (): Promise<void> => {
      await second;
      for (const allocId of ['a', 'b']) expect(await house.runtime.mounts.has(request(allocId))).to.equal(true);
      expect(house.nodeCalls()).to.deep.equal(['Stage', 'Publish', 'Stage', 'Publish']);
    };

    it('M3 M6 somebody unmounts it: who else wants the volume gets it', async () => {
      await register('disk-3');
      await bothHaveIt();
    });

    it('M3 M6 M12 another mount replaces a stage: it is reported as that, not as dead, and nobody gets it', async () => {
      execFileSync('mount', ['-t', 'tmpfs', 'strange', stagingPath()]);
      await register('disk-3');
      await made[1]?.refuseRequest(constants.errno.ENOSYS);
      await told('HOST_UNFIT');
      unmount();
      await bothHaveIt();
    });
  });

  it('M6 it died while the runtime was away, and its plugin is back before that', async () => {
    await start(['a']);
    await house.runtime.close();
    kill();
    await house.open();
    await house.told('staging-lost');
  });

  it('M6 its plugin is looked at before mounts are compared for the first time, as that takes a while', async () => {
    const kept = inMemory();
    const slow = { isSlow: false };
    await start(['a'], { store: slowStore(kept.store(), slow) });
    await house.runtime.close();
    kill();
    slow.isSlow = true;
    await house.open({ store: slowStore(kept.store(), slow) });
    await house.told('staging-lost');
  });

  it('M6 R7 the instance before takes the place of the one whose process has served it', async () => {
    await start([]);
    await register('disk-2');
    await house.runtime.plugins.waitFor('csi-node', plugin);
    await house.runtime.mounts.mount(request('a'));
    kill();
    await house.runtime.plugins.deregister('csi-node', plugin, 'disk-2');
    await house.told('staging-lost');
  });
});
