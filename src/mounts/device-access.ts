/** Whether a device that is bound somewhere can be written to, as the kernel's own file system says: no device is touched. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { MountEntry } from '../host/mount-table.js';

/** False also where it can't be told: by what file system a device is reached does not matter, by which name it does. */
export async function isWritableDevice({ root }: Pick<MountEntry, 'root'>): Promise<boolean> {
  try {
    return (await readFile(`/sys/class/block/${basename(root)}/ro`, 'utf8')).trim() === '0';
  } catch {
    return false;
  }
}
