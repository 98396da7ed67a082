/**
 * Wires between several runtimes of one process, on one clock, for simulations. Faults come from a seed. A reader can be
 * frozen: its texts pile up, and their age shows it.
 */
import { onAbort } from '../../src/abort.js';
import type { Clock } from '../../src/engine/clock.js';
import type { Random } from '../../src/engine/random.js';
import type { Beat, Receive, RosterChanges, Wire } from '../../src/engine/store.js';

/** Probability of each fault, per text. */
export interface WireFaults {
  /** The text does not arrive, and its sender does not know. */
  lost: number;
  /** The text arrives twice. */
  doubled: number;
  /** The text, and all that come after it, lie in the inbox for up to `longestDelayMs`. */
  delayed: number;
  /** The text lies in the inbox for up to `longestDelayMs`, and later ones overtake it. */
  overtaken: number;
  /** The sender gets an error, whether the text arrives or not. */
  failed: number;
  longestDelayMs: number;
}

interface MemoryWiresOptions {
  clock: Clock;
  random: Pick<Random, 'next'>;
  /** Default: none. */
  faults?: Partial<WireFaults>;
}

interface Inbox {
  receive: Receive;
  isFrozen: boolean;
  /** Nothing is heard before this, of what is put in from now on. */
  heldUntilMs: number;
  /** Texts that have come to a frozen reader. */
  pile: (() => void)[];
}

interface Entry {
  run: string;
  /** Absent: the node has left. */
  entry?: string;
  /** Version of the last change. */
  version: number;
  awayAfterMs: number;
  /** Time of the last beat, or of the leave. */
  beatMs: number;
}

const latencyMs = 1;
const keptMs = 600_000;

export class MemoryWires {
  readonly #clock: Clock;
  readonly #random: Pick<Random, 'next'>;
  readonly #inboxes = new Map<string, Inbox>();
  readonly #entries = new Map<string, Entry>();
  #faults: WireFaults;
  readonly #cut = new Set<string>();
  #version = 0;
  /** All changes after this version are known. */
  #from = 0;

  constructor({ clock, random, faults }: MemoryWiresOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#faults = { ...withoutFaults, ...faults };
  }

  /** Returns the wire of one runtime. */
  wire(): Wire {
    return {
      post: async (inbox, text) => this.#post(inbox, text),
      listen: async (inbox, receive, signal) => this.#listen(inbox, receive, signal),
      beat: async (beat) => this.#beat(beat),
      leave: async (nodeId, run) => this.#leave(nodeId, run),
      roster: async (since) => this.#roster(since),
    };
  }

  /** Ends all faults: what is sent from now on arrives once, in order. */
  heal(): void {
    this.#faults = withoutFaults;
    this.#cut.clear();
  }

  /** Loses all that is sent to the inboxes with this beginning from now on. */
  cut(beginning: string): void {
    this.#cut.add(beginning);
  }

