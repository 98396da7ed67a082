/**
 * A CSI plugin in a process of its own, for tests that stop, kill and replace it. It takes the path from whoever listens
 * there, as some drivers do, and then prints `ready`. Its name is what GetPluginInfo answers; a volume named `hang` is
 * never made: that prints `hanging`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { addCsiHandlers } from '../../src/csi/server.js';

const program = fileURLToPath(import.meta.url);

export class PluginProcess {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    if (!child.stdout) throw new Error('the plugin has no output');
    this.#lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  }

  static async start(socketPath: string, name: string): Promise<PluginProcess> {
    const args = ['--import=tsx', program, socketPath, name];
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

function serve(socketPath: string, name: string): void {
  const server = new Server();
  addCsiHandlers(server, {
    GetPluginInfo: () => ({ name, vendorVersion: '1' }),
    Probe: () => ({}),
    CreateVolume: (request) => {
      if (request.name !== 'hang') return { volume: { volumeId: `${name}/${request.name}` } };
      console.log('hanging');
      return new Promise(() => {});
    },
    async *GetMetadataAllocated() {
      for (let index = 0; ; index += 1) yield { blockMetadata: [{ byteOffset: index }] };
    },
  });
  rmSync(socketPath, { force: true });
  server.bindAsync(`unix://${socketPath}`, ServerCredentials.createInsecure(), (error) => {
    if (error) throw error;
    console.log('ready');
  });
  process.stdin.resume().once('end', () => process.exit());
}

const [, path, socketPath, name] = process.argv;
if (path === program && socketPath && name) serve(socketPath, name);
