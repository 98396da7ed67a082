/** The node side on a real socket: what the house asks for as the plugin gets it, and the plugin's answers in words of the house. */
import { expect } from 'chai';
import type { Capability } from '../../machines/kit/csi-types.js';
import type { CallBounds } from '../../src/calls/call-bounds.js';
import { messages, type Rpcs, rpcs } from '../../src/csi/generated/plain.js';
import { type CsiHandlers, CsiStatus } from '../../src/csi/server.js';
import { csiNode } from '../../src/csi-plugins/node.js';
import { Served } from '../csi/served.js';
import { refusalOf } from '../refusal.js';

type NodeRpc =
  | 'NodeStageVolume'
  | 'NodeUnstageVolume'
  | 'NodePublishVolume'
  | 'NodeUnpublishVolume'
  | 'NodeExpandVolume'
  | 'NodeGetVolumeStats';

const timeoutMs = 10_000;
const node = csiNode({ timeoutMs });
const secrets = { password: 'hunter2-of-node' };
const capability: Capability = {
  accessMode: 'single-node-writer',
  attachmentMode: 'file-system',
  fsType: 'ext4',
  mountFlags: ['noatime'],
};
const asSent = {
  accessMode: { mode: 'SINGLE_NODE_WRITER' },
  mount: { fsType: 'ext4', mountFlags: ['noatime'], volumeMountGroup: '' },
};
const volumeContext = { pool: 'fast' };
const publishContext = { device: '/dev/sdb' };
const staged = { csiId: 'vol-1', stagingPath: '/staging', capability, volumeContext, publishContext };
const published = { ...staged, targetPath: '/target', readOnly: false };
const place = { csiId: 'vol-1', volumePath: '/target' };
const capacity = { requiredBytes: 2_048, limitBytes: '9007199254740993' };