  /** Stops the readers of the inboxes with this beginning, as SIGSTOP does. Texts pile up. */
  freeze(beginning: string): void {
    for (const inbox of this.#inboxesOf(beginning)) inbox.isFrozen = true;
  }

  thaw(beginning: string): void {
    for (const inbox of this.#inboxesOf(beginning)) {
      inbox.isFrozen = false;
      for (const hear of inbox.pile.splice(0)) hear();
    }
  }

  /** Loses inboxes, roster and all, as FLUSHALL does. Readers make their inboxes again. */
  flush(): void {
    for (const inbox of this.#inboxes.values()) inbox.pile = [];
    this.#entries.clear();
    this.#version += 1;
    this.#from = this.#version;
  }

  #post(name: string, text: string): boolean {
    const inbox = this.#inboxes.get(name);
    const { lost, doubled, failed } = this.#faults;
    if (inbox && !this.#isCut(name) && !this.#happens(lost)) {
      this.#put(name, inbox, text);
      if (this.#happens(doubled)) this.#put(name, inbox, text);
    }
    if (this.#happens(failed)) throw new Error('the store gave no answer');
    return inbox !== undefined;
  }

  #put(name: string, inbox: Inbox, text: string): void {
    const putMs = this.#clock.monotonicMs();
    const { delayed, overtaken } = this.#faults;
    if (this.#happens(delayed)) inbox.heldUntilMs = Math.max(inbox.heldUntilMs, putMs + this.#delayMs());
    const ownMs = this.#happens(overtaken) ? this.#delayMs() : 0;
    const waitMs = Math.max(inbox.heldUntilMs - putMs, 0) + ownMs + latencyMs;
    const hear = (): void => {
      if (this.#inboxes.get(name) !== inbox) return;
      if (inbox.isFrozen) inbox.pile.push(hear);
      else inbox.receive(text, this.#clock.monotonicMs() - putMs);
    };
    this.#clock.after(waitMs, hear);
  }

  #listen(name: string, receive: Receive, signal: AbortSignal): void {
    const inbox: Inbox = { receive, isFrozen: false, heldUntilMs: 0, pile: [] };
    this.#inboxes.set(name, inbox);
    onAbort(signal, () => {
      if (this.#inboxes.get(name) === inbox) this.#inboxes.delete(name);
    });
  }

  #beat({ nodeId, run, awayAfterMs, entry }: Beat): boolean {
    const known = this.#entries.get(nodeId);
    const isKnown = known?.run === run && known.entry !== undefined;
    if (entry === undefined && !isKnown) return false;
    const beatMs = this.#clock.monotonicMs();
    if (isKnown && (entry === undefined || known.entry === entry)) Object.assign(known, { awayAfterMs, beatMs });
    else if (entry !== undefined)
      this.#entries.set(nodeId, { run, entry, awayAfterMs, beatMs, version: this.#change() });
    return true;
  }

  #leave(nodeId: string, run: string): void {
    const known = this.#entries.get(nodeId);
    if (known?.run === run && known.entry !== undefined) this.#remove(nodeId, known);
  }

  #remove(nodeId: string, { run }: Entry): void {
    const beatMs = this.#clock.monotonicMs();
    this.#entries.set(nodeId, { run, awayAfterMs: 0, beatMs, version: this.#change() });
  }

  #roster(since: number): RosterChanges {
    const away = new Map<string, number>();
    for (const [nodeId, known] of [...this.#entries]) {
      const silentMs = this.#clock.monotonicMs() - known.beatMs;
      if (silentMs < known.awayAfterMs) continue;
      if (known.entry !== undefined && silentMs < keptMs) away.set(nodeId, silentMs);
      else if (known.entry !== undefined) this.#remove(nodeId, known);
      else if (silentMs >= keptMs) {
        this.#entries.delete(nodeId);
        this.#from = Math.max(this.#from, known.version);
      }
    }
    const isComplete = since === 0 || since > this.#version || since < this.#from;
    const changed = [...this.#entries]
      .filter(([, { entry, version }]) => (isComplete ? entry !== undefined : version > since))
      .map(([nodeId, { run, entry }]) => ({ nodeId, run, ...(entry !== undefined && { entry }) }));
    return { version: this.#version, isComplete, changed, away };
  }

  #change(): number {
    this.#version += 1;
    return this.#version;
  }

  *#inboxesOf(beginning: string): Iterable<Inbox> {
    for (const [name, inbox] of this.#inboxes) if (name.startsWith(beginning)) yield inbox;
  }

  #isCut(name: string): boolean {
    return [...this.#cut].some((beginning) => name.startsWith(beginning));
  }

  #happens(probability: number): boolean {
    return probability > 0 && this.#random.next() < probability;
  }

  #delayMs(): number {
    return Math.ceil(this.#random.next() * this.#faults.longestDelayMs);
  }
}

const withoutFaults: WireFaults = { lost: 0, doubled: 0, delayed: 0, overtaken: 0, failed: 0, longestDelayMs: 0 };
