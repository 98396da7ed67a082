/** The plugin of plugin-child.ts as a process of its own, for tests that stop, kill and replace it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { builtProgram } from '../built.js';

const program = builtProgram(new URL('plugin-child.ts', import.meta.url));

export class PluginProcess {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    if (!child.stdout) throw new Error('the plugin has no output');
    this.#lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  }

  static async start(socketPath: string, name: string): Promise<PluginProcess> {
    const args = [program, socketPath, name];
    const plugin = new PluginProcess(spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] }));
    await plugin.says('ready');
    return plugin;
  }

  async says(line: string): Promise<void> {
    const { value, done } = await this.#lines.next();
    if (done || value !== line) throw new Error(`the plugin said ${value ?? 'nothing more'}, not ${line}`);
  }

  /** As `SIGSTOP`: it holds its socket and does nothing. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** Ends it where it stands; its socket file stays. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}
