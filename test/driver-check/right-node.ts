/** The node side of the right driver: bind mounts of directories, and of loop devices. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { type CsiHandlers, CsiStatus } from '../../src/csi/server.js';
import { canBeUsed, contentOf, found, maxVolumes, need, nodeId, type RightState, topology } from './right-driver.js';

const nodeCapabilities = [
  'STAGE_UNSTAGE_VOLUME',
  'GET_VOLUME_STATS',
  'EXPAND_VOLUME',
  'VOLUME_CONDITION',
  'SINGLE_NODE_MULTI_WRITER',
] as const;

export const run = (command: string, ...parameters: string[]): string =>
  execFileSync(command, parameters, { encoding: 'utf8' }).trim();

export const nodeHandlers = (state: RightState): CsiHandlers => ({
  NodeGetInfo: () => ({ nodeId, maxVolumesPerNode: maxVolumes, accessibleTopology: topology }),
  NodeGetCapabilities: () => ({ capabilities: nodeCapabilities.map((type) => ({ rpc: { type } })) }),
  NodeStageVolume: ({ volumeId, stagingTargetPath: path, volumeCapability }) => {
    need(volumeId, 'volume_id');
    need(path, 'staging_target_path');
    need(volumeCapability, 'volume_capability');
    const volume = found(state.volumes.get(volumeId), 'volume');
    const { isBlock } = volume;
    if (!canBeUsed(volume, volumeCapability)) throw new CsiStatus('FAILED_PRECONDITION', 'it was not made for that');
    const how = JSON.stringify([volumeId, volumeCapability]);
    const there = state.staged.get(path);
    if (there !== undefined && there !== how) throw new CsiStatus('ALREADY_EXISTS', 'in another way');
    if (there === undefined && !isBlock) run('mount', '--bind', contentOf(state, volumeId), path);
    state.staged.set(path, how);
    return {};
  },
  NodeUnstageVolume: ({ volumeId, stagingTargetPath: path }) => {
    need(volumeId, 'volume_id');
    need(path, 'staging_target_path');
    if (state.staged.delete(path) && !state.volumes.get(volumeId)?.isBlock) run('umount', path);
    return {};
  },
  NodePublishVolume: ({ volumeId, stagingTargetPath, targetPath, volumeCapability, readonly }) => {
    need(volumeId, 'volume_id');
    need(targetPath, 'target_path');
    need(volumeCapability, 'volume_capability');
    const { isBlock } = found(state.volumes.get(volumeId), 'volume');
    if (!stagingTargetPath) throw new CsiStatus('FAILED_PRECONDITION', 'it is not staged');
    const how = JSON.stringify([volumeId, volumeCapability, readonly]);
    const there = state.targets.get(targetPath);
    if (there && there.how !== how) throw new CsiStatus('ALREADY_EXISTS', 'in another way');
    if (there) return {};
    const mode = volumeCapability.accessMode?.mode ?? '';
    const others = [...state.targets.values()].filter((target) => target.volumeId === volumeId);
    if (others.length > 0 && mode !== 'SINGLE_NODE_MULTI_WRITER')
      throw new CsiStatus('FAILED_PRECONDITION', 'it has a target');
    const device = isBlock ? publishBlock(contentOf(state, volumeId), targetPath, readonly) : '';
    if (!isBlock) publishDirectory(stagingTargetPath, targetPath, readonly);
    state.targets.set(targetPath, { volumeId, how, mode, device });
    return {};
  },
  NodeUnpublishVolume: ({ volumeId, targetPath }) => {
    need(volumeId, 'volume_id');
    need(targetPath, 'target_path');
    const target = state.targets.get(targetPath);
    if (!target) return {};
    unpublish(targetPath, target.device);
    state.targets.delete(targetPath);
    return {};
  },
  NodeGetVolumeStats: ({ volumeId, volumePath }) => {
    need(volumeId, 'volume_id');
    need(volumePath, 'volume_path');
    found(state.volumes.get(volumeId), 'volume');
    found(state.targets.get(volumePath), 'volume at that path');
    return {
      usage: [{ unit: 'BYTES', total: 2, used: 1, available: 1 }],
      volumeCondition: { abnormal: false, message: 'well' },
    };
  },
  NodeExpandVolume: ({ volumeId, volumePath, capacityRange }) => {
    need(volumeId, 'volume_id');
    need(volumePath, 'volume_path');
    const { capacityBytes } = found(state.volumes.get(volumeId), 'volume');
    if ((capacityRange?.requiredBytes ?? 0n) > capacityBytes) throw new CsiStatus('OUT_OF_RANGE', 'it is smaller');
    const device = state.targets.get(volumePath)?.device;
    if (device) run('losetup', '-c', device);
    return { capacityBytes };
  },
});

function publishDirectory(from: string, target: string, readonly: boolean): void {
  mkdirSync(target);
  run('mount', '--bind', from, target);
  if (readonly) run('mount', '-o', 'remount,bind,ro', target);
}

function publishBlock(image: string, target: string, readonly: boolean): string {
  const device = run('losetup', ...(readonly ? ['-r'] : []), '-f', '--show', image);
  writeFileSync(target, '');
  run('mount', '--bind', device, target);
  return device;
}

export function unpublish(target: string, device: string): void {
  run('umount', target);
  if (device) run('losetup', '-d', device);
  if (device) unlinkSync(target);
  else rmdirSync(target);
}
