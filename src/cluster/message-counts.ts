/** Counts the messages of other agents by what became of them. What each outcome means: docs/metrics.md */

/** Why a text is no message that can be read here. */
export type Unreadable = 'malformed' | 'too-large' | 'newer';

const messageOutcomes = [
  'accepted',
  /** No JSON, or not the fields of a message. */
  'malformed',
  'too-large',
  /** Of another format, as agents of another version or with a key write it. */
  'newer',
  /** Not signed with the key of this agent for this inbox. */
  'unsigned',
  /** For another run, or another agent. */
  'foreign',
  /** Heard before. */
  'repeated',
  /** Older than allowed, or an answer that nobody waits for any more. */
  'late',
  /** Over the cap of one sender. */
  'flooding',
] as const;

export type MessageOutcome = (typeof messageOutcomes)[number];

export class MessageCounts {
  readonly #counts = new Map<MessageOutcome, number>();

  add(outcome: MessageOutcome): void {
    this.#counts.set(outcome, this.of(outcome) + 1);
  }

  of(outcome: MessageOutcome): number {
    return this.#counts.get(outcome) ?? 0;
  }

  /** Counts of all outcomes since the start. */
  list(): { outcome: MessageOutcome; count: number }[] {
    return messageOutcomes.map((outcome) => ({ outcome, count: this.of(outcome) }));
  }
}
