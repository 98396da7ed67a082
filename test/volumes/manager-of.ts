/** Returns the volume manager of a runtime, for tests of methods that are not public. */
import type { Runtime } from '../../src/runtime/runtime.js';
import { VolumeManager } from '../../src/volumes/volume-manager.js';

export function managerOf({ volumes }: Runtime): VolumeManager {
  if (volumes instanceof VolumeManager) return volumes;
  throw new Error('the runtime has volumes of another kind');
}
