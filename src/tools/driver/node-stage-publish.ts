/**
 * NodeStageVolume, NodePublishVolume and their opposites. The record is on disk before anything is done, and goes after
 * all is undone: so the next driver knows of work that was cut off. A record without a mount is an intention only.
 */
import type {
  NodePublishVolumeRequest,
  NodeStageVolumeRequest,
  NodeUnpublishVolumeRequest,
  NodeUnstageVolumeRequest,
} from '../../csi/generated/plain.js';
import { CsiStatus } from '../../csi/server.js';
import type { NodeAccess } from './node-access.js';
import { allowsOneTarget, capabilityOf, cleanPath, idOf, isSame, readsOnly } from './node-requests.js';
import type { NodeVolumes } from './node-volumes.js';
import { checkSizes } from './requests.js';
import type { StagedVolume, TargetMount, UseRecord } from './state.js';
import { tablePathOf } from './target-paths.js';
import { accessTypeOf, checkUsable, whyNot } from './volume-capabilities.js';

export async function stage(volumes: NodeVolumes, request: NodeStageVolumeRequest): Promise<object> {
  checkSizes(request);
  const id = idOf(request.volumeId);
  const path = cleanPath(request.stagingTargetPath, 'staging_target_path');
  const capability = capabilityOf(request.volumeCapability);
  const place = await tablePathOf(path);
  return volumes.only(id, place ?? path, async () => {
    const volume = volumes.volume(id);
    const staging: StagedVolume = { ...(await volumes.whereIs(path, place, 'staging_target_path')), capability };
    const { accessType } = volume;
    const exceeded = whyNot(volume, capability);
    if (exceeded !== undefined) throw new CsiStatus('FAILED_PRECONDITION', exceeded);
    await volumes.checkContent(id, accessType);
    volumes.checkUnused(staging, id, 'stagings');
    const access = volumes.accessTo(id, accessType);
    const use = volumes.useOf(id);
    for (const other of use.stagings) if (await access.hasStaging(other)) refuseOther(id, other, staging);
    await access.checkStage(staging);
    await volumes.remember({ ...use, stagings: [staging] });
    await access.stage(staging);
    return {};
  });
}

/** @param there the present staging */
function refuseOther(id: string, there: StagedVolume, asked: StagedVolume): void {
  if (there.place !== asked.place) {
    const message = `the volume ${id} is staged at ${there.place}, and has one staging path: NodeUnstageVolume it first`;
    throw new CsiStatus('FAILED_PRECONDITION', message);
  }
  if (isSame(there.capability, asked.capability)) return;
  const message = `the volume ${id} is staged at ${there.path} with another capability: ${JSON.stringify(there.capability)}`;
  throw new CsiStatus('ALREADY_EXISTS', message);
}

export async function unstage(volumes: NodeVolumes, request: NodeUnstageVolumeRequest): Promise<object> {
  checkSizes(request);
  const id = idOf(request.volumeId);
  const path = cleanPath(request.stagingTargetPath, 'staging_target_path');
  return volumes.only(id, path, async () => {
    const use = volumes.useOf(id);
    const staging = use.stagings.find((one) => one.path === path);
    if (!staging) {
      volumes.checkKnown(use);
      return {};
    }
    const access = volumes.accessTo(id, accessTypeOf(staging.capability));
    await refuseWhilePublished(volumes, use);
    await access.unstage(staging);
    await volumes.remember({ ...use, stagings: use.stagings.filter((one) => one !== staging) });
    return {};
  });
}

async function refuseWhilePublished(volumes: NodeVolumes, { id, targets }: UseRecord): Promise<void> {
  for (const target of targets) {
    if (!(await volumes.accessTo(id, accessTypeOf(target.capability)).hasTarget(target))) continue;
    const message = `the volume ${id} is published at ${target.path}: NodeUnpublishVolume it first`;
    throw new CsiStatus('FAILED_PRECONDITION', message);
  }
}

