/** The judge of calls, over logs written by hand: what a caller must not do, knowing what it could know. */
import { expect } from 'chai';
import type { RpcName } from '../../src/csi/answers.js';
import type { GrpcCode } from '../../src/csi/grpc-codes.js';
import type { CallEnd, RecordedCall } from '../../src/tools/fault-driver/call.js';
import { type ViolationKind, violationsIn } from '../../src/tools/fault-driver/judge/violations.js';

/** A line of a log: as it ends it lasts one millisecond, and the next comes after it. */
interface Line {
  rpc: RpcName;
  request: object;
  end?: Partial<CallEnd> | 'under way' | undefined;
  nodeId?: string;
  /** Instead of after the line before. */
  at?: [beganAtMs: number, endedAtMs: number];
  goneAtMs?: number;
}

const logOf = (lines: Line[]): RecordedCall[] =>
  lines.map(({ rpc, request, end = {}, nodeId = 'n-1', at, goneAtMs }, index) => {
    const [beganAtMs, endedAtMs] = at ?? [10 * index, 10 * index + 5];
    return {
      number: index + 1,
      rpc,
      request,
      nodeId,
      socket: 1,
      beganAtMs,
      ...(goneAtMs !== undefined && { goneAtMs }),
      ...(end !== 'under way' && { end: { atMs: endedAtMs, how: 'answered', code: 'OK', ...end } }),
    };
  });

const capability = { mount: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } };
const shared = { mount: {}, accessMode: { mode: 'MULTI_NODE_MULTI_WRITER' } };
const refused = (code: GrpcCode, text = ''): Partial<CallEnd> => ({ code, text });
const lost: Partial<CallEnd> = { how: 'died' };

const attach = (end?: Line['end'], nodeId = 'n-1', volumeCapability: object = capability): Line => ({
  rpc: 'ControllerPublishVolume',
  request: { volumeId: 'v', nodeId, volumeCapability },
  end,
});
const detach = (end?: Line['end'], nodeId = 'n-1'): Line => ({
  rpc: 'ControllerUnpublishVolume',
  request: { volumeId: 'v', nodeId },
  end,
});
const stage = (end?: Line['end'], stagingTargetPath = '/s', volumeCapability: object = capability): Line => ({
  rpc: 'NodeStageVolume',
  request: { volumeId: 'v', stagingTargetPath, volumeCapability },
  end,
});
const unstage = (end?: Line['end']): Line => ({
  rpc: 'NodeUnstageVolume',
  request: { volumeId: 'v', stagingTargetPath: '/s' },
  end,
});
const publish = (end?: Line['end'], targetPath = '/t', volumeCapability: object = capability): Line => ({
  rpc: 'NodePublishVolume',
  request: { volumeId: 'v', stagingTargetPath: '/s', targetPath, volumeCapability },
  end,
});
const unpublish = (end?: Line['end'], targetPath = '/t'): Line => ({
  rpc: 'NodeUnpublishVolume',
  request: { volumeId: 'v', targetPath },
  end,
});
const create = (answer: object = { volume: { volumeId: 'v' } }): Line => ({
  rpc: 'CreateVolume',
  request: { name: 'data', volumeCapabilities: [capability] },
  end: { answer },
});
const remove = (end?: Line['end']): Line => ({ rpc: 'DeleteVolume', request: { volumeId: 'v' }, end });
const on = (nodeId: string, line: Line): Line => ({ ...line, nodeId });

const offered = {
  Controller: ['CREATE_DELETE_VOLUME', 'PUBLISH_UNPUBLISH_VOLUME'],
  Node: ['STAGE_UNSTAGE_VOLUME'],
};

const capabilities = (rpc: 'ControllerGetCapabilities' | 'NodeGetCapabilities', ...types: string[]): Line => ({
  rpc,
  request: {},
  end: { answer: { capabilities: types.map((type) => ({ rpc: { type } })) } },
});

