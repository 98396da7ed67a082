/** Lists the volumes with work under way, or stuck, when an agent begins to lead. */
import { addressParts, volumesPrefix } from '../../machines/kit/addresses.js';
import type { Runtime } from '../runtime/runtime.js';
import { stateOf } from '../volumes/volume-view.js';
import { describeVolume } from './describe-volumes.js';

/** Volumes listed; more are only counted. */
const most = 20;
const atRest = ['created', 'published'];

/** Looks only at actors in memory: those of all volumes with work to do are there. */
export async function pendingVolumes({ actors, volumes }: Pick<Runtime, 'actors' | 'volumes'>): Promise<string[]> {
  const pending = actors
    .list()
    .filter(({ address, state }) => address.startsWith(volumesPrefix) && !atRest.includes(stateOf(state)));
  const lines: string[] = [];
  for (const { address } of pending.slice(0, most)) {
    const [, namespace = '', id = ''] = addressParts(address);
    const volume = await volumes.get({ namespace, id });
    if (volume) lines.push(describeVolume(volume));
  }
  const more = pending.length - most;
  return more > 0 ? [...lines, `and ${more} more volumes: see stagecraft volume list`] : lines;
}
