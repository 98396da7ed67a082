/** Knowledge of the page about one actor: its present, its history, and the moments that somebody has looked at. */
import { batch, signal } from '@preact/signals';
import type { ActorDetail, Edit, HistoryPage, JournalPage, MomentAnswer, WhatIf } from '../../api/actor-routes.js';
import type { HistoryLine } from '../../journal/history.js';
import { mergedLines } from './history-rows.js';

/** Requests to the agent. They reject with an Error that says what is wrong. */
export interface Api {
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: object): Promise<T>;
}

/** Lines of the first page, and how many are read when something new has happened. */
const pageSize = 500;
const newSize = 50;
/** Moments that are kept. */
const mostMoments = 200;

export class ActorModel {
  readonly address: string;
  readonly detail = signal<ActorDetail | undefined>(undefined);
  /** Oldest first. */
  readonly lines = signal<readonly HistoryLine[]>([]);
  /** Fate of the steps before the first one; undefined: no step is missing, or a page has them. */
  readonly olderSteps = signal<string | undefined>(undefined);
  /** Where the page before begins; undefined if all lines are here. */
  readonly before = signal<number | undefined>(undefined);
  /** Why the actor, or its history, can't be shown. */
  readonly error = signal<Error | undefined>(undefined);
  readonly historyError = signal<Error | undefined>(undefined);
  readonly isLoading = signal(true);
  readonly #api: Api;
  readonly #moments = new Map<number, Promise<MomentAnswer>>();
  #reading: Promise<void> | undefined;
  #isStale = false;

  constructor(address: string, api: Api) {
    this.address = address;
    this.#api = api;
  }

  get #path(): string {
    return this.address.split('/').map(encodeURIComponent).join('/');
  }

  /** Reads the present and the end of the history again. Calls while one runs are put together. */
  refresh(): Promise<void> {
    this.#isStale = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      const isFirst = this.lines.value.length === 0;
      const [detail, history] = await Promise.allSettled([
        this.#api.get<ActorDetail>(`/v1/actors/${this.#path}`),
        this.#api.get<HistoryPage>(`/v1/history/${this.#path}?limit=${isFirst ? pageSize : newSize}`),
      ]);
      batch(() => {
        this.error.value = errorOf(detail);
        this.historyError.value = errorOf(history);
        if (detail.status === 'fulfilled') this.detail.value = detail.value;
        if (history.status === 'fulfilled') this.#add(history.value, isFirst);
        this.isLoading.value = false;
      });
    }
  }

  #add({ lines, before, older }: HistoryPage, isFirst: boolean): void {
    const last = this.lines.value.at(-1)?.seq ?? 0;
    const isGap = !isFirst && (lines[0]?.seq ?? 0) > last + 1;
    // More steps came than were read: begin anew, so that no step is missing in between.
    this.lines.value = isFirst || isGap ? lines : mergedLines(this.lines.value, lines);
    if (!isFirst && !isGap) return;
    this.before.value = before;
    this.olderSteps.value = older;
  }

  /** Reads the page of lines before the first one. */
  async older(): Promise<void> {
    const before = this.before.value;
    if (before === undefined) return;
    const page = await this.#api.get<HistoryPage>(`/v1/history/${this.#path}?before=${before}&limit=${pageSize}`);
    batch(() => {
      this.lines.value = mergedLines(page.lines, this.lines.value);
      this.before.value = page.before;
      this.olderSteps.value = page.older;
    });
  }

  moment(seq: number): Promise<MomentAnswer> {
    const known = this.#moments.get(seq);
    if (known) return known;
    const moment = this.#api.get<MomentAnswer>(`/v1/moments/${this.#path}?seq=${seq}`);
    moment.catch(() => this.#moments.delete(seq));
    this.#moments.set(seq, moment);
    for (const oldest of this.#moments.keys()) {
      if (this.#moments.size <= mostMoments) break;
      this.#moments.delete(oldest);
    }
    return moment;
  }

  /** The newest event of each type in the end of the journal, without its stamps. */
  async examples(): Promise<Map<string, object>> {
    const { entries } = await this.#api.get<JournalPage>(`/v1/journal/${this.#path}?limit=${pageSize}`);
    const events = entries.flatMap(({ event }) => (event ? [event] : []));
    return new Map(events.map((event) => [event.type, { ...event, at: undefined, random: undefined }]));
  }

  whatIf(edits: readonly Edit[]): Promise<WhatIf> {
    return this.#api.post<WhatIf>('/v1/what-if', { address: this.address, edits });
  }
}

const errorOf = (result: PromiseSettledResult<unknown>): Error | undefined =>
  result.status === 'rejected'
    ? result.reason instanceof Error
      ? result.reason
      : new Error(String(result.reason))
    : undefined;
