/**
 * Makes calls to a plugin's socket: bytes there and back, a deadline on each, cancelled when asked, errors that say what
 * happened. The surface over it: client.ts. Sockets and channels: channel.ts
 */
import { type Client, Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';
import { type Abortable, type AbortSource, isAbortSource, onAbort, refuseAborted } from '../abort.js';
import { messageOf, StagecraftError } from '../errors.js';
import { maxMessageBytes } from './answer-limits.js';
import { noReason, type RpcName } from './answers.js';
import { explainUnavailable, type PluginChannel, type PluginConnection } from './channel.js';
import { type Given, requestCodec, responseCodec } from './codec.js';
import { csiError } from './codes.js';
import { type Rpcs, rpcs } from './generated/plain.js';
import { type GrpcCode, grpcCodeOf } from './grpc-codes.js';
import { secretsIn, withoutSecrets } from './secrets.js';

export interface CallOptions {
  /** Instead of the client's own limit. */
  timeoutMs?: number;
  /** Cancels the call. */
  signal?: AbortSignal;
  /** Used instead of a signal, which would cost more than the call: made only for those who look at it. */
  onAbort?: AbortSource['onAbort'];
}

interface Timeouts {
  timeoutMs: number;
  /** For calls to the Node service. */
  nodeTimeoutMs: number;
}

interface CsiCallsOptions {
  /** Called when a call has ended, however that was. */
  onEnd?: ((call: EndedCall) => void) | undefined;
  /** Default: refuses answers outside of the bounds in answer-limits.ts. */
  answerCodec?: typeof responseCodec;
}

/** A call that has ended. */
export interface EndedCall {
  rpc: RpcName;
  /** Status of its answer; CANCELLED if it was given up. */
  code: GrpcCode;
  tookMs: number;
}

/** A call under way. */
interface Begun {
  rpc: RpcName;
  /** On the clock of `performance.now`. */
  sinceMs: number;
  channel: PluginChannel;
  timeoutMs: number;
  /** Secrets as they were sent, to be masked in the plugin's answers. */
  secrets: string[];
  /** Reason why the call was given up. */
  aborted?: StagecraftError;
}

/** Below the longest timer, as gRPC adds to it. */
const maxTimeoutMs = 2_000_000_000;

const abortableIn = (options: CallOptions): Abortable | undefined =>
  isAbortSource(options) ? options : options.signal;

const asBytes = (bytes: Buffer): Buffer => bytes;

export class CsiCalls {
  readonly #connection: PluginConnection;
  readonly #timeouts: Timeouts;
  readonly #onEnd: ((call: EndedCall) => void) | undefined;
  readonly #answerCodec: typeof responseCodec;
  readonly #inFlight = new Set<(reason: unknown) => void>();
  /** Reason why every new call is refused. */
  #closed: StagecraftError | undefined;
  /** Called when no call is under way any more. */
  readonly #onQuiet = new Set<() => void>();

  constructor(connection: PluginConnection, timeouts: Timeouts, { onEnd, answerCodec }: CsiCallsOptions = {}) {
    this.#connection = connection;
    this.#timeouts = timeouts;
    this.#onEnd = onEnd;
    this.#answerCodec = answerCodec ?? responseCodec;
  }

  unary<Rpc extends RpcName>(
    rpc: Rpc,
    request: Given<Rpcs[Rpc]['request']>,
    options: CallOptions = {},
  ): Promise<Rpcs[Rpc]['response']> {
    return new Promise((resolve, reject) => {
      const { begun, bytes, deadline } = this.#begin(rpc, request, options);
      const cancel = unaryCall<Rpcs[Rpc]['response']>(begun.channel.client, {
        path: rpcs[rpc].path,
        bytes,
        deadline,
        decode: this.#answerCodec(rpc).decode,
        ended: (answer, failure) => {
          release();
          this.#ended(begun, failure);
          if (answer !== undefined) resolve(answer);
          else reject(failed(begun, failure));
        },
      });
      const release = this.#watch(begun, cancel, abortableIn(options));
    });
  }

  /** Ends the call when its reader stops reading. */
  async *stream<Rpc extends RpcName>(
    rpc: Rpc,
    request: Given<Rpcs[Rpc]['request']>,
    options: CallOptions = {},
  ): AsyncGenerator<Rpcs[Rpc]['response'], void> {
    const { begun, bytes, deadline } = this.#begin(rpc, request, options);
    const call = begun.channel.client.makeServerStreamRequest<Buffer, Rpcs[Rpc]['response']>(
      rpcs[rpc].path,
      asBytes,
      this.#answerCodec(rpc).decode,
      bytes,
      new Metadata(),
      { deadline },
    );
    const release = this.#watch(begun, () => call.cancel(), abortableIn(options));
    let failure: Partial<ServiceError> | null = null;
    try {
      yield* call;
    } catch (error) {
      failure = error as ServiceError;
      throw failed(begun, failure);
    } finally {
      release();
      this.#ended(begun, failure);
      call.cancel();
    }
  }

  /** Refuses new calls; resolves when all others have ended, at the latest when the signal is aborted. */
  async drain(signal: AbortSignal): Promise<void> {
    this.#refuse();
    if (this.#inFlight.size > 0 && !signal.aborted) await this.#quiet(signal);
    this.close();
  }

  /** Ends calls under way and refuses new ones, all with ABORTED. */
  close(): void {
    const reason = this.#refuse();
    for (const giveUp of this.#inFlight) giveUp(reason);
    this.#connection.close();
  }

  #refuse(): StagecraftError {
    this.#closed ??= new StagecraftError('ABORTED', `the client of ${this.#connection.socketPath} is closed`);
    return this.#closed;
  }

  #quiet(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#onQuiet.delete(end);
        unsubscribe();
        resolve();
      };
      this.#onQuiet.add(end);
      const unsubscribe = onAbort(signal, () => {
        this.close();
        end(); // a stream that nobody reads would never end
      });
    });
  }

  #begin<Rpc extends RpcName>(
    rpc: Rpc,
    request: Given<Rpcs[Rpc]['request']>,
    options: CallOptions,
  ): { begun: Begun; bytes: Buffer; deadline: number } {
    const { timeoutMs = this.#timeoutOf(rpc) } = options;
    if (!(timeoutMs > 0)) throw new TypeError(`timeoutMs of ${rpc} must be above 0, but is ${timeoutMs}`);
    const bytes = requestCodec(rpc).encode(request);
    if (bytes.length > maxMessageBytes) throw tooLarge(rpc, bytes.length);
    if (this.#closed) throw givenUp(rpc, this.#closed);
    const abortable = abortableIn(options);
    if (abortable) refuseAborted(abortable, (reason) => givenUp(rpc, reason));
    const channel = this.#connection.channelFor(rpc);
    const deadline = Date.now() + Math.min(timeoutMs, maxTimeoutMs);
    const begun: Begun = { rpc, sinceMs: performance.now(), channel, timeoutMs, secrets: secretsIn(rpc, request) };
    return { begun, bytes, deadline };
  }

  /**
   * Watches the limits of a call.
   * @returns function for its end
   */
  #watch(begun: Begun, cancel: () => void, abortable: Abortable | undefined): () => void {
    const giveUp = (reason: unknown): void => {
      begun.aborted ??= givenUp(begun.rpc, reason);
      cancel();
    };
    this.#inFlight.add(giveUp);
    const unsubscribe = abortable && onAbort(abortable, giveUp);
    return () => {
      this.#inFlight.delete(giveUp);
      unsubscribe?.();
      if (this.#inFlight.size === 0) for (const tell of [...this.#onQuiet]) tell();
    };
  }

  #ended({ rpc, sinceMs, aborted }: Begun, error: Partial<ServiceError> | null): void {
    if (!this.#onEnd) return;
    const code = aborted ? 'CANCELLED' : error ? grpcCodeOf(error.code ?? -1) : 'OK';
    this.#onEnd({ rpc, code, tookMs: performance.now() - sinceMs });
  }

  #timeoutOf(rpc: RpcName): number {
    return rpcs[rpc].service === 'Node' ? this.#timeouts.nodeTimeoutMs : this.#timeouts.timeoutMs;
  }
}