export async function publish(volumes: NodeVolumes, request: NodePublishVolumeRequest): Promise<object> {
  checkSizes(request);
  const id = idOf(request.volumeId);
  const path = cleanPath(request.targetPath, 'target_path');
  const capability = capabilityOf(request.volumeCapability);
  const place = await tablePathOf(path);
  return volumes.only(id, place ?? path, async () => {
    const volume = volumes.volume(id);
    const stagingPath = stagingPathOf(request);
    const readonly = request.readonly || readsOnly(capability) || volumes.isPublishedReadonly(volume);
    const where = await volumes.whereIs(path, place, 'target_path');
    const target: TargetMount = { ...where, capability, stagingPath, readonly };
    checkUsable(volume, capability);
    await volumes.checkContent(id, volume.accessType);
    volumes.checkUnused(where, id, 'targets');
    const access = volumes.accessTo(id, volume.accessType);
    const use = volumes.useOf(id);
    const staging = await stagingOf(use, access, target);
    await checkTargets(use, access, target);
    const others = use.targets.filter((one) => one.path !== path);
    const isKnown = use.targets.some((one) => one.place === target.place);
    await access.checkPublish(target, isKnown);
    await volumes.remember({ ...use, targets: [...others, target] });
    await access.publish(target, staging);
    return {};
  });
}

function stagingPathOf({ stagingTargetPath, volumeId }: NodePublishVolumeRequest): string {
  if (stagingTargetPath !== '') return cleanPath(stagingTargetPath, 'staging_target_path');
  const message = `staging_target_path is missing: NodeStageVolume the volume ${volumeId} first, then name its path`;
  throw new CsiStatus('FAILED_PRECONDITION', message);
}

async function stagingOf(
  { id, stagings }: UseRecord,
  access: NodeAccess,
  { stagingPath, readonly }: TargetMount,
): Promise<StagedVolume> {
  const staging = stagings.find(({ path }) => path === stagingPath);
  if (!staging || !(await access.isStaged(staging))) {
    const message = `the volume ${id} is not staged at ${stagingPath}: NodeStageVolume it first`;
    throw new CsiStatus('FAILED_PRECONDITION', message);
  }
  if (readonly || !readsOnly(staging.capability)) return staging;
  const message = `the volume ${id} is staged at ${stagingPath} for reading only: publish it so, or stage it to be written to`;
  throw new CsiStatus('FAILED_PRECONDITION', message);
}

/** Ignores records without a mount: their work was never done, or ended with a reboot. */
async function checkTargets({ id, targets }: UseRecord, access: NodeAccess, asked: TargetMount): Promise<void> {
  for (const there of targets) {
    if (!(await access.hasTarget(there))) continue;
    if (there.path === asked.path) {
      if (isSame(there, asked)) continue;
      const message = `the volume ${id} is published at ${there.path} with other arguments: ${JSON.stringify(there)}`;
      throw new CsiStatus('ALREADY_EXISTS', message);
    }
    const strict = [there, asked].find(({ capability }) => allowsOneTarget(capability));
    if (!strict) continue;
    const message = `the volume ${id} is published at ${there.path}, and ${strict.capability.accessMode?.mode} allows one target: NodeUnpublishVolume it first`;
    throw new CsiStatus('FAILED_PRECONDITION', message);
  }
}

export async function unpublish(volumes: NodeVolumes, request: NodeUnpublishVolumeRequest): Promise<object> {
  checkSizes(request);
  const id = idOf(request.volumeId);
  const path = cleanPath(request.targetPath, 'target_path');
  return volumes.only(id, path, async () => {
    const use = volumes.useOf(id);
    const target = use.targets.find((one) => one.path === path);
    if (!target) {
      volumes.checkKnown(use);
      return {};
    }
    await volumes.accessTo(id, accessTypeOf(target.capability)).unpublish(target);
    await volumes.remember({ ...use, targets: use.targets.filter((one) => one !== target) });
    return {};
  });
}
