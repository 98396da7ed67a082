/** Drivers that break one rule each on the node's side: what they leave mounted, the run has to take away. */
import { lstatSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NodePublishVolumeRequest } from '../../src/csi/generated/plain.js';
import { CsiStatus } from '../../src/csi/server.js';
import { sizeBytes } from './bench.js';
import { contentOf, type RightState } from './right-driver.js';
import { run, unpublish } from './right-node.js';
import { answers, changes, isUnknown, mistakes, refusesRepeats, replaced, type Wrong, wrong } from './wrong.js';

const info: readonly Wrong[] = [
  changes('NodeGetCapabilities/stable', 'NodeGetCapabilities', ({ capabilities = [] }, _, times) => ({
    capabilities: times % 2 ? capabilities : capabilities.slice(1),
  })),
  changes('NodeGetCapabilities/named', 'NodeGetCapabilities', ({ capabilities = [] }) => ({
    capabilities: [...capabilities, {}],
  })),
  changes(
    'NodeGetCapabilities/unadvertised',
    'NodeGetCapabilities',
    ({ capabilities = [] }) => ({ capabilities: capabilities.filter(({ rpc }) => rpc?.type !== 'EXPAND_VOLUME') }),
    { outcome: 'warning' },
  ),
  changes(
    'NodeGetCapabilities/unadvertised',
    'NodeGetCapabilities',
    ({ capabilities = [] }) => ({
      capabilities: capabilities.filter(({ rpc }) => !/STATS|CONDITION/.test(rpc?.type ?? '')),
    }),
    { outcome: 'warning' },
  ),
  changes('NodeGetInfo/stable', 'NodeGetInfo', (node, _, times) => ({ ...node, nodeId: `node-${times}` })),
  changes('NodeGetInfo/node-id', 'NodeGetInfo', (node) => ({ ...node, nodeId: 'x'.repeat(257) })),
  changes('NodeGetInfo/max-volumes', 'NodeGetInfo', (node) => ({ ...node, maxVolumesPerNode: -1 })),
  changes(
    'NodeGetInfo/topology',
    'GetPluginCapabilities',
    ({ capabilities = [] }) => ({
      capabilities: capabilities.filter(({ service }) => service?.type !== 'VOLUME_ACCESSIBILITY_CONSTRAINTS'),
    }),
    { also: { 'NodeGetInfo/topology-keys': 'not offered' } },
  ),
  changes('NodeGetInfo/topology', 'NodeGetInfo', (node) => ({ ...node, accessibleTopology: undefined }), {
    outcome: 'warning',
  }),
  changes('NodeGetInfo/topology-keys', 'NodeGetInfo', (node) => ({
    ...node,
    accessibleTopology: { segments: { 'a/b/c': 'x' } },
  })),
];

/** The run itself unmounts what the driver has left. */
const leavesMount: Wrong['also'] = { 'clean-up': 'warning' };