const up = [create(), attach(), stage(), publish()];
const upShared = [create(), attach({}, 'n-1', shared), stage({}, '/s', shared), publish({}, '/t', shared)];
const clones = capabilities(
  'ControllerGetCapabilities',
  'CREATE_DELETE_VOLUME',
  'CREATE_DELETE_SNAPSHOT',
  'CLONE_VOLUME',
);
const modifies = capabilities(
  'ControllerGetCapabilities',
  'PUBLISH_UNPUBLISH_VOLUME',
  'MODIFY_VOLUME',
  'EXPAND_VOLUME',
);
const limited = { volumeId: 'v', capacityRange: { requiredBytes: 0n, limitBytes: 1n } };
const newer = (mode: string): object => ({ mount: {}, accessMode: { mode } });
const readonlyAttach: Line = { ...attach(), request: { ...attach().request, readonly: true } };
const cloneOf = (volumeId: string): Line => ({
  ...create({ volume: { volumeId: 'clone' } }),
  request: { name: 'clone', volumeCapabilities: [capability], volumeContentSource: { volume: { volumeId } } },
});
const snapshotOf = (sourceVolumeId: string): Line => ({
  rpc: 'CreateSnapshot',
  request: { name: 's', sourceVolumeId },
});
const noAttach = capabilities('ControllerGetCapabilities');
const down = [unpublish(), unstage(), detach(), remove()];

