/** NodeGetVolumeStats and NodeExpandVolume: a volume that is in use here, measured and made larger. */
import type { Given } from '../../csi/codec.js';
import type { NodeExpandVolumeRequest } from '../../csi/generated/plain.js';
import type { Bench } from '../bench.js';
import type { Check, Need } from '../check.js';
import { deviceBytes } from '../host.js';
import { NodeUse } from '../node-use.js';
import { refusal } from './refusal.js';

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
        usage.some(({ unit }) => unit === 'BYTES'),
        'usage in BYTES',
        `there is ${usage.map(({ unit }) => unit).join() || 'none'}`,
      );
      bench.expect(
        new Set(usage.map(({ unit }) => unit)).size === usage.length,
        'each unit once',
        'one is there twice',
      );
      const below = usage.find(({ total, used, available }) => total < 0n || used < 0n || available < 0n);
      bench.expect(!below, 'nothing below 0', `there is, in ${below?.unit}`);
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

async function measured(bench: Bench): Promise<{ volumeId: string; volumePath: string; stagingTargetPath?: string }> {
  const use = await NodeUse.staged(bench);
  const volumePath = await use.publish();
  return { volumeId: use.volumeId, volumePath, ...(use.isStaged && { stagingTargetPath: use.stagingPath }) };
}

const request = (bench: Bench, given: Given<NodeExpandVolumeRequest>): Given<NodeExpandVolumeRequest> => ({
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
  ...(['mount', 'block'] as const).map(
    (accessType): Check => ({
      id: `${expand}/grows-${accessType}`,
      rpc: expand,
      rule: `A published volume of type ${accessType} becomes as large as the controller made it; once more is OK.`,
      needs: expands,
      mounts: true,
      run: async (bench) => {
        const capacityRange = { requiredBytes: 2 * bench.options.sizeBytes };
        const isOnline = bench.offers.has('expansion/ONLINE');
        await bench.needAccessType(accessType);
        const capability = bench.capability(undefined, accessType);
        const volume = await bench.volume({ volumeCapabilities: [capability] });
        const { volumeId } = volume;
        const grow = async (): Promise<void> => {
          if (bench.offers.has('controller/EXPAND_VOLUME'))
            await bench.step('ControllerExpandVolume', { volumeId, capacityRange, volumeCapability: capability });
        };
        if (!isOnline) await grow();
        const use = await NodeUse.staged(bench, { accessType, volume });
        const volumePath = await use.publish();
        if (isOnline) await grow();
        const stagingTargetPath = use.isStaged ? use.stagingPath : '';
        const asked = request(bench, { volumeId, volumePath, stagingTargetPath, volumeCapability: capability });
        for (const _ of ['first', 'again']) {
          const { capacityBytes } = await bench.ok(expand, asked);
          const isLarge = capacityBytes === 0n || capacityBytes >= BigInt(capacityRange.requiredBytes);
          bench.expect(isLarge, `at least ${capacityRange.requiredBytes} bytes`, `there are ${capacityBytes}`);
        }
        if (accessType === 'mount') return;
        const bytes = await deviceBytes(volumePath, bench.timeoutMs);
        bench.expect(
          bytes >= BigInt(capacityRange.requiredBytes),
          `a device of ${capacityRange.requiredBytes} bytes`,
          `it has ${bytes}`,
        );
      },
    }),
  ),
];

export const statsExpandChecks: readonly Check[] = [...statsChecks, ...expandChecks];
