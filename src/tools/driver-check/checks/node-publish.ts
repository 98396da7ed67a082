/** NodePublishVolume and NodeUnpublishVolume. */

import { join } from 'node:path';
import type { Given } from '../../../csi/codec.js';
import type { NodePublishVolumeRequest } from '../../../csi/generated/plain.js';
import type { AccessType, Check, CheckContext } from '../context.js';
import { deviceBytes, mountsAt, pathKind, writeDevice, writeFile } from '../host.js';
import { NodeUse, type UseOptions } from '../node-use.js';
import { type Need, Verdict } from '../verdict.js';
import { refusal, warnUnlessBorne } from './common.js';

const rpc = 'NodePublishVolume';
const undo = 'NodeUnpublishVolume';
const crowd = 5;

const check = (
  of: typeof rpc | typeof undo,
  id: string,
  rule: string,
  run: (bench: CheckContext) => Promise<void>,
  needs: readonly Need[] = [],
): Check => ({
  id: `${of}/${id}`,
  rpc: of,
  rule,
  needs,
  mounts: true,
  run,
});

const request = async (
  bench: CheckContext,
  given: Given<NodePublishVolumeRequest>,
): Promise<Given<NodePublishVolumeRequest>> => ({
  volumeId: given.volumeId ?? (await bench.someVolumeId()),
  stagingTargetPath: bench.offers.has('node/STAGE_UNSTAGE_VOLUME') ? bench.stagingPath() : '',
  targetPath: bench.targetPath(),
  volumeCapability: bench.capability(),
  ...given,
});

const refuses = (
  id: string,
  rule: string,
  expects: 'INVALID_ARGUMENT' | 'NOT_FOUND',
  given: (bench: CheckContext) => Given<NodePublishVolumeRequest>,
): Check => refusal({ id, rpc, rule, expects, request: (bench) => request(bench, given(bench)) });

const published = async (bench: CheckContext, options?: UseOptions): Promise<{ use: NodeUse; target: string }> => {
  const use = await NodeUse.staged(bench, options);
  return { use, target: await use.publish() };
};

const isDir = (type: AccessType): boolean => type === 'mount';

/** @returns the difference from a volume that is published exactly once */
async function faultAt(bench: CheckContext, target: string, type: AccessType): Promise<string | undefined> {
  const kind = await pathKind(target, bench.timeoutMs);
  const wanted = isDir(type) ? 'directory' : 'block device';
  if (kind !== wanted) return `there should be a ${wanted} at the target path, but there is: ${kind}`;
  const { length } = await mountsAt(target);
  // A device may appear without a mount, as a device node of its own.
  const isOnce = isDir(type) ? length === 1 : length <= 1;
  return isOnce ? undefined : `there should be one mount at the target path, but there are ${length}`;
}

/** @throws {Verdict} failed: the volume is not published, or more than once */
async function expectPublished(bench: CheckContext, target: string, type: AccessType): Promise<void> {
  const fault = await faultAt(bench, target, type);
  if (fault !== undefined) throw new Verdict('failed', fault, bench.calls.last);
}

