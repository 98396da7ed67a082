/** Facts about a bound device, found without opening it. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { MountEntry } from '../host/mount-table.js';
import type { HostTool } from './host-tool.js';

/**
 * Whether a path shows a block device. Another process looks: what is mounted there may not answer.
 * @throws Error as `run`
 */
export async function isBlockDevice(path: string, tool: Pick<HostTool, 'run'>): Promise<boolean> {
  const { stdout } = await tool.run('stat', ['-c', '%F', '--', path]);
  return stdout.trim() === 'block special file';
}

/**
 * Whether the kernel's own file system shows the device as writable. False also if that can't be told: only the
 * device's name matters, not the file system through which it is reached.
 */
export async function isWritableDevice({ root }: Pick<MountEntry, 'root'>): Promise<boolean> {
  try {
    return (await readFile(`/sys/class/block/${basename(root)}/ro`, 'utf8')).trim() === '0';
  } catch {
    return false;
  }
}
