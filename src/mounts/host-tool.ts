/**
 * Runs the system's own tools on what may be a mount, as processes of their own: a mount that does not answer blocks
 * them, never this process. No shell. What is made and removed with them: places.ts, propagation.ts
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Clock } from '../engine/clock.js';

export interface Ran {
  status: number;
  stdout: string;
  /** Without the line feed at its end. */
  stderr: string;
}

/** `alive`: there is an answer, also an error; `dead`: its server is gone; `silent`: nothing was answered in time. */
export type Liveness = 'alive' | 'dead' | 'silent';

export interface HostTool {
  /**
   * @throws {ToolOverdue} it was killed, and may still do what it was to do where the kernel holds it; Error: it does not run
   */
  run(tool: string, args: readonly string[]): Promise<Ran>;
  /** Asks the file system that is mounted there. All who ask during a question have its answer; while it hangs, no other one is asked. */
  isAlive(mountPoint: string): Promise<Liveness>;
}

export class ToolOverdue extends Error {
  override readonly name = 'ToolOverdue';
}

const defaultDeadlineMs = 10_000;

/** ENOTCONN and ECONNABORTED at the end of what `stat` says in the C locale, as glibc and musl have them. */
const serverGone =
  /: (Transport endpoint is not connected|Software caused connection abort|Socket not connected|Connection aborted)( \(os error \d+\))?$/;

/** Enough to say what went wrong. */
const keptCharacters = 2 ** 16;

export function hostTool(clock: Clock, deadlineMs = defaultDeadlineMs): HostTool {
  /** By path, as long as it is under way, or hangs. */
  const questions = new Map<string, Promise<Liveness>>();

  const start = (tool: string, args: readonly string[]): { ran: Promise<Ran>; child: ChildProcess } => {
    const child = spawn(tool, args, {
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, LC_ALL: 'C' }, // its words are read
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
      // Of the file system: what is asked of a file may be answered from a cache.
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

/** What sleeps in the kernel ends whenever that wakes it: this process neither waits for it nor lives for it. */
function leaveBehind(child: ChildProcess): void {
  child.kill('SIGKILL');
  child.unref();
  child.stdout?.destroy();
  child.stderr?.destroy();
}

/**
 * Reads a stream to its end.
 * @param stream absent where no process could be started, for want of file descriptors
 * @returns what it began with
 */
function beginningOf(stream: Readable | undefined): () => string {
  let text = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (more: string) => {
    if (text.length < keptCharacters) text += more;
  });
  return () => text;
}