type Found = [kind: ViolationKind, call: number];
const cases: [situation: string, log: Line[], found: Found[]][] = [
  ['the whole way up and down', [...up, ...down], []],
  ['up and down twice', [...up, ...down, ...up, ...down], []],
  ['staged before it is attached', [create(), stage()], [['not-attached', 2]]],
  ['staged although attaching failed', [attach(refused('NOT_FOUND')), stage()], [['not-attached', 2]]],
  ['staged although the answer to attaching was lost', [attach(lost), stage()], [['not-attached', 2]]],
  ['staged once the lost call was repeated', [attach(lost), attach(), stage()], []],
  ['staged on another node than attached', [attach(), on('n-2', stage())], [['not-attached', 2]]],
  [
    'staged while it is being attached',
    [
      { ...attach(), at: [0, 9] },
      { ...stage(), at: [5, 8] },
    ],
    [['not-attached', 2]],
  ],
  ['published before it is staged', [attach(), publish()], [['not-staged', 2]]],
  ['published after staging was refused', [attach(), stage(refused('INTERNAL')), publish()], [['not-staged', 3]]],
  ['published after it was unstaged', [attach(), stage(), unstage(), publish()], [['not-staged', 4]]],
  ['staged in two places', [attach(), stage(), stage({}, '/s2')], [['staged-elsewhere', 3]]],
  ['published twice on one target', [...up, publish()], []],
  ['published on a second target, single node', [...up, publish({}, '/t2')], [['published-elsewhere', 5]]],
  ['published on a second target, many nodes', [...upShared, publish({}, '/t2', shared)], []],
  [
    'published on a second target for many nodes, but first for a single one',
    [...up, publish({}, '/t2', shared)],
    [['published-elsewhere', 5]],
  ],
  ['attached to a second node, single node', [attach(), attach({}, 'n-2')], [['attached-elsewhere', 2]]],
  ['attached to a second node, where the first may be', [attach(lost), attach({}, 'n-2')], [['attached-elsewhere', 2]]],
  [
    'attached to a second node while the first is being detached',
    [attach(), detach(lost), attach({}, 'n-2')],
    [['attached-elsewhere', 3]],
  ],
  ['attached to a second node once the first is detached', [attach(), detach(), attach({}, 'n-2')], []],
  ['attached to a second node, many nodes', [attach({}, 'n-1', shared), attach({}, 'n-2', shared)], []],
  [
    'attached to a second node for many, but to the first alone',
    [attach(), attach({}, 'n-2', shared)],
    [['attached-elsewhere', 2]],
  ],
  [
    'attached to a second node for many, refused for the first alone',
    [attach({}, 'n-1', shared), attach(refused('ALREADY_EXISTS')), attach({}, 'n-2', shared)],
    [],
  ],
  [
    'staged and published on a second node where nothing is attached',
    [noAttach, stage(), publish(), on('n-2', stage()), on('n-2', publish())],
    [
      ['staged-elsewhere', 4],
      ['published-elsewhere', 5],
    ],
  ],
  ['published on a second target once the first is gone', [...up, unpublish(), publish({}, '/t2')], []],
  ['unstaged while published', [...up, unstage()], [['still-published', 5]]],
  [
    'unstaged while publishing may have happened',
    [attach(), stage(), publish(lost), unstage()],
    [['still-published', 4]],
  ],
  ['unstaged after publishing was refused', [attach(), stage(), publish(refused('INVALID_ARGUMENT')), unstage()], []],
  ['unstaged while publishing is busy', [...up, unpublish(refused('ABORTED')), unstage()], [['still-published', 6]]],
  ['unstaged after unpublishing found nothing', [...up, unpublish(refused('NOT_FOUND')), unstage()], []],
  ['unstaged though unpublishing may not be over', [...up, unpublish(lost), unstage()], [['still-published', 6]]],
  ['detached while staged', [attach(), stage(), detach()], [['still-staged', 3]]],
  [
    'detached while published',
    [...up, detach()],
    [
      ['still-published', 5],
      ['still-staged', 5],
    ],
  ],
  [
    'detached from another node than it is staged on',
    [attach({}, 'n-1', shared), attach({}, 'n-2', shared), stage(), detach({}, 'n-2')],
    [],
  ],
  [
    'detached from all nodes',
    [attach(), stage(), detach({}, '')],
    [
      ['field-missing', 3],
      ['still-staged', 3],
    ],
  ],
  ['deleted while attached', [create(), attach(), remove()], [['still-attached', 3]]],
  ['deleted while attaching may have happened', [create(), attach(lost), remove()], [['still-attached', 3]]],
  [
    'deleted after detaching found no such thing',
    [create(), attach(), detach(refused('NOT_FOUND')), remove()],
    [['still-attached', 4]],
  ],
  [
    'deleted after attaching was lost, and its repeat refused for good',
    [create(), attach(lost), attach(refused('UNKNOWN')), attach(refused('NOT_FOUND')), remove()],
    [],
  ],
  [
    'deleted after attaching was lost, and its repeat found another attachment',
    [create(), attach(lost), attach(refused('ALREADY_EXISTS')), remove()],
    [['still-attached', 4]],
  ],
  ...(['ABORTED', 'FAILED_PRECONDITION'] as const).map((code): [string, Line[], Found[]] => [
    `deleted after attaching was lost, and its repeat was ${code}`,
    [create(), attach(lost), attach(refused(code)), remove()],
    [['still-attached', 4]],
  ]),
  [
    'deleted after attaching was lost, and attaching otherwise refused for good',
    [create(), attach(lost), attach(refused('INVALID_ARGUMENT'), 'n-1', shared), remove()],
    [['still-attached', 4]],
  ],
  [
    'deleted after attaching and detaching were lost, and attaching refused for good',
    [create(), attach(lost), detach(lost), attach(refused('NOT_FOUND')), remove()],
    [['still-attached', 5]],
  ],
  [
    'deleted after attaching was lost, and refused for good while a repeat is under way',
    [
      { ...create(), at: [0, 1] },
      { ...attach(lost), at: [2, 3] },
      { ...attach('under way'), at: [4, 4] },
      { ...attach(refused('NOT_FOUND')), at: [5, 6] },
      { ...remove(), at: [7, 8] },
    ],
    [
      ['overlap', 4],
      ['overlap', 5],
      ['still-attached', 5],
    ],
  ],
  ['deleted after it was detached from all', [attach(), detach({}, ''), remove()], [['field-missing', 2]]],
  [
    'deleted while published',
    [...up, remove()],
    [
      ['still-published', 5],
      ['still-staged', 5],
      ['still-attached', 5],
    ],
  ],
  ['attached after it was deleted', [create(), remove(), attach()], [['volume-deleted', 3]]],
  ['attached after deleting was refused', [create(), remove(refused('FAILED_PRECONDITION')), attach()], []],
  ['attached after it was deleted and made anew', [create(), remove(), create(), attach()], []],
  ['made again while attached, then deleted', [create(), attach(), create(), remove()], [['still-attached', 4]]],
  ['attached to a node without a name', [attach({}, '')], [['field-missing', 1]]],
  [
    'made without a name',
    [{ rpc: 'CreateVolume', request: { name: '', volumeCapabilities: [capability] } }],
    [['field-missing', 1]],
  ],
  ...(
    [
      ['attached with an empty capability', 'ControllerPublishVolume', { nodeId: 'n-1', volumeCapability: {} }],
      [
        'attached without an access mode',
        'ControllerPublishVolume',
        { nodeId: 'n-1', volumeCapability: { mount: {}, accessMode: { mode: 'UNKNOWN' } } },
      ],
      [
        'attached neither as block nor as mount',
        'ControllerPublishVolume',
        { nodeId: 'n-1', volumeCapability: { accessMode: capability.accessMode } },
      ],
      [
        'validated with one capability that is empty',
        'ValidateVolumeCapabilities',
        { volumeCapabilities: [capability, {}] },
      ],
      ['modified in nothing', 'ControllerModifyVolume', { mutableParameters: {} }],
      ['grown to nothing', 'ControllerExpandVolume', { capacityRange: { requiredBytes: 0n, limitBytes: 0n } }],
      ['a group snapshot deleted without its members', 'DeleteVolumeGroupSnapshot', { groupSnapshotId: 'g' }],
      [
        'a group snapshot looked up without its members',
        'GetVolumeGroupSnapshot',
        { groupSnapshotId: 'g', snapshotIds: [] },
      ],
    ] satisfies [string, RpcName, object][]
  ).map(([situation, rpc, request]): [string, Line[], Found[]] => [
    situation,
    [modifies, { rpc, request: { volumeId: 'v', ...request } }],
    [['field-missing', 2]],
  ]),
  ['grown by its limit alone', [modifies, { rpc: 'ControllerExpandVolume', request: limited }], []],
  ...(['SINGLE_NODE_SINGLE_WRITER', 'SINGLE_NODE_MULTI_WRITER'] as const).flatMap(
    (mode): [string, Line[], Found[]][] => [
      [`attached as ${mode}, which is not offered`, [attach({}, 'n-1', newer(mode))], [['not-offered', 1]]],
      [
        `attached as ${mode}, which is offered`,
        [
          capabilities('ControllerGetCapabilities', 'PUBLISH_UNPUBLISH_VOLUME', 'SINGLE_NODE_MULTI_WRITER'),
          attach({}, 'n-1', newer(mode)),
        ],
        [],
      ],
      [
        `staged as ${mode}, which is not offered on nodes`,
        [attach(), stage({}, '/s', newer(mode))],
        [['not-offered', 2]],
      ],
    ],
  ),
  ['attached readonly, which is not offered', [readonlyAttach], [['not-offered', 1]]],
  [
    'attached readonly, which is offered',
    [capabilities('ControllerGetCapabilities', 'PUBLISH_UNPUBLISH_VOLUME', 'PUBLISH_READONLY'), readonlyAttach],
    [],
  ],
  [
    'staged with a mount group, which is not offered',
    [attach(), stage({}, '/s', { ...capability, mount: { volumeMountGroup: '1000' } })],
    [['not-offered', 2]],
  ],
  ['cloned, which is not offered', [cloneOf('v')], [['not-offered', 1]]],
  ['cloned from a volume that is deleted', [clones, remove(), cloneOf('v')], [['volume-deleted', 3]]],
  ['a snapshot of a volume that is deleted', [clones, remove(), snapshotOf('v')], [['volume-deleted', 3]]],
  ['a snapshot of a volume that may be deleted', [clones, remove(lost), snapshotOf('v')], [['volume-deleted', 3]]],
  ['a snapshot of another volume than was deleted', [clones, remove(), snapshotOf('w')], []],
  [
    'a group snapshot with a volume that is deleted',
    [remove(), { rpc: 'CreateVolumeGroupSnapshot', request: { name: 's', sourceVolumeIds: ['w', 'v'] } }],
    [['volume-deleted', 2]],
  ],
  ['asked for what is not offered', [{ rpc: 'GetCapacity', request: {} }], [['not-offered', 1]]],
  [
    'asked for what is offered since',
    [capabilities('ControllerGetCapabilities', 'GET_CAPACITY'), { rpc: 'GetCapacity', request: {} }],
    [],
  ],
  ['no attaching where the driver says so', [capabilities('ControllerGetCapabilities'), stage(), publish()], []],
  ['no staging where the driver says so', [capabilities('NodeGetCapabilities'), attach(), publish()], []],
  [
    'two changes of a volume at once',
    [
      { ...attach(), at: [0, 9] },
      { ...detach(), at: [5, 8] },
    ],
    [['overlap', 2]],
  ],
  [
    'two changes of a volume, one after the other',
    [
      { ...attach(), at: [0, 5] },
      { ...detach(), at: [5, 8] },
    ],
    [],
  ],
  ['a change while one is under way that never ends', [attach('under way'), attach()], [['overlap', 2]]],
  [
    'again after the deadline, while the work goes on',
    [
      { ...attach(), at: [0, 99], goneAtMs: 5 },
      { ...attach(), at: [9, 20] },
    ],
    [],
  ],
  [
    'two volumes of one name made at once',
    [
      { ...create(), at: [0, 9] },
      { ...create(), at: [5, 8] },
    ],
    [['overlap', 2]],
  ],
  [
    'two nodes publish one volume at once',
    [
      attach({}, 'n-1', shared),
      attach({}, 'n-2', shared),
      { ...stage({}, '/s', shared), at: [20, 29] },
      { ...on('n-2', stage({}, '/s', shared)), at: [21, 28] },
    ],
    [],
  ],
  [
    'a look at a volume while it changes',
    [
      { ...attach(), at: [0, 9] },
      { rpc: 'ValidateVolumeCapabilities', request: { volumeId: 'v', volumeCapabilities: [capability] }, at: [5, 8] },
    ],
    [],
  ],
  [
    'a snapshot of a volume that is being deleted',
    [
      capabilities('ControllerGetCapabilities', 'CREATE_DELETE_VOLUME', 'CREATE_DELETE_SNAPSHOT'),
      { ...remove(), at: [10, 19] },
      { rpc: 'CreateSnapshot', request: { name: 's', sourceVolumeId: 'v' }, at: [15, 18] },
    ],
    [
      ['overlap', 3],
      ['volume-deleted', 3],
    ],
  ],
];

