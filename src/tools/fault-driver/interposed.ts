/**
 * Stands between the socket and a driver's handlers: applies to each call the step that the director assigns.
 * Independent of the driver's work. The order within a step: `play`
 */
import { setTimeout } from 'node:timers/promises';
import { onAbort } from '../../abort.js';
import type { RpcName } from '../../csi/answers.js';
import { responseCodec } from '../../csi/codec.js';
import { rpcs } from '../../csi/generated/plain.js';
import { type GrpcCode, grpcCodes } from '../../csi/grpc-codes.js';
import { masked } from '../../csi/secrets.js';
import { type CsiHandlers, CsiStatus, type ServerCall } from '../../csi/server.js';
import { messageOf } from '../../errors.js';
import { type CallEnd, type Director, monotonicMs } from './call.js';
import { type CheckedStep, doesWork, type Moment, messagesOf } from './step.js';

/** Connection of a call. */
export interface CallConnection {
  /** See `Arrival.socket`. */
  socket: number;
  breakOff(): void;
  /**
   * Fires when the driver is stopped: ends whatever a call waits for, even if the call would continue without its
   * caller.
   */
  ending: AbortSignal;
  /** Counts the driver's work in flight. */
  watch<T>(work: Promise<T>): Promise<T>;
}

type UnaryWork = (request: object, call: ServerCall) => object | Promise<object>;
type StreamWork = (request: object, call: ServerCall) => AsyncIterable<object>;

/**
 * Makes handlers for every RPC. An RPC that the driver lacks is answered UNIMPLEMENTED, unless the script decides
 * otherwise.
 */
export function interposed(handlers: CsiHandlers, director: Director, origin: CallConnection): CsiHandlers {
  const names = Object.keys(rpcs).filter((name): name is RpcName => name in rpcs);
  const all = names.map((rpc) => {
    const unary: UnaryWork = (request, call) =>
      new Call(director, origin, { rpc, request, call }).unary(handlers[rpc] as UnaryWork | undefined);
    const stream: StreamWork = (request, call) =>
      new Call(director, origin, { rpc, request, call }).stream(handlers[rpc] as StreamWork | undefined);
    return [rpc, rpcs[rpc].streams ? stream : unary];
  });
  return Object.fromEntries(all) satisfies CsiHandlers;
}

/** Ends a call without an answer to anybody. */
class Cut extends Error {
  readonly how: 'gone' | 'broken';

  constructor(how: 'gone' | 'broken') {
    super(how === 'gone' ? 'the caller has gone' : 'the connection was broken');
    this.how = how;
  }
}

interface Incoming {
  rpc: RpcName;
  request: object;
  call: ServerCall;
}

const [ok] = grpcCodes;
const neverAborted = new AbortController().signal;

/** One call, from arrival to end. */
class Call {
  readonly #director: Director;
  readonly #origin: CallConnection;
  readonly #incoming: Incoming;
  #number = 0;
  #step: CheckedStep = {};
  #work: GrpcCode | undefined;

  constructor(director: Director, origin: CallConnection, incoming: Incoming) {
    this.#director = director;
    this.#origin = origin;
    this.#incoming = incoming;
  }

  async unary(work: UnaryWork | undefined): Promise<object> {
    await this.#begin();
    try {
      const answer = await this.#play(work);
      await this.#end({ how: 'answered', code: ok, answer: this.#whole(answer) });
      return answer;
    } catch (error) {
      await this.#end(endedBy(error));
      throw error;
    }
  }

