/**
 * Meaning of answers to CSI calls: one table, by RPC and gRPC status. Callers decide what to do about each class.
 * Source: CSI specification 1.12, error scheme of each RPC, and observed drivers.
 */
import type { AnswerClass } from '../../machines/kit/csi-types.js';
import type { Rpcs } from './generated/plain.js';
import type { GrpcCode } from './grpc-codes.js';

export type { AnswerClass };

export type RpcName = keyof Rpcs;

/** Stands for the message of a driver that sends an empty one. */
export const noReason = 'the driver gives no reason';

/** Meaning of a status for every call. */
const general: Readonly<Record<GrpcCode, AnswerClass>> = {
  OK: 'done',
  CANCELLED: 'unknown',
  UNKNOWN: 'unknown',
  INVALID_ARGUMENT: 'final',
  DEADLINE_EXCEEDED: 'unknown',
  NOT_FOUND: 'final',
  ALREADY_EXISTS: 'final',
  PERMISSION_DENIED: 'final',
  RESOURCE_EXHAUSTED: 'unknown', // gRPC itself says so too
  FAILED_PRECONDITION: 'repair',
  ABORTED: 'busy',
  OUT_OF_RANGE: 'final',
  UNIMPLEMENTED: 'final',
  INTERNAL: 'driver-bug',
  UNAVAILABLE: 'unknown',
  DATA_LOSS: 'driver-bug',
  UNAUTHENTICATED: 'final',
};

/** Meaning for one RPC, if it differs. */
const particular: Readonly<Partial<Record<RpcName, Partial<Record<GrpcCode, AnswerClass>>>>> = {
  CreateVolume: { RESOURCE_EXHAUSTED: 'no-room' },
  DeleteVolume: { NOT_FOUND: 'already-so' },
  DeleteSnapshot: { NOT_FOUND: 'already-so' },
  DeleteVolumeGroupSnapshot: { NOT_FOUND: 'already-so' },
  ControllerUnpublishVolume: { NOT_FOUND: 'not-so' },
  // The volume is published to the node, which may see it a little later.
  NodeStageVolume: { NOT_FOUND: 'not-so' },
  NodePublishVolume: { NOT_FOUND: 'not-so' },
  NodeUnstageVolume: { NOT_FOUND: 'already-so-if-unmounted' },
  NodeUnpublishVolume: { NOT_FOUND: 'already-so-if-unmounted' },
  NodeExpandVolume: { FAILED_PRECONDITION: 'final' },
  ListVolumes: { ABORTED: 'start-over' },
  ListSnapshots: { ABORTED: 'start-over' },
};

/** Marks an INTERNAL that wraps the status of a driver's backend. */
const wrappedStatus = /\brpc error: code = \w+/;

/** Texts of the gRPC libraries, about messages that are too large and connections that are overloaded. */
const ofGrpc = /message larger than max|message too large|answer is too large|memory limit exceeded|ENHANCE_YOUR_CALM/i;

/**
 * @param text the message of the status: an INTERNAL that wraps another status is of unknown outcome, and so is a
 *   RESOURCE_EXHAUSTED of gRPC itself
 */
export function answerClassOf(rpc: RpcName, code: GrpcCode, text = ''): AnswerClass {
  if (code === 'RESOURCE_EXHAUSTED' && ofGrpc.test(text)) return 'unknown';
  if (code === 'INTERNAL' && wrappedStatus.test(text)) return 'unknown';
  return particular[rpc]?.[code] ?? general[code];
}
