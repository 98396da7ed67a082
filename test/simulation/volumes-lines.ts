/** What a commit in a history made of a volume or of a snapshot, in a line. */
import { isCreateInDoubt } from '../../machines/snapshot/states.js';
import type { SeenSnapshot } from './snapshots-judgement.js';
import type { SeenVolume } from './volumes-judgement.js';

export function lineOfVolume({ state, context }: SeenVolume): string {
  const { key, publications, claims, csi, lifecycle } = context;
  const where = Object.entries(publications).map(
    ([node, one]) => `${node}:${one.at}${one.mayStillArrive ? '?' : ''}${one.next ? '+' : ''}`,
  );
  const who = claims.map(({ allocId, nodeId, state }) => `${allocId}@${nodeId}:${state}`);
  const parts = [csi?.id ?? 'no id', ...where, ...who];
  parts.push(lifecycle.force ? `${lifecycle.at} with force` : lifecycle.at);
  return `  ${key.id} is ${JSON.stringify(state)}: ${parts.join(', ')}`;
}

export function lineOfSnapshot({ address, context }: SeenSnapshot): string {
  const { at, csi, discards, name, round } = context;
  const parts = [csi?.csiId ?? 'no id', `${name}, round ${round}`];
  if (discards.length > 0) parts.push(`${discards.length} to be removed`);
  if (isCreateInDoubt(context)) parts.push('in doubt');
  return `  ${address} is ${at}: ${parts.join(', ')}`;
}
