/** NodeGetVolumeStats and NodeExpandVolume, on a volume in use on this host. */
import type { Given } from '../../../csi/codec.js';
import type { NodeExpandVolumeRequest } from '../../../csi/generated/plain.js';
import type { AccessType, Check, CheckContext } from '../context.js';
import { deviceBytes, measuredBytes } from '../host.js';
import { NodeUse } from '../node-use.js';
import type { Need } from '../verdict.js';
import { expectNoSuchSize, hugeBytes, refusal } from './common.js';

const stats = 'NodeGetVolumeStats';
const expand = 'NodeExpandVolume';
const measures: readonly (readonly Need[])[] = [['node/GET_VOLUME_STATS', 'node/VOLUME_CONDITION']];
const expands: readonly Need[] = ['node/EXPAND_VOLUME'];

const statsChecks: readonly Check[] = [
  refusal({
    id: 'no-volume-id',
    rpc: stats,
    rule: 'Without a volume_id it is INVALID_ARGUMENT.',
    needs: measures,
    expects: 'INVALID_ARGUMENT',
    request: (bench) => ({ volumePath: bench.targetPath() }),
  }),
  refusal({
    id: 'no-path',
    rpc: stats,
    rule: 'Without a volume_path it is INVALID_ARGUMENT.',
    needs: measures,
    expects: 'INVALID_ARGUMENT',
    request: async (bench) => ({ volumeId: await bench.someVolumeId() }),
  }),
  refusal({
    id: 'unknown-volume',
    rpc: stats,
    rule: 'A volume that does not exist is NOT_FOUND.',
    needs: measures,
    expects: 'NOT_FOUND',
    request: (bench) => ({ volumeId: bench.unknownId(), volumePath: bench.targetPath() }),
  }),
  {
    id: `${stats}/other-path`,
    rpc: stats,
    rule: 'A volume that is not at that path is NOT_FOUND.',
    needs: measures,
    mounts: true,
    run: async (bench) => {
      const use = await NodeUse.staged(bench);
      await use.publish();
      await bench.refused(stats, { volumeId: use.volumeId, volumePath: bench.targetPath() }, 'NOT_FOUND');
    },
  },
  {
    id: `${stats}/usage`,
    rpc: stats,
    rule: 'Of a published volume it gives the usage, each unit once, with nothing below 0.',
    needs: ['node/GET_VOLUME_STATS'],
    mounts: true,
    run: async (bench) => {
      const { usage } = await bench.ok(stats, await measured(bench));
      bench.expect(
        new Set(usage.map(({ unit }) => unit)).size === usage.length,
        'each unit once',
        'one is there twice',
      );
      const below = usage.find(({ total, used, available }) => total < 0n || used < 0n || available < 0n);
      bench.expect(!below, 'nothing below 0', `there is, in ${below?.unit}`);
      const units = usage.map(({ unit }) => unit);
      if (!units.includes('BYTES'))
        bench.warn(`usage is optional, but callers look for it in BYTES; there is ${units.join() || 'none'}`);
    },
  },
  {
    id: `${stats}/condition`,
    rpc: stats,
    rule: 'Of a published volume it gives the volume_condition, which for a new one is not abnormal.',
    needs: ['node/VOLUME_CONDITION'],
    mounts: true,
    run: async (bench) => {
      const { volumeCondition } = await bench.ok(stats, await measured(bench));
      bench.expect(volumeCondition !== undefined, 'a volume_condition', 'there is none');
      bench.expect(
        volumeCondition?.abnormal === false,
        'a volume that is well',
        `it is abnormal: ${volumeCondition?.message}`,
      );
    },
  },
];

async function measured(
  bench: CheckContext,
): Promise<{ volumeId: string; volumePath: string; stagingTargetPath?: string }> {
  const use = await NodeUse.staged(bench);
  const volumePath = await use.publish();
  return { volumeId: use.volumeId, volumePath, ...(use.isStaged && { stagingTargetPath: use.stagingPath }) };
}

const request = (bench: CheckContext, given: Given<NodeExpandVolumeRequest>): Given<NodeExpandVolumeRequest> => ({
  volumePath: bench.targetPath(),
  volumeCapability: bench.capability(),
  capacityRange: { requiredBytes: 2 * bench.options.sizeBytes },
  ...given,
});

