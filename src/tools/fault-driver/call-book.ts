/**
 * Script and record of the calls. Kept in the test's process, so that both outlive the driver's process. Decides the
 * fate of each call before the driver does any work for it. The judgement of calls: judge/
 */

import { isDeepStrictEqual } from 'node:util';
import type { RpcName } from '../../csi/answers.js';
import { StagecraftError } from '../../errors.js';
import type { Arrival, Assignment, CallEnd, RecordedCall } from './call.js';
import { changes, subjectsOf } from './requests.js';
import {
  type CheckedStep,
  type CheckedUse,
  checkedRpc,
  checkedStep,
  checkedUse,
  isFields,
  type Step,
  type Use,
} from './step.js';

export interface WaitOptions {
  /** Milliseconds; default 10,000. */
  timeoutMs?: number;
}

interface Waiter {
  isDone(): boolean;
  settle(failure?: Error): void;
}

export const defaultPatienceMs = 10_000;

export class CallBook {
  readonly #nodeId: string;
  readonly #script = new Script();
  readonly #calls: RecordedCall[] = [];
  /** By RPC, the last call that a test has waited for. */
  readonly #awaited = new Map<RpcName, number>();
  /** Subjects held by calls in flight, by the number of the call. */
  readonly #held = new Map<number, readonly string[]>();
  readonly #hanging = new Map<number, () => void>();
  /** Calls to release as soon as they hang. */
  readonly #released = new Set<number>();
  readonly #waiters = new Set<Waiter>();

  constructor(nodeId: string) {
    this.#nodeId = nodeId;
  }

  script<Rpc extends RpcName>(rpc: Rpc, step: Step<Rpc>, use: Use<Rpc> = {}): void {
    const name = checkedRpc(rpc);
    this.#script.add(name, checkedStep(name, step), checkedUse(name, use));
  }

  clear(rpc?: RpcName): void {
    this.#script.clear(rpc && checkedRpc(rpc));
  }

  get stepsLeft(): number {
    return this.#script.left;
  }

