/** NodeStageVolume and NodeUnstageVolume. */
import { join } from 'node:path';
import type { Given } from '../../../csi/codec.js';
import type { NodeStageVolumeRequest } from '../../../csi/generated/plain.js';
import type { Check, CheckContext } from '../context.js';
import { mountsAt } from '../host.js';
import { NodeUse } from '../node-use.js';
import { type Need, Verdict } from '../verdict.js';
import { refusal } from './common.js';

const rpc = 'NodeStageVolume';
const undo = 'NodeUnstageVolume';
const needs: readonly Need[] = ['node/STAGE_UNSTAGE_VOLUME'];

const check = (
  of: typeof rpc | typeof undo,
  id: string,
  rule: string,
  run: (bench: CheckContext) => Promise<void>,
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
  given: Given<NodeStageVolumeRequest>,
): Promise<Given<NodeStageVolumeRequest>> => ({
  volumeId: given.volumeId ?? (await bench.someVolumeId()),
  stagingTargetPath: bench.stagingPath(),
  volumeCapability: bench.capability(),
  ...given,
});

const refuses = (
  id: string,
  rule: string,
  expects: 'INVALID_ARGUMENT' | 'NOT_FOUND',
  given: (bench: CheckContext) => Given<NodeStageVolumeRequest>,
): Check => refusal({ id, rpc, rule, needs, expects, request: (bench) => request(bench, given(bench)) });

export const nodeStageChecks: readonly Check[] = [
  refuses('no-volume-id', 'Without a volume_id it is INVALID_ARGUMENT.', 'INVALID_ARGUMENT', () => ({ volumeId: '' })),
  refuses('no-path', 'Without a staging_target_path it is INVALID_ARGUMENT.', 'INVALID_ARGUMENT', () => ({
    stagingTargetPath: '',
  })),
  refuses('no-capability', 'Without a volume_capability it is INVALID_ARGUMENT.', 'INVALID_ARGUMENT', () => ({
    volumeCapability: undefined,
  })),
  refuses('unknown-volume', 'A volume that does not exist is NOT_FOUND.', 'NOT_FOUND', (bench) => ({
    volumeId: bench.unknownId(),
  })),
  check(rpc, 'repeat', 'A volume can be staged, and the same once more: OK, and not mounted twice.', async (bench) => {
    const use = await NodeUse.attached(bench);
    await bench.ok(rpc, use.stageRequest);
    const once = (await mountsAt(use.stagingPath)).length;
    await bench.ok(rpc, use.stageRequest);
    const twice = (await mountsAt(use.stagingPath)).length;
    bench.expect(twice === once, `${once} mounts at the staging path`, `after the second call there are ${twice}`);
  }),
  check(
    rpc,
    'other-capability',
    'A volume that is staged there, with another volume_capability, is ALREADY_EXISTS.',
    async (bench) => {
      const volumeCapabilities = [bench.capability(), bench.capability('SINGLE_NODE_READER_ONLY')];
      const use = await NodeUse.staged(bench, { volume: await bench.volume({ volumeCapabilities }) });
      const volumeCapability = bench.capability('SINGLE_NODE_READER_ONLY');
      await bench.refused(rpc, { ...use.stageRequest, volumeCapability }, 'ALREADY_EXISTS');
    },
  ),
  check(
    rpc,
    'exceeds-volume',
    'An access mode for several nodes, of a volume that has none such, is FAILED_PRECONDITION.',
    async (bench) => {
      const use = await NodeUse.attached(bench);
      const volumeCapability = bench.capability('MULTI_NODE_MULTI_WRITER');
      const { volumeId, volumeContext } = use.volume;
      const asked = { volumeId, volumeContext, volumeCapabilities: [volumeCapability] };
      const { confirmed } = await bench.step('ValidateVolumeCapabilities', asked);
      if (confirmed)
        throw new Verdict('not offered', 'the driver confirms that every volume can be used on several nodes');
      await bench.refused(rpc, { ...use.stageRequest, volumeCapability }, 'FAILED_PRECONDITION');
    },
  ),
  refusal({
    id: 'no-volume-id',
    rpc: undo,
    rule: 'Without a volume_id it is INVALID_ARGUMENT.',
    needs,
    expects: 'INVALID_ARGUMENT',
    request: (bench) => ({ stagingTargetPath: bench.stagingPath() }),
  }),
  refusal({
    id: 'no-path',
    rpc: undo,
    rule: 'Without a staging_target_path it is INVALID_ARGUMENT.',
    needs,
    expects: 'INVALID_ARGUMENT',
    request: async (bench) => ({ volumeId: await bench.someVolumeId() }),
  }),
  check(undo, 'repeat', 'A volume can be unstaged, which unmounts it, and once more: OK.', async (bench) => {
    const use = await NodeUse.staged(bench);
    const asked = { volumeId: use.volumeId, stagingTargetPath: use.stagingPath };
    await bench.ok(undo, asked);
    const left = [use.stagingPath, join(use.stagingPath, use.volumeId)];
    for (const path of left) {
      const { length } = await mountsAt(path);
      bench.expect(length === 0, `nothing mounted at ${path}`, `there are ${length} mounts`);
    }
    await bench.ok(undo, asked);
  }),
  check(undo, 'not-staged', 'A volume that was never staged is unstaged: OK.', async (bench) => {
    const use = await NodeUse.attached(bench);
    await bench.ok(undo, { volumeId: use.volumeId, stagingTargetPath: use.stagingPath });
  }),
  check(
    undo,
    'unknown-volume',
    'A volume that does not exist is NOT_FOUND, or OK as it is not staged.',
    async (bench) => {
      const asked = { volumeId: bench.unknownId(), stagingTargetPath: bench.stagingPath() };
      const { code, report } = await bench.ask(undo, asked);
      bench.expect(code === 'OK' || code === 'NOT_FOUND', 'OK or NOT_FOUND', `there came ${report.answer}`);
    },
  ),
];
