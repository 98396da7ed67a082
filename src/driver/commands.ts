/**
 * Runs the system's own tools as processes of their own: what blocks in the kernel blocks them, never the driver.
 * What their words mean is for who asks: mounts.ts, loop-devices.ts, usage.ts
 */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** Resolves, or rejects, only once the tool has ended: until then what it does may still happen. */
export type Run = (tool: string, args: readonly string[]) => Promise<Ran>;

export interface Ran {
  status: number;
  stdout: string;
  /** Without the line feed at its end. */
  stderr: string;
}

export interface RunOptions {
  /** After that it is killed. */
  timeoutMs: number;
  /**
   * An open lock of the data directory. The tool holds it too, so that after a SIGKILL of the driver the next one does
   * not start before what the last one began has ended.
   */
  lockFile?: number;
}

/** @throws Error where the tool is missing, or had to be killed */
export const runner =
  ({ timeoutMs, lockFile }: RunOptions): Run =>
  async (tool, args) => {
    const child = spawn(tool, args, {
      stdio: ['ignore', 'pipe', 'pipe', ...(lockFile === undefined ? [] : [lockFile])],
      env: { ...process.env, LC_ALL: 'C' }, // its words are read
    });
    const ended = new Promise<{ status: number | null; signal: string | null }>((resolve, reject) => {
      child.once('error', (cause) => reject(new Error(`${tool} does not run (${cause.message})`, { cause })));
      child.once('close', (status, signal) => resolve({ status, signal }));
    });
    const overdue = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    try {
      const [{ status, signal }, stdout, stderr] = await Promise.all([
        ended,
        textOf(child.stdout),
        textOf(child.stderr),
      ]);
      if (status === null) throw new Error(`${tool} was killed by ${signal}: it has ${timeoutMs} ms`);
      return { status, stdout, stderr: stderr.trim() };
    } finally {
      clearTimeout(overdue);
    }
  };

const textOf = async (output: Readable | null): Promise<string> => (output ? text(output) : '');
