/**
 * Copies a volume or snapshot with cp(1), as its user may be changing it: who swaps a directory for a symlink meanwhile
 * must not get what that points to. So, where we may mount, cp runs in a mount namespace of its own in which no symlink
 * below the content directory is followed.
 */
import { readFile } from 'node:fs/promises';
import { CsiStatus } from '../csi/server.js';
import { outputOf, type Run, ToolFailure } from './commands.js';

export interface Copying {
  run: Run;
  /** Holds both, and has no symlink on its way. */
  directory: string;
  signal: AbortSignal;
}

/** Holes stay holes, hard links stay links, owners and attributes stay; blocks are shared where the file system can. */
const copyCommand = ['cp', '-a', '-x', '-T', '--reflink=auto', '--'] as const;

/** Has a namespace of its own, but keeps nothing mounted that is unmounted outside. */
const apart = ['unshare', '--mount', '--propagation', 'slave'] as const;

/** One mount holds both ends: between two of them, older kernels share no blocks. */
const withoutFollowing = 'mount --bind -- "$1" "$1" && mount -o remount,bind,nosymfollow -- "$1" && shift && exec "$@"';

/** @throws {ToolFailure} where a symlink came in the way it is one that `hasLostFiles`; {CsiStatus} FAILED_PRECONDITION */
export async function copyTree({ run, directory, signal }: Copying, from: string, to: string): Promise<void> {
  const copy = [...copyCommand, from, to] as const;
  const shielded = [...apart, 'sh', '-c', withoutFollowing, 'sh', directory, ...copy] as const;
  try {
    await outputOf(run, (await mayMount()) ? shielded : copy, signal);
  } catch (error) {
    throw error instanceof ToolFailure && /^(?:unshare|mount): /.test(error.message) ? unshielded(error) : error;
  }
}

/** What is copied then could be the host's: there is no copy. */
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
