/**
 * The plugin's side of CSI: handlers of plain data become services of a gRPC server. gRPC answers UNIMPLEMENTED for
 * an RPC without a handler. Sockets are the caller's.
 */
import { type EventEmitter, once } from 'node:events';
import { inspect } from 'node:util';
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  type Server,
  type StatusObject,
  status,
} from '@grpc/grpc-js';
import type { RpcName } from './answers.js';
import { type Given, requestCodec, responseCodec } from './codec.js';
import { cutText } from './codes.js';
import { type Rpcs, rpcs } from './generated/plain.js';
import type { GrpcCode } from './grpc-codes.js';

/** Status that a plugin answers instead of OK. */
export class CsiStatus extends Error {
  override readonly name = 'CsiStatus';
  readonly code: Exclude<GrpcCode, 'OK'>;

  constructor(code: Exclude<GrpcCode, 'OK'>, message: string) {
    super(message);
    this.code = code;
  }
}

/** Facts about a call besides its request. */
export interface ServerCall {
  /** Aborted when the caller has gone away or its deadline has passed: nobody gets the answer. */
  signal: AbortSignal;
}

export type StreamingRpc = 'GetMetadataAllocated' | 'GetMetadataDelta';
export type UnaryRpc = Exclude<RpcName, StreamingRpc>;

export type UnaryHandler<Rpc extends UnaryRpc> = (
  request: Rpcs[Rpc]['request'],
  call: ServerCall,
) => Given<Rpcs[Rpc]['response']> | Promise<Given<Rpcs[Rpc]['response']>>;

type StreamingHandler<Rpc extends StreamingRpc> = (
  request: Rpcs[Rpc]['request'],
  call: ServerCall,
) => AsyncIterable<Given<Rpcs[Rpc]['response']>>;

/** By RPC. A thrown {@link CsiStatus} is answered with its code, any other error with INTERNAL. */
export type CsiHandlers = { [Rpc in UnaryRpc]?: UnaryHandler<Rpc> } & { [Rpc in StreamingRpc]?: StreamingHandler<Rpc> };

export function addCsiHandlers(server: Server, handlers: CsiHandlers): void {
  for (const rpc of Object.keys(rpcs).filter((name): name is RpcName => name in rpcs)) {
    const handler = handlers[rpc];
    if (!handler) continue;
    const { path, streams } = rpcs[rpc];
    const { encode } = responseCodec(rpc);
    const { decode } = requestCodec(rpc);
    // The table and the handler's type agree on streams.
    if (streams) server.register(path, streaming(handler as AnyStreaming, encode), asBytes, decode, 'serverStream');
    else server.register(path, unary(handler as AnyUnary, encode), asBytes, decode, 'unary');
  }
}

type AnyUnary = (request: object, call: ServerCall) => object | Promise<object>;
type AnyStreaming = (request: object, call: ServerCall) => AsyncIterable<object>;
/** @throws TypeError that says what is wrong with an answer; gRPC would keep that to itself */
type Encode = (answer: object) => Buffer;

const asBytes = (bytes: Buffer): Buffer => bytes;

function unary(handler: AnyUnary, encode: Encode): handleUnaryCall<object, Buffer> {
  return (call, callback) => {
    const { signal, release } = cancellation(call);
    const answer = async (): Promise<Buffer> => encode(await handler(call.request, { signal }));
    answer()
      .finally(release)
      .then(
        (bytes) => callback(null, bytes),
        (error: unknown) => callback(statusOf(error)),
      );
  };
}

function streaming(handler: AnyStreaming, encode: Encode): handleServerStreamingCall<object, Buffer> {
  return async (call) => {
    const { signal, release } = cancellation(call);
    try {
      for await (const answer of handler(call.request, { signal })) {
        if (signal.aborted) return;
        if (!call.write(encode(answer))) await once(call, 'drain', { signal });
      }
      call.end();
    } catch (error) {
      if (!signal.aborted) call.emit('error', statusOf(error));
    } finally {
      release();
    }
  };
}

/** Released once there is an answer: gRPC reports every ended call as cancelled. */
function cancellation(call: EventEmitter & { cancelled: boolean }): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  if (call.cancelled) abort();
  call.once('cancelled', abort);
  return { signal: controller.signal, release: () => call.off('cancelled', abort) };
}

/** Cuts the text: one that does not fit into a header would end the connection with all its calls. */
const statusOf = (error: unknown): Partial<StatusObject> => ({
  code: status[error instanceof CsiStatus ? error.code : 'INTERNAL'],
  details: cutText(textOf(error)),
});

function textOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return typeof thrown === 'string' ? thrown : inspect(thrown);
}
