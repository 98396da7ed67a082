/** The calls of a mount, each by itself: over a plugin and a kernel's table that are what the test says. */
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { CallOutcome } from '../../machines/kit/csi-types.js';
import type { MountCall, StageAnswer, TargetCall } from '../../machines/mount/calls.js';
import { PluginAccess } from '../../src/calls/plugin-access.js';
import { PluginCalls } from '../../src/calls/plugin-calls.js';
import type { PluginPort } from '../../src/calls/plugin-port.js';
import { VolumeLocks } from '../../src/calls/volume-locks.js';
import type { EffectCall } from '../../src/engine/effects/effects.js';
import { silentLogger } from '../../src/engine/logger.js';
import { StagecraftError } from '../../src/errors.js';
import { MountTable, parseMountInfo } from '../../src/host/mount-table.js';
import { hostTool } from '../../src/mounts/host-tool.js';
import { hostMountDirectories } from '../../src/mounts/mount-directories.js';
import { mountKind } from '../../src/mounts/mount-kind.js';
import { MountTables } from '../../src/mounts/mount-tables.js';
import { MountUndoing } from '../../src/mounts/mount-undoing.js';
import type { NodePort } from '../../src/mounts/node-port.js';
import { mountPaths } from '../../src/mounts/paths.js';
import { noSecrets } from '../../src/secrets/secrets.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { noFormerMounts } from '../support/no-former-mounts.js';

const key = { namespace: 'default', id: 'data' };
const call: MountCall = { plugin: 'disk', secrets: {}, isForced: false, key, csiId: 'vol-1' };
const target: TargetCall = { ...call, allocId: 'a' };
const capability = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const making = { ...target, capability, volumeContext: {}, publishContext: {} };
const publishing = { ...making, readOnly: false, isStaged: true, isRepeat: false };
const expanding = { ...target, uid: 'u1', capability, capacity: {}, isStaged: true };

