/** NodePublishVolume and NodeUnpublishVolume. When what is recorded: as in node-stage.ts */
import type { NodePublishVolumeRequest, NodeUnpublishVolumeRequest } from '../csi/generated/plain.js';
import { CsiStatus } from '../csi/server.js';
import type { NodeAccess } from './node-access.js';
import { capabilityOf, hasOneTarget, idOf, isSame, pathOf } from './node-requests.js';
import type { NodeVolumes } from './node-volumes.js';
import type { Target, UseRecord } from './state.js';
import { accessTypeOf, checkUsable, isReaderOnly } from './volume-capabilities.js';

export async function publish(volumes: NodeVolumes, request: NodePublishVolumeRequest): Promise<object> {
  const id = idOf(request.volumeId);
  const path = pathOf(request.targetPath, 'target_path', volumes.contentDir);
  const capability = capabilityOf(request.volumeCapability);
  return volumes.only(id, path, async () => {
    const volume = volumes.volume(id);
    const stagingPath = stagingPathOf(request, volumes);
    const readonly = request.readonly || isReaderOnly(capability) || volumes.isPublishedReadonly(volume);
    const target: Target = { path, capability, stagingPath, readonly };
    checkUsable(volume, capability);
    await volumes.checkContent(id, volume.accessType);
    volumes.checkUnused(path, id, 'targets');
    const access = volumes.accessTo(id, volume.accessType);
    const use = volumes.useOf(id);
    await checkStaged(use, access, target);
    await checkTargets(use, access, target);
    const others = use.targets.filter((one) => one.path !== path);
    await access.checkPublish(target, others.length < use.targets.length);
    await volumes.remember({ ...use, targets: [...others, target] });
    await access.publish(target);
    return {};
  });
}

function stagingPathOf({ stagingTargetPath, volumeId }: NodePublishVolumeRequest, volumes: NodeVolumes): string {
  if (stagingTargetPath !== '') return pathOf(stagingTargetPath, 'staging_target_path', volumes.contentDir);
  const message = `staging_target_path is missing: NodeStageVolume the volume ${volumeId} first, then name its path`;
  throw new CsiStatus('FAILED_PRECONDITION', message);
}

async function checkStaged(
  { id, stagings }: UseRecord,
  access: NodeAccess,
  { stagingPath, readonly }: Target,
): Promise<void> {
  const staging = stagings.find(({ path }) => path === stagingPath);
  if (!staging || !(await access.isStaged(staging))) {
    const message = `the volume ${id} is not staged at ${stagingPath}: NodeStageVolume it first`;
    throw new CsiStatus('FAILED_PRECONDITION', message);
  }
  if (readonly || !isReaderOnly(staging.capability)) return;
  const message = `the volume ${id} is staged at ${stagingPath} for reading only: publish it so, or stage it to be written to`;
  throw new CsiStatus('FAILED_PRECONDITION', message);
}

/** Records without a mount are of what was never done, or of before a reboot: they don't stand in the way. */
async function checkTargets({ id, targets }: UseRecord, access: NodeAccess, asked: Target): Promise<void> {
  for (const there of targets) {
    if (!(await access.isPublished(there))) continue;
    if (there.path === asked.path) {
      if (isSame(there, asked)) continue;
      const message = `the volume ${id} is published at ${there.path} with other arguments: ${JSON.stringify(there)}`;
      throw new CsiStatus('ALREADY_EXISTS', message);
    }
    const strict = [there, asked].find(({ capability }) => hasOneTarget(capability));
    if (!strict) continue;
    const message = `the volume ${id} is published at ${there.path}, and ${strict.capability.accessMode?.mode} allows one target: NodeUnpublishVolume it first`;
    throw new CsiStatus('FAILED_PRECONDITION', message);
  }
}

export async function unpublish(volumes: NodeVolumes, request: NodeUnpublishVolumeRequest): Promise<object> {
  const id = idOf(request.volumeId);
  const path = pathOf(request.targetPath, 'target_path', volumes.contentDir);
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
