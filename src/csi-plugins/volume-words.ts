/** Translates types of volumes to CSI's messages and back: shared by controller, node and snapshot calls. */
import type { Bytes, Capability, CapacityRange } from '../../machines/kit/csi-types.js';
import { noReason } from '../csi/answers.js';
import { cutText } from '../csi/codes.js';
import type * as plain from '../csi/generated/plain.js';

type Mode = plain.VolumeCapabilityAccessModeMode;

/** CSI's names of modes are ours in capitals, with underscores. */
export const modeOf = ({ accessMode }: Capability): Mode => accessMode.replaceAll('-', '_').toUpperCase() as Mode;

export const volumeCapability = (capability: Capability): plain.VolumeCapability => ({
  accessMode: { mode: modeOf(capability) },
  ...(capability.attachmentMode === 'block-device'
    ? { block: {} }
    : { mount: { fsType: capability.fsType ?? '', mountFlags: capability.mountFlags ?? [], volumeMountGroup: '' } }),
});

export const capacityRange = ({ requiredBytes = 0, limitBytes = 0 }: CapacityRange): plain.CapacityRange => ({
  requiredBytes: BigInt(requiredBytes),
  limitBytes: BigInt(limitBytes),
});

export const bytesOf = (bytes: bigint): Bytes => (bytes <= Number.MAX_SAFE_INTEGER ? Number(bytes) : String(bytes));

/** An abnormal volume has a message, even if the driver sends none. */
export const conditionIn = ({ abnormal, message }: plain.VolumeCondition): plain.VolumeCondition => ({
  abnormal,
  message: cutText(message) || (abnormal ? noReason : ''),
});