/** A final error, whatever its code: nothing was sent. */
function tooLarge(rpc: RpcName, bytes: number): StagecraftError {
  const text = `the request has ${bytes} bytes, but ${maxMessageBytes} is the limit of a message: make it smaller`;
  return csiError(rpc, 'RESOURCE_EXHAUSTED', text, 'final');
}

/** Error of a call that was given up here: the plugin may go on with it. */
function givenUp(rpc: string, reason: unknown): StagecraftError {
  const code = reason instanceof StagecraftError ? reason.code : 'ABORTED';
  const details = { rpc, grpcCode: 'CANCELLED', answerClass: 'unknown' as const, final: false, cause: reason };
  return new StagecraftError(code, `${rpc} was given up: ${messageOf(reason)}`, details);
}

function failed(
  { rpc, channel, timeoutMs, secrets, aborted }: Begun,
  error: Partial<ServiceError> | null,
): StagecraftError {
  if (aborted) return aborted;
  const code = grpcCodeOf(error?.code ?? -1);
  const said = error ? error.details?.trim() || noReason : 'neither an answer nor an error';
  const details = withoutSecrets(said, secrets);
  if (code === 'UNAVAILABLE') return csiError(rpc, code, explainUnavailable(channel, details));
  if (code === 'DEADLINE_EXCEEDED' && isOwnDeadline(details)) {
    return csiError(rpc, code, `no answer at ${channel.socketPath} within ${timeoutMs} ms: does the plugin hang?`);
  }
  if (isTooLargeAnswer(details)) {
    const limit = `${maxMessageBytes} is the limit of a message: if there are pages, ask for smaller ones`;
    return csiError(rpc, code, `the answer is too large (${details}), ${limit}`);
  }
  const fault = unreadableAnswer.exec(details)?.[1];
  if (fault) return csiError(rpc, code, `a fault of the driver: its answer is not as CSI wants it: ${fault}`);
  return csiError(rpc, code, `${code}: ${details}`);
}

