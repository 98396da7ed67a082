/** Requests to a driver and its answers. */
import type { AnswerClass } from '../../csi/answers.js';
import type { Given } from '../../csi/codec.js';
import type { Rpcs } from '../../csi/generated/plain.js';
import type { GrpcCode } from '../../csi/grpc-codes.js';
import type { UnaryRpc } from '../../csi/server.js';
import type { CallReport } from './verdict.js';

/** Service of a driver whose controller and node plugins run apart. */
export type Side = 'controller' | 'node';

export interface Answer<Rpc extends UnaryRpc> {
  code: GrpcCode;
  answerClass: AnswerClass;
  /** Present only with OK. */
  value?: Rpcs[Rpc]['response'];
  report: CallReport;
}

export interface AskOptions {
  /** Default: the side of the RPC's service; for Identity, the controller. */
  side?: Side;
  /** Whether ABORTED counts as an answer instead of a reason to repeat the call. */
  takesAborted?: boolean;
}

export type Ask = <Rpc extends UnaryRpc>(
  rpc: Rpc,
  request: Given<Rpcs[Rpc]['request']>,
  options?: AskOptions,
) => Promise<Answer<Rpc>>;
