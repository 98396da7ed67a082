/** The comparison with the kernel, by itself: its table and which mounts are dead are what the test says. */
import { dirname } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { noMount } from '../../machines/mount/changes.js';
import type { MountContext, MountEvent, Staging, Target } from '../../machines/mount/types.js';
import { type Logger, silentLogger } from '../../src/engine/logger.js';
import { TroubleLog } from '../../src/engine/storage/trouble-log.js';
import { MountTable, parseMountInfo } from '../../src/host/mount-table.js';
import { MountReconciler, type OnPluginLoss } from '../../src/mounts/mount-reconciler.js';
import { MountTables } from '../../src/mounts/mount-tables.js';
import { mountPaths } from '../../src/mounts/paths.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { actorSystem } from '../support/actor-system.js';
import { noFormerMounts } from '../support/no-former-mounts.js';

const paths = mountPaths({ dataDir: '/d', socketRoot: '/d' });
const keyOf = (id: string) => ({ namespace: 'default', id });
const staging = (id = 'data'): string => paths.staging('disk', keyOf(id)).path;
const target = (allocId: string, id = 'data'): string => paths.target('disk', keyOf(id), allocId).path;

const capability = { accessMode: 'single-node-multi-writer', attachmentMode: 'file-system' } as const;
const found = { device: '0:50', root: '/' };

/** A volume that is staged, and published for these. */
function mounted(id: string, ...allocIds: string[]): MountContext {
  const users = allocIds.map(
    (allocId, index): Target => ({
      ...{ allocId, readOnly: false, isClaimed: true, sinceMs: 0, found, capability },
      at: 'published',
      number: 2 + index,
    }),
  );
  return {
    ...noMount({ node: 'n1', ...keyOf(id) }),
    volume: { uid: id, plugin: 'disk', csiId: id, volumeContext: {}, publishContext: {}, secrets: {} },
    staging: { at: 'staged', number: 1, found },
    users,
    bootId: 'b1',
  };
}

class Scene {
  /** What is mounted where; without words of its own a file system that a process serves. */
  lines: string[] = [];
  mounts: MountContext[] = [];
  onPluginLoss: OnPluginLoss = 'remount';
  readonly asked: MountEvent[] = [];
  readonly warned: string[] = [];
  readonly clock = simulatedClock();
  isDead = async (_path: string): Promise<boolean> => false;
  ask = async (event: MountEvent): Promise<void> => void this.asked.push(event);
  /** What happens while the table is read. */
  meanwhile = (): void => {};

  /** @param what its device and root; @param parentId the mount that it is on */
  mount(path: string, what = '0:50 /', fsType = 'fuse.s3', parentId = 1): void {
    const [device, root] = what.split(' ');
    this.lines.push(`${this.lines.length + 2} ${parentId} ${device} ${root} ${path} rw - ${fsType} s3 rw`);
  }

  /** What was told as dead, by the numbers of the mounts. */
  seenDead(): { users: number[]; staging: number[] } {
    const observations = this.asked.flatMap((event) => (event.type === 'mount.observed' ? [event] : []));
    return {
      users: observations.flatMap(({ users }) => users.filter(({ is }) => is === 'dead').map(({ number }) => number)),
      staging: observations.flatMap(({ staging }) =>
        staging.filter(({ isDead }) => isDead).map(({ number }) => number),
      ),
    };
  }

  async settled(): Promise<void> {
    for (let turns = 0; turns < 20; turns += 1) await turn();
  }

  /** Until the next look at intervals is over. */
  async next(): Promise<void> {
    await this.settled();
    await this.clock.advance(30_000);
    await this.settled();
  }