/** Repeats a check for both access types: drivers implement them differently. */
const eitherType = (type: AccessType): readonly Check[] => [
  check(
    rpc,
    `makes-${type}-target`,
    `The driver makes the target: ${isDir(type) ? 'a directory with the volume mounted on it' : 'a block device as large as the volume'}.`,
    async (bench) => {
      const use = await NodeUse.staged(bench, { accessType: type });
      const target = bench.targetPath();
      await bench.ok(rpc, use.publishRequest(target));
      await expectPublished(bench, target, type);
      if (isDir(type)) return;
      const { capacityBytes } = use.volume;
      const bytes = await deviceBytes(target, bench.timeoutMs);
      bench.expect(bytes >= capacityBytes, `a device of ${capacityBytes} bytes`, `it has ${bytes}`);
    },
  ),
  check(rpc, `repeat-${type}`, 'The same once more is OK, and mounts nothing on top.', async (bench) => {
    const { use, target } = await published(bench, { accessType: type });
    await expectPublished(bench, target, type);
    await bench.ok(rpc, use.publishRequest(target));
    await expectPublished(bench, target, type);
  }),
  check(rpc, `readonly-${type}`, 'A volume that is published read-only can not be written to there.', async (bench) => {
    const use = await NodeUse.staged(bench, { accessType: type });
    const target = bench.targetPath();
    await bench.ok(rpc, { ...use.publishRequest(target), readonly: true });
    await expectPublished(bench, target, type);
    const { status } = isDir(type)
      ? await writeFile(join(target, 'stagecraft-check'), 'x', bench.timeoutMs)
      : await writeDevice(target, 'x', bench.timeoutMs);
    bench.expect(status !== 0, 'a write to fail', 'it succeeded');
  }),
  check(
    undo,
    `removes-${type}-target`,
    'The volume is unmounted, and what the driver made at the target path is removed.',
    async (bench) => {
      const { use, target } = await published(bench, { accessType: type });
      const missing = await faultAt(bench, target, type);
      if (missing !== undefined) throw new Verdict('blocked', missing, bench.calls.last);
      await bench.ok(undo, { volumeId: use.volumeId, targetPath: target });
      const { length } = await mountsAt(target);
      bench.expect(length === 0, 'no mount at the target path', `there are ${length}`);
      const kind = await pathKind(target, bench.timeoutMs);
      bench.expect(kind === 'nothing', 'nothing at the target path', `there is still a ${kind}`);
    },
  ),
];

const publishChecks: readonly Check[] = [
  refuses('no-volume-id', 'Without a volume_id it is INVALID_ARGUMENT.', 'INVALID_ARGUMENT', () => ({ volumeId: '' })),
  refuses('no-target', 'Without a target_path it is INVALID_ARGUMENT.', 'INVALID_ARGUMENT', () => ({ targetPath: '' })),
  refuses('no-capability', 'Without a volume_capability it is INVALID_ARGUMENT.', 'INVALID_ARGUMENT', () => ({
    volumeCapability: undefined,
  })),
  refuses('unknown-volume', 'A volume that does not exist is NOT_FOUND.', 'NOT_FOUND', (bench) => ({
    volumeId: bench.unknownId(),
  })),
  ...eitherType('mount').filter(({ rpc: of }) => of === rpc),
  ...eitherType('block').filter(({ rpc: of }) => of === rpc),
  check(rpc, 'other-readonly', 'The same target with another `readonly` is ALREADY_EXISTS.', async (bench) => {
    const { use, target } = await published(bench);
    await bench.refused(rpc, { ...use.publishRequest(target), readonly: true }, 'ALREADY_EXISTS');
  }),
  check(rpc, 'other-capability', 'The same target with another volume_capability is ALREADY_EXISTS.', async (bench) => {
    const volumeCapability = bench.capability('SINGLE_NODE_READER_ONLY');
    const volume = await bench.volume({ volumeCapabilities: [bench.capability(), volumeCapability] });
    const { use, target } = await published(bench, { volume });
    await bench.refused(rpc, { ...use.publishRequest(target), volumeCapability }, 'ALREADY_EXISTS');
  }),
  check(
    rpc,
    'no-staging-path',
    'Without the staging_target_path of a driver that stages it is FAILED_PRECONDITION.',
    async (bench) => {
      const use = await NodeUse.staged(bench);
      const { stagingTargetPath: _, ...asked } = use.publishRequest(bench.targetPath());
      await bench.refused(rpc, asked, 'FAILED_PRECONDITION');
    },
    ['node/STAGE_UNSTAGE_VOLUME'],
  ),
  check(
    rpc,
    'second-target',
    'A second target of a volume in mode SINGLE_NODE_WRITER is FAILED_PRECONDITION.',
    async (bench) => {
      const { use } = await published(bench);
      const { code, report } = await bench.ask(rpc, use.publishRequest(bench.targetPath()));
      if (code === 'OK') bench.warn('it is published twice, as some orchestrators want it; others rely on the one');
      bench.expect(code === 'FAILED_PRECONDITION', 'FAILED_PRECONDITION', `there came ${report.answer}`);
    },
  ),
  check(
    rpc,
    'single-writer',
    'A second target of a volume in mode SINGLE_NODE_SINGLE_WRITER is FAILED_PRECONDITION.',
    async (bench) => {
      const { use } = await published(bench, { mode: 'SINGLE_NODE_SINGLE_WRITER' });
      await bench.refused(rpc, use.publishRequest(bench.targetPath()), 'FAILED_PRECONDITION');
    },
    ['node/SINGLE_NODE_MULTI_WRITER'],
  ),
  check(
    rpc,
    'multi-writer',
    'A second target of a volume in mode SINGLE_NODE_MULTI_WRITER works.',
    async (bench) => {
      const { use } = await published(bench, { mode: 'SINGLE_NODE_MULTI_WRITER' });
      await bench.ok(rpc, use.publishRequest(bench.targetPath()));
    },
    ['node/SINGLE_NODE_MULTI_WRITER'],
  ),
  check(
    rpc,
    'many-at-once',
    'Many equal calls at once publish the volume once; all are OK or ABORTED.',
    async (bench) => {
      const use = await NodeUse.staged(bench);
      const asked = use.publishRequest(bench.targetPath());
      const answers = await Promise.all(
        Array.from({ length: crowd }, () => bench.ask(rpc, asked, { takesAborted: true })),
      );
      await bench.ok(rpc, asked);
      await expectPublished(bench, asked.targetPath ?? '', bench.accessType);
      warnUnlessBorne(bench, answers);
    },
  ),
];

