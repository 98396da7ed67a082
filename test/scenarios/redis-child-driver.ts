/** Starts redis-child.ts, freezes and kills it, and keeps what it says. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { builtProgram } from '../built.js';
import { eventually } from '../until.js';

export type ChildOptions = { url: string; prefix?: string } & (
  | { as: 'engine'; ttlMs: number }
  | { as: 'runtime'; dataDir: string }
);

/** To a child that is a runtime. */
export interface ToChild {
  what: 'register' | 'deregister';
  name: string;
  allocId: string;
}

export type FromChild =
  | { kind: 'open' }
  | { kind: 'log'; level: string; code: string | undefined; message: string }
  | { kind: 'effect'; address: string; atMs: number }
  | { kind: 'told'; address: string; note: string; how: string; atMs: number }
  | { kind: 'lost'; code: string; atMs: number };

type Of<K extends FromChild['kind']> = Extract<FromChild, { kind: K }>;

export class Child {
  readonly said: FromChild[] = [];
  readonly #process: ChildProcess;

  private constructor(options: ChildOptions) {
    const path = builtProgram(new URL('./redis-child.ts', import.meta.url));
    this.#process = fork(path, [JSON.stringify(options)], { execArgv: [] });
    this.#process.on('error', () => undefined);
    this.#process.on('message', (message: FromChild) => void this.said.push(message));
  }

  /** Resolves once it is open. */
  static async start(options: ChildOptions): Promise<Child> {
    const child = new Child(options);
    await eventually('the child is open', () => {
      if (child.#process.exitCode !== null) throw new Error('the child ended');
      return child.of('open').length > 0;
    });
    return child;
  }

  of<K extends FromChild['kind']>(kind: K): Of<K>[] {
    return this.said.filter((message): message is Of<K> => message.kind === kind);
  }

  /** An engine stops itself, in a turn of its own: never between the look at its lease and what it begins by that. */
  freeze(): void {
    this.#process.send('freeze');
  }

  thaw(): void {
    this.#process.kill('SIGCONT');
  }

  /** Resolves with how the call ended; rejects where the child is gone. */
  async call(message: ToChild): Promise<string> {
    const before = this.of('told').length;
    this.#alive();
    this.#process.send(message, () => undefined); // killed meanwhile: `connected` says so
    await eventually(`${message.what} ${message.allocId}`, () => this.#alive() && this.of('told').length > before);
    return this.of('told').at(-1)?.how ?? '';
  }

  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }

  #alive(): true {
    if (!this.#process.connected) throw new Error('the child is gone');
    return true;
  }
}
