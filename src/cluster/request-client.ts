/**
 * Requests of this agent to the one that works on volumes. A request is sent again until it is answered: every method may be
 * asked again, and is then the same.
 */
import { onAbort } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import { Closing } from '../engine/closing.js';
import type { Wire } from '../engine/store.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { MessageOutcome } from './message-counts.js';
import { type AgentMessage, encodeMessage, longestBytes, remoteError } from './messages.js';

/** Where the agent that works on volumes reads, and the epoch of its term. */
export interface OwnerRoute {
  inbox: string;
  epoch: number;
}

interface RequestClientOptions {
  wire: Pick<Wire, 'post'>;
  clock: Clock;
  /** Inbox of this agent. */
  inbox: string;
  /** Number of the next message that this agent sends. */
  nextSend(): number;
  /** The latest route; undefined: none is known. @throws {Error} the store is away */
  route(): Promise<OwnerRoute | undefined>;
  /** Why this agent can't do it itself; undefined: it can, from now on. */
  refusal(): StagecraftError | undefined;
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  onWait?: ((reason: string | null) => void) | undefined;
}

/** Errors of methods that remove something. */
const gone: Readonly<Record<string, string>> = {
  'nodes.remove': 'NODE_NOT_FOUND',
  'volumes.acknowledge': 'VOLUME_NOT_FOUND',
  'snapshots.acknowledge': 'SNAPSHOT_NOT_FOUND',
  'groupSnapshots.acknowledge': 'SNAPSHOT_NOT_FOUND',
};

/** Whether the error of a removal that is asked again of the next owner says that the one before has done it. */
export const isRemovedBefore = (method: string, code: string): boolean => gone[method] === code;

/** Result of a request that this agent has to do itself now. */
export const ownWork = Symbol('own work');

interface Pending {
  /** Id of the request. */
  name: string;
  /** Id of its messages: another one for each owner, so that an answer of the one before counts no more. */
  id: string;
  method: string;
  args: unknown[];
  /** Owner that it was sent to; undefined: not sent yet. */
  sentTo: OwnerRoute | undefined;
  /** Whether that owner does not take it. */
  isMoved: boolean;
  /** When it was sent last; undefined: it is to be sent at the next look. */
  sentMs: number | undefined;
  /** How many times an owner was found for it: the one before may have done it. */
  owners: number;
  beganMs: number;
  onWait: (reason: string | null) => void;
  end(outcome: { value: unknown } | { error: Error }): void;
}

/** Longest time between two looks at who works on volumes, while something waits. */
const lookMs = 500;
/** Time to the next look after an owner has said that it is none any more: the next one takes over soon. */
const soonMs = 40;
/** A request without an answer is sent again after this: it may have been lost. */
const repeatMs = 5_000;
/** A store without an answer is waited for so long. */
const patienceMs = 5_000;
/** The owner ends a wait by itself, and says more about it. */
const graceMs = 250;

export class RequestClient {
  readonly #options: RequestClientOptions;
  /** Requests without an answer, by the ids of their latest messages. */
  readonly #pending = new Map<string, Pending>();
  /** The route as it was at the last look. */
  #route: OwnerRoute | undefined;
  /** Since when the store gives no answer. */
  #awaySinceMs: number | undefined;
  #requests = 0;
  #cancelLook: (() => void) | undefined;
  #isLooking = false;
  /** Owner that has said last that it is none any more. */
  #movedFrom: OwnerRoute | undefined;
  /** Time to the next look. */
  #pauseMs = lookMs;
  readonly #closing = new Closing();

  constructor(options: RequestClientOptions) {
    this.#options = options;
  }

