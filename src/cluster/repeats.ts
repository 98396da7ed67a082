/** Tells messages that come again from new ones, by the numbers that their senders give them. Numbers may have gaps. */

/** Senders that are remembered; of one, numbers that may still come. */
const mostSenders = 10_000;
const mostSkipped = 64;

interface Heard {
  highest: number;
  /** Lower numbers that have not come: a later message may have overtaken them. */
  skipped: Set<number>;
}

export class Repeats {
  /** By sender, the one that was heard last at the end. */
  readonly #heard = new Map<string, Heard>();

  isRepeated({ from, send }: { from: string; send: number }): boolean {
    const heard = this.#heard.get(from) ?? { highest: 0, skipped: new Set() };
    this.#heard.delete(from);
    this.#heard.set(from, heard);
    const [oldest] = this.#heard.keys();
    if (this.#heard.size > mostSenders && oldest !== undefined) this.#heard.delete(oldest);
    if (send <= heard.highest) return !heard.skipped.delete(send);
    for (let number = Math.max(heard.highest + 1, send - mostSkipped); number < send; number += 1)
      heard.skipped.add(number);
    for (const number of heard.skipped) {
      if (heard.skipped.size <= mostSkipped) break;
      heard.skipped.delete(number);
    }
    heard.highest = send;
    return false;
  }
}