const unpublishChecks: readonly Check[] = [
  refusal({
    id: 'no-volume-id',
    rpc: undo,
    rule: 'Without a volume_id it is INVALID_ARGUMENT.',
    expects: 'INVALID_ARGUMENT',
    request: (bench) => ({ targetPath: bench.targetPath() }),
  }),
  refusal({
    id: 'no-target',
    rpc: undo,
    rule: 'Without a target_path it is INVALID_ARGUMENT.',
    expects: 'INVALID_ARGUMENT',
    request: async (bench) => ({ volumeId: await bench.someVolumeId() }),
  }),
  ...eitherType('mount').filter(({ rpc: of }) => of === undo),
  ...eitherType('block').filter(({ rpc: of }) => of === undo),
  check(undo, 'repeat', 'A volume can be unpublished, and once more: OK.', async (bench) => {
    const { use, target } = await published(bench);
    await bench.ok(undo, { volumeId: use.volumeId, targetPath: target });
    await bench.ok(undo, { volumeId: use.volumeId, targetPath: target });
  }),
  check(undo, 'not-published', 'A volume that was never published there is unpublished: OK.', async (bench) => {
    const use = await NodeUse.staged(bench);
    await bench.ok(undo, { volumeId: use.volumeId, targetPath: bench.targetPath() });
  }),
  check(
    undo,
    'unknown-volume',
    'A volume that does not exist is NOT_FOUND, or OK as it is not published.',
    async (bench) => {
      const { code, report } = await bench.ask(undo, { volumeId: bench.unknownId(), targetPath: bench.targetPath() });
      bench.expect(code === 'OK' || code === 'NOT_FOUND', 'OK or NOT_FOUND', `there came ${report.answer}`);
    },
  ),
  check(undo, 'one-target', 'Of several targets, only the one that is named is unpublished.', async (bench) => {
    const { use, target } = await published(bench);
    const other = bench.targetPath();
    const { code } = await bench.ask(rpc, use.publishRequest(other));
    if (code !== 'OK') throw new Verdict('not offered', 'a volume can have one target only');
    await bench.ok(undo, { volumeId: use.volumeId, targetPath: other });
    const kind = await pathKind(target, bench.timeoutMs);
    const { length } = await mountsAt(target);
    bench.expect(kind !== 'nothing' && length > 0, 'the first target as before', 'it is gone too');
  }),
];

export const nodePublishChecks: readonly Check[] = [...publishChecks, ...unpublishChecks];
