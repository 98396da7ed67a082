/** Record of a call, and the interface that decides and records calls. */
import type { RpcName } from '../../csi/answers.js';
import type { GrpcCode } from '../../csi/grpc-codes.js';
import type { CheckedStep } from './step.js';

/** Call that has arrived. */
export interface Arrival {
  readonly rpc: RpcName;
  /** Request with its secrets masked. */
  readonly request: object;
  /** Monotonic time of the machine: comparable between processes. */
  readonly beganAtMs: number;
  /** Number of the socket on which the call came: 1 is the first of its process, each replacement counts up. */
  readonly socket: number;
}

export interface CallEnd {
  readonly atMs: number;
  /**
   * `answered`: with `code`; `gone`: the caller waited no longer, or the driver was stopped; `broken`: the script
   * broke its connection; `died`: its process died.
   */
  readonly how: 'answered' | 'gone' | 'broken' | 'died';
  /** Status code of the answer. */
  readonly code?: GrpcCode;
  readonly text?: string;
  /** Answer, if `code` is OK. For a stream, the list of its messages, even if it failed later. */
  readonly answer?: object;
  /** Outcome of the driver's own work; absent if the work was not done or not finished. */
  readonly work?: GrpcCode;
}

export interface RecordedCall extends Arrival {
  /** Counts from 1 in the order of arrival, across restarts of the process. */
  readonly number: number;
  /** Id of the driver's node. */
  readonly nodeId: string;
  /** Step of the script; absent if the driver behaved normally. */
  readonly step?: CheckedStep;
  /** Time at which the caller left, or its deadline passed, before the call had ended. */
  readonly goneAtMs?: number;
  /** Absent while the call is in flight. */
  readonly end?: CallEnd;
}

/** Decision about a call. */
export interface Assignment {
  readonly number: number;
  readonly step?: CheckedStep;
}

/** Decides about calls and records them: hears of each call before any work, and of its end before the answer. */
export interface Director {
  begin(arrival: Arrival): Promise<Assignment>;
  gone(left: { number: number; atMs: number }): Promise<void>;
  ended(ended: { number: number; end: CallEnd }): Promise<void>;
  /** Resolves when a hanging call is released. */
  released(number: number): Promise<void>;
  /** Stops the process; resolves when it continues. */
  freeze(): Promise<void>;
  /** Kills the process after it has reported the progress of the call. */
  die(dying: { number: number; work: GrpcCode | undefined }): Promise<never>;
}

/** Monotonic clock of the machine, the same for all its processes. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