/** Text of grpc-js, and of `unaryCall`, about an answer that the codec refuses. */
const unreadableAnswer = /^Response message parsing error: (.*)$/s;

/** Tells our own deadline, by the texts of grpc-js, from one that the plugin reports. */
const isOwnDeadline = (details: string): boolean => /^Deadline exceeded(?: after .*)?$/s.test(details);

/** Tells our own limit, by the text of grpc-js, from a lower one of the plugin. */
const isTooLargeAnswer = (details: string): boolean =>
  /^Received message larger than max/.test(details) && details.includes(` vs ${maxMessageBytes})`);

interface UnaryRequest<Answer> {
  /** `/csi.v1.Controller/CreateVolume` */
  path: string;
  bytes: Buffer;
  /** Milliseconds since the epoch. */
  deadline: number;
  decode(bytes: Buffer): Answer;
  /** Called once, with the answer or with the status that says why there is none. */
  ended(answer: Answer | undefined, failure: Failure | null): void;
}

type Failure = Pick<StatusObject, 'code' | 'details'>;

const noMessage: Failure = { code: status.UNIMPLEMENTED, details: 'No message received' };

/**
 * Makes a unary call on a channel of grpc-js. `Client.makeUnaryRequest` does the same with interceptors, an event emitter and a
 * stack trace, which no call here needs and which take a quarter of its CPU time (docs/maintainers/benchmark-history.md).
 * @returns a function that cancels the call
 */
function unaryCall<Answer>(client: Client, { path, bytes, deadline, decode, ended }: UnaryRequest<Answer>): () => void {
  let answer: Answer | undefined;
  let fault: Failure | undefined;
  const call = client.getChannel().createCall(path, deadline, null, null, null);
  /** Cancels the call; the first fault counts, whatever status follows. */
  const refuse = (code: status, details: string): void => {
    fault ??= { code, details };
    call.cancelWithStatus(code, details);
  };
  call.start(new Metadata(), {
    onReceiveMetadata: () => {},
    onReceiveMessage: (message) => {
      if (answer !== undefined) {
        refuse(status.UNIMPLEMENTED, 'Too many responses received');
        return;
      }
      // A second answer would never be read otherwise, nor the status behind it.
      call.startRead();
      try {
        answer = decode(message);
      } catch (error) {
        refuse(status.INTERNAL, `Response message parsing error: ${messageOf(error)}`);
      }
    },
    onReceiveStatus: ({ code, details }) => {
      const failure = fault ?? (code === status.OK ? undefined : { code, details });
      if (failure) ended(undefined, failure);
      else ended(answer, answer === undefined ? noMessage : null);
    },
  });
  call.startRead();
  call.sendMessageWithContext({}, bytes);
  call.halfClose();
  return () => call.cancelWithStatus(status.CANCELLED, 'Cancelled on client');
}