  calls(): RecordedCall[] {
    return [...this.#calls];
  }

  /** Resolves with the first call of this RPC that no test has waited for yet. */
  async waitForCall(rpc: RpcName, options: WaitOptions = {}): Promise<RecordedCall> {
    const name = checkedRpc(rpc);
    // Marks the call as found at once: a second waiter gets the next call.
    const take = (): RecordedCall | undefined => {
      const last = this.#awaited.get(name) ?? 0;
      const call = this.#calls.find(({ rpc, number }) => rpc === name && number > last);
      if (call) this.#awaited.set(name, call.number);
      return call;
    };
    return this.#until(take, `${name} has come`, options);
  }

  waitForEnd(number: number, options: WaitOptions = {}): Promise<RecordedCall> {
    const ended = (): RecordedCall | undefined => this.#calls.find((call) => call.number === number && call.end);
    return this.#until(ended, `call ${number} has ended`, options);
  }

  waitForGone(number: number, options: WaitOptions = {}): Promise<RecordedCall> {
    const gone = (): RecordedCall | undefined =>
      this.#calls.find((call) => call.number === number && (call.goneAtMs !== undefined || call.end));
    return this.#until(gone, `the caller of call ${number} has gone`, options);
  }

  /** Releases one call, or all calls that have begun, also those that do not hang yet. */
  release(number?: number): void {
    for (const call of this.#calls) {
      if (call.end || (number ?? call.number) !== call.number) continue;
      this.#released.add(call.number);
      this.#hanging.get(call.number)?.();
    }
  }

  begin(arrival: Arrival): Assignment {
    const held = this.#heldOf(arrival);
    const step = held ? busy(held) : this.#script.take(arrival.rpc, arrival.request);
    const number = this.#calls.length + 1;
    this.#calls.push({ ...arrival, number, nodeId: this.#nodeId, ...(step && { step }) });
    if (step?.holdsVolume) this.#held.set(number, subjectsOf(arrival.rpc, arrival.request));
    this.#look();
    return { number, ...(step && { step }) };
  }

  gone(number: number, atMs: number): void {
    this.#change(number, (call) => (call.end ? call : { ...call, goneAtMs: atMs }));
  }

  ended(number: number, end: CallEnd): void {
    this.#hanging.delete(number);
    this.#held.delete(number);
    this.#change(number, (call) => (call.end ? call : { ...call, end }));
  }

  released(number: number): Promise<void> {
    if (this.#released.has(number)) return Promise.resolve();
    return new Promise((resolve) => this.#hanging.set(number, resolve));
  }

  /** Ends all calls in flight: they died with the process. */
  died(atMs: number): void {
    for (const { number, end } of this.#calls) if (!end) this.ended(number, { atMs, how: 'died' });
  }

  /** Rejects everybody who waits. */
  close(reason: string): void {
    for (const waiter of this.#waiters) waiter.settle(new StagecraftError('ABORTED', reason));
  }

  /** Returns the subjects of this call that another call holds. */
  #heldOf({ rpc, request }: Arrival): string | undefined {
    if (!changes(rpc)) return undefined;
    const subjects = subjectsOf(rpc, request);
    const held = new Set([...this.#held.values()].flat());
    return subjects.find((subject) => held.has(subject));
  }

  #change(number: number, changed: (call: RecordedCall) => RecordedCall): void {
    const call = this.#calls[number - 1];
    if (call) this.#calls[number - 1] = changed(call);
    this.#look();
  }

  /** @param look returns the awaited value, or undefined; not called again after it has returned one */
  #until<T>(look: () => T | undefined, what: string, { timeoutMs = defaultPatienceMs }: WaitOptions): Promise<T> {
    return new Promise((resolve, reject) => {
      let found = look();
      if (found !== undefined) return resolve(found);
      const waiter: Waiter = {
        isDone: () => {
          found = look();
          return found !== undefined;
        },
        settle: (failure) => {
          clearTimeout(timer);
          this.#waiters.delete(waiter);
          if (found === undefined) reject(failure);
          else resolve(found);
        },
      };
      const late = (): void =>
        waiter.settle(new StagecraftError('TIMEOUT', `waited ${timeoutMs} ms in vain until ${what}`));
      const timer = setTimeout(late, timeoutMs);
      this.#waiters.add(waiter);
    });
  }

  #look(): void {
    for (const waiter of this.#waiters) if (waiter.isDone()) waiter.settle();
  }
}

const busy = (subject: string): CheckedStep => ({
  code: 'ABORTED',
  text: `another operation on ${subject} is under way: ask again`,
});

interface Entry {
  step: CheckedStep;
  where: object;
}

interface Counted extends Entry {
  left: number;
}

/**
 * Steps of a script. Counted steps are used first, in the order in which they were set; then the newest step without
 * a count.
 */
class Script {
  readonly #counted = new Map<RpcName, Counted[]>();
  readonly #standing = new Map<RpcName, Entry[]>();

  add(rpc: RpcName, step: CheckedStep, { times, where }: CheckedUse): void {
    if (times === 'always') put(this.#standing, rpc, [{ step, where }, ...(this.#standing.get(rpc) ?? [])]);
    else put(this.#counted, rpc, [...(this.#counted.get(rpc) ?? []), { step, where, left: times }]);
  }

  /** Uses one step for this call; undefined: the driver behaves normally. */
  take(rpc: RpcName, request: object): CheckedStep | undefined {
    const counted = this.#counted.get(rpc)?.find(({ where }) => matches(request, where));
    if (!counted) return this.#standing.get(rpc)?.find(({ where }) => matches(request, where))?.step;
    counted.left -= 1;
    if (counted.left === 0) put(this.#counted, rpc, this.#counted.get(rpc)?.filter((entry) => entry !== counted) ?? []);
    return counted.step;
  }

  /** Number of calls that counted steps are left for. */
  get left(): number {
    return [...this.#counted.values()].flat().reduce((sum, { left }) => sum + left, 0);
  }

  /** @param rpc only steps of this RPC */
  clear(rpc?: RpcName): void {
    for (const steps of [this.#counted, this.#standing]) {
      if (rpc) steps.delete(rpc);
      else steps.clear();
    }
  }
}

const put = <Item>(lists: Map<RpcName, Item[]>, rpc: RpcName, list: Item[]): void => void lists.set(rpc, list);

const matches = (request: object, where: object): boolean =>
  Object.entries(where).every(([field, wanted]) => {
    const value: unknown = Reflect.get(request, field);
    return isFields(wanted) && isFields(value) ? matches(value, wanted) : isDeepStrictEqual(value, wanted);
  });