  /**
   * Resolves with the answer, or with `ownWork` once this agent works on volumes itself.
   * @throws {StagecraftError} the error that the owner answers; TIMEOUT, ABORTED, RUNTIME_CLOSED: the request stands
   */
  request(method: string, args: unknown[], { signal, timeoutMs, onWait = () => {} }: RequestOptions): Promise<unknown> {
    const { clock, inbox, nextSend } = this.#options;
    this.#requests += 1;
    const name = `${inbox}:${this.#requests}`;
    const longest = { id: idFor(name, { inbox, epoch: most }), send: most, epoch: most };
    const refusal = this.#closing.reason ?? faultOf({ type: 'request', from: inbox, ...longest, method, args });
    if (refusal) return Promise.reject(refusal);
    const begun = {
      name,
      id: name,
      method,
      args,
      onWait,
      sentTo: undefined,
      isMoved: false,
      sentMs: undefined,
      owners: 0,
      beganMs: clock.monotonicMs(),
    };
    return new Promise((resolve, reject) => {
      const ends: (() => void)[] = [];
      const pending: Pending = {
        ...begun,
        end: (outcome) => {
          if (!this.#pending.delete(pending.id)) return;
          for (const end of ends) end();
          if ('error' in outcome) reject(outcome.error);
          else resolve(outcome.value);
        },
      };
      this.#pending.set(name, pending);
      const giveUp = (error: StagecraftError): void => {
        const cancel: AgentMessage = { type: 'cancel', from: inbox, send: nextSend(), id: pending.id };
        if (pending.sentTo) void this.#options.wire.post(pending.sentTo.inbox, encodeMessage(cancel)).catch(() => {});
        pending.end({ error });
      };
      if (signal)
        ends.push(onAbort(signal, () => giveUp(new StagecraftError('ABORTED', `the wait was aborted: ${stands}`))));
      if (timeoutMs !== undefined) ends.push(clock.after(timeoutMs + graceMs, () => giveUp(this.#timeout(timeoutMs))));
      if (this.#pending.has(pending.id)) void this.#begin(pending);
    });
  }

  /** Number of requests without an answer. */
  get underWay(): number {
    return this.#pending.size;
  }

  /** Takes a message that came for this agent. */
  receive(message: AgentMessage): MessageOutcome {
    const pending = this.#pending.get(message.id);
    if (!pending) return message.id.startsWith(`${this.#options.inbox}:`) ? 'late' : 'foreign';
    if (message.type === 'waits') pending.onWait(message.reason);
    if (message.type === 'moved') {
      pending.isMoved = true;
      pending.sentMs = undefined;
      // The owner may have done it, and lost its lease before it could say so.
      pending.owners += 1;
      this.#moved();
    }
    if (message.type === 'answer') {
      const { error, value } = message;
      const isDone = !error || (pending.owners > 1 && isRemovedBefore(pending.method, error.code));
      pending.end(isDone ? { value } : { error: remoteError(error) });
    }
    return 'accepted';
  }

  /** Ends all requests. */
  close(reason: StagecraftError): void {
    this.#closing.close(reason);
    this.#cancelLook?.();
    for (const { end } of this.#pending.values()) end({ error: reason });
  }

  /** Sends a new request to the owner that is known. Looks at who that is go on meanwhile, at their times. */
  async #begin(pending: Pending): Promise<void> {
    const route = this.#route;
    if (!route && !this.#cancelLook) await this.#look();
    if (!route) return;
    if (!this.#cancelLook) this.#lookAfter(lookMs);
    try {
      await this.#send(pending, route);
    } catch (error) {
      this.#giveUpIfLong(error);
    }
  }

  /** Looks at who works on volumes, sends what that agent has not got, and looks again soon while anything waits. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    if (!this.#options.refusal()) {
      for (const { end } of this.#pending.values()) end({ value: ownWork });
    } else {
      try {
        const route = await this.#options.route();
        this.#route = route;
        const nowMs = this.#options.clock.monotonicMs();
        for (const pending of this.#pending.values()) if (!route || pending.isMoved) this.#explain(pending, nowMs);
        if (route) await Promise.all(this.#due(route, nowMs).map((pending) => this.#send(pending, route)));
        this.#awaySinceMs = undefined;
      } catch (error) {
        this.#giveUpIfLong(error);
      }
    }
    this.#isLooking = false;
    this.#cancelLook?.();
    this.#cancelLook = undefined;
    if (this.#pending.size > 0 && !this.#closing.reason) this.#lookAfterPause();
  }

  /** Looks soon, and then less and less often: the next owner may be there already, or the same one again. */
  #moved(): void {
    if (!this.#route) return;
    if (!isSame(this.#movedFrom, this.#route)) this.#pauseMs = soonMs;
    this.#movedFrom = this.#route;
    this.#route = undefined;
    this.#lookAfterPause();
  }

  #lookAfterPause(): void {
    this.#lookAfter(this.#pauseMs);
    this.#pauseMs = Math.min(2 * this.#pauseMs, lookMs);
  }

  #lookAfter(delayMs: number): void {
    this.#cancelLook?.();
    this.#cancelLook = this.#options.clock.after(delayMs, () => void this.#look());
  }

  /** Requests that this owner has not got, or has had for so long that they may be lost. */
  #due(route: OwnerRoute, nowMs: number): Pending[] {
    const isDue = ({ sentTo, sentMs }: Pending): boolean =>
      !isSame(sentTo, route) || sentMs === undefined || nowMs - sentMs >= repeatMs;
    return [...this.#pending.values()].filter(isDue);
  }

  async #send(pending: Pending, route: OwnerRoute): Promise<void> {
    const { inbox: from, nextSend, clock } = this.#options;
    if (!isSame(pending.sentTo, route)) this.#address(pending, route);
    pending.sentMs = clock.monotonicMs();
    pending.sentTo = route;
    pending.isMoved = false;
    const { id, method, args } = pending;
    const request: AgentMessage = { type: 'request', from, send: nextSend(), id, epoch: route.epoch, method, args };
    try {
      if (await this.#options.wire.post(route.inbox, encodeMessage(request))) return;
      pending.isMoved = true;
      this.#route = undefined;
    } catch (error) {
      pending.sentMs = undefined;
      throw error;
    }
  }

  /** Waits for the answer of this owner, and of no other. */
  #address(pending: Pending, route: OwnerRoute): void {
    this.#pending.delete(pending.id);
    pending.id = idFor(pending.name, route);
    this.#pending.set(pending.id, pending);
    pending.owners += 1;
  }

  /** Says why there is no answer yet, once that takes long. */
  #explain({ beganMs, onWait }: Pending, nowMs: number): void {
    if (nowMs - beganMs < 2 * lookMs) return;
    const why = this.#options.refusal();
    if (why) onWait(why.message);
  }

  /** Waits for a store that gives no answer as long as an engine does. */
  #giveUpIfLong(cause: unknown): void {
    this.#route = undefined;
    const nowMs = this.#options.clock.monotonicMs();
    this.#awaySinceMs ??= nowMs;
    const reason = `the store does not answer (${messageOf(cause)})`;
    const isLong = nowMs - this.#awaySinceMs >= patienceMs;
    for (const { end, onWait, sentTo } of [...this.#pending.values()]) {
      const outcome = sentTo === undefined ? 'refused' : 'unknown';
      const advice = sentTo === undefined ? 'nothing was asked: ask again later' : 'look at the state, or ask again';
      if (isLong) end({ error: new StagecraftError('STORE_UNAVAILABLE', `${reason}: ${advice}`, { outcome, cause }) });
      else onWait(reason);
    }
  }

  #timeout(timeoutMs: number): StagecraftError {
    const why = this.#options.refusal()?.message ?? 'this agent takes over the work on volumes now';
    return new StagecraftError('TIMEOUT', `there was no answer within ${timeoutMs} ms (${why}): ${stands}`);
  }
}

const most = Number.MAX_SAFE_INTEGER;

/** After a failover of Redis two agents may have been granted one epoch. */
const isSame = (one: OwnerRoute | undefined, other: OwnerRoute): boolean =>
  one?.inbox === other.inbox && one.epoch === other.epoch;

/** Id of the messages to one owner: with its epoch, and the run in its inbox. */
const idFor = (name: string, { inbox, epoch }: OwnerRoute): string =>
  `${name}:${epoch}:${inbox.slice(inbox.lastIndexOf('/') + 1)}`;

/** Why a request can't be sent. */
function faultOf(request: AgentMessage): StagecraftError | undefined {
  try {
    if (Buffer.byteLength(encodeMessage(request)) < longestBytes) return undefined;
    return new StagecraftError('INVALID_ARGUMENT', `the request is too large: ${longestBytes} bytes at most`);
  } catch (cause) {
    const message = `the request can not be sent to another agent: ${messageOf(cause)}`;
    return new StagecraftError('INVALID_ARGUMENT', message, { cause });
  }
}

const stands = 'if the request was taken, it stands, and the work goes on';