const expandChecks: readonly Check[] = [
  refusal({
    id: 'no-volume-id',
    rpc: expand,
    rule: 'Without a volume_id it is INVALID_ARGUMENT.',
    needs: expands,
    expects: 'INVALID_ARGUMENT',
    request: (bench) => request(bench, {}),
  }),
  refusal({
    id: 'no-path',
    rpc: expand,
    rule: 'Without a volume_path it is INVALID_ARGUMENT.',
    needs: expands,
    expects: 'INVALID_ARGUMENT',
    request: async (bench) => request(bench, { volumeId: await bench.someVolumeId(), volumePath: '' }),
  }),
  refusal({
    id: 'unknown-volume',
    rpc: expand,
    rule: 'A volume that does not exist is NOT_FOUND.',
    needs: expands,
    expects: 'NOT_FOUND',
    request: (bench) => request(bench, { volumeId: bench.unknownId() }),
  }),
  {
    id: `${expand}/too-large`,
    rpc: expand,
    rule: 'A size that the volume does not have is OUT_OF_RANGE.',
    needs: expands,
    mounts: true,
    run: async (bench) => {
      const asked = request(bench, { ...(await measured(bench)), capacityRange: { requiredBytes: hugeBytes } });
      const answer = await bench.ask(expand, asked);
      const capacityBytes = answer.value?.capacityBytes ?? 0n;
      if (answer.code === 'OK' && capacityBytes < hugeBytes)
        bench.warn('it is OK, as if the capacity_range had not been read: callers believe that there is as much');
      expectNoSuchSize(bench, answer, capacityBytes);
    },
  },
  {
    id: `${expand}/staged`,
    rpc: expand,
    rule: 'A volume that is staged, and not yet published, can be expanded at its staging path.',
    needs: [...expands, 'node/STAGE_UNSTAGE_VOLUME'],
    mounts: true,
    run: async (bench) => {
      const { use, grow } = await growing(bench, bench.accessType);
      await grow();
      const { volumeId, stagingPath: volumePath, capability } = use;
      const asked = { volumeId, volumePath, stagingTargetPath: volumePath, volumeCapability: capability };
      const { capacityBytes } = await bench.ok(expand, request(bench, asked));
      expectAsLarge(bench, capacityBytes);
    },
  },
  ...(['mount', 'block'] as const).map(
    (accessType): Check => ({
      id: `${expand}/grows-${accessType}`,
      rpc: expand,
      rule: `A published volume of type ${accessType} becomes as large as the controller made it; once more is OK.`,
      needs: expands,
      mounts: true,
      run: async (bench) => {
        const { use, grow } = await growing(bench, accessType);
        const volumePath = await use.publish();
        await grow();
        const stagingTargetPath = use.isStaged ? use.stagingPath : '';
        const asked = { volumeId: use.volumeId, volumePath, stagingTargetPath, volumeCapability: use.capability };
        const measure = use.isBlock ? deviceBytes : measuredBytes;
        const before = await measure(volumePath, bench.timeoutMs);
        const told = await bench.ok(expand, request(bench, asked));
        expectAsLarge(bench, told.capacityBytes);
        expectAsLarge(bench, (await bench.ok(expand, request(bench, asked))).capacityBytes);
        const after = await measure(volumePath, bench.timeoutMs);
        if (use.isBlock)
          bench.expect(after >= wantedBytes(bench), `a device of ${wantedBytes(bench)} bytes`, `it has ${after}`);
        else expectRoom(bench, use, { before, after, told: told.capacityBytes });
      },
    }),
  ),
];

const wantedBytes = (bench: CheckContext): bigint => BigInt(2 * bench.options.sizeBytes);

/**
 * Publishes a volume on this node and expands it on the controller: before publishing if the driver expands offline
 * only.
 */
async function growing(
  bench: CheckContext,
  accessType: AccessType,
): Promise<{ use: NodeUse; grow: () => Promise<void> }> {
  await bench.needAccessType(accessType);
  const capability = bench.capability(undefined, accessType);
  const volume = await bench.volume({ volumeCapabilities: [capability] });
  const grow = async (): Promise<void> => {
    if (!bench.offers.has('controller/EXPAND_VOLUME')) return;
    const capacityRange = { requiredBytes: wantedBytes(bench) };
    await bench.step('ControllerExpandVolume', {
      volumeId: volume.volumeId,
      capacityRange,
      volumeCapability: capability,
    });
  };
  const isOnline = bench.offers.has('expansion/ONLINE');
  if (!isOnline) await grow();
  const use = await NodeUse.staged(bench, { accessType, volume });
  return { use, grow: isOnline ? grow : async () => {} };
}

/** Judges the capacity of an answer, in which 0 means unknown. */
function expectAsLarge(bench: CheckContext, capacityBytes: bigint): void {
  const wanted = wantedBytes(bench);
  bench.expect(
    capacityBytes === 0n || capacityBytes >= wanted,
    `at least ${wanted} bytes`,
    `there are ${capacityBytes}`,
  );
}

/**
 * A file system uses a part of its device, and the one of a directory may be larger than the volume. Certain is only
 * that the volume must not shrink.
 */
function expectRoom(
  bench: CheckContext,
  { volume: { capacityBytes } }: NodeUse,
  { before, after, told }: Record<'before' | 'after' | 'told', bigint>,
): void {
  const isToGrow = capacityBytes > 0n && capacityBytes < wantedBytes(bench);
  bench.expect(
    !isToGrow || after > capacityBytes,
    `a file system of more than the ${capacityBytes} bytes of before`,
    `it has ${after}`,
  );
  if (told === 0n && after === before && after > wantedBytes(bench))
    bench.warn('whether it has grown can not be seen: neither capacity_bytes nor the file system tells');
}

export const statsExpandChecks: readonly Check[] = [...statsChecks, ...expandChecks];
