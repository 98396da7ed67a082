/**
 * Runs the system's own tools as processes of their own: what blocks in the kernel blocks them, never the driver.
 * What their words mean is for who asks: contents.ts, mounts.ts, loop-devices.ts, usage.ts
 */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { onAbort } from '../abort.js';

/**
 * Resolves, or rejects, only once the tool has ended: until then what it does may still happen.
 * @param signal kills it
 */
export type Run = (tool: string, args: readonly string[], signal?: AbortSignal) => Promise<Ran>;

export interface Ran {
  status: number;
  stdout: string;
  /** Without the line feed at its end. */
  stderr: string;
}

export interface RunOptions {
  /** After that it is killed; default: it has all the time. */
  timeoutMs?: number;
  /**
   * An open lock of the data directory. The tool holds it too, so that after a SIGKILL of the driver the next one does
   * not start before what the last one began has ended.
   */
  lockFile?: number;
  /** Kills the tool when the driver dies, however it does. */
  diesWithDriver?: boolean;
}

/** A tool that said no. What it says of a file names that first, as its user likes: only the end of a line is the tool's. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';

  /** Something went away, or became a symlink, while it was looked at. */
  get hasLostFiles(): boolean {
    return /: (?:No such file or directory|Too many levels of symbolic links)$|as it was replaced while being copied$/m.test(
      this.message,
    );
  }

  get isOutOfRoom(): boolean {
    return /: (?:No space left on device|Disk quota exceeded)$/m.test(this.message);
  }
}

/** Enough to say what went wrong; a tool may complain of each of a million files. */
const keptCharacters = 2 ** 20;

/** What setpriv ends with where it finds no such tool. */
const notThere = 127;

/** @throws Error where the tool is missing, or had to be killed */
export const runner =
  ({ timeoutMs, lockFile, diesWithDriver = false }: RunOptions): Run =>
  async (tool, args, signal) => {
    signal?.throwIfAborted();
    const [program, ...words] = diesWithDriver ? ['setpriv', '--pdeathsig', 'KILL', tool, ...args] : [tool, ...args];
    const child = spawn(program, words, {
      stdio: ['ignore', 'pipe', 'pipe', ...(lockFile === undefined ? [] : [lockFile])],
      env: { ...process.env, LC_ALL: 'C' }, // its words are read
    });
    const [stdout, stderr] = [beginningOf(child.stdout), beginningOf(child.stderr)];
    const kill = (): boolean => child.kill('SIGKILL');
    const overdue = timeoutMs === undefined ? undefined : setTimeout(kill, timeoutMs);
    const unsubscribe = signal && onAbort(signal, kill);
    try {
      const ended = await new Promise<{ status: number | null; killedBy: string | null }>((resolve, reject) => {
        child.once('error', (cause) => reject(missing(`${program} does not run (${cause.message})`, cause)));
        child.once('close', (status, killedBy) => resolve({ status, killedBy }));
      });
      const { status, killedBy } = ended;
      if (status === null)
        throw new Error(`${tool} was killed by ${killedBy}${timeoutMs ? `: it has ${timeoutMs} ms` : ''}`);
      if (diesWithDriver && status === notThere) throw missing(`${tool} does not run (${stderr().trim()})`);
      return { status, stdout: stdout(), stderr: stderr().trim() };
    } finally {
      clearTimeout(overdue);
      unsubscribe?.();
    }
  };

const missing = (what: string, cause?: unknown): Error =>
  new Error(`${what}: are coreutils, findutils and util-linux installed?`, { cause });

/** What the tool wrote to its standard output. @throws {ToolFailure} it said no; Error as `Run` */
export async function outputOf(
  run: Run,
  [tool, ...args]: readonly [string, ...string[]],
  signal?: AbortSignal,
): Promise<string> {
  const { status, stdout, stderr } = await run(tool, args, signal);
  if (status === 0) return stdout;
  const said = stderr || `ended with ${status}`;
  throw new ToolFailure(/^[\w-]+: /.test(said) ? said : `${tool}: ${said}`);
}

/** Reads a stream to its end. @returns what it began with */
function beginningOf(stream: Readable | null): () => string {
  let text = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (more: string) => {
    if (text.length < keptCharacters) text += more;
  });
  return () => text;
}
