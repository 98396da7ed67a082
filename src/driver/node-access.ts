/**
 * How a volume of one access type comes to this node, and goes from it: the port between what is recorded and decided
 * (node-stage.ts, node-publish.ts) and what is done (directory-access.ts, block-access.ts). Each step can be repeated,
 * whatever an earlier one that was cut short has left, and leaves alone what is not the volume's.
 */
import { CsiStatus } from '../csi/server.js';
import { isSourceWithin, type MountEntry, type MountSource, type MountTable } from '../host/mount-table.js';
import type { AccessType } from './disk.js';
import type { Mounts } from './mounts.js';
import type { Staging, Target } from './state.js';
import { remove } from './target-paths.js';

/** One volume's. */
export interface NodeAccess {
  /** Whether it is there to be published. */
  isStaged(staging: Staging): Promise<boolean>;
  /** Whether anything of it is there: also what is covered, or shows what was removed since. */
  hasStaging(staging: Staging): Promise<boolean>;
  /** @throws {CsiStatus} FAILED_PRECONDITION: something else is there. So far nothing has been changed */
  checkStage(staging: Staging): Promise<void>;
  stage(staging: Staging): Promise<void>;
  /** @throws {CsiStatus} FAILED_PRECONDITION: it is in use, or seen elsewhere too */
  unstage(staging: Staging): Promise<void>;
  /** Whether who looks there sees the volume. */
  isPublished(target: Target): Promise<boolean>;
  /** As `hasStaging`. */
  hasTarget(target: Target): Promise<boolean>;
  /**
   * @param isKnown whether this is recorded as a target of the volume already
   * @throws {CsiStatus} FAILED_PRECONDITION: something else is there. So far nothing has been changed
   */
  checkPublish(target: Target, isKnown: boolean): Promise<void>;
  /** Makes the target, too. */
  publish(target: Target, from: Staging): Promise<void>;
  /** Removes the target, too, unless something of somebody else is there. */
  unpublish(target: Target): Promise<void>;
}

export type IsOurs = (entry: MountEntry) => boolean;

/** Whether a mount that is ours is what is seen at the place. */
export async function isSeenAt(mounts: Mounts, place: string, isOurs: IsOurs): Promise<boolean> {
  const top = (await mounts.table()).at(place).at(-1);
  return top !== undefined && isOurs(top);
}

/** Whether one is there at all, be it that others hide it. */
export const isAnywhereAt = async (mounts: Mounts, place: string, isOurs: IsOurs): Promise<boolean> =>
  oursAt(await mounts.table(), place, isOurs).length > 0;

const oursAt = ({ entries }: MountTable, place: string, isOurs: IsOurs): MountEntry[] =>
  entries.filter((entry) => entry.path === place && isOurs(entry));

/**
 * Unmounts what is ours; what is not stays.
 * @returns whether nothing is mounted there any more
 * @throws {CsiStatus} FAILED_PRECONDITION: it is in use, or something else is mounted over it, or over the way to it
 */
export async function unmountAt(mounts: Mounts, place: string, isOurs: IsOurs): Promise<boolean> {
  for (;;) {
    const table = await mounts.table();
    const layers = table.at(place);
    const top = layers.at(-1);
    if (top && isOurs(top)) {
      await mounts.unmount(place);
      continue;
    }
    // Where mounts are shared, what is hidden may be a copy of what is seen, and goes with it: so it is asked for last.
    const [hidden] = oursAt(table, place, isOurs);
    if (!hidden) return top === undefined;
    throw layers.includes(hidden) ? coveredAt(place) : hiddenAt(place, table.holderOf(place));
  }
}

/** As {@link unmountAt}, then removes the directory or file; a mount of somebody else stays, and so does content. */
export async function removeTarget(mounts: Mounts, { place }: Target, accessType: AccessType, isOurs: IsOurs) {
  if (await unmountAt(mounts, place, isOurs)) await remove(place, accessType);
}

/** @throws {CsiStatus} FAILED_PRECONDITION: the mount that is seen there is not ours */
export function checkOurs(place: string, layers: readonly MountEntry[], isOurs: IsOurs): void {
  const top = layers.at(-1);
  if (top && !isOurs(top)) throw coveredAt(place);
}

/** @throws {CsiStatus} FAILED_PRECONDITION: one of these, or what is in it, is mounted somewhere */
export function refuseMountsOf({ entries }: MountTable, sources: readonly MountSource[]): void {
  const shown = entries.find((entry) => sources.some((source) => isSourceWithin(entry, source)));
  if (!shown) return;
  const message = `what is in the volume is mounted at ${shown.path} too: unmount that, then ask again`;
  throw new CsiStatus('FAILED_PRECONDITION', message);
}

const coveredAt = (place: string): CsiStatus =>
  new CsiStatus(
    'FAILED_PRECONDITION',
    `something that is not this volume is mounted at ${place}: unmount that, then ask again`,
  );

const hiddenAt = (place: string, { path }: MountEntry): CsiStatus =>
  new CsiStatus(
    'FAILED_PRECONDITION',
    `the volume is mounted at ${place} still, but a mount at ${path} hides it: unmount that, then ask again`,
  );