  async *stream(work: StreamWork | undefined): AsyncGenerator<object, void> {
    await this.#begin();
    const answer: object[] = [];
    let end: Omit<CallEnd, 'atMs'> = { how: 'gone' }; // what it is where the reader leaves in between
    try {
      await this.#before();
      for await (const message of this.#messages(work)) {
        answer.push(this.#whole(message));
        yield message;
      }
      await this.#after();
      if (this.#step.code) throw new CsiStatus(this.#step.code, this.#step.text ?? '');
      end = { how: 'answered', code: ok };
    } catch (error) {
      end = endedBy(error);
      throw error;
    } finally {
      await this.#end({ ...end, answer });
    }
  }

  async #begin(): Promise<void> {
    const { rpc, request, call } = this.#incoming;
    const arrival = { rpc, request: masked(rpc, request), beganAtMs: monotonicMs(), socket: this.#origin.socket };
    const { number, step = {} } = await this.#director.begin(arrival);
    this.#number = number;
    this.#step = step;
    onAbort(call.signal, () => void this.#director.gone({ number, atMs: monotonicMs() }));
  }

  async #play(work: UnaryWork | undefined): Promise<object> {
    await this.#before();
    const [worked] = doesWork(this.#step) ? await Promise.allSettled([this.#origin.watch(this.#worked(work))]) : [];
    await this.#after();
    const { code, text = '' } = this.#step;
    const [scripted] = messagesOf(this.#incoming.rpc, this.#step);
    if (code) throw new CsiStatus(code, text);
    if (scripted) return scripted;
    if (worked?.status === 'rejected') throw worked.reason;
    return worked?.value ?? {};
  }

  async #worked(work: UnaryWork | undefined): Promise<object> {
    const { rpc, request } = this.#incoming;
    try {
      const answer = await (work ?? notImplemented(rpc))(request, { signal: this.#signal() });
      this.#work = ok;
      return answer;
    } catch (error) {
      this.#work = codeOf(error);
      throw error;
    }
  }

  async *#messages(work: StreamWork | undefined): AsyncGenerator<object, void> {
    const { rpc, request, call } = this.#incoming;
    if (!doesWork(this.#step)) return yield* messagesOf(rpc, this.#step);
    try {
      yield* work ? work(request, call) : notImplemented(rpc)();
      this.#work = ok;
    } catch (error) {
      this.#work = codeOf(error);
      throw error;
    }
  }

  async #before(): Promise<void> {
    this.#checkHeard();
    const { delayMs } = this.#step;
    if (delayMs) await this.#unlessGone(setTimeout(delayMs, undefined, { signal: this.#waiting() }));
    await this.#incidents('before');
  }

  #after(): Promise<void> {
    return this.#incidents('after');
  }

  async #incidents(moment: Moment): Promise<void> {
    const { stop, hang, breakOff, die } = this.#step;
    if (stop === moment) await this.#director.freeze();
    if (hang === moment) await this.#unlessGone(this.#director.released(this.#number));
    if (breakOff === moment) this.#breakOff();
    if (die === moment) await this.#director.die({ number: this.#number, work: this.#work });
    if (moment === 'before') this.#checkHeard();
  }

  #breakOff(): void {
    this.#origin.breakOff();
    if (!this.#step.goOn) throw new Cut('broken');
  }

  #checkHeard(): void {
    if (this.#waiting().aborted) throw new Cut('gone');
  }

  /** Signal for the driver's work. If the step says so, the work continues after the caller has left. */
  #signal(): AbortSignal {
    return this.#step.goOn ? neverAborted : this.#incoming.call.signal;
  }

  /** Signal for waiting. Also fires when the driver is stopped, since its connections are broken then. */
  #waiting(): AbortSignal {
    return this.#step.goOn ? this.#origin.ending : this.#incoming.call.signal;
  }

  #unlessGone(promise: Promise<void>): Promise<void> {
    const signal = this.#waiting();
    return new Promise((resolve, reject) => {
      const unsubscribe = onAbort(signal, () => reject(new Cut('gone')));
      promise.then(resolve, reject).finally(unsubscribe);
    });
  }

  /** Returns the answer as the caller gets it, with default values. */
  #whole(answer: object): object {
    const { encode, decode } = responseCodec(this.#incoming.rpc);
    return decode(encode(answer));
  }

  #end(end: Omit<CallEnd, 'atMs'>): Promise<void> {
    const work = this.#work && { work: this.#work };
    return this.#director.ended({ number: this.#number, end: { atMs: monotonicMs(), ...end, ...work } });
  }
}

const notImplemented = (rpc: RpcName) => (): never => {
  throw new CsiStatus('UNIMPLEMENTED', `this driver has no ${rpc}`);
};

const codeOf = (error: unknown): GrpcCode => (error instanceof CsiStatus ? error.code : 'INTERNAL');

const endedBy = (error: unknown): Omit<CallEnd, 'atMs'> =>
  error instanceof Cut ? { how: error.how } : { how: 'answered', code: codeOf(error), text: messageOf(error) };