const staging: readonly Wrong[] = [
  answers('NodeStageVolume/no-volume-id', 'NodeStageVolume', ({ volumeId }) => volumeId === '', 'NOT_FOUND'),
  answers('NodeStageVolume/no-path', 'NodeStageVolume', ({ stagingTargetPath: path }) => path === '', 'NOT_FOUND'),
  answers('NodeStageVolume/no-capability', 'NodeStageVolume', ({ volumeCapability }) => !volumeCapability, 'INTERNAL'),
  answers('NodeStageVolume/unknown-volume', 'NodeStageVolume', ({ volumeId }) => isUnknown(volumeId), 'INTERNAL'),
  wrong(
    'NodeStageVolume/repeat',
    'every call mounts once more',
    (right, state) =>
      replaced(right, 'NodeStageVolume', async (request, next) => {
        const path = request.stagingTargetPath;
        const isThere = state.staged.has(path);
        const answer = await next(request);
        if (isThere) run('mount', '--bind', contentOf(state, request.volumeId), path);
        return answer;
      }),
    { also: leavesMount },
  ),
  answers(
    'NodeStageVolume/other-capability',
    'NodeStageVolume',
    ({ stagingTargetPath: path }, state) => state.staged.has(path),
    {},
  ),
  answers(
    'NodeStageVolume/exceeds-volume',
    'NodeStageVolume',
    ({ volumeCapability: it }) => it?.accessMode?.mode === 'MULTI_NODE_MULTI_WRITER',
    {},
  ),
  answers(
    'NodeStageVolume/exceeds-volume',
    'NodeStageVolume',
    ({ volumeCapability: it }) => it?.accessMode?.mode === 'MULTI_NODE_MULTI_WRITER',
    'INVALID_ARGUMENT',
  ),
  answers('NodeUnstageVolume/no-volume-id', 'NodeUnstageVolume', ({ volumeId }) => volumeId === '', {}),
  answers('NodeUnstageVolume/no-path', 'NodeUnstageVolume', ({ stagingTargetPath: path }) => path === '', {}),
  answers(
    'NodeUnstageVolume/repeat',
    'NodeUnstageVolume',
    ({ stagingTargetPath: path }, state) => state.staged.has(path),
    {},
    { also: leavesMount },
  ),
  answers(
    'NodeUnstageVolume/not-staged',
    'NodeUnstageVolume',
    ({ volumeId, stagingTargetPath: path }, state) =>
      state.volumes.has(volumeId) && path !== '' && !state.staged.has(path),
    'NOT_FOUND',
    {
      also: { 'NodeUnstageVolume/repeat': 'failed' },
    },
  ),
  answers('NodeUnstageVolume/unknown-volume', 'NodeUnstageVolume', ({ volumeId }) => isUnknown(volumeId), 'INTERNAL'),
];

