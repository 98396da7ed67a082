/** The messages of the CSI benches, as a driver of a storage array has them: ids, maps of a few entries, a topology. */
import type { Given } from '../../dist/src/csi/codec.js';
import type {
  ControllerPublishVolumeRequest,
  CreateVolumeRequest,
  Volume,
} from '../../dist/src/csi/generated/plain.js';

const volumeId = 'vol-0f3c9a2e7b1d4856';

const context = {
  'storage.example/pool': 'fast-ssd-1',
  'storage.example/replicas': '3',
  'storage.example/export': '10.11.12.13:/exports/vol-0f3c9a2e7b1d4856',
};

const volumeCapability = {
  mount: { fsType: 'ext4', mountFlags: ['noatime', 'discard'] },
  accessMode: { mode: 'SINGLE_NODE_WRITER' },
} as const;

const segments = { 'topology.example/region': 'eu-1', 'topology.example/zone': 'eu-1b' };

export const createVolume: Given<CreateVolumeRequest> = {
  name: 'pvc-6a1f8e0c-2d3b-4c5a-9e7f-8b0a1c2d3e4f',
  capacityRange: { requiredBytes: 2 ** 30, limitBytes: 2 ** 31 },
  volumeCapabilities: [volumeCapability],
  parameters: { type: 'ssd', replicas: '3', encrypted: 'true' },
  secrets: { user: 'provisioner', password: 'correct horse battery staple' },
  accessibilityRequirements: { requisite: [{ segments }], preferred: [{ segments }] },
};

export const controllerPublish: Given<ControllerPublishVolumeRequest> = {
  volumeId,
  nodeId: 'node-17.rack-4.eu-1b',
  volumeCapability,
  secrets: { user: 'attacher', password: 'correct horse battery staple' },
  volumeContext: context,
};

export const volume: Given<Volume> = {
  capacityBytes: 2 ** 30,
  volumeId,
  volumeContext: context,
  accessibleTopology: [{ segments }],
};

export const publishContext = { devicePath: '/dev/disk/by-id/wwn-0x5002538e4034d5a1', lun: '7', ...context };
