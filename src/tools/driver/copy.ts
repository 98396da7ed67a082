/**
 * Copies a volume or snapshot with cp(1), as its user may be changing it: who swaps a directory for a symlink meanwhile
 * must not get what that points to. So, where we may mount, cp runs in a mount namespace of its own in which no symlink
 * below the content directory is followed.
 */
import { readFile } from 'node:fs/promises';
import { CsiStatus } from '../../csi/server.js';
import { outputOf, type Run, ToolFailure } from './commands.js';

interface Copying {
  run: Run;
  /** Directory with both ends, and no symlink on the way. */
  directory: string;
  signal: AbortSignal;
}

/** Keeps holes, hard links, owners and attributes; shares blocks if the file system can. */
const copyCommand = ['cp', '-a', '-x', '-T', '--reflink=auto', '--'] as const;

/** A mount namespace of its own, in which unmounts from outside take effect. */
const apart = ['unshare', '--mount', '--propagation', 'slave'] as const;

/** One mount with both ends: between two mounts, older kernels share no blocks. */
const withoutFollowing = 'mount --bind -- "$1" "$1" && mount -o remount,bind,nosymfollow -- "$1" && shift && exec "$@"';

/** @throws {ToolFailure} with `hasLostFiles` if a symlink came in the way; {CsiStatus} FAILED_PRECONDITION */
export async function copyTree({ run, directory, signal }: Copying, from: string, to: string): Promise<void> {
  const copy = [...copyCommand, from, to] as const;
  const shielded = [...apart, 'sh', '-c', withoutFollowing, 'sh', directory, ...copy] as const;
  try {
    await outputOf(run, (await mayMount()) ? shielded : copy, signal);
  } catch (error) {
    throw error instanceof ToolFailure && /^(?:unshare|mount): /.test(error.message) ? unshielded(error) : error;
  }
}

/** The copy could contain the host's files: none is made. */
const unshielded = ({ message }: ToolFailure): CsiStatus =>
  new CsiStatus(
    'FAILED_PRECONDITION',
    `can't copy without following symlinks (${message}): that takes Linux 5.10, a mount(8) that knows nosymfollow, and mount namespaces; or run the driver without CAP_SYS_ADMIN`,
  );

const adminBit = 21n; // CAP_SYS_ADMIN

async function mayMount(): Promise<boolean> {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(await readFile('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${effective}`) >> adminBit) & 1n) === 1n;
}
