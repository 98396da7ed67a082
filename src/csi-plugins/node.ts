/**
 * Node calls of CSI: translates between the house's types and messages. The callers decide on calls and errors. The
 * port: mounts/node-port.ts
 */

import type * as plain from '../csi/generated/plain.js';
import type { NodePort, NodeStats, StageRequest, VolumePlace, VolumeUsage } from '../mounts/node-port.js';
import { boundedBy, csi } from './bounded.js';
import { bytesOf, capacityRange, conditionIn, volumeCapability } from './volume-words.js';

/** @param timeoutMs limit of each call; drivers were seen to take 30 s for a busy mount */
export const csiNode = ({ timeoutMs }: { timeoutMs: number }): NodePort => {
  const bounded = boundedBy(timeoutMs);
  return {
    stage: (client, request, bounds) =>
      csi(client).nodeStageVolume(
        { ...used(request), stagingTargetPath: request.stagingPath, secrets: bounds.secrets },
        bounded(bounds),
      ),
    unstage: (client, { csiId, stagingPath }, bounds) =>
      csi(client).nodeUnstageVolume({ volumeId: csiId, stagingTargetPath: stagingPath }, bounded(bounds)),
    publish: (client, request, bounds) =>
      csi(client).nodePublishVolume(
        {
          ...used(request),
          ...stagedAt(request),
          targetPath: request.targetPath,
          readonly: request.readOnly,
          secrets: bounds.secrets,
        },
        bounded(bounds),
      ),
    unpublish: (client, { csiId, targetPath }, bounds) =>
      csi(client).nodeUnpublishVolume({ volumeId: csiId, targetPath }, bounded(bounds)),
    async expand(client, { capacity, capability, ...place }, bounds) {
      const { capacityBytes } = await csi(client).nodeExpandVolume(
        {
          ...placed(place),
          capacityRange: capacityRange(capacity),
          volumeCapability: volumeCapability(capability),
          secrets: bounds.secrets,
        },
        bounded(bounds),
      );
      return capacityBytes > 0n ? { capacityBytes: bytesOf(capacityBytes) } : {};
    },
    stats: async (client, place, bounds) =>
      statsOf(await csi(client).nodeGetVolumeStats(placed(place), bounded(bounds))),
  };
};

/** Fields that staging and publishing share. Empty maps are not sent. */
const used = ({ csiId, capability, volumeContext, publishContext }: Omit<StageRequest, 'stagingPath'>) => ({
  volumeId: csiId,
  volumeCapability: volumeCapability(capability),
  volumeContext,
  publishContext,
});

const placed = ({ csiId, volumePath, ...staged }: VolumePlace) => ({
  volumeId: csiId,
  volumePath,
  ...stagedAt(staged),
});

const stagedAt = ({ stagingPath }: Pick<VolumePlace, 'stagingPath'>) =>
  stagingPath === undefined ? {} : { stagingTargetPath: stagingPath };

const statsOf = ({ usage, volumeCondition }: plain.NodeGetVolumeStatsResponse): NodeStats => ({
  usage: usage.flatMap(usageOf),
  ...(volumeCondition && { condition: conditionIn(volumeCondition) }),
});

/** Usage; undefined for an unknown unit. */
function usageOf({ unit, total, used, available }: plain.VolumeUsage): VolumeUsage[] {
  const known = units.get(unit);
  if (!known) return [];
  return [{ unit: known, total: bytesOf(total), used: bytesOf(used), available: bytesOf(available) }];
}

const units = new Map<plain.VolumeUsageUnit, VolumeUsage['unit']>([
  ['BYTES', 'bytes'],
  ['INODES', 'inodes'],
]);
