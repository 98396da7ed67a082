/** Starts redis-volumes-child.ts and its like, freezes and kills them, and keeps what they say. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { builtProgram } from '../built.js';
import { eventually } from '../until.js';
import type { ChildSaid, VolumesChildOptions } from './redis-volumes-scene.js';

export class VolumesChild {
  readonly said: ChildSaid[] = [];
  readonly #process: ChildProcess;

  private constructor(options: VolumesChildOptions, program: string) {
    const path = builtProgram(new URL(program, import.meta.url));
    this.#process = fork(path, [JSON.stringify(options)], { execArgv: [] });
    this.#process.on('error', () => undefined);
    this.#process.on('message', (message: ChildSaid) => void this.said.push(message));
  }

  /** Resolves once it is up; by default it works, which takes that it leads. */
  static async start(options: VolumesChildOptions, program = './redis-volumes-child.ts'): Promise<VolumesChild> {
    const child = new VolumesChild(options, program);
    await eventually('the child is open', () => {
      if (child.#process.exitCode !== null) throw new Error('the child ended');
      return child.said.some(({ kind }) => kind === 'open');
    });
    return child;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  of<K extends ChildSaid['kind']>(kind: K): Extract<ChildSaid, { kind: K }>[] {
    return this.said.filter((message): message is Extract<ChildSaid, { kind: K }> => message.kind === kind);
  }

  freeze(): void {
    this.#process.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }
}
