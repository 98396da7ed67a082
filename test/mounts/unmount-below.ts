/** Unmounts what a test has left mounted below a folder of its own. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseMountInfo } from '../../src/host/mount-table.js';

export function unmountBelow(folder: string): void {
  const mounts = parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8'));
  for (const { path } of mounts.reverse())
    if (path.startsWith(`${folder}/`)) execFileSync('umount', ['--lazy', '--no-canonicalize', path]);
}
