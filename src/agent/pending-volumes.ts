/** The volumes that are not at rest as an agent begins to lead: what it goes on with, and what is stuck. */
import { addressParts, volumesPrefix } from '../../machines/kit/addresses.js';
import type { Runtime } from '../runtime/runtime.js';
import { stateOf } from '../volumes/volume-view.js';
import { describeVolume } from './describe-volumes.js';

/** More than these are counted only. */
const most = 20;
const atRest = ['created', 'published'];

/** One line each, of those that are in memory, which all are that have something to do. */
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
