/**
 * How a volume of one access type comes to this node, and goes from it: the port between what is recorded and decided
 * (node-stage.ts, node-publish.ts) and what is done (directory-access.ts, block-access.ts). Each step can be repeated,
 * whatever an earlier one that was cut short has left, and leaves alone what is not the volume's.
 */
import { CsiStatus } from '../csi/server.js';
import type { MountEntry } from './mount-table.js';
import type { Mounts } from './mounts.js';
import { placeOf, remove } from './node-places.js';
import type { AccessType, Staging, Target } from './state.js';

/** One volume's. */
export interface NodeAccess {
  isStaged(staging: Staging): Promise<boolean>;
  /** @throws {CsiStatus} FAILED_PRECONDITION: something else is there. So far nothing has been changed */
  checkStage(staging: Staging): Promise<void>;
  stage(staging: Staging): Promise<void>;
  unstage(staging: Staging): Promise<void>;
  /** In whatever way. */
  isPublished(target: Target): Promise<boolean>;
  /**
   * @param isKnown whether the path is recorded as a target of the volume already
   * @throws {CsiStatus} FAILED_PRECONDITION: something else is there. So far nothing has been changed
   */
  checkPublish(target: Target, isKnown: boolean): Promise<void>;
  /** Makes the target, too. */
  publish(target: Target): Promise<void>;
  /** Removes the target, too. */
  unpublish(target: Target): Promise<void>;
}

export type IsOurs = (entry: MountEntry) => boolean;

/** Whether a mount that is ours is seen at the path, or would be if others were not over it. */
export async function isMountedAt(mounts: Mounts, path: string, isOurs: IsOurs): Promise<boolean> {
  const place = await placeOf(path);
  return place !== undefined && (await mounts.table()).at(place).some(isOurs);
}

/**
 * Unmounts what is ours; what is not stays.
 * @returns the place, if nothing is mounted there any more
 * @throws {CsiStatus} FAILED_PRECONDITION: it is in use, or something else is mounted over it
 */
async function unmountOurs(mounts: Mounts, path: string, isOurs: IsOurs): Promise<string | undefined> {
  const place = await placeOf(path);
  if (place === undefined) return undefined;
  for (;;) {
    const layers = (await mounts.table()).at(place);
    const top = layers.at(-1);
    if (!top) return place;
    if (!layers.some(isOurs)) return undefined;
    if (!isOurs(top)) throw coveredAt(place);
    await mounts.unmount(place);
  }
}

export const unmountAt = async (mounts: Mounts, path: string, isOurs: IsOurs): Promise<void> => {
  await unmountOurs(mounts, path, isOurs);
};

/** As {@link unmountAt}, then removes the directory or file; the mount of somebody else stays, and what it is on. */
export async function removeTarget(mounts: Mounts, target: Target, accessType: AccessType, isOurs: IsOurs) {
  const place = await unmountOurs(mounts, target.path, isOurs);
  if (place !== undefined) await remove(place, accessType);
}

/** @throws {CsiStatus} FAILED_PRECONDITION: the mount that is seen there is not ours */
export function checkOurs(place: string, layers: readonly MountEntry[], isOurs: IsOurs): void {
  const top = layers.at(-1);
  if (top && !isOurs(top)) throw coveredAt(place);
}

const coveredAt = (place: string): CsiStatus =>
  new CsiStatus(
    'FAILED_PRECONDITION',
    `something that is not this volume is mounted at ${place}: unmount that, then ask again`,
  );