describe('the calls of a mount', () => {
  let folder: string;
  /** What the plugin offers. */
  let offered: string[];
  let mounted: string[];
  /** Lines of the table after those, and before them. */
  let [under, over]: [string[], string[]] = [[], []];
  /** The table has no mount at `/`, as that of a process whose root is none. */
  let isRootless = false;
  /** What a call does, by its name. */
  let doing: Record<string, () => void>;
  let baseDir: string | undefined;
  let called: string[];
  /** Paths whose file system is dead, and such that are block devices. */
  let [dead, devices]: [string[], string[]] = [[], []];

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'sc-')));
    [offered, mounted, baseDir, called] = [['STAGE_UNSTAGE_VOLUME'], [], undefined, []];
    [under, over, doing, dead, devices] = [[], [], {}, [], []];
    isRootless = false;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const paths = () => mountPaths({ dataDir: folder, socketRoot: folder });
  const staging = (): string => paths().staging('disk', key).path;
  const targetPath = (): string => paths().target('disk', key, 'a').path;
  const found = { device: '8:2', root: '/', fsType: 'ext4', origin: 'b', isWritable: true } as const;
  /** The mount that our directory is in. */
  const ground = (): number => (under.length > 0 ? 40 : 1);
  const line = (id: number, parentId: number, what: string, path: string, fsType: string): string =>
    `${id} ${parentId} ${what} ${path} rw - ${fsType} b rw`;

  const readTable = async (): Promise<MountTable> =>
    new MountTable(
      parseMountInfo(
        [
          ...(isRootless ? [] : ['1 0 8:1 / / rw - ext4 a rw']),
          ...under,
          ...mounted.map((path, n) => line(n + 2, ground(), '8:2 /', path, 'ext4')),
          ...over,
        ].join('\n'),
      ),
    );

  /** A call as its machine asks for it, whose plugin does what it is told. */
  async function outcomeOf(src: string, input: object): Promise<CallOutcome<unknown>> {
    const clock = simulatedClock();
    const tool = hostTool(clock);
    const plugins: PluginPort = {
      isKnown: () => true,
      observation: () => ({
        capabilities: new Set(offered),
        pluginCapabilities: new Set(),
        hasService: true,
        wellAtMs: clock.now(),
      }),
      client: async () => ({}),
      lookAgain: () => {},
      watch: () => () => {},
    };
    const made =
      <T>(name: string, answer: T) =>
      async (): Promise<T> => {
        called.push(name);
        doing[name]?.();
        return answer;
      };
    const node: NodePort = {
      stage: made('stage', undefined),
      unstage: made('unstage', undefined),
      publish: made('publish', undefined),
      unpublish: made('unpublish', undefined),
      expand: made('expand', {}),
      stats: made('stats', { usage: [] }),
    };
    const access = new PluginAccess(plugins, { clock, maxInFlight: 1 });
    const { effects } = mountKind({
      nodeId: 'n1',
      node,
      calls: new PluginCalls({
        access,
        secrets: noSecrets,
        clock,
        retry: { initialMs: 1, maxMs: 1 },
        locks: new VolumeLocks(),
      }),
      claims: { expanded: async () => {} },
      paths: paths(),
      directories: hostMountDirectories({ root: paths().root, readTable, tool }),
      tables: new MountTables(readTable),
      undoing: new MountUndoing({ tables: new MountTables(readTable), tool, bootId: 'b1', logger: silentLogger }),
      baseDirOf: () => baseDir,
      bootId: 'b1',
      processes: { of: () => ({ bootId: 'b1' }), hasEnded: async () => undefined },
      timeoutMs: 1_000,
      compared: () => undefined,
      former: noFormerMounts,
      shared: async () => {},
      isDead: async (path) => dead.includes(path),
      blockDeviceAt: async (path) => (devices.includes(path) ? { isWritable: false } : undefined),
      logger: silentLogger,
      isClosed: true,
      lookSoon: (plugin) => void called.push(`look ${plugin}`),
    });
    const run: EffectCall = {
      address: 'mount/n1/default/data',
      id: src,
      src,
      seq: 1,
      input,
      signal: new AbortController().signal,
      onAbort: () => () => {},
      recovered: false,
      attempt: 1,
      sent: () => called.push('sent'),
      mayGoOn: () => {},
      clearInMs: () => 0,
      endDoubts: async () => false,
      send: () => {},
    };
    return (await effects[src]?.run(run)) as CallOutcome<unknown>;
  }

  for (const [src, input] of [
    ['nodeStage', making],
    ['nodePublish', publishing],
    ['nodeUnpublish', target],
    ['nodeUnstage', call],
    ['nodeExpand', expanding],
  ] as const) {
    it(`M1 ${src} with a path that is too long where the plugin sees it: no call was begun`, async () => {
      baseDir = `/${'x'.repeat(110)}`;
      const outcome = await outcomeOf(src, input);
      expect(outcome.status).to.equal('not-sent');
      expect(outcome).to.have.nested.property('failure.code', 'INVALID_ARGUMENT');
      expect(called).to.deep.equal([]);
    });
  }

  it('M2 H2 a plugin that cannot unstage does not give up what the kernel shows as staged', async () => {
    [offered, mounted] = [[], [staging()]];
    const outcome = await outcomeOf('nodeUnstage', call);
    expect(outcome.status).to.equal('not-sent');
    expect(outcome).to.have.nested.property('failure.code', 'MOUNT_STAYS');
    expect(outcome).to.have.nested.property('failure.final', false);
    expect(called).to.deep.equal([]);

    mounted = [];
    expect(await outcomeOf('nodeUnstage', call)).to.deep.equal({ status: 'done', answer: {} });
    expect(called).to.deep.equal([]);
  });

  it('M2 H2 nor is it forgotten where the volume is to be staged by such a plugin', async () => {
    [offered, mounted] = [[], [staging()]];
    expect(await outcomeOf('nodeStage', making)).to.have.nested.property('failure.code', 'MOUNT_STAYS');

    mounted = [];
    const answer: StageAnswer = { isStaged: false, bootId: 'b1' };
    expect(await outcomeOf('nodeStage', making)).to.deep.equal({ status: 'done', answer });
    expect([called, existsSync(staging())]).to.deep.equal([[], false]);
  });

  it('M6 M7 a dead served mount at the staging path: nothing is staged over it, and no call begins', async () => {
    over = [line(20, 1, '0:61 /', staging(), 'fuse.s3')];
    expect((await outcomeOf('nodeStage', making)).status).to.equal('done');
    expect(called).to.deep.equal(['sent', 'stage']);

    called = [];
    dead = [staging()];
    const outcome = await outcomeOf('nodeStage', making);
    expect(outcome.status).to.equal('not-sent');
    expect(outcome).to.have.nested.property('failure.code', 'MOUNT_STAYS');
    expect(outcome).to.have.nested.property('failure.final', false);
    expect(outcome).to.have.nested.property('failure.message').that.contains(staging());
    expect(called).to.deep.equal(['look disk']);

    // Whatever is of the kernel can be asked by its plugin.
    over = [line(20, 1, '8:2 /', staging(), 'ext4')];
    expect((await outcomeOf('nodeStage', making)).status).to.equal('done');
  });

  /** Something else is mounted there, on the first mount that is ours. */
  const cover = (path: string): void => void over.push(line(20, 2, '0:61 /', path, 'tmpfs'));
  /** It is there alone. */
  const replace = (path: string): void => {
    mounted = [];
    over = [line(20, 1, '0:61 /', path, 'tmpfs')];
  };
  /** A directory on the way there is. */
  const hide = (path: string): void => void over.push(line(20, 1, '0:61 /', dirname(path), 'tmpfs'));

  for (const [src, input, path] of [
    ['nodeUnpublish', { ...target, found }, targetPath],
    ['nodeUnstage', { ...call, found }, staging],
  ] as const) {
    it(`M6 M10 M12 ${src} of a path under another mount: it is named and left alone, and no call begins`, async () => {
      mounted = [path()];
      cover(path());
      const outcome = await outcomeOf(src, input);
      expect(outcome.status).to.equal('not-sent');
      expect(outcome).to.have.nested.property('failure.code', 'MOUNT_STAYS');
      expect(outcome).to.have.nested.property('failure.final', false);
      expect(outcome)
        .to.have.nested.property('failure.message')
        .that.contains('/ of 0:61 (tmpfs)')
        .and.contains(`unmount that at ${path()}`);
      expect(called).to.deep.equal([]);
    });

    it(`M10 H2 ${src} of what a mount over a directory on the way hides: that is named, no call was begun`, async () => {
      mounted = [path()];
      hide(path());
      const outcome = await outcomeOf(src, input);
      expect(outcome.status).to.equal('not-sent');
      expect(outcome).to.have.nested.property('failure.code', 'MOUNT_STAYS');
      expect(outcome)
        .to.have.nested.property('failure.message')
        .that.contains(`unmount that at ${dirname(path())}`);
      expect(called).to.deep.equal([]);
    });

    for (const [answer, refusal] of [
      ['OK', undefined],
      ['NOT_FOUND', 'already-so-if-unmounted'],
    ] as const) {
      it(`M10 H2 ${src} answered ${answer}, and it is hidden by then: it is mounted still, and not done`, async () => {
        mounted = [path()];
        doing[src === 'nodeUnpublish' ? 'unpublish' : 'unstage'] = () => {
          hide(path());
          if (refusal) throw new StagecraftError('CSI_ERROR', 'there is none', { answerClass: refusal });
        };
        const outcome = await outcomeOf(src, input);
        expect(outcome.status).to.equal('failed');
        expect(outcome).to.have.nested.property('failure.code', 'MOUNT_STAYS');
        expect(outcome)
          .to.have.nested.property('failure.message')
          .that.contains(`unmount that at ${dirname(path())}`);
      });
    }
  }

  for (const [src, input, path] of [
    ['nodeUnpublish', { ...target, found }, targetPath],
    ['nodeUnstage', { ...call, found }, staging],
  ] as const) {
    it(`M6 M10 ${src} of a path with another mount: the plugin is asked, since the path is its own`, async () => {
      over = [line(20, 1, '0:61 /', path(), 'tmpfs')];
      doing[src === 'nodeUnpublish' ? 'unpublish' : 'unstage'] = () => void over.pop();
      expect(await outcomeOf(src, input)).to.deep.equal({ status: 'done', answer: {} });
    });
  }

  for (const [how, put, path] of [
    ['over it', cover, staging],
    ['over a directory on the way to it', hide, () => dirname(staging())],
    ['in its place', replace, staging],
  ] as const) {
    it(`M2 M6 M12 nodeStage with another mount ${how}: it is named, and not taken for the stage`, async () => {
      mounted = [staging()];
      const again = { ...making, found, foundIn: 'b1' };
      expect((await outcomeOf('nodeStage', again)).status).to.equal('done');
      called = [];
      put(staging());
      const outcome = await outcomeOf('nodeStage', again);
      expect(outcome.status).to.equal('not-sent');
      expect(outcome).to.have.nested.property('failure.code', 'HOST_UNFIT');
      expect(outcome).to.have.nested.property('failure.final', false);
      expect(outcome).to.have.nested.property('failure.message').that.contains('0:61').and.contains(path());
      expect(called).to.deep.equal([]);
    });
  }

  it('M2 M6 nodeStage of what was staged in another boot: its plugin may have made it anew, it is asked', async () => {
    over = [line(20, 1, '0:61 /', staging(), 'tmpfs')];
    expect((await outcomeOf('nodeStage', { ...making, found, foundIn: 'b0' })).status).to.equal('done');
  });

  it('M2 H2 what is staged, and hidden, is not given up by a plugin that does not offer to unstage', async () => {
    [offered, mounted] = [[], [staging()]];
    hide(staging());
    expect(await outcomeOf('nodeUnstage', call)).to.have.nested.property('failure.code', 'MOUNT_STAYS');
    expect(await outcomeOf('nodeStage', making)).to.have.nested.property('failure.code', 'MOUNT_STAYS');
    expect(called).to.deep.equal([]);
  });

  describe('from a staging path that has shown something', () => {
    const staged = { ...publishing, staged: found };
    const mounts = (path: string, what = '8:2 /') => {
      doing.publish = () => over.push(line(30, ground(), what, path, 'ext4'));
    };

    it('M2 it is published while that is shown there', async () => {
      mounted = [staging()];
      mounts(targetPath());
      expect(await outcomeOf('nodePublish', staged)).to.deep.equal({ status: 'done', answer: { found, bootId: 'b1' } });
    });

    for (const [what, put] of [
      ['nothing is', () => {}],
      ['something else is', () => void over.push(line(20, 1, '0:61 /', staging(), 'tmpfs'))],
    ] as const) {
      it(`M2 ${what} there: it is not grown by that path, no call was begun`, async () => {
        put();
        const outcome = await outcomeOf('nodeExpand', { ...expanding, staged: found });
        expect(outcome.status).to.equal('not-sent');
        expect(outcome).to.have.nested.property('failure.final', false);
        expect(outcome).to.have.nested.property('failure.message').that.contains(staging());
        expect(called).to.deep.equal([]);
      });
    }

    for (const [what, src, input] of [
      ['published', 'nodePublish', staged],
      ['grown', 'nodeExpand', { ...expanding, staged: found }],
    ] as const) {
      it(`M2 M6 nothing is mounted: it is not ${what}, as if the plugin reported a missing step`, async () => {
        mounts(targetPath());
        const outcome = await outcomeOf(src, input);
        expect(outcome.status).to.equal('not-sent');
        expect(outcome).to.have.nested.property('failure.code', 'MOUNT_MISSING');
        expect(outcome).to.have.nested.property('failure.answerClass', 'repair');
        expect(outcome).to.have.nested.property('failure.final', false);
        expect(outcome)
          .to.have.nested.property('failure.message')
          .that.contains(staging())
          .and.contains('staged again before it is used');
        expect(called).to.deep.equal([]);
      });
    }

    for (const [how, put, path] of [
      ['over it', cover, staging],
      ['over a directory on the way to it', hide, () => dirname(staging())],
    ] as const) {
      it(`M2 M12 something else is ${how}: that is named, no call was begun`, async () => {
        mounted = [staging()];
        put(staging());
        const outcome = await outcomeOf('nodePublish', staged);
        expect(outcome.status).to.equal('not-sent');
        expect(outcome).to.have.nested.property('failure.code', 'HOST_UNFIT');
        expect(outcome).to.have.nested.property('failure.final', false);
        expect(outcome).to.have.nested.property('failure.message').that.contains(`unmount that at ${path()}`);
        expect(called).to.deep.equal([]);
      });
    }

    it('M2 M12 another mount in its place: named, not used, not staged over; no call begins', async () => {
      over = [line(20, 1, '0:61 /', staging(), 'tmpfs')];
      const outcome = await outcomeOf('nodePublish', staged);
      expect(outcome.status).to.equal('not-sent');
      expect(outcome).to.have.nested.property('failure.code', 'HOST_UNFIT');
      expect(outcome).to.have.nested.property('failure.final', false);
      expect(outcome).not.to.have.nested.property('failure.answerClass');
      expect(outcome)
        .to.have.nested.property('failure.message')
        .that.contains(`something else is mounted in its place (/ of 0:61 (tmpfs), at ${staging()})`)
        .and.contains('unmount that first, or release');
      expect(called).to.deep.equal([]);
    });

    it('M2 M6 the plugin made it again on a device without number: it is published from there', async () => {
      over = [line(20, 1, '0:61 /', staging(), 'nfs4')];
      mounts(targetPath());
      const was = { device: '0:60', root: '/', fsType: 'nfs4' };
      expect((await outcomeOf('nodePublish', { ...publishing, staged: was })).status).to.equal('done');
    });

    it('M2 M6 its plugin binds the empty directory of the host: that is not the volume, and is to be undone', async () => {
      // The directory of mounts is a mount of its own, as the runtime makes it, of a file system that is mounted elsewhere.
      under = [line(40, 1, `8:9 /srv/csi`, paths().root, 'xfs')];
      mounted = [staging()];
      for (const below of ['', '/data']) {
        over = [];
        mounts(targetPath(), `8:9 /srv/csi${staging().slice(paths().root.length)}${below}`);
        const outcome = await outcomeOf('nodePublish', staged);
        expect(outcome.status).to.equal('failed');
        expect(outcome).to.have.nested.property('failure.code', 'MOUNT_NOT_AS_ASKED');
        expect(outcome).to.have.nested.property('failure.answerClass', 'repair');
        expect(outcome).to.have.nested.property('failure.final', true);
        expect(outcome).to.have.nested.property('failure.message').that.contains('see that the plugin sees');
        mounted = [staging()];
      }
    });

    it('M2 nothing ever appeared at the staging path, as with plugins that stage elsewhere: it is published', async () => {
      mounts(targetPath(), '8:1 /var/lib/disk/vol-1');
      expect((await outcomeOf('nodePublish', publishing)).status).to.equal('done');
    });

    it('M2 nor may such a plugin bind the directory that it was to stage at: that is a disk of the host', async () => {
      mounts(targetPath(), `8:1 ${staging()}`);
      const outcome = await outcomeOf('nodePublish', publishing);
      expect(outcome.status).to.equal('failed');
      expect(outcome).to.have.nested.property('failure.code', 'MOUNT_NOT_AS_ASKED');
      expect(outcome)
        .to.have.nested.property('failure.message')
        .that.contains(`nothing is mounted at ${staging()}: release all that use the volume here`);
      mounted = [];
      over = [];
      expect((await outcomeOf('nodePublish', { ...publishing, isStaged: false })).status).to.equal('done');
    });

    it('M2 a plugin without staging: its targets are compared with no staging path', async () => {
      doing.publish = () => {
        isRootless = true;
        over.push(line(30, 1, '8:2 /', targetPath(), 'ext4'));
      };
      const answer = { found, bootId: 'b1' };
      expect(await outcomeOf('nodePublish', { ...publishing, isStaged: false })).to.deep.equal({
        status: 'done',
        answer,
      });
    });

    it('M2 M16 a device that it has made there is the volume, where that is a block device; a file is none', async () => {
      mounts(targetPath(), `8:1 ${staging()}/device`);
      const blockDevice = { ...publishing, capability: { ...capability, attachmentMode: 'block-device' } };
      expect(await outcomeOf('nodePublish', blockDevice)).to.have.nested.property('failure.code', 'MOUNT_NOT_AS_ASKED');
      devices = [targetPath()];
      over = [];
      expect((await outcomeOf('nodePublish', blockDevice)).status).to.equal('done');
      over = [];
      expect(await outcomeOf('nodePublish', publishing)).to.have.nested.property('failure.code', 'MOUNT_NOT_AS_ASKED');
    });
  });
});
