/** How a driver is asked, and what it answers. */
import type { AnswerClass } from '../csi/answers.js';
import type { Given } from '../csi/codec.js';
import type { Rpcs } from '../csi/generated/plain.js';
import type { GrpcCode } from '../csi/grpc-codes.js';
import type { UnaryRpc } from '../csi/server.js';
import type { CallReport } from './verdict.js';

/** Of a driver whose two services are apart, which one. */
export type Side = 'controller' | 'node';

export interface Answer<Rpc extends UnaryRpc> {
  code: GrpcCode;
  answerClass: AnswerClass;
  /** Only with OK. */
  value?: Rpcs[Rpc]['response'];
  report: CallReport;
}

export interface AskOptions {
  /** Default: that of the RPC's service; of Identity, the controller's. */
  side?: Side;
  /** Whether ABORTED is an answer too, instead of a reason to ask again. */
  takesAborted?: boolean;
}

export type Ask = <Rpc extends UnaryRpc>(
  rpc: Rpc,
  request: Given<Rpcs[Rpc]['request']>,
  options?: AskOptions,
) => Promise<Answer<Rpc>>;
