/** The process of plugin-process.ts, as its parent sees it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Said, Told } from './plugin-process.js';

export class PluginServer {
  readonly #child: ChildProcess;

  constructor(socketPaths: string[]) {
    const program = fileURLToPath(new URL('plugin-process.ts', import.meta.url));
    this.#child = fork(program, socketPaths, { execArgv: ['--import=tsx'] });
  }

  async serve(): Promise<void> {
    await this.#tell('serve');
  }

  /** Every connection ends, and the socket files go. */
  async close(): Promise<void> {
    await this.#tell('close');
  }

  /** Probes by the second, since it was asked last. */
  async count(): Promise<number[]> {
    const counted = await this.#tell('count');
    return Array.isArray(counted) ? counted : [];
  }

  async end(): Promise<void> {
    this.#child.disconnect();
    await once(this.#child, 'exit');
  }

  async #tell(what: Told): Promise<Said> {
    this.#child.send(what);
    const [said] = await once(this.#child, 'message');
    return said;
  }
}
