/**
 * Runs the system's own tools as processes of their own: what blocks in the kernel blocks them, never the driver.
 * Meanings of their messages: contents.ts, mounts.ts, loop-devices.ts, usage.ts
 */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { onAbort } from '../../abort.js';

/**
 * Settles only once the tool has ended: until then its work may still take effect.
 * @param signal kills the tool
 */
export type RunTool = (tool: string, args: readonly string[], signal?: AbortSignal) => Promise<Ran>;

export interface Ran {
  status: number;
  stdout: string;
  /** Without the final line feed. */
  stderr: string;
}

interface RunOptions {
  /** Limit after which the tool is killed; default: none. */
  timeoutMs?: number;
  /**
   * Open lock of the data directory. The tool holds it, too: after a SIGKILL of the driver the next one does not
   * start before the tool has ended.
   */
  lockFile?: number;
  /** Kills the tool when the driver dies, however that happens. */
  diesWithDriver?: boolean;
}

/**
 * A tool that has failed. Its message begins with the name of a file, which users choose: only the end of a line is
 * the tool's own.
 */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';

  /** Whether a file went away, or became a symlink, during the work. */
  get hasLostFiles(): boolean {
    return /: (?:No such file or directory|Too many levels of symbolic links)$|as it was replaced while being copied$/m.test(
      this.message,
    );
  }

  get isOutOfRoom(): boolean {
    return /: (?:No space left on device|Disk quota exceeded)$/m.test(this.message);
  }
}

/** Enough of the output to say what went wrong; a tool may complain of each of a million files. */
const keptCharacters = 2 ** 20;

/** Exit code of setpriv if there is no such tool. */
const notThere = 127;

/** @throws Error if the tool is missing, or had to be killed */
export const runner =
  ({ timeoutMs, lockFile, diesWithDriver = false }: RunOptions): RunTool =>
  async (tool, args, signal) => {
    signal?.throwIfAborted();
    const [program, ...words] = diesWithDriver ? ['setpriv', '--pdeathsig', 'KILL', tool, ...args] : [tool, ...args];
    const child = spawn(program, words, {
      stdio: ['ignore', 'pipe', 'pipe', ...(lockFile === undefined ? [] : [lockFile])],
      env: { ...process.env, LC_ALL: 'C' }, // the messages are parsed
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
        throw new Error(`${tool} was killed by ${killedBy}${timeoutMs ? `: its time limit is ${timeoutMs} ms` : ''}`);
      if (diesWithDriver && status === notThere) throw missing(`${tool} does not run (${stderr().trim()})`);
      return { status, stdout: stdout(), stderr: stderr().trim() };
    } finally {
      clearTimeout(overdue);
      unsubscribe?.();
    }
  };

const missing = (what: string, cause?: unknown): Error =>
  new Error(`${what}: are coreutils, findutils and util-linux installed?`, { cause });

/**
 * Standard output of the tool.
 * @throws {ToolFailure} the tool has failed; Error as `Run`
 */
export async function outputOf(
  run: RunTool,
  [tool, ...args]: readonly [string, ...string[]],
  signal?: AbortSignal,
): Promise<string> {
  const { status, stdout, stderr } = await run(tool, args, signal);
  if (status === 0) return stdout;
  const said = stderr || `ended with ${status}`;
  throw new ToolFailure(/^[\w-]+: /.test(said) ? said : `${tool}: ${said}`);
}

/**
 * Reads a stream to its end.
 * @returns its beginning
 */
function beginningOf(stream: Readable | null): () => string {
  let text = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (more: string) => {
    if (text.length < keptCharacters) text += more;
  });
  return () => text;
}
