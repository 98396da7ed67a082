/**
 * Effects of the driver on this host: mounts, files, devices. Accesses to a mount may hang, so only short-lived
 * commands with a deadline make them. Reading the mount table is always safe.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { Verdict } from './verdict.js';

interface Mount {
  path: string;
  isReadonly: boolean;
  fsType: string;
}

interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

const outputLimit = 64 * 1024;

/** Tells whether this process may mount. */
export const mayMount = (): boolean => process.geteuid?.() === 0;

/** Lists all mounts that this process sees, in the order of their creation. */
export async function readMounts(): Promise<Mount[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  return table.split('\n').filter(Boolean).map(parseMount);
}

export const mountsAt = async (path: string): Promise<Mount[]> =>
  (await readMounts()).filter((mount) => mount.path === path);

function parseMount(line: string): Mount {
  const [own = '', shared = ''] = line.split(' - ');
  const [, , , , path = '', options = ''] = own.split(' ');
  const [fsType = '', , superOptions = ''] = shared.split(' ');
  return {
    path: path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
    isReadonly: [...options.split(','), ...superOptions.split(',')].includes('ro'),
    fsType,
  };
}

/** Kind of the file at a path. */
type PathKind = 'nothing' | 'directory' | 'block device' | 'file' | 'something else';

const kinds: Readonly<Record<string, PathKind>> = {
  directory: 'directory',
  'block special file': 'block device',
  'regular file': 'file',
  'regular empty file': 'file',
};

export async function pathKind(path: string, timeoutMs: number): Promise<PathKind> {
  const { status, stdout, stderr } = await run(['stat', '-c', '%F', path], timeoutMs);
  if (status === 0) return kinds[stdout.trim()] ?? 'something else';
  if (stderr.includes('No such file')) return 'nothing';
  throw new Verdict('failed', `${path} can't be looked at: ${stderr.trim()}`);
}

/**
 * Writes at the beginning of a file in a mounted volume, creating it if needed, and waits until it is on the storage.
 */
export const writeFile = (path: string, text: string, timeoutMs: number): Promise<Ran> =>
  run(['dd', `of=${path}`, 'conv=notrunc,fsync', 'status=none'], timeoutMs, text);

/** Writes to a device. Creates nothing if the device is absent. */
export const writeDevice = (path: string, text: string, timeoutMs: number): Promise<Ran> =>
  run(['dd', `of=${path}`, 'conv=nocreat,notrunc,fsync', 'status=none'], timeoutMs, text);

/** Reads the first bytes of a file or device. */
export const read = (path: string, bytes: number, timeoutMs: number): Promise<Ran> =>
  run(['head', '-c', String(bytes), path], timeoutMs);

export async function deviceBytes(path: string, timeoutMs: number): Promise<bigint> {
  const { status, stdout, stderr } = await run(['blockdev', '--getsize64', path], timeoutMs);
  if (status !== 0) throw new Verdict('failed', `the size of the device at ${path} can't be told: ${stderr.trim()}`);
  return BigInt(stdout.trim());
}

/** Returns the size of the file system at a path. */
export async function measuredBytes(path: string, timeoutMs: number): Promise<bigint> {
  const { status, stdout, stderr } = await run(['stat', '-f', '-c', '%b %S', path], timeoutMs);
  if (status !== 0) throw new Verdict('failed', `the file system at ${path} can't be measured: ${stderr.trim()}`);
  const [blocks = '', blockBytes = ''] = stdout.trim().split(' ');
  return BigInt(blocks) * BigInt(blockBytes);
}

/**
 * Makes the directory a shared mount of its own. A driver that checks the propagation of its paths refuses others, and what one
 * in a container mounts elsewhere is not seen here.
 */
export async function shareDirectory(path: string, timeoutMs: number): Promise<void> {
  for (const command of [
    ['mount', '--bind', path, path],
    ['mount', '--make-rshared', path],
  ]) {
    const { status, stderr } = await run(command, timeoutMs);
    if (status !== 0) throw new Error(`${command.join(' ')}: ${stderr.trim()}`);
  }
}

/** Removes one mount that the driver left at a path. */
export const unmount = (path: string, timeoutMs: number): Promise<Ran> => run(['umount', path], timeoutMs);

/** @throws {Verdict} blocked: no such command; failed: it did not end in time, as with a hanging mount */
async function run([command = '', ...parameters]: string[], timeoutMs: number, input = ''): Promise<Ran> {
  const child = spawn(command, parameters, { env: { ...process.env, LC_ALL: 'C' } });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] = (output[name] + text).slice(0, outputLimit);
    });
  // The command may end before it has read everything; its status tells why.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const over = new AbortController();
  try {
    const status = await Promise.race([ended(child), setTimeout(timeoutMs, 'late' as const, { signal: over.signal })]);
    if (status !== 'late') return { status, ...output };
  } finally {
    over.abort();
  }
  child.kill('SIGKILL');
  // The command may never end while the mount hangs: this process must not wait for it.
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  throw new Verdict(
    'failed',
    `'${[command, ...parameters].join(' ')}' did not end within ${timeoutMs} ms: the mount hangs`,
  );
}

async function ended(child: ReturnType<typeof spawn>): Promise<number | null> {
  try {
    const [status]: (number | null)[] = await once(child, 'close');
    return status ?? null;
  } catch (error) {
    throw new Verdict('blocked', `a command that is needed can't be run: ${String(error)}`);
  }
}
