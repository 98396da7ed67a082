/** What is known of a device that is bound somewhere, without opening it. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { MountEntry } from '../host/mount-table.js';
import type { HostTool } from './host-tool.js';

/** Whether a path shows a block device. A process of its own looks: what is mounted there may not answer. @throws Error as `run` */
export async function isBlockDevice(path: string, tool: Pick<HostTool, 'run'>): Promise<boolean> {
  const { stdout } = await tool.run('stat', ['-c', '%F', '--', path]);
  return stdout.trim() === 'block special file';
}

/** As the kernel's own file system says. False also where it can't be told: by what file system a device is reached does not matter, by which name it does. */
export async function isWritableDevice({ root }: Pick<MountEntry, 'root'>): Promise<boolean> {
  try {
    return (await readFile(`/sys/class/block/${basename(root)}/ro`, 'utf8')).trim() === '0';
  } catch {
    return false;
  }
}
