/**
 * Driver's process as seen by its parent: starts, stops, freezes and kills it, and leaves none behind. Messages
 * between them: protocol.ts
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { messageOf, StagecraftError } from '../../errors.js';
import type { Offers } from './judge/violations.js';
import {
  type Ask,
  type DirectorAnswers,
  type DriverAnswers,
  type LinkMessage,
  link,
  type ServeOptions,
} from './protocol.js';

/** Callbacks of the parent. */
type ChildDirector = Omit<DirectorAnswers, 'freeze' | 'die'> & {
  /** The process is about to be killed during this call. */
  dying(dying: Parameters<DirectorAnswers['die']>[0]): void;
  /** The process has ended, for any reason. */
  exited(): void;
};

/** Process that stands still, or is about to. Thawing it meanwhile cancels that. */
interface Freeze {
  isWanted: boolean;
  /** Resolves when the process stands still, is thawed, or has ended. */
  done: Promise<void>;
}

const termPatienceMs = 15_000;
const freezePatienceMs = 5_000;
const pollMs = 2;

export class Child {
  readonly exited: Promise<void>;
  readonly #process: ChildProcess;
  readonly #ask: Ask<DriverAnswers>;
  readonly #director: ChildDirector;
  #guard: ChildProcess | undefined;
  /** Absent while the process runs. */
  #freeze: Freeze | undefined;
  #awaitingFreeze: Array<(frozen: Promise<void>) => void> = [];
  /** Called when the process continues. */
  #awaitingThaw: Array<() => void> = [];
  #isEnding = false;

