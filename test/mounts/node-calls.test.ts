/** The calls of a mount, each by itself: over a plugin and a kernel's table that are what the test says. */
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { CallOutcome } from '../../machines/csi-types.js';
import type { MountCall, StageAnswer, TargetCall } from '../../machines/mount-calls.js';
import { PluginAccess, type PluginPort } from '../../src/calls/plugin-access.js';
import { PluginCalls } from '../../src/calls/plugin-calls.js';
import { noSecrets } from '../../src/calls/secrets.js';
import { VolumeLocks } from '../../src/calls/volume-locks.js';
import type { EffectCall } from '../../src/engine/effects.js';
import { MountTable, parseMountInfo } from '../../src/host/mount-table.js';
import { hostTool } from '../../src/mounts/host-tool.js';
import { mountKind } from '../../src/mounts/mount-kind.js';
import { MountTables } from '../../src/mounts/mount-tables.js';
import type { NodePort } from '../../src/mounts/node-port.js';
import { mountPaths } from '../../src/mounts/paths.js';
import { hostPlaces } from '../../src/mounts/places.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';

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
  let baseDir: string | undefined;
  let called: string[];

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'sc-')));
    [offered, mounted, baseDir, called] = [['STAGE_UNSTAGE_VOLUME'], [], undefined, []];
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const paths = () => mountPaths({ dataDir: folder, socketRoot: folder });
  const staging = (): string => paths().staging('disk', key).path;

  const readTable = async (): Promise<MountTable> =>
    new MountTable(
      parseMountInfo(
        ['1 0 8:1 / / rw - ext4 a rw', ...mounted.map((path, n) => `${n + 2} 1 8:2 / ${path} rw - ext4 b rw`)].join(
          '\n',
        ),
      ),
    );

  /** A call as its machine asks for it, whose plugin does what it is told. */
  async function outcomeOf(src: string, input: object): Promise<CallOutcome<unknown>> {
    const clock = simulatedClock();
    const plugins: PluginPort = {
      isKnown: () => true,
      sight: () => ({
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
      places: hostPlaces({ root: paths().root, readTable, tool: hostTool(clock) }),
      tables: new MountTables(readTable),
      baseDirOf: () => baseDir,
      bootId: 'b1',
      timeoutMs: 1_000,
      compared: () => undefined,
      shared: async () => {},
    });
    const run: EffectCall = {
      address: 'mount/n1/default/data',
      id: src,
      seq: 1,
      input,
      signal: new AbortController().signal,
      onAbort: () => () => {},
      recovered: false,
      attempt: 1,
      sent: () => called.push('sent'),
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
      expect(outcome.status).to.equal('not-begun');
      expect(outcome).to.have.nested.property('failure.code', 'INVALID_ARGUMENT');
      expect(called).to.deep.equal([]);
    });
  }

  it('M2 H2 what is staged, as the kernel shows, is not given up by a plugin that does not offer to unstage', async () => {
    [offered, mounted] = [[], [staging()]];
    const outcome = await outcomeOf('nodeUnstage', call);
    expect(outcome.status).to.equal('not-begun');
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
});
