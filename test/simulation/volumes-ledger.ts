/** What users of a history were told, and what they have undone since: none of it may be lost. */
import type { VolumeContext } from '../../machines/volume/types.js';

/** Counts what may undo something: an undoing that was begun may take effect at any time, as long as it is not over. */
class Undoings {
  #begun = 0;
  #open = 0;

  begin(): () => void {
    this.#begun += 1;
    this.#open += 1;
    return () => {
      this.#open -= 1;
    };
  }

  /** Absent where one is under way. */
  get mark(): number | undefined {
    return this.#open > 0 ? undefined : this.#begun;
  }

  isAt(mark: number): boolean {
    return this.#begun === mark;
  }
}

interface Promised {
  what: string;
  volume: string;
  undoings: [undoings: Undoings, mark: number][];
  isKept(context: VolumeContext | undefined): boolean;
}

export class Ledger {
  readonly #undoings = new Map<string, Undoings>();
  readonly #promised: Promised[] = [];

  /** Something is asked for that undoes what these names stand for; the answer says that it is over. */
  undo(...names: string[]): () => void {
    const ends = names.map((name) => this.#of(name).begin());
    return () => {
      for (const end of ends) end();
    };
  }

  /**
   * Something is asked for that holds until one of these is undone; the answer notes that it was granted.
   * @param names of what may be undone
   */
  ask(what: string, volume: string, names: string[]): (isKept: Promised['isKept']) => void {
    const marks = names.map((name): [Undoings, number | undefined] => [this.#of(name), this.#of(name).mark]);
    return (isKept) => {
      const undoings = marks.flatMap(([one, mark]): [Undoings, number][] => (mark === undefined ? [] : [[one, mark]]));
      if (undoings.length === marks.length) this.#promised.push({ what, volume, undoings, isKept });
    };
  }

  /** What was promised and is not so. */
  broken(contextOf: (volume: string) => VolumeContext | undefined): string[] {
    return this.#promised
      .filter(({ undoings }) => undoings.every(([one, mark]) => one.isAt(mark)))
      .filter(({ volume, isKept }) => !isKept(contextOf(volume)))
      .map(({ what }) => `${what} was acknowledged, and is lost`);
  }

  #of(name: string): Undoings {
    const known = this.#undoings.get(name) ?? new Undoings();
    this.#undoings.set(name, known);
    return known;
  }
}