  constructor(director: ChildDirector) {
    this.#director = director;
    this.#process = forkDriver();
    const { ask, close } = link<DriverAnswers>(
      {
        // A failure means that the process has ended: `exited` reports it.
        send: (message) => this.#process.send(message, undefined, undefined, () => undefined),
        onMessage: (receive) => this.#process.on('message', (message) => receive(message as LinkMessage)),
      },
      this.#answers(),
    );
    this.#ask = ask;
    this.exited = this.#ended().then((how) => {
      this.#isEnding = true;
      this.#dismissGuard();
      const reason = `the fault driver's process ended (${how}); what it said is on stderr`;
      for (const tell of this.#awaitingFreeze) tell(Promise.reject(new StagecraftError('ABORTED', reason)));
      close(reason);
      director.exited();
    });
  }

  /** Process id, while the process lives, frozen or not. */
  get pid(): number | undefined {
    return this.#isEnding ? undefined : this.#process.pid;
  }

  /** @throws {StagecraftError} the reason why it cannot serve; the process has ended then */
  async serve(options: ServeOptions): Promise<Offers> {
    try {
      return await this.#ask('serve', options);
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  replaceSocket(): Promise<void> {
    return this.#ask('replaceSocket', undefined);
  }

  async kill(): Promise<void> {
    this.#isEnding = true;
    this.#process.kill('SIGKILL');
    await this.exited;
  }

  /** @throws {StagecraftError} TIMEOUT: the process had to be killed */
  async terminate(): Promise<void> {
    this.thaw();
    this.#isEnding = true;
    this.#process.kill('SIGTERM');
    const patience = new AbortController();
    const late = setTimeout(termPatienceMs, 'late', { signal: patience.signal, ref: false }).catch(() => 'ended');
    const how = await Promise.race([this.exited.then(() => 'ended'), late]);
    patience.abort();
    if (how === 'ended') return;
    await this.kill();
    throw new StagecraftError('TIMEOUT', `the fault driver did not end within ${termPatienceMs} ms of SIGTERM: killed`);
  }

  /** Resolves when the process stands still, or earlier if it is thawed or ends. */
  freeze(): Promise<void> {
    this.#freeze ??= this.#standStill();
    const { done } = this.#freeze;
    for (const tell of this.#awaitingFreeze.splice(0)) tell(done);
    return done;
  }

  /** @throws {StagecraftError} TIMEOUT; ABORTED: the process has ended */
  waitForFreeze(timeoutMs: number): Promise<void> {
    if (this.#freeze) return this.#freeze.done;
    return new Promise((resolve, reject) => {
      const tell = (frozen: Promise<void>): void => {
        clearTimeout(timer);
        resolve(frozen);
      };
      const late = (): void => {
        this.#awaitingFreeze = this.#awaitingFreeze.filter((other) => other !== tell);
        reject(new StagecraftError('TIMEOUT', `waited ${timeoutMs} ms in vain until the fault driver stood still`));
      };
      const timer = globalThis.setTimeout(late, timeoutMs);
      this.#awaitingFreeze.push(tell);
    });
  }

  /** Continues the process, and cancels a freeze in progress. */
  thaw(): void {
    if (this.#freeze) this.#freeze.isWanted = false;
    this.#freeze = undefined;
    this.#dismissGuard();
    this.#process.kill('SIGCONT');
    for (const goOn of this.#awaitingThaw.splice(0)) goOn();
  }

  #answers(): DirectorAnswers {
    const { begin, gone, ended, released } = this.#director;
    return {
      begin,
      gone,
      ended,
      released,
      freeze: async () => {
        if (this.#isEnding) return; // it is to end, and can't where it stands still
        const thawed = new Promise<void>((resolve) => this.#awaitingThaw.push(resolve));
        await this.freeze();
        await thawed;
      },
      die: async (dying) => {
        this.#director.dying(dying);
        this.#isEnding = true;
        this.#process.kill('SIGKILL');
        return new Promise<never>(() => undefined);
      },
    };
  }

  #standStill(): Freeze {
    const freeze: Freeze = { isWanted: true, done: Promise.resolve() };
    if (this.pid !== undefined) freeze.done = this.#stopped(this.pid, freeze);
    return freeze;
  }

  async #stopped(pid: number, freeze: Freeze): Promise<void> {
    const guard = guardOf(pid);
    this.#guard = guard;
    await once(guard, 'spawn');
    const isOn = (): boolean => freeze.isWanted && !this.#isEnding;
    if (isOn()) this.#process.kill('SIGSTOP');
    for (let leftMs = freezePatienceMs; isOn() && !standsStill(pid); leftMs -= pollMs) {
      if (leftMs <= 0) throw new StagecraftError('TIMEOUT', `process ${pid} did not stop at SIGSTOP`);
      await setTimeout(pollMs);
    }
  }

  async #ended(): Promise<string> {
    try {
      // Messages sent before its end may still be unread: they are all read once the channel has closed, too.
      const closed = once(this.#process, 'disconnect');
      const [[code, signal]]: [unknown[], unknown] = await Promise.all([once(this.#process, 'exit'), closed]);
      return `${signal ?? `exit code ${code}`}`;
    } catch (error) {
      return `could not be started: ${messageOf(error)}`;
    }
  }

  #dismissGuard(): void {
    this.#guard?.kill('SIGKILL');
    this.#guard = undefined;
  }
}

/** Forks the same code as this process runs: built JavaScript, or the source with its loader. */
function forkDriver(): ChildProcess {
  const isSource = import.meta.url.endsWith('.ts');
  return fork(fileURLToPath(new URL(`./process.${isSource ? 'ts' : 'js'}`, import.meta.url)), {
    execArgv: isSource ? process.execArgv : [],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/** Kills the frozen driver when this process ends: a frozen process cannot notice that itself. */
const guardOf = (pid: number): ChildProcess =>
  spawn('sh', ['-c', 'read -r _; kill -KILL "$0"', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });

/** Reads the process state. It follows the name, which is in parentheses and may contain any character. */
function standsStill(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return status.slice(status.lastIndexOf(')') + 2).startsWith('T');
  } catch {
    return false; // it has ended: the caller sees that
  }
}
