/**
 * Runs the system's own tools on mounts, as processes of their own: a mount that does not answer blocks them, never
 * this process. No shell. Users: mount-directories.ts, propagation.ts
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { Disk } from '../../machines/mount/kernel-mount.js';
import type { Clock } from '../engine/clock.js';

interface Ran {
  status: number;
  stdout: string;
  /** Without the final line feed. */
  stderr: string;
}

/**
 * `alive`: there was an answer, also an error; `dead`: the server of the file system is gone; `silent`: no answer in
 * time.
 */
export type Liveness = 'alive' | 'dead' | 'silent';

export interface HostTool {
  /** @throws {ToolOverdue} killed; it may still take effect if the kernel holds it; Error: the tool does not run */
  run(tool: string, args: readonly string[]): Promise<Ran>;
  /**
   * Asks the file system that is mounted there. Calls during a question share its answer; while it hangs, no other
   * one is asked.
   */
  isAlive(mountPoint: string): Promise<Liveness>;
}

export class ToolOverdue extends Error {
  override readonly name = 'ToolOverdue';
}

const defaultDeadlineMs = 10_000;

/** ENOTCONN and ECONNABORTED at the end of `stat`'s message in the C locale, as in glibc and musl. */
const serverGone =
  /: (Transport endpoint is not connected|Software caused connection abort|Socket not connected|Connection aborted)( \(os error \d+\))?$/;

/** Enough of the output to say what went wrong. */
const keptCharacters = 2 ** 16;

export function hostTool(clock: Clock, deadlineMs = defaultDeadlineMs): HostTool {
  /** Questions under way or hanging, by path. */
  const questions = new Map<string, Promise<Liveness>>();

  const start = (tool: string, args: readonly string[]): { ran: Promise<Ran>; child: ChildProcess } => {
    const child = spawn(tool, args, {
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, LC_ALL: 'C' }, // the messages are parsed
    });
    const [stdout, stderr] = [beginningOf(child.stdout), beginningOf(child.stderr)];
    const ran = new Promise<Ran>((resolve, reject) => {
      const cancel = clock.after(deadlineMs, () => {
        reject(new ToolOverdue(`${tool} ${args.join(' ')} did not end within ${deadlineMs} ms`));
        leaveBehind(child);
      });
      child.on('error', (cause) => {
        cancel();
        const advice = 'are coreutils and util-linux installed?';
        reject(new Error(`${tool} does not run (${cause.message}): ${advice}`, { cause }));
      });
      child.once('close', (status, killedBy) => {
        cancel();
        if (status === null) reject(new Error(`${tool} ${args.join(' ')} was killed by ${killedBy}`));
        else resolve({ status, stdout: stdout(), stderr: stderr().trim() });
      });
    });
    return { ran, child };
  };

  return {
    run: (tool, args) => start(tool, args).ran,

    isAlive(mountPoint) {
      const present = questions.get(mountPoint);
      if (present) return present;
      // Asks about the file system: questions about a file may be answered from a cache.
      const { ran, child } = start('stat', ['-f', '-c', '%T', '--', mountPoint]);
      const answer = ran.then(livenessOf, (error: unknown): Liveness => {
        if (error instanceof ToolOverdue) return 'silent';
        throw error;
      });
      questions.set(mountPoint, answer);
      for (const end of ['exit', 'error']) child.once(end, () => questions.delete(mountPoint));
      return answer;
    },
  };
}

const livenessOf = ({ status, stderr }: Ran): Liveness => (status !== 0 && serverGone.test(stderr) ? 'dead' : 'alive');

/** Leaves a process that sleeps in the kernel: this process neither waits nor stays alive for it. */
function leaveBehind(child: ChildProcess): void {
  child.kill('SIGKILL');
  child.unref();
  child.stdout?.destroy();
  child.stderr?.destroy();
}

/**
 * Reads a stream to its end.
 * @param stream absent if no process could be started, for want of file descriptors
 * @returns the beginning of the text
 */
function beginningOf(stream: Readable | undefined): () => string {
  let text = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (more: string) => {
    if (text.length < keptCharacters) text += more;
  });
  return () => text;
}

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
