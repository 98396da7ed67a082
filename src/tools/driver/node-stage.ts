/**
 * NodeStageVolume and NodeUnstageVolume. The record is on disk before anything is done, and goes after all is undone:
 * so the next driver knows of work that was cut off. A record without a mount is an intention only.
 */
import type { NodeStageVolumeRequest, NodeUnstageVolumeRequest } from '../../csi/generated/plain.js';
import { CsiStatus } from '../../csi/server.js';
import { capabilityOf, idOf, isSame, pathOf } from './node-requests.js';
import type { NodeVolumes } from './node-volumes.js';
import { checkSizes } from './requests.js';
import type { Staging, UseRecord } from './state.js';
import { placeOf } from './target-paths.js';
import { accessTypeOf, whyNot } from './volume-capabilities.js';

export async function stage(volumes: NodeVolumes, request: NodeStageVolumeRequest): Promise<object> {
  checkSizes(request);
  const id = idOf(request.volumeId);
  const path = pathOf(request.stagingTargetPath, 'staging_target_path');
  const capability = capabilityOf(request.volumeCapability);
  const place = await placeOf(path);
  return volumes.only(id, place ?? path, async () => {
    const volume = volumes.volume(id);
    const staging: Staging = { ...(await volumes.whereIs(path, place, 'staging_target_path')), capability };
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
function refuseOther(id: string, there: Staging, asked: Staging): void {
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
  const path = pathOf(request.stagingTargetPath, 'staging_target_path');
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
