/**
 * Calls to the driver under test: picks the endpoint, adds the configured secrets, and repeats a call while the
 * driver is busy. Records in resources.ts what each call may create. The judgement of answers: context.ts
 */
import { setTimeout } from 'node:timers/promises';
import { Metadata, type ServiceError } from '@grpc/grpc-js';
import { onAbort } from '../../abort.js';
import type { AnswerClass, RpcName } from '../../csi/answers.js';
import { PluginConnection } from '../../csi/channel.js';
import { type Given, requestCodec, unboundedResponseCodec } from '../../csi/codec.js';
import { CsiCalls } from '../../csi/csi-calls.js';
import { type Rpcs, rpcs } from '../../csi/generated/plain.js';
import { type GrpcCode, grpcCodes } from '../../csi/grpc-codes.js';
import { withoutSecrets } from '../../csi/secrets.js';
import type { UnaryRpc } from '../../csi/server.js';
import { StagecraftError } from '../../errors.js';
import { type Answer, type CallReport, type CheckAskOptions, type Side, tellAnswer, tellCall } from './ask.js';
import { readMounts } from './host.js';
import { Resources } from './resources.js';
import { Verdict } from './verdict.js';

interface CallsOptions {
  socketPaths: Partial<Record<Side, string>>;
  timeoutMs: number;
  /** Secrets by RPC. */
  secrets: Readonly<Record<string, Record<string, string>>>;
}

const firstPauseMs = 50;
const longestPauseMs = 1_000;

export class DriverCalls {
  readonly ledger = new Resources();
  /** RPCs whose last call timed out. */
  readonly hung = new Set<RpcName>();
  readonly timeoutMs: number;
  /** The last call that ended. */
  last: CallReport | undefined;
  readonly #connections: Partial<Record<Side, PluginConnection>>;
  readonly #calls: Partial<Record<Side, CsiCalls>>;
  readonly #secrets: CallsOptions['secrets'];
  readonly #allSecrets: string[];
  #signal: AbortSignal | undefined;

  constructor({ socketPaths, timeoutMs, secrets }: CallsOptions) {
    this.timeoutMs = timeoutMs;
    this.#secrets = secrets;
    this.#allSecrets = Object.values(secrets).flatMap((values) => Object.values(values));
    this.#connections = bothSides(socketPaths, (path) => new PluginConnection(path));
    const timeouts = { timeoutMs, nodeTimeoutMs: timeoutMs };
    const options = { answerCodec: unboundedResponseCodec };
    this.#calls = bothSides(this.#connections, (connection) => new CsiCalls(connection, timeouts, options));
  }

  /** Sides with an endpoint of their own. */
  sides(): Side[] {
    const { controller, node } = this.#connections;
    if (controller && node) return controller.socketPath === node.socketPath ? ['controller'] : ['controller', 'node'];
    return controller ? ['controller'] : ['node'];
  }

  has(side: Side): boolean {
    return this.#connections[side] !== undefined;
  }

  /** Sets the signal that cancels calls from now on; undefined: nothing does. */
  cancelBy(signal: AbortSignal | undefined): void {
    this.#signal = signal;
  }

  /**
   * @returns the answer, also a refusal
   * @throws TypeError: the request does not fit the RPC; the signal's reason: the call was cancelled
   */
  ask = async <Rpc extends UnaryRpc>(
    rpc: Rpc,
    request: Given<Rpcs[Rpc]['request']>,
    options: CheckAskOptions = {},
  ): Promise<Answer<Rpc>> => {
    const untilMs = performance.now() + this.timeoutMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const answer = await this.#once(rpc, request, options);
      const isOver = performance.now() + pauseMs > untilMs;
      if (answer.answerClass !== 'busy' || options.takesAborted || isOver) return answer;
      await setTimeout(pauseMs, undefined, this.#signal ? { signal: this.#signal } : {});
    }
  };

  /** @throws the reason of the signal that cancelled the calls */
  throwIfCancelled(): void {
    this.#signal?.throwIfAborted();
  }

