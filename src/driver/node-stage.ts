/**
 * NodeStageVolume and NodeUnstageVolume. The record is on disk before anything is done and goes after all is undone, so
 * that a driver that was killed in between knows of it; a record of what is not there is but an intention.
 */
import type { NodeStageVolumeRequest, NodeUnstageVolumeRequest } from '../csi/generated/plain.js';
import { CsiStatus } from '../csi/server.js';
import { capabilityOf, idOf, isSame, pathOf } from './node-requests.js';
import type { NodeVolumes } from './node-volumes.js';
import type { Staging, UseRecord } from './state.js';
import { accessTypeOf, whyNot } from './volume-capabilities.js';

export async function stage(volumes: NodeVolumes, request: NodeStageVolumeRequest): Promise<object> {
  const id = idOf(request.volumeId);
  const path = pathOf(request.stagingTargetPath, 'staging_target_path', volumes.contentDir);
  const staging: Staging = { path, capability: capabilityOf(request.volumeCapability) };
  return volumes.only(id, path, async () => {
    const volume = volumes.volume(id);
    const { accessType } = volume;
    const exceeded = whyNot(volume, staging.capability);
    if (exceeded !== undefined) throw new CsiStatus('FAILED_PRECONDITION', exceeded);
    await volumes.checkContent(id, accessType);
    volumes.checkUnused(path, id, 'stagings');
    const access = volumes.accessTo(id, accessType);
    const use = volumes.useOf(id);
    for (const other of use.stagings) if (await access.isStaged(other)) refuseOther(id, other, staging);
    await access.checkStage(staging);
    await volumes.remember({ ...use, stagings: [staging] });
    await access.stage(staging);
    return {};
  });
}

/** @param there the one that is already staged */
function refuseOther(id: string, there: Staging, asked: Staging): void {
  if (there.path !== asked.path) {
    const message = `the volume ${id} is staged at ${there.path}, and has one staging path: NodeUnstageVolume it first`;
    throw new CsiStatus('FAILED_PRECONDITION', message);
  }
  if (isSame(there.capability, asked.capability)) return;
  const message = `the volume ${id} is staged at ${there.path} with another capability: ${JSON.stringify(there.capability)}`;
  throw new CsiStatus('ALREADY_EXISTS', message);
}

export async function unstage(volumes: NodeVolumes, request: NodeUnstageVolumeRequest): Promise<object> {
  const id = idOf(request.volumeId);
  const path = pathOf(request.stagingTargetPath, 'staging_target_path', volumes.contentDir);
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
    if (!(await volumes.accessTo(id, accessTypeOf(target.capability)).isPublished(target))) continue;
    const message = `the volume ${id} is published at ${target.path}: NodeUnpublishVolume it first`;
    throw new CsiStatus('FAILED_PRECONDITION', message);
  }
}
