/** Volumes in the form of CSI, with their condition. */
import type { Volume, VolumeCondition } from '../../csi/generated/plain.js';
import { messageOf } from '../../errors.js';
import type { ControllerContext } from './controller-context.js';
import { topologyOf } from './identity.js';
import { warnAboveShareOf } from './parameters.js';
import type { VolumeRecord } from './state.js';

interface VolumeStatus {
  publishedNodeIds: string[];
  volumeCondition: VolumeCondition;
}

export function volumeAnswer({ state }: ControllerContext, { id, capacityBytes, source }: VolumeRecord): Volume {
  return {
    volumeId: id,
    capacityBytes: BigInt(capacityBytes),
    volumeContext: {},
    ...(source && { contentSource: 'snapshotId' in source ? { snapshot: source } : { volume: source } }),
    accessibleTopology: state.isShared ? [] : [topologyOf(state.nodeId)],
  };
}

export async function statusOf(context: ControllerContext, volume: VolumeRecord): Promise<VolumeStatus> {
  const publishedNodeIds = context.attach ? Object.keys(volume.publications) : [];
  return { publishedNodeIds, volumeCondition: await conditionOf(context, volume) };
}

async function conditionOf({ contents, measure }: ControllerContext, volume: VolumeRecord): Promise<VolumeCondition> {
  const path = contents.pathOf(volume);
  try {
    if (!(await contents.exists(volume)))
      return { abnormal: true, message: `its content is missing: nothing is at ${path}; put it back` };
  } catch (error) {
    return { abnormal: true, message: `its content can't be looked at: ${messageOf(error)}` };
  }
  const share = warnAboveShareOf(volume.mutableParameters);
  if (share === undefined) return { abnormal: false, message: 'its content is there' };
  try {
    const { usedBytes } = await measure(path);
    const message = `${usedBytes} of ${volume.capacityBytes} bytes are in use`;
    return { abnormal: usedBytes > share * volume.capacityBytes, message };
  } catch (error) {
    return { abnormal: false, message: messageOf(error) };
  }
}
