/** Facts about block devices, found without opening them. */
import { readFileSync } from 'node:fs';
import type { Disk } from '../../machines/mount/kernel-mount.js';
import type { HostTool } from './host-tool.js';

/** Block device that is seen at a path. */
export interface BlockDevice {
  /** False also if that can't be told. */
  isWritable: boolean;
  /** Absent: the kernel does not number its disks, or is not asked. */
  disk?: Disk;
}

/**
 * Block device at a path; undefined: something else is there. Another process looks: what is mounted there may not
 * answer.
 * @throws Error as `run`
 */
export async function blockDeviceAt(path: string, tool: Pick<HostTool, 'run'>): Promise<BlockDevice | undefined> {
  const { stdout } = await tool.run('stat', ['-c', '%F:%t:%T', '--', path]);
  const [kind, major = '', minor = ''] = stdout.trim().split(':');
  if (kind !== 'block special file') return undefined;
  const device = [major, minor].map((hexadecimal) => Number.parseInt(hexadecimal, 16)).join(':');
  const number = factOf(device, 'diskseq');
  return {
    isWritable: factOf(device, 'ro') === '0',
    ...(number !== undefined && { disk: { device, number } }),
  };
}

/** Whether the kernel has given the device to another disk since, or has taken the disk out of it. */
export function isOtherDisk({ device, number }: Disk): boolean {
  const present = factOf(device, 'diskseq');
  return present !== undefined && present !== number;
}

/** Reads from the kernel's own file system, which asks no disk. Undefined: the kernel does not tell. */
function factOf(device: string, name: string): string | undefined {
  try {
    return readFileSync(`/sys/dev/block/${device}/${name}`, 'utf8').trim();
  } catch {
    return undefined;
  }
}
