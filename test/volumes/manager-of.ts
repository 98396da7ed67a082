/** What the runtime has of volumes beside its public surface, for tests of just that. */
import type { Runtime } from '../../src/runtime/runtime.js';
import { VolumeManager } from '../../src/volumes/volume-manager.js';

export function managerOf({ volumes }: Runtime): VolumeManager {
  if (volumes instanceof VolumeManager) return volumes;
  throw new Error('the runtime has volumes of another kind');
}