const publishing: readonly Wrong[] = [
  answers('NodePublishVolume/no-volume-id', 'NodePublishVolume', ({ volumeId }) => volumeId === '', 'NOT_FOUND'),
  answers('NodePublishVolume/no-target', 'NodePublishVolume', ({ targetPath }) => targetPath === '', 'NOT_FOUND'),
  answers(
    'NodePublishVolume/no-capability',
    'NodePublishVolume',
    ({ volumeCapability }) => !volumeCapability,
    'INTERNAL',
  ),
  answers('NodePublishVolume/unknown-volume', 'NodePublishVolume', ({ volumeId }) => isUnknown(volumeId), 'INTERNAL'),
  ...(['mount', 'block'] as const).flatMap((type) => [
    linked(type),
    wrong(
      `NodePublishVolume/repeat-${type}`,
      'every call mounts once more',
      (right, state) =>
        replaced(right, 'NodePublishVolume', async (request, next) => {
          const target = state.targets.get(request.targetPath);
          const answer = await next(request);
          if (target && request.volumeCapability?.[type])
            run('mount', '--bind', target.device || request.stagingTargetPath, request.targetPath);
          return answer;
        }),
      // The driver unmounts once only. A pile of bind mounts goes as a whole, as they share their mounts; one of devices does not.
      { also: type === 'mount' ? { 'NodePublishVolume/many-at-once': 'failed' } : { 'clean-up': 'failed' } },
    ),
    mountsNothing(`NodePublishVolume/repeat-${type}`, type),
    mountsNothing(`NodePublishVolume/readonly-${type}`, type),
    mountsNothing(`NodeUnpublishVolume/removes-${type}-target`, type),
    mistakes(`NodePublishVolume/readonly-${type}`, 'NodePublishVolume', (request, state) =>
      request.volumeCapability?.[type] && !state.targets.has(request.targetPath)
        ? { ...request, readonly: false }
        : request,
    ),
    wrong(
      `content/${type}-kept`,
      'unstaging empties the volume',
      (right, state) =>
        replaced(right, 'NodeUnstageVolume', async (request, next) => {
          const answer = await next(request);
          const volume = state.volumes.get(request.volumeId);
          if (volume?.isBlock === (type === 'block')) empty(state, request.volumeId);
          return answer;
        }),
      { also: { [`content/${type}-from-snapshot`]: 'failed', [`content/${type}-from-volume`]: 'failed' } },
    ),
    ...(['snapshot', 'volume'] as const).map((kind) =>
      changes(`content/${type}-from-${kind}`, 'CreateVolume', (answer, request, _, state) => {
        if (request.volumeContentSource?.[kind] && request.volumeCapabilities[0]?.[type])
          empty(state, answer.volume?.volumeId ?? '');
        return answer;
      }),
    ),
  ]),
  answers(
    'NodePublishVolume/other-readonly',
    'NodePublishVolume',
    ({ targetPath, readonly }, state) => readonly && state.targets.has(targetPath),
    {},
  ),
  answers(
    'NodePublishVolume/other-capability',
    'NodePublishVolume',
    ({ targetPath, volumeCapability: it }, state) =>
      it?.accessMode?.mode === 'SINGLE_NODE_READER_ONLY' && state.targets.has(targetPath),
    {},
  ),
  answers(
    'NodePublishVolume/no-staging-path',
    'NodePublishVolume',
    ({ stagingTargetPath, targetPath, volumeId, volumeCapability }) =>
      stagingTargetPath === '' &&
      targetPath !== '' &&
      volumeId !== '' &&
      !isUnknown(volumeId) &&
      volumeCapability !== undefined,
    'INTERNAL',
  ),
  answers(
    'NodePublishVolume/second-target',
    'NodePublishVolume',
    ({ volumeId, targetPath, volumeCapability: it }, state) =>
      it?.accessMode?.mode === 'SINGLE_NODE_WRITER' && !state.targets.has(targetPath) && hasTarget(state, volumeId),
    'INTERNAL',
  ),
  mistakes('NodePublishVolume/single-writer', 'NodePublishVolume', (request) =>
    request.volumeCapability?.accessMode?.mode === 'SINGLE_NODE_SINGLE_WRITER' ? asMultiWriter(request) : request,
  ),
  answers(
    'NodePublishVolume/multi-writer',
    'NodePublishVolume',
    ({ volumeId, volumeCapability: it }, state) =>
      it?.accessMode?.mode === 'SINGLE_NODE_MULTI_WRITER' && hasTarget(state, volumeId),
    'FAILED_PRECONDITION',
  ),
  wrong(
    'NodePublishVolume/many-at-once',
    'only one call at a time is answered',
    (right) => {
      let inFlight = 0;
      return replaced(right, 'NodePublishVolume', async (request, next) => {
        if (inFlight > 0) throw new CsiStatus('INTERNAL', 'not now');
        inFlight += 1;
        try {
          await nextTurn();
          return await next(request);
        } finally {
          inFlight -= 1;
        }
      });
    },
    { outcome: 'warning' },
  ),
  answers('NodeUnpublishVolume/no-volume-id', 'NodeUnpublishVolume', ({ volumeId }) => volumeId === '', {}),
  answers('NodeUnpublishVolume/no-target', 'NodeUnpublishVolume', ({ targetPath }) => targetPath === '', 'NOT_FOUND'),
  ...(['mount', 'block'] as const).map((type) =>
    wrong(`NodeUnpublishVolume/removes-${type}-target`, 'the target stays', (right, state) =>
      replaced(right, 'NodeUnpublishVolume', async (request, next) => {
        const target = state.targets.get(request.targetPath);
        const answer = await next(request);
        if (target && type === 'mount' && !target.device) mkdirSync(request.targetPath);
        if (target && type === 'block' && target.device) writeFileSync(request.targetPath, '');
        return answer;
      }),
    ),
  ),
  refusesRepeats('NodeUnpublishVolume/repeat', 'NodeUnpublishVolume'),
  answers(
    'NodeUnpublishVolume/not-published',
    'NodeUnpublishVolume',
    ({ volumeId, targetPath }, state) =>
      state.volumes.has(volumeId) && targetPath !== '' && !state.targets.has(targetPath),
    'NOT_FOUND',
    { also: { 'NodeUnpublishVolume/repeat': 'failed' } },
  ),
  answers(
    'NodeUnpublishVolume/unknown-volume',
    'NodeUnpublishVolume',
    ({ volumeId }) => isUnknown(volumeId),
    'INTERNAL',
  ),
  wrong('NodeUnpublishVolume/one-target', 'a volume may have two targets, and loses both at once', (right, state) =>
    replaced(
      replaced(right, 'NodePublishVolume', (request, next) => next(asMultiWriter(request))),
      'NodeUnpublishVolume',
      async (request, next) => {
        for (const [targetPath, { volumeId }] of state.targets)
          if (volumeId === request.volumeId) await next({ volumeId, targetPath });
        return next(request);
      },
    ),
  ),
];