describe('the node side of a plugin', () => {
  let served: Served;
  let client: ReturnType<Served['client']>;
  let arrived: Partial<{ [Rpc in NodeRpc]: Rpcs[Rpc]['request'] }>;
  let answers: { expand: Rpcs['NodeExpandVolume']['response']; stats: Rpcs['NodeGetVolumeStats']['response'] };
  let failure: CsiStatus | undefined;
  let bounds: CallBounds;

  /** Keeps what has come in. */
  const heard = <Rpc extends NodeRpc>(rpc: Rpc, request: Rpcs[Rpc]['request']): void => {
    Object.assign(arrived, { [rpc]: request });
    if (failure) throw failure;
  };
  const empty = <Rpc extends NodeRpc>(rpc: Rpc) => {
    return (request: Rpcs[Rpc]['request']): object => {
      heard(rpc, request);
      return {};
    };
  };
  const handlers: CsiHandlers = {
    NodeStageVolume: empty('NodeStageVolume'),
    NodeUnstageVolume: empty('NodeUnstageVolume'),
    NodePublishVolume: empty('NodePublishVolume'),
    NodeUnpublishVolume: empty('NodeUnpublishVolume'),
    NodeExpandVolume: (request) => {
      heard('NodeExpandVolume', request);
      return answers.expand;
    },
    NodeGetVolumeStats: (request) => {
      heard('NodeGetVolumeStats', request);
      return answers.stats;
    },
  };

  /** Every call of the port, as it is asked for most fully. */
  const calls: Record<NodeRpc, () => Promise<unknown>> = {
    NodeStageVolume: () => node.stage(client, staged, bounds),
    NodeUnstageVolume: () => node.unstage(client, { csiId: 'vol-1', stagingPath: '/staging' }, bounds),
    NodePublishVolume: () => node.publish(client, published, bounds),
    NodeUnpublishVolume: () => node.unpublish(client, { csiId: 'vol-1', targetPath: '/target' }, bounds),
    NodeExpandVolume: () => node.expand(client, { ...place, stagingPath: '/staging', capacity, capability }, bounds),
    NodeGetVolumeStats: () => node.stats(client, { ...place, stagingPath: '/staging' }, bounds),
  };
  const nodeRpcs = Object.keys(calls).filter((rpc): rpc is NodeRpc => rpc in calls);

  beforeEach(async () => {
    served = new Served();
    arrived = {};
    answers = { expand: { capacityBytes: 0n }, stats: { usage: [] } };
    failure = undefined;
    bounds = { secrets, signal: new AbortController().signal };
    await served.serve(handlers);
    client = served.client();
  });
  afterEach(() => served.end());

  it('M2 each call is sent with all that was asked for', async () => {
    for (const call of Object.values(calls)) await call();
    const used = { volumeId: 'vol-1', volumeCapability: asSent, volumeContext, publishContext, secrets };
    const at = { volumeId: 'vol-1', volumePath: '/target', stagingTargetPath: '/staging' };
    expect(arrived).to.deep.equal({
      NodeStageVolume: { ...used, stagingTargetPath: '/staging' },
      NodeUnstageVolume: { volumeId: 'vol-1', stagingTargetPath: '/staging' },
      NodePublishVolume: { ...used, stagingTargetPath: '/staging', targetPath: '/target', readonly: false },
      NodeUnpublishVolume: { volumeId: 'vol-1', targetPath: '/target' },
      NodeExpandVolume: {
        ...at,
        capacityRange: { requiredBytes: 2_048n, limitBytes: 9_007_199_254_740_993n },
        volumeCapability: asSent,
        secrets,
      },
      NodeGetVolumeStats: at,
    });
  });

  it('M2 secrets go into the requests that have a field for them, and into no other', async () => {
    for (const call of Object.values(calls)) await call();
    for (const rpc of nodeRpcs) {
      const marked = messages[rpcs[rpc].request].filter((field) => 'isSecret' in field).map(({ name }) => name);
      const withSecrets = Object.entries(arrived[rpc] ?? {}).filter(([, value]) =>
        JSON.stringify(value, plainly).includes('hunter2'),
      );
      expect(
        withSecrets.map(([name]) => name),
        rpc,
      ).to.deep.equal(marked);
    }
  });

  it('M11 M13 M16 a read-only block device without staging or contexts: no other field is set', async () => {
    const block: Capability = { accessMode: 'single-node-reader-only', attachmentMode: 'block-device' };
    const { stagingPath: _, ...unstaged } = published;
    const asked = { ...unstaged, capability: block, volumeContext: {}, publishContext: {}, readOnly: true };
    await node.publish(client, asked, { ...bounds, secrets: {} });
    expect(arrived.NodePublishVolume).to.deep.equal({
      volumeId: 'vol-1',
      publishContext: {},
      stagingTargetPath: '',
      targetPath: '/target',
      volumeCapability: { accessMode: { mode: 'SINGLE_NODE_READER_ONLY' }, block: {} },
      readonly: true,
      secrets: {},
      volumeContext: {},
    });
  });

  for (const [capacityBytes, told] of [
    [0n, {}],
    [4_096n, { capacityBytes: 4_096 }],
    [9_007_199_254_740_993n, { capacityBytes: '9007199254740993' }],
  ] as const) {
    it(`V9 expanded to ${capacityBytes} bytes as the plugin says: ${JSON.stringify(told)}`, async () => {
      answers.expand = { capacityBytes };
      expect(await node.expand(client, { ...place, capacity, capability }, bounds)).to.deep.equal(told);
    });
  }

  it('M15 what a volume uses, in bytes and inodes; numbers of a unit that is not known are left out', async () => {
    answers.stats.usage = [
      { unit: 'BYTES', total: 9_007_199_254_740_993n, used: 10n, available: 90n },
      { unit: 'INODES', total: 7n, used: 3n, available: 4n },
      { unit: 'UNKNOWN', total: 1n, used: 1n, available: 1n },
      { unit: '7', total: 2n, used: 2n, available: 2n },
    ];
    expect(await node.stats(client, place, bounds)).to.deep.equal({
      usage: [
        { unit: 'bytes', total: '9007199254740993', used: 10, available: 90 },
        { unit: 'inodes', total: 7, used: 3, available: 4 },
      ],
    });
    expect(arrived.NodeGetVolumeStats).to.deep.equal({
      volumeId: 'vol-1',
      volumePath: '/target',
      stagingTargetPath: '',
    });
  });

  it('M15 its condition as the plugin tells it, at no length', async () => {
    answers.stats.volumeCondition = { abnormal: true, message: 'x'.repeat(10_000) };
    const { condition } = await node.stats(client, place, bounds);
    expect(condition).to.deep.equal({ abnormal: true, message: 'x'.repeat(4_096) });
    answers.stats.volumeCondition = { abnormal: true, message: '' };
    expect((await node.stats(client, place, bounds)).condition?.message).to.equal('the driver gives no reason');
    answers.stats.volumeCondition = { abnormal: false, message: '' };
    expect(await node.stats(client, place, bounds)).to.deep.equal({
      usage: [],
      condition: { abnormal: false, message: '' },
    });
  });

  for (const rpc of nodeRpcs) {
    it(`M7 ${rpc} that the plugin refuses: its answer, with what that means, and without secrets`, async () => {
      failure = new CsiStatus('NOT_FOUND', 'no vol-1 for hunter2-of-node');
      const refusal = await refusalOf(calls[rpc]());
      const classes: Partial<Record<typeof rpc, string>> = {
        NodeStageVolume: 'not-so',
        NodePublishVolume: 'not-so',
        NodeUnpublishVolume: 'already-so-if-unmounted',
        NodeUnstageVolume: 'already-so-if-unmounted',
      };
      const answerClass = classes[rpc] ?? 'final';
      expect(refusal).to.include({ code: 'CSI_ERROR', rpc, grpcCode: 'NOT_FOUND', answerClass });
      const hasSecrets = messages[rpcs[rpc].request].some((field) => 'isSecret' in field);
      expect(refusal.message.includes('hunter2')).to.equal(!hasSecrets);
    });

    it(`M7 ${rpc} that is given up rejects with why, of unknown outcome`, async () => {
      bounds.signal = AbortSignal.abort(new Error('enough'));
      const refusal = await refusalOf(calls[rpc]());
      expect(refusal).to.include({ code: 'ABORTED', rpc, answerClass: 'unknown', final: false });
    });
  }
});

const plainly = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