  watch(): MountReconciler {
    const viewsOf = (): MountContext[] => this.mounts;
    const logger: Logger = { ...silentLogger, warn: (_, message) => void this.warned.push(message) };
    return new MountReconciler({
      nodeId: 'n1',
      engine: actorSystem({
        *views() {
          for (const [at, context] of viewsOf().entries())
            yield [`mount/n1/default/${at}`, { state: 'published', context, seq: 1 }];
        },
        ask: (_, event) => this.ask(event as MountEvent),
      }),
      paths,
      tables: new MountTables(async () => {
        this.meanwhile();
        return new MountTable(parseMountInfo(['1 0 8:1 / / rw - ext4 a rw', ...this.lines].join('\n')));
      }),
      orphans: { tell: async () => {} },
      former: noFormerMounts,
      isDead: (path) => this.isDead(path),
      bootId: 'b1',
      onPluginLoss: this.onPluginLoss,
      clock: this.clock,
      logger,
      troubles: new TroubleLog({ clock: this.clock, logger }),
    });
  }
}

describe('the comparison of mounts with the kernel', () => {
  let scene: Scene;
  beforeEach(() => {
    scene = new Scene();
  });

  it('M6 a dead staging path: its targets are dead, too, and it is to be unstaged first', async () => {
    scene.mounts = [mounted('data', 'a', 'b')];
    for (const path of [staging(), target('a'), target('b')]) scene.mount(path);
    scene.isDead = async (path) => path === staging();
    await scene.watch().look('disk');
    const users = [2, 3].map((number) => ({ number, is: 'dead', isMended: true }));
    const stagingSight = { number: 1, isMended: true, isDead: true };
    expect(scene.asked).to.deep.equal([{ type: 'mount.observed', users, staging: [stagingSight], isStart: false }]);
  });

  it('M6 a mount that answers or has no serving process is unchanged; bound targets are not probed', async () => {
    scene.mounts = [mounted('data', 'a'), mounted('kernel', 'a')];
    for (const path of [staging(), target('a')]) scene.mount(path);
    for (const path of [staging('kernel'), target('a', 'kernel')]) scene.mount(path, '0:50 /', 'ext4');
    const probed: string[] = [];
    scene.isDead = async (path) => {
      probed.push(path);
      return false;
    };
    await scene.watch().look('disk');
    expect([scene.asked, probed]).to.deep.equal([[], [staging()]]);
  });

  it('M6 a target with a process of its own that answers stays as it is, though its staging path is dead', async () => {
    scene.mounts = [mounted('data', 'a', 'b')];
    scene.mount(staging());
    scene.mount(target('a'), '0:77 /');
    scene.mount(target('b'));
    scene.isDead = async (path) => path === staging();
    await scene.watch().look('disk');
    expect(scene.seenDead()).to.deep.equal({ users: [3], staging: [1] });
  });

  it('M6 M7 a stage whose answer was lost, and that is dead: it is told, and not again once that is known', async () => {
    const [one] = [mounted('data', 'a')];
    const users = one.users.map((user) => ({ ...user, at: 'publish-in-doubt' as const }));
    scene.mounts = [{ ...one, users, staging: { at: 'in-doubt', number: 1 } }];
    scene.mount(staging());
    scene.isDead = async () => true;
    await scene.watch().look();
    expect(scene.seenDead()).to.deep.equal({ users: [], staging: [1] });

    scene.mounts = [{ ...one, users, staging: { at: 'dead', number: 1 } }];
    await scene.watch().look();
    expect(scene.asked).to.have.length(1);
  });

  it('M6 M7 a dead mount at an unstaged volume’s staging path is reported, unless the plugin does not stage', async () => {
    const [one] = [mounted('data', 'a')];
    const users = one.users.map((user) => ({ ...user, at: 'publish-in-doubt' as const }));
    scene.mount(staging());
    scene.isDead = async () => true;
    const watch = scene.watch();
    for (const at of ['not-staged', 'not-needed'] as const) {
      scene.mounts = [{ ...one, users, staging: { at, number: 1 } }];
      await watch.look();
    }
    expect([scene.seenDead(), scene.asked.length]).to.deep.equal([{ users: [], staging: [1] }, 1]);
  });

  it('M6 M7 a dead mount unmounted by hand is reported; mounts still there and living ones are not', async () => {
    const [one] = [mounted('data', 'a')];
    const stagedAs = (staging: Staging): MountContext => ({ ...one, users: [], staging });
    scene.mounts = [stagedAs({ at: 'dead', number: 1 })];
    scene.mount(staging());
    scene.isDead = async () => true;
    const watch = scene.watch();
    await watch.look();
    expect(scene.asked).to.deep.equal([]);

    scene.lines = [];
    await watch.look();
    const observation = { number: 1, isMended: true, isGone: true };
    expect(scene.asked).to.deep.equal([{ type: 'mount.observed', users: [], staging: [observation], isStart: false }]);
    scene.mounts = [stagedAs({ at: 'in-doubt', number: 1 }), stagedAs({ at: 'not-staged', number: 1 })];
    await watch.look();
    expect(scene.asked).to.have.length(1);
  });

  describe('of a staging path that was seen dead, and is kept by one who has a mount that answers', () => {
    const served = { device: '0:50', root: '/', fsType: 'fuse.s3', origin: 's3' };
    const watching = (found = served): MountReconciler => {
      const one = mounted('data', 'a');
      const users = one.users.map((user) => ({ ...user, found: { device: '0:77', root: '/' } }));
      scene.mounts = [{ ...one, users, staging: { at: 'dead', number: 1, found } }];
      scene.mount(target('a'), '0:77 /');
      return scene.watch();
    };
    const observation = { number: 1, isMended: true, isGone: true };
    const told = [{ type: 'mount.observed', users: [], staging: [observation], isStart: false }];

    for (const [what, shown] of [
      ['its plugin has mounted it anew', ['0:51 /', 'fuse.s3']],
      ['something else is in its place', ['8:32 /', 'ext4']],
    ] as const) {
      it(`M3 M6 ${what}: what was dead is not there any more`, async () => {
        const watch = watching();
        scene.mount(staging(), ...shown);
        await watch.look();
        expect(scene.asked).to.deep.equal(told);
      });
    }

    it('M3 M6 it is dead still, or covered, or can not be asked: nothing is told', async () => {
      const watch = watching();
      scene.mount(staging());
      scene.isDead = async (path) => path === staging();
      await watch.look();
      scene.isDead = async () => {
        throw new Error('stat does not run (EAGAIN)');
      };
      let refusal = '';
      await watch.look().catch((error: unknown) => {
        refusal = String(error);
      });
      expect(refusal).to.contain('EAGAIN');
      scene.isDead = async () => false;
      scene.mount(staging(), '0:61 /', 'tmpfs', 3);
      await watch.look();
      expect(scene.asked).to.deep.equal([]);
    });

    it('M6 nobody has a mount: it is unstaged in any case, and not asked', async () => {
      const watch = watching();
      scene.mounts = scene.mounts.map((mount) => ({ ...mount, users: [] }));
      scene.mount(staging());
      await watch.look();
      expect(scene.asked).to.deep.equal([]);
    });
  });

  it('M6 what is dead is found at intervals, too: also what gave no answer before, or could not be asked', async () => {
    scene.mounts = [mounted('data', 'a')];
    for (const path of [staging(), target('a')]) scene.mount(path);
    const refusals = [new Error('stat does not run (EAGAIN)')];
    scene.isDead = async () => {
      const refusal = refusals.shift();
      if (refusal) throw refusal;
      return true;
    };
    const watch = scene.watch();
    await watch.start();
    expect(scene.asked.map(({ type }) => type)).to.deep.equal(['mount.observed']);
    await scene.next();
    expect(scene.warned).to.have.length(1);
    expect(scene.warned[0]).to.contain('EAGAIN').and.contain('volume default/data');
    await scene.next();
    watch.stop();
    expect(scene.seenDead()).to.deep.equal({ users: [2], staging: [1] });
  });

  it('M6 where one mount can not be looked at, or told, the others are all the same', async () => {
    const ids = ['one', 'two', 'three'];
    scene.mounts = ids.map((id) => mounted(id, 'a'));
    for (const id of ids) for (const path of [staging(id), target('a', id)]) scene.mount(path);
    const watch = scene.watch();
    await watch.start();
    scene.asked.length = 0;
    scene.isDead = async (path) => {
      if (path === staging('one')) throw new Error('stat does not run (EAGAIN)');
      return true;
    };
    let asks = 0;
    scene.ask = async (event) => {
      asks += 1;
      if (asks === 2) throw new Error('the store takes nothing');
      scene.asked.push(event);
    };
    await scene.next();
    watch.stop();
    // All of another one.
    expect(scene.seenDead()).to.deep.equal({ users: [2], staging: [1] });
    expect(scene.warned).to.have.length(1);
    expect(scene.warned[0]).to.contain('EAGAIN').and.contain('volume default/one').and.contain('1 more');
  });

  it('M6 a plugin that is back before the first comparison: its mounts are looked at after that', async () => {
    scene.mounts = [mounted('data', 'a')];
    for (const path of [staging(), target('a')]) scene.mount(path);
    scene.isDead = async () => true;
    const watch = scene.watch();
    watch.lookSoon('disk');
    expect(scene.asked).to.deep.equal([]);
    await watch.start();
    await scene.settled();
    watch.stop();
    expect(scene.seenDead()).to.deep.equal({ users: [2], staging: [1] });
  });

  it('M6 mounts that do not answer are tried beside each other, only so many at once', async () => {
    const ids = Array.from({ length: 20 }, (_, at) => `v${at}`);
    scene.mounts = ids.map((id) => ({ ...mounted(id, 'a'), staging: { at: 'not-needed' as const, number: 1 } }));
    for (const id of ids) scene.mount(target('a', id));
    const open: (() => void)[] = [];
    let most = 0;
    scene.isDead = () =>
      new Promise((resolve) => {
        open.push(() => resolve(false));
        most = Math.max(most, open.length);
      });
    const looked = scene.watch().look('disk');
    for (let left = ids.length; left > 0; left -= 1) {
      while (open.length === 0) await turn();
      await turn();
      open.shift()?.();
    }
    await looked;
    expect(most).to.be.within(2, 8);
  });

  it('M6 mounts that do not answer do not keep other missing mounts from being found', async () => {
    const ids = Array.from({ length: 12 }, (_, at) => `v${at}`);
    scene.mounts = [...ids.map((id) => mounted(id, 'a')), mounted('data', 'a')];
    for (const id of [...ids, 'data']) for (const path of [staging(id), target('a', id)]) scene.mount(path);
    scene.isDead = () => new Promise(() => {});
    const watch = scene.watch();
    await watch.start();
    await scene.next();
    scene.asked.length = 0;
    scene.lines = scene.lines.filter((line) => !line.includes(target('a')));
    await scene.next();
    watch.stop();
    const users = [{ number: 2, is: 'missing', isMended: true }];
    expect(scene.asked).to.deep.equal([{ type: 'mount.observed', users, staging: [], isStart: false }]);
  });

  it('M6 looks that are asked for during one are one, after it', async () => {
    scene.mounts = [mounted('data', 'a')];
    for (const path of [staging(), target('a')]) scene.mount(path);
    const open: (() => void)[] = [];
    let probes = 0;
    scene.isDead = () => {
      probes += 1;
      return new Promise((resolve) => open.push(() => resolve(false)));
    };
    const watch = scene.watch();
    await watch.start();
    for (let times = 0; times < 3; times += 1) watch.lookSoon('disk');
    while (open.length === 0) await turn();
    for (let times = 0; times < 3; times += 1) watch.lookSoon('disk');
    for (let left = 2; left > 0; left -= 1) {
      while (open.length === 0) await turn();
      open.shift()?.();
    }
    for (let turns = 0; turns < 20; turns += 1) await turn();
    watch.stop();
    expect(probes).to.equal(2);
  });

  it('M6 M12 something else over a target is warned of once, and again when it is there again', async () => {
    scene.mounts = [mounted('data', 'a'), mounted('other', 'a')];
    for (const id of ['data', 'other'])
      for (const path of [staging(id), target('a', id)]) scene.mount(path, '0:50 /', 'ext4');
    const watch = scene.watch();
    await watch.look();
    expect(scene.warned).to.deep.equal([]);

    // The second line of those above is its target.
    scene.mount(target('a'), '0:61 /', 'tmpfs', 3);
    for (let times = 0; times < 2; times += 1) await watch.look();
    const warning = `volume default/data: covered by / of 0:61 (tmpfs), which is not ours: unmount that at ${target('a')}`;
    expect(scene.warned).to.deep.equal([warning]);
    expect(scene.asked).to.deep.equal([]);

    const tmpfs = scene.lines.pop() ?? '';
    await watch.look();
    scene.lines.push(tmpfs);
    await watch.look();
    expect(scene.warned).to.deep.equal([warning, warning]);
  });

  it('M6 M12 something else over a staging path is warned of once: the next publish would bind that', async () => {
    scene.mounts = [mounted('data', 'a')];
    for (const path of [staging(), target('a')]) scene.mount(path, '0:50 /', 'ext4');
    scene.mount(staging(), '0:61 /', 'tmpfs', 2);
    const watch = scene.watch();
    for (let times = 0; times < 2; times += 1) await watch.look();
    const warning = `volume default/data, where it is staged: covered by / of 0:61 (tmpfs), which is not ours: unmount that at ${staging()}`;
    expect([scene.warned, scene.asked]).to.deep.equal([[warning], []]);
  });

  it('M6 M12 another mount in a mount’s place is reported once, without advice: its plugin may have made it', async () => {
    scene.mounts = [mounted('data', 'a')];
    for (const path of [staging(), target('a')]) scene.mount(path, '8:32 /', 'ext4');
    const watch = scene.watch();
    for (let times = 0; times < 2; times += 1) await watch.look();
    const warningOf = (path: string, where = ''): string =>
      `volume default/data${where}: something else is mounted in its place (/ of 8:32 (ext4), at ${path})`;
    const warnings = [warningOf(staging(), ', where it is staged'), warningOf(target('a'))];
    expect([scene.warned, scene.asked]).to.deep.equal([warnings, []]);
  });

  it('M6 M12 what was covered, and has been replaced since, is told of once more', async () => {
    scene.mounts = [mounted('data', 'a')];
    scene.mount(staging(), '0:50 /', 'ext4');
    scene.mount(target('a'), '0:50 /', 'ext4');
    scene.mount(target('a'), '0:61 /', 'tmpfs', 3);
    const watch = scene.watch();
    await watch.look();
    scene.lines.length = 1;
    scene.mount(target('a'), '0:61 /', 'tmpfs');
    await watch.look();
    const [first, second, ...more] = scene.warned;
    expect([first, more]).to.deep.equal([
      `volume default/data: covered by / of 0:61 (tmpfs), which is not ours: unmount that at ${target('a')}`,
      [],
    ]);
    expect(second).to.contain('something else is mounted in its place');
  });

  it('M6 M12 a mount hidden by one over a parent directory counts as present; the hiding mount is named', async () => {
    scene.mounts = [mounted('data', 'a')];
    for (const path of [staging(), target('a')]) scene.mount(path, '0:50 /', 'ext4');
    for (const path of [staging(), target('a')]) scene.mount(dirname(path), '0:61 /', 'tmpfs');
    const watch = scene.watch();
    for (let times = 0; times < 2; times += 1) await watch.look();
    const [first = '', second = '', ...more] = scene.warned;
    expect([first, second].join()).to.contain(`unmount that at ${dirname(target('a'))}`);
    expect([first, second].join()).to.contain(`unmount that at ${dirname(staging())}`);
    expect([more, scene.asked]).to.deep.equal([[], []]);
  });

  it('M6 M12 what is mounted anew while the table is read is not warned of', async () => {
    const before = mounted('data', 'a');
    const remade = { device: '0:52', root: '/' };
    scene.mounts = [before];
    scene.meanwhile = () => {
      const users = before.users.map((user) => ({ ...user, number: 4, found: remade }));
      scene.mounts = [{ ...before, users, staging: { at: 'staged', number: 3, found: remade } }];
    };
    for (const path of [staging(), target('a')]) scene.mount(path, '0:52 /', 'ext4');
    await scene.watch().look();
    expect(scene.warned).to.deep.equal([]);
  });

  it('M6 a mount made again by its plugin counts as ours: a served mount then has another device', async () => {
    scene.mounts = [mounted('data', 'a')];
    scene.mount(staging(), '0:70 /');
    scene.mount(target('a'), '0:70 /');
    await scene.watch().look();
    expect([scene.warned, scene.asked]).to.deep.equal([[], []]);
  });
});
