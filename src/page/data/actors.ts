/** All actors that the page knows, in columns: item i of each belongs to the same actor. */
import type { ActorSummary, Health, Overview, Trouble } from '../../api/actor-routes.js';

/** Worst first: the order of lists. */
export const healthOrder: readonly Health[] = [
  'failed',
  'in-doubt',
  'waiting',
  'working',
  'unknown',
  'healthy',
  'gone',
];
const rankOf = new Map(healthOrder.map((health, rank) => [health, rank]));

export class ActorTable {
  readonly #index = new Map<string, number>();
  readonly address: string[] = [];
  readonly machine: string[] = [];
  readonly state: string[] = [];
  readonly health: Health[] = [];
  readonly why: string[] = [];
  readonly seq: number[] = [];
  /** Moment of the last commit; 0: not known. */
  readonly at: number[] = [];
  readonly trouble = new Map<string, Trouble>();
  /** Rises with each change. */
  version = 0;

  /** Takes over all that the agent knows. */
  fill({ actors, trouble }: Overview): void {
    this.#index.clear();
    for (const column of [this.address, this.machine, this.state, this.health, this.why, this.seq, this.at])
      column.length = 0;
    this.trouble.clear();
    for (const one of trouble) this.trouble.set(one.address, one);
    actors.address.forEach((address, i) => {
      this.#set(this.#place(address), {
        ...{ address, machine: actors.machine[i] ?? '', state: actors.state[i] ?? '' },
        ...{ health: actors.health[i] ?? 'unknown', why: actors.why[i] ?? '', seq: actors.seq[i] ?? 0 },
        at: actors.at[i] ?? 0,
      });
    });
    this.version += 1;
  }

  /** Takes over an actor that has changed. */
  change({ trouble, ...summary }: ActorSummary & { trouble?: Trouble }): void {
    this.#set(this.#place(summary.address), summary);
    if (trouble) this.trouble.set(summary.address, trouble);
    else this.trouble.delete(summary.address);
    this.version += 1;
  }

  /** Notes that an actor was deleted: it stays in the list, until the page is loaded again. */
  gone(address: string): void {
    const at = this.#index.get(address);
    this.trouble.delete(address);
    if (at === undefined) return;
    this.health[at] = 'gone';
    this.why[at] = 'deleted';
    this.state[at] = '';
    this.version += 1;
  }

  placeOf(address: string): number | undefined {
    return this.#index.get(address);
  }

  get size(): number {
    return this.address.length;
  }

  /** Numbers of actors by health, of one machine or of all. */
  counts(machine?: string): Record<Health, number> {
    const counts = Object.fromEntries(healthOrder.map((health) => [health, 0])) as Record<Health, number>;
    this.health.forEach((health, i) => {
      if (machine === undefined || this.machine[i] === machine) counts[health] += 1;
    });
    return counts;
  }

  /** Places of the actors that fit, the worst first, then by address. */
  sorted({ machine, text = '', health }: { machine?: string; text?: string; health?: Health | undefined }): number[] {
    const wanted = text.toLowerCase();
    const found: number[] = [];
    for (let i = 0; i < this.address.length; i += 1) {
      if (machine !== undefined && this.machine[i] !== machine) continue;
      if (health !== undefined && this.health[i] !== health) continue;
      if (wanted !== '' && !this.#textOf(i).includes(wanted)) continue;
      found.push(i);
    }
    return found.sort((a, b) => this.#rank(a) - this.#rank(b) || compare(this.address[a] ?? '', this.address[b] ?? ''));
  }

  /** Places of the actors whose last step is the newest, the newest first. */
  latest(most: number): number[] {
    const found: number[] = [];
    this.at.forEach((at, i) => {
      if (at === 0 || this.health[i] === 'gone') return;
      if (found.length === most && at <= (this.at[found.at(-1) ?? 0] ?? 0)) return;
      const before = found.findIndex((one) => (this.at[one] ?? 0) < at);
      found.splice(before < 0 ? found.length : before, 0, i);
      found.length = Math.min(found.length, most);
    });
    return found;
  }

  #textOf(i: number): string {
    return `${this.address[i]} ${this.state[i]} ${this.why[i]}`.toLowerCase();
  }

  #rank(i: number): number {
    return rankOf.get(this.health[i] ?? 'unknown') ?? healthOrder.length;
  }

  #place(address: string): number {
    const known = this.#index.get(address);
    if (known !== undefined) return known;
    const place = this.address.length;
    this.#index.set(address, place);
    this.address.push(address);
    return place;
  }

  #set(i: number, { machine, state, health, why, seq, at = 0 }: ActorSummary): void {
    this.machine[i] = machine;
    this.state[i] = state;
    this.health[i] = health;
    this.why[i] = why;
    this.seq[i] = seq;
    this.at[i] = at;
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