const measuring: readonly Wrong[] = [
  answers('NodeGetVolumeStats/no-volume-id', 'NodeGetVolumeStats', ({ volumeId }) => volumeId === '', 'NOT_FOUND'),
  answers('NodeGetVolumeStats/no-path', 'NodeGetVolumeStats', ({ volumePath }) => volumePath === '', 'NOT_FOUND'),
  answers('NodeGetVolumeStats/unknown-volume', 'NodeGetVolumeStats', ({ volumeId }) => isUnknown(volumeId), 'INTERNAL'),
  answers(
    'NodeGetVolumeStats/other-path',
    'NodeGetVolumeStats',
    ({ volumeId, volumePath }, state) =>
      state.volumes.has(volumeId) && volumePath !== '' && !state.targets.has(volumePath),
    {},
  ),
  changes('NodeGetVolumeStats/usage', 'NodeGetVolumeStats', ({ volumeCondition }) => ({
    volumeCondition,
    usage: [{ unit: 'BYTES', used: -1 }],
  })),
  changes('NodeGetVolumeStats/usage', 'NodeGetVolumeStats', ({ volumeCondition }) => ({ volumeCondition }), {
    outcome: 'warning',
  }),
  changes('NodeGetVolumeStats/condition', 'NodeGetVolumeStats', ({ usage }) => ({ usage })),
  answers('NodeExpandVolume/no-volume-id', 'NodeExpandVolume', ({ volumeId }) => volumeId === '', 'NOT_FOUND'),
  answers('NodeExpandVolume/no-path', 'NodeExpandVolume', ({ volumePath }) => volumePath === '', {}),
  answers('NodeExpandVolume/unknown-volume', 'NodeExpandVolume', ({ volumeId }) => isUnknown(volumeId), 'INTERNAL'),
  changes(
    'NodeExpandVolume/grows-mount',
    'NodeExpandVolume',
    (answer, { volumeCapability }) => (volumeCapability?.mount ? { capacityBytes: 1 } : answer),
    { also: { 'NodeExpandVolume/staged': 'failed' } },
  ),
  mistakes('NodeExpandVolume/too-large', 'NodeExpandVolume', ({ capacityRange: _, ...request }) => request, {
    outcome: 'warning',
  }),
  answers(
    'NodeExpandVolume/too-large',
    'NodeExpandVolume',
    ({ capacityRange: range }) => (range?.requiredBytes ?? 0n) > 2n ** 60n,
    'INTERNAL',
  ),
  answers(
    'NodeExpandVolume/staged',
    'NodeExpandVolume',
    ({ volumePath }, state) => state.staged.has(volumePath),
    'FAILED_PRECONDITION',
  ),
  changes(
    'NodeExpandVolume/grows-mount',
    'NodeExpandVolume',
    (answer, { volumeCapability }) => (volumeCapability?.mount ? {} : answer),
    { outcome: 'warning' },
  ),
  wrong('NodeExpandVolume/grows-mount', 'the file system keeps its size', (right) => {
    const mounted = new Set<string>();
    const publishing = replaced(right, 'NodePublishVolume', async (request, next) => {
      const answer = await next(request);
      if (!request.volumeCapability?.mount || mounted.has(request.targetPath)) return answer;
      run('mount', '-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'none', request.targetPath);
      mounted.add(request.targetPath);
      return answer;
    });
    return replaced(publishing, 'NodeUnpublishVolume', (request, next) => {
      if (mounted.delete(request.targetPath)) run('umount', request.targetPath);
      return next(request);
    });
  }),
  answers(
    'NodeExpandVolume/grows-block',
    'NodeExpandVolume',
    ({ volumeCapability, volumeId, volumePath }) =>
      volumeCapability?.block !== undefined && volumeId !== '' && volumePath !== '',
    {},
  ),
];

const hasTarget = (state: RightState, volumeId: string): boolean =>
  [...state.targets.values()].some((target) => target.volumeId === volumeId);

function asMultiWriter(request: NodePublishVolumeRequest): NodePublishVolumeRequest {
  const { volumeCapability, ...rest } = request;
  const accessMode = { mode: 'SINGLE_NODE_MULTI_WRITER' } as const;
  return volumeCapability ? { ...rest, volumeCapability: { ...volumeCapability, accessMode } } : request;
}

/** As if nothing had ever been written to the volume. */
function empty(state: RightState, volumeId: string): void {
  const volume = state.volumes.get(volumeId);
  const content = contentOf(state, volumeId);
  if (!volume?.isBlock) rmSync(join(content, 'stagecraft-check'), { force: true });
  for (const bytes of volume?.isBlock ? [0n, volume.capacityBytes] : []) truncateSync(content, Number(bytes));
}

/** All is answered as if it were right, but at the target there is nothing. */
function mountsNothing(id: string, type: 'mount' | 'block'): Wrong {
  const failing = ['makes-%-target', 'repeat-%', 'readonly-%', ...(type === 'mount' ? ['many-at-once'] : [])];
  const isUndo = id.startsWith('NodeUnpublishVolume/');
  const ids = isUndo ? [] : failing.map((name) => `NodePublishVolume/${name.replace('%', type)}`);
  return wrong(
    id,
    `a volume of type ${type} is never at its target`,
    (right, state) => {
      const empty = new Set<string>();
      const publishing = replaced(right, 'NodePublishVolume', async (request, next) => {
        const answer = await next(request);
        const { targetPath } = request;
        if (!request.volumeCapability?.[type] || empty.has(targetPath)) return answer;
        unpublish(targetPath, state.targets.get(targetPath)?.device ?? '');
        empty.add(targetPath);
        return answer;
      });
      return replaced(publishing, 'NodeUnpublishVolume', (request, next) => {
        if (!empty.delete(request.targetPath)) return next(request);
        state.targets.delete(request.targetPath);
        return {};
      });
    },
    {
      outcome: isUndo ? 'blocked' : 'failed',
      also: Object.fromEntries(ids.filter((other) => other !== id).map((other) => [other, 'failed'])),
    },
  );
}

/** Instead of a mount or a device, the target is a symbolic link. */
function linked(type: 'mount' | 'block'): Wrong {
  const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  const links = (request: NodePublishVolumeRequest, state: RightState): boolean =>
    request.volumeCapability?.[type] !== undefined &&
    state.volumes.has(request.volumeId) &&
    request.targetPath !== '' &&
    request.stagingTargetPath !== '' &&
    !request.readonly;
  return wrong(
    `NodePublishVolume/makes-${type}-target`,
    'the target is a link to the volume',
    (right, state) =>
      replaced(
        replaced(right, 'NodePublishVolume', (request, next) => {
          if (!links(request, state)) return next(request);
          const to = type === 'block' ? contentOf(state, request.volumeId) : request.stagingTargetPath;
          if (!isThere(request.targetPath)) symlinkSync(to, request.targetPath);
          return {};
        }),
        'NodeUnpublishVolume',
        (request, next) => {
          if (!isThere(request.targetPath)) return next(request);
          rmSync(request.targetPath);
          return {};
        },
      ),
    {
      also:
        type === 'block'
          ? { 'NodePublishVolume/repeat-block': 'failed' }
          : {
              'NodePublishVolume/repeat-mount': 'failed',
              'NodePublishVolume/many-at-once': 'failed',
              'NodePublishVolume/other-readonly': 'failed',
              'NodePublishVolume/other-capability': 'failed',
              'NodePublishVolume/second-target': 'warning',
              'NodePublishVolume/single-writer': 'failed',
            },
    },
  );
}

export const wrongNodes: readonly Wrong[] = [...info, ...staging, ...publishing, ...measuring];