describe('judge of calls', () => {
  for (const [situation, log, found] of cases) {
    it(`${situation}: ${found.map(([kind]) => kind).join(', ') || 'nothing wrong'}`, () => {
      const violations = violationsIn(logOf(log), offered);
      expect(violations.map(({ kind, call }) => [kind, call])).to.have.deep.members(found);
    });
  }

  const context = { publishContext: { device: 'sdb' } };
  const withContext = (line: Line, publishContext: object): Line => ({
    ...line,
    request: { ...line.request, publishContext },
  });

  it('a publish context that is not the one given: wrong, with both in the text', () => {
    const [found, ...others] = violationsIn(
      logOf([attach({ answer: context }), withContext(stage(), { device: 'sdc' })]),
      offered,
    );
    expect(others).to.deep.equal([]);
    expect(found).to.include({ kind: 'wrong-publish-context', call: 2 });
    expect(found?.text).to.equal(
      'call 2, NodeStageVolume, volume v: with the publish context {"device":"sdc"}, but ControllerPublishVolume gave {"device":"sdb"}',
    );
  });

  it('the publish context of the last attachment: nothing wrong', () => {
    const log = [attach(), detach(), attach({ answer: context }), withContext(stage(), { device: 'sdb' })];
    expect(violationsIn(logOf(log), offered)).to.deep.equal([]);
  });

  it('a volume context that is not the one given: wrong', () => {
    const log = [create({ volume: { volumeId: 'v', volumeContext: { pool: 'a' } } }), attach()];
    expect(violationsIn(logOf(log), offered).map(({ kind }) => kind)).to.deep.equal(['wrong-volume-context']);
  });

  it('a second node where the first is fenced: nothing wrong, also to detach that while it is staged', () => {
    const log = logOf([attach(), stage(), attach({}, 'n-2'), on('n-2', stage()), detach()]);
    expect(violationsIn(log, offered, { fencedNodes: ['n-1'] })).to.deep.equal([]);
    expect(violationsIn(log, offered).map(({ kind, call }) => [kind, call])).to.deep.equal([
      ['attached-elsewhere', 3],
      ['staged-elsewhere', 4],
      ['still-staged', 5],
    ]);
  });

  it('where no capabilities are known, neither order nor gates are judged by them', () => {
    expect(violationsIn(logOf([publish(), unpublish(), { rpc: 'GetCapacity', request: {} }]))).to.deep.equal([]);
  });

  it('an overlap names the other call and what both are about', () => {
    const log = [
      { ...attach(), at: [0, 9] },
      { ...detach(), at: [5, 8] },
    ] satisfies Line[];
    expect(violationsIn(logOf(log), offered).map(({ text }) => text)).to.deep.equal([
      'call 2, ControllerUnpublishVolume, volume v: call 1, ControllerPublishVolume, is under way on volume v',
    ]);
  });

  it('the logs of two nodes in one: a volume detached from a node where it is staged', () => {
    const controller = logOf([attach({}, 'n-1', shared), attach({}, 'n-2', shared)]);
    const node = logOf([{ ...on('n-2', stage()), at: [30, 35] }]).map((call) => ({ ...call, number: 3 }));
    const later = logOf([{ ...detach({}, 'n-2'), at: [40, 45] }]).map((call) => ({ ...call, number: 4 }));
    expect(
      violationsIn([...later, ...node, ...controller], offered).map(({ kind, call }) => [kind, call]),
    ).to.deep.equal([['still-staged', 4]]);
  });
});