  /** Removes all secrets from a text: drivers repeat them in unexpected places. */
  hide = (text: string): string => withoutSecrets(text, this.#allSecrets);

  /** Returns the answer and the names of its trailers; a status made by the client itself has none. */
  async trailers<Rpc extends UnaryRpc>(
    rpc: Rpc,
    given: Given<Rpcs[Rpc]['request']>,
  ): Promise<{ code: GrpcCode; trailers: string[] }> {
    const signal = this.#signal;
    signal?.throwIfAborted();
    const request = this.#withSecrets(rpc, given);
    const connection = this.#connections[this.#sideOf(rpc)];
    if (!connection) throw new TypeError(`there is no endpoint for ${rpc}`);
    const { client } = connection.channelFor(rpc);
    let unsubscribe: (() => void) | undefined;
    const error = await new Promise<ServiceError | null>((resolve) => {
      const call = client.makeUnaryRequest(
        rpcs[rpc].path,
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
        requestCodec(rpc).encode(request),
        new Metadata(),
        { deadline: Date.now() + this.timeoutMs },
        resolve,
      );
      unsubscribe = signal && onAbort(signal, () => call.cancel());
    });
    unsubscribe?.();
    signal?.throwIfAborted();
    const code = error ? (grpcCodes[error.code] ?? 'UNKNOWN') : 'OK';
    if (code === 'DEADLINE_EXCEEDED') this.hung.add(rpc);
    else this.hung.delete(rpc);
    this.last = this.#told(rpc, request, error ? `${code}: ${error.details}` : code);
    return { code, trailers: error ? Object.keys(error.metadata.getMap()) : [] };
  }

  /** Forgets the last call, so that the next check does not report it as its own. */
  forgetLast(): void {
    this.last = undefined;
  }

  close(): void {
    for (const calls of Object.values(this.#calls)) calls.close();
    for (const connection of Object.values(this.#connections)) connection.close();
  }

  async #once<Rpc extends UnaryRpc>(
    rpc: Rpc,
    given: Given<Rpcs[Rpc]['request']>,
    { side }: CheckAskOptions,
  ): Promise<Answer<Rpc>> {
    const calls = this.#calls[side ?? this.#sideOf(rpc)];
    if (!calls) throw new TypeError(`there is no endpoint for ${rpc}`);
    const signal = this.#signal;
    signal?.throwIfAborted();
    if (rpc === 'ControllerUnpublishVolume') await this.#expectUnmounted(Object(given).volumeId);
    const request = this.#withSecrets(rpc, given);
    const begun = this.ledger.begin(rpc, given);
    try {
      const value = await calls.unary(rpc, request, signal ? { signal } : {});
      begun.succeeded(value);
      this.hung.delete(rpc);
      const code: GrpcCode = 'OK';
      const report = this.#told(rpc, request, `${code} ${tellAnswer(value, this.hide)}`);
      return this.#answered({ code, answerClass: 'done', value, report });
    } catch (error) {
      if (!(error instanceof StagecraftError)) throw error;
      const { code, answerClass } = statusOf(error);
      begun.failed(answerClass);
      signal?.throwIfAborted();
      if (code === 'DEADLINE_EXCEEDED') this.hung.add(rpc);
      return this.#answered({ code, answerClass, report: this.#told(rpc, request, textOf(code, error)) });
    }
  }

  /**
   * Refuses to detach a volume that this host still shows: what is written there would be lost.
   * @throws {Verdict} blocked
   */
  async #expectUnmounted(volumeId: string): Promise<void> {
    const paths = this.ledger.pathsOf(volumeId);
    const mount = paths.length > 0 && (await readMounts()).find(({ path }) => paths.includes(path));
    if (mount) throw new Verdict('blocked', `the volume is not detached, as it is still mounted at ${mount.path}`);
  }

  #answered<Rpc extends UnaryRpc>(answer: Answer<Rpc>): Answer<Rpc> {
    this.last = answer.report;
    return answer;
  }

  #told(rpc: UnaryRpc, request: unknown, answer: string): CallReport {
    return tellCall(rpc, Object(request), this.hide(answer), this.hide);
  }

  #withSecrets<Rpc extends UnaryRpc>(rpc: Rpc, given: Given<Rpcs[Rpc]['request']>): Given<Rpcs[Rpc]['request']> {
    const secrets = this.#secrets[rpc];
    return secrets ? Object.assign({}, given, { secrets }) : given;
  }

  #sideOf(rpc: UnaryRpc): Side {
    const { service } = rpcs[rpc];
    if (service === 'Identity') return this.has('controller') ? 'controller' : 'node';
    return service === 'Node' ? 'node' : 'controller';
  }
}

function statusOf({ grpcCode, answerClass }: StagecraftError): { code: GrpcCode; answerClass: AnswerClass } {
  const code = grpcCodes.find((name) => name === grpcCode) ?? 'UNKNOWN';
  return { code, answerClass: isAnswerClass(answerClass) ? answerClass : 'unknown' };
}

const isAnswerClass = (name: string | undefined): name is AnswerClass => name !== undefined;

/** Returns the error's message without the parts that the report shows anyway. */
function textOf(code: GrpcCode, { message, rpc = '' }: StagecraftError): string {
  const text = message.startsWith(`${rpc}: `) ? message.slice(rpc.length + 2) : message;
  return text.startsWith(code) ? text : `${code}: ${text}`;
}

function bothSides<From, To>(
  { controller, node }: Partial<Record<Side, From>>,
  change: (from: From) => To,
): Partial<Record<Side, To>> {
  return { ...(controller && { controller: change(controller) }), ...(node && { node: change(node) }) };
}
