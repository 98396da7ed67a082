/** The driver of a scene as a process of its own, which can be killed at any moment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { builtProgram } from '../built.js';
import { hostTool, type NodeScene } from './node-scene.js';

const childPath = builtProgram(new URL('driver-child.ts', import.meta.url));
const nobody = 65534;

/** In a mount namespace of its own, with a /dev that has nothing but what node needs. */
const withoutDevicesScript =
  'mount -t tmpfs none /mnt && for d in null zero urandom random; do touch /mnt/$d && mount --bind /dev/$d /mnt/$d; done && ' +
  'mount --rbind /mnt /dev && exec "$@"';

export class DriverProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exited = once(child, 'exit');
  }

  /** Resolves once it answers. */
  static async start(scene: NodeScene, { withoutDevices = false, withoutRoot = false } = {}): Promise<DriverProcess> {
    const command = [process.execPath, childPath, scene.socketPath, scene.dataDir];
    if (withoutRoot) {
      hostTool('chown', '-R', `${nobody}:${nobody}`, scene.folder);
      command.push(String(nobody));
    }
    const [program = '', ...args] = withoutDevices
      ? ['unshare', '--mount', 'sh', '-c', withoutDevicesScript, 'sh', ...command]
      : command;
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const driver = new DriverProcess(child);
    if (!child.stdout) throw new Error('the driver has no output');
    const lines = createInterface({ input: child.stdout });
    const said = await Promise.race([once(lines, 'line').then(([line]) => line), driver.#exited]);
    if (said !== 'ready') throw new Error(`the driver did not start: ${JSON.stringify(said)}`);
    return driver;
  }

  /** SIGKILL; resolves once it is dead. What it has started may live on. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}
