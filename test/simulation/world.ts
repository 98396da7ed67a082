/**
 * The world outside of the runtimes: it outlives them all, asks things of them, does what their effects do, and
 * remembers what it saw.
 */
import { StagecraftError } from '../../src/errors.js';
import { eventOf } from './hosted-system.js';
import type { Life } from './life.js';
import { addressOf, type Request, type System } from './system.js';
import type { Timeline } from './timeline.js';
import type { Witness } from './witness.js';

/** How one attempt to ask ended. */
export interface Attempt {
  life: number;
  state: 'open' | 'answered' | 'rejected';
  value?: unknown;
  code?: string;
  outcome?: 'refused' | 'unknown';
  /** How many commits the store had when it ended. */
  commitsThen: number;
}

export interface Asking {
  n: number;
  address: string;
  request: Request;
  attempts: Attempt[];
  /** Nothing more is asked. */
  isOver: boolean;
}

/** Seqs of an actor: what the life has surely heard of, and what it may have. */
export interface Known {
  surely: number;
  perhaps: number;
}

export interface EffectRun {
  life: number;
  address: string;
  id: string;
  seq: number;
  attempt: number;
  /** What this life knew of its actor when it started. */
  known: Known;
  begunAtMs: number;
  signal: AbortSignal;
  isOver: boolean;
}

const againMs = 100;

export class World {
  readonly system: System;
  readonly timeline: Timeline;
  readonly witness: Witness;
  readonly askings: Asking[];
  readonly runs: EffectRun[] = [];
  readonly faults: string[] = [];
  readonly #lines: string[] | undefined;

  /** @param isTold whether to keep a transcript */
  constructor(options: { system: System; timeline: Timeline; witness: Witness; isTold: boolean }) {
    const { system, timeline, witness, isTold } = options;
    this.system = system;
    this.timeline = timeline;
    this.witness = witness;
    this.#lines = isTold ? [] : undefined;
    this.askings = system.requests.map((request, n) => ({
      n,
      address: addressOf(system, request.to),
      request,
      attempts: [],
      isOver: false,
    }));
  }

  get transcript(): string[] {
    return this.#lines ?? [];
  }

  tell(line: string): void {
    this.#lines?.push(`${String(this.timeline.monotonicMs).padStart(8)} ms  ${line}`);
  }

  /** Asks this life for all that is not answered yet, each at its time. */
  visit(life: Life): void {
    for (const asking of this.askings) {
      const isGivenUp = asking.attempts.length > 0 && !asking.request.repeats;
      if (asking.isOver || isGivenUp) continue;
      const waitMs = Math.max(0, asking.request.atMs - this.timeline.monotonicMs);
      life.clock.after(waitMs, () => void this.#ask(life, asking));
    }
  }

  async #ask(life: Life, asking: Asking): Promise<void> {
    if (asking.isOver) return;
    const { n, address, request } = asking;
    const attempt: Attempt = { life: life.number, state: 'open', commitsThen: 0 };
    asking.attempts.push(attempt);
    this.tell(`${life.name}: r${n} asks ${address} ${request.type}`);
    const event = eventOf(request, this.system, n);
    const asked = life.engine.ask(address, event, request.repeats ? { requestId: `r${n}` } : {});
    const ended = await asked.then(
      (value): Partial<Attempt> => ({ state: 'answered', value }),
      (error: unknown) => this.#rejection(error),
    );
    if (!life.clock.isAlive) return;
    Object.assign(attempt, ended);
    attempt.commitsThen = this.witness.count();
    this.tell(`${life.name}: r${n} gets ${attempt.code ?? JSON.stringify(attempt.value) ?? 'nothing'}`);
    const isKnown = attempt.state === 'answered' || !['STORE_UNAVAILABLE', ...gone].includes(attempt.code ?? '');
    if (isKnown || !request.repeats) asking.isOver = true;
    else if (!gone.includes(attempt.code ?? '')) life.clock.after(againMs, () => void this.#ask(life, asking));
  }

  #rejection(error: unknown): Partial<Attempt> {
    if (!(error instanceof StagecraftError)) {
      this.faults.push(`a caller got ${error}`);
      return { state: 'rejected' };
    }
    const { code, outcome } = error;
    if (code === 'STORE_UNAVAILABLE' && !outcome) this.faults.push('STORE_UNAVAILABLE without an outcome');
    return { state: 'rejected', code, ...(outcome && { outcome }) };
  }
}

/** This runtime answers no more: another one will. */
const gone = ['RUNTIME_CLOSED', 'FENCED'];
