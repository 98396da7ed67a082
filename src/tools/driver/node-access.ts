/**
 * How a volume of one access type comes to this node, and goes from it: the port between what is recorded and decided
 * (node-stage-publish.ts) and what is done (directory-access.ts, block-access.ts). Each step can be repeated,
 * whatever an earlier one that was cut short has left, and leaves alone what is not the volume's.
 */
import { CsiStatus } from '../../csi/server.js';
import { isSourceWithin, type MountEntry, type MountSource, type MountTable } from '../../host/mount-table.js';
import type { AccessType } from './disk.js';
import type { HostMounts } from './mounts.js';
import type { StagedVolume, TargetMount } from './state.js';
import { removePlace } from './target-paths.js';

/** Access to one volume. */
export interface NodeAccess {
  /** Whether the volume is staged and can be published. */
  isStaged(staging: StagedVolume): Promise<boolean>;
  /** Whether any mount of it is there, also a covered one, or one of removed content. */
  hasStaging(staging: StagedVolume): Promise<boolean>;
  /** @throws {CsiStatus} FAILED_PRECONDITION: something else is there. Nothing was changed */
  checkStage(staging: StagedVolume): Promise<void>;
  stage(staging: StagedVolume): Promise<void>;
  /** @throws {CsiStatus} FAILED_PRECONDITION: in use, or seen elsewhere too */
  unstage(staging: StagedVolume): Promise<void>;
  /** Whether the target shows the volume. */
  isPublished(target: TargetMount): Promise<boolean>;
  /** Checks a target like `hasStaging`. */
  hasTarget(target: TargetMount): Promise<boolean>;
  /**
   * @param isKnown whether the volume has this target by its record
   * @throws {CsiStatus} FAILED_PRECONDITION: something else is there. Nothing was changed
   */
  checkPublish(target: TargetMount, isKnown: boolean): Promise<void>;
  /** Makes the target, too. */
  publish(target: TargetMount, from: StagedVolume): Promise<void>;
  /** Removes the target, too, unless somebody else's mount or content is there. */
  unpublish(target: TargetMount): Promise<void>;
}

export type IsOurs = (entry: MountEntry) => boolean;

/** Whether the mount that is seen at the place is ours. */
export async function isSeenAt(mounts: HostMounts, place: string, isOurs: IsOurs): Promise<boolean> {
  const top = (await mounts.table()).at(place).at(-1);
  return top !== undefined && isOurs(top);
}

/** Whether a mount of ours is at the place, hidden by others or not. */
export const isAnywhereAt = async (mounts: HostMounts, place: string, isOurs: IsOurs): Promise<boolean> =>
  oursAt(await mounts.table(), place, isOurs).length > 0;

const oursAt = ({ entries }: MountTable, place: string, isOurs: IsOurs): MountEntry[] =>
  entries.filter((entry) => entry.path === place && isOurs(entry));

/**
 * Unmounts our mounts; others stay.
 * @returns whether nothing is mounted there any more
 * @throws {CsiStatus} FAILED_PRECONDITION: in use, or something else is mounted over it, or over the way to it
 */
export async function unmountAt(mounts: HostMounts, place: string, isOurs: IsOurs): Promise<boolean> {
  for (;;) {
    const table = await mounts.table();
    const layers = table.at(place);
    const top = layers.at(-1);
    if (top && isOurs(top)) {
      await mounts.unmount(place);
      continue;
    }
    // Shared mounts may hide a copy of what is seen, which goes with it: so the hidden one comes last.
    const [hidden] = oursAt(table, place, isOurs);
    if (!hidden) return top === undefined;
    throw layers.includes(hidden) ? coveredAt(place) : hiddenAt(place, table.holderOf(place));
  }
}

/** Unmounts like {@link unmountAt}, then removes the directory or file; other mounts and content stay. */
export async function removeTarget(mounts: HostMounts, { place }: TargetMount, accessType: AccessType, isOurs: IsOurs) {
  if (await unmountAt(mounts, place, isOurs)) await removePlace(place, accessType);
}

/** @throws {CsiStatus} FAILED_PRECONDITION: the mount that is seen there is not ours */
export function checkOurs(place: string, layers: readonly MountEntry[], isOurs: IsOurs): void {
  const top = layers.at(-1);
  if (top && !isOurs(top)) throw coveredAt(place);
}

/** @throws {CsiStatus} FAILED_PRECONDITION: one of these, or its content, is mounted somewhere */
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
