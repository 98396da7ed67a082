/**
 * Port to the kernel's mounts, and the real one: util-linux's mount(8) and umount(8). Knows nothing of volumes.
 * Without root: memory-mounts.ts
 */
import { CsiStatus } from '../../csi/server.js';
import { messageOf } from '../../errors.js';
import * as host from '../../host/mount-info.js';
import type { MountTable } from '../../host/mount-table.js';
import type { Ran, RunTool } from './commands.js';

/** All paths are absolute and without symlinks. */
export interface HostMounts {
  table(): Promise<MountTable>;
  /**
   * Shows the directory or file `source` at `target`, which is of the same kind, with the options of the source's
   * mount.
   */
  bind(source: string, target: string): Promise<void>;
  /** Sets options of the mount at `target`; its other options stay. */
  setOptions(target: string, options: readonly string[]): Promise<void>;
  /**
   * Unmounts what is seen at `target`.
   * @throws {CsiStatus} FAILED_PRECONDITION: in use
   */
  unmount(target: string): Promise<void>;
}

export const hostMounts = (run: RunTool): HostMounts => ({
  table: currentMounts,

  bind: (source, target) => mountTool(run, 'mount', ['--bind', source, target], `can't mount at ${target}`),

  setOptions: (target, options) =>
    mountTool(
      run,
      'mount',
      ['-o', `remount,bind,${options.join(',')}`, target],
      `can't set ${options.join(',')} at ${target}`,
    ),

  unmount: (target) => mountTool(run, 'umount', ['--no-canonicalize', target], `can't unmount ${target}`),
});

/** @throws {CsiStatus} UNAVAILABLE: the table changes all the time */
export const currentMounts = (): Promise<MountTable> =>
  host.readMountTable().catch((cause: unknown) => {
    throw new CsiStatus('UNAVAILABLE', messageOf(cause));
  });

async function mountTool(run: RunTool, tool: string, args: string[], what: string): Promise<void> {
  const { status, stderr } = await run(tool, args).catch((cause: unknown): Ran => {
    throw new CsiStatus('INTERNAL', `${what}: ${messageOf(cause)}`);
  });
  if (status === 0) return;
  if (/busy/i.test(stderr)) {
    const advice = `it is in use: end what has files or its working directory there (fuser -vm shows it, among others of its file system), unmount what is mounted in it, then ask again`;
    throw new CsiStatus('FAILED_PRECONDITION', `${what}: ${advice} (${stderr})`);
  }
  if (/superuser|permission denied|not permitted/i.test(stderr)) {
    throw new CsiStatus('FAILED_PRECONDITION', `${what}: run the driver as root, with CAP_SYS_ADMIN (${stderr})`);
  }
  throw new CsiStatus('INTERNAL', `${what}: ${stderr || `${tool} ended with ${status}`}`);
}
