/** Fixture of an agent's API on a unix socket, with volumes behind it, and the command line in processes of its own. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { type ApiOptions, serveApi } from '../../src/agent/api.js';
import { mainPath } from '../scenarios/agent-process.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

export interface Said {
  code: number | null;
  stdout: string;
  stderr: string;
}

export class ApiHouse {
  readonly house = new VolumeHouse();
  #close: (() => Promise<void>) | undefined;

  get socketPath(): string {
    return join(this.house.directory, 'agent.sock');
  }

  async open(options: Pick<ApiOptions, 'allowSend'> = {}): Promise<this> {
    await this.house.furnish();
    const { runtime } = this.house;
    const { socketPath } = this;
    this.#close = await serveApi({
      ...{ runtime, socketPath, version: '0', storeKind: 'lmdb', ...options },
      drain: async () => {},
    });
    return this;
  }

  async dispose(): Promise<void> {
    await this.#close?.();
    await this.house.dispose();
  }

  async create(id: string): Promise<void> {
    const creating = this.house.runtime.volumes.create(spec(id));
    await this.house.rest();
    await creating;
  }

  /** Runs `stagecraft` on this agent. */
  cli(...args: string[]): Promise<Said> {
    return stagecraft(...args, '--socket', this.socketPath);
  }
}

/** Runs `stagecraft`. */
export const stagecraft = (...args: string[]): Promise<Said> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, [mainPath, ...args], (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
