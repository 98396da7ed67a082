/**
 * The directories and files that volumes are mounted on: found, made, removed. What is not surely ours is left alone:
 * no symlink is followed at the place itself, nothing with content is covered or removed, nothing is removed recursively.
 */
import type { Stats } from 'node:fs';
import { lstat, mkdir, open, readdir, realpath, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CsiStatus } from '../../csi/server.js';
import { messageOf } from '../../errors.js';
import type { AccessType } from './disk.js';

/** Path in the mount table: symlinks on the way there are followed. Undefined if the parent is missing. */
export async function tablePathOf(path: string): Promise<string | undefined> {
  const parent = await orUndefined(realpath(dirname(path)));
  return parent === undefined ? undefined : join(parent, basename(path));
}

export const noParent = (path: string): CsiStatus =>
  refused(`${dirname(path)} is not there, or is no directory: the caller makes it, then asks again`);

/**
 * Looks whether a volume could be mounted on the place; nothing is mounted there.
 * @returns whether there is such a directory or file
 * @throws {CsiStatus} FAILED_PRECONDITION: something else is there
 */
export async function isFit(place: string, accessType: AccessType): Promise<boolean> {
  const found = await orUndefined(lstat(place));
  if (!found) return false;
  const fault = await faultOf(place, found, accessType);
  if (fault === undefined) return true;
  throw refused(`${place} ${fault}: move it away, or name another path, then ask again`);
}

/** @throws {CsiStatus} as {@link isFit} */
export async function makePlace(place: string, accessType: AccessType): Promise<void> {
  if (await isFit(place, accessType)) return;
  if (accessType === 'mount') await orRefused(mkdir(place, { mode: 0o700 }));
  else await (await orRefused(open(place, 'wx', 0o600))).close();
}

/** Removes what {@link makePlace} made; anything else stays. Nothing is mounted there. */
export async function removePlace(place: string, accessType: AccessType): Promise<void> {
  const found = await orUndefined(lstat(place));
  if (!found || (await faultOf(place, found, accessType)) !== undefined) return;
  await orRefused(accessType === 'mount' ? rmdir(place) : unlink(place));
}

async function faultOf(place: string, found: Stats, accessType: AccessType): Promise<string | undefined> {
  if (found.isSymbolicLink()) return 'is a symlink';
  if (accessType === 'block') {
    if (!found.isFile()) return 'is no file, which a block volume needs';
    return found.size > 0 ? 'is a file with something in it' : undefined;
  }
  if (!found.isDirectory()) return 'is no directory';
  return (await readdir(place)).length > 0 ? 'is a directory with something in it' : undefined;
}

/** @returns undefined if the path, or the way there, does not exist */
async function orUndefined<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    const why = messageOf(error);
    if (/^(ENOENT|ENOTDIR)/.test(why)) return undefined;
    throw /^(ENAMETOOLONG|ELOOP)/.test(why) ? new CsiStatus('INVALID_ARGUMENT', why) : error;
  }
}

async function orRefused<T>(done: Promise<T>): Promise<T> {
  try {
    return await done;
  } catch (error) {
    const why = messageOf(error);
    throw why.startsWith('ENAMETOOLONG')
      ? new CsiStatus('INVALID_ARGUMENT', why)
      : refused(`${why}: repair that, then ask again`);
  }
}

const refused = (message: string): CsiStatus => new CsiStatus('FAILED_PRECONDITION', message);
