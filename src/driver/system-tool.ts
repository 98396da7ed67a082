/** Runs a tool of the system (coreutils, findutils) that dies with the driver: nothing goes on writing after it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** How a tool failed, and what it had written to its standard output before. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  readonly output: string;

  constructor(message: string, output = '', options?: ErrorOptions) {
    super(message, options);
    this.output = output;
  }

  /** Something went away while it was looked at. */
  get hasLostFiles(): boolean {
    return /No such file or directory|replaced while being copied/.test(this.message);
  }
}

/** Enough to say what went wrong; a tool may complain of each of a million files. */
const keptBytes = 4096;

/** What setpriv ends with where it finds no such tool. */
const notThere = 127;

/**
 * Resolves when the tool has ended, with what it wrote to its standard output.
 * @param signal kills it; the promise rejects once it is dead
 * @throws {ToolFailure} it said no, was killed, or is not there
 */
export async function runTool(tool: string, args: string[], signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted();
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', tool, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, LC_ALL: 'C' },
  });
  const [output, complaints] = [firstOf(child.stdout), firstOf(child.stderr)];
  const kill = (): boolean => child.kill('SIGKILL');
  signal?.addEventListener('abort', kill);
  try {
    const [code, killedBy] = await once(child, 'close');
    if (code === 0) return output();
    if (code === notThere) throw new Error(complaints());
    throw new ToolFailure(`${tool}: ${complaints().trim() || `ended with ${killedBy ?? code}`}`, output());
  } catch (error) {
    if (error instanceof ToolFailure) throw error;
    throw new ToolFailure(`${tool} does not run: are coreutils, findutils and util-linux installed?`, '', {
      cause: error,
    });
  } finally {
    signal?.removeEventListener('abort', kill);
  }
}

/** Reads a stream to its end. @returns what it began with */
function firstOf(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (more: string) => {
    if (text.length < keptBytes) text += more;
  });
  return () => text;
}
