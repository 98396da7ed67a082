/** A call as it is recorded, and who is told of calls while they go on. */
import type { RpcName } from '../../csi/answers.js';
import type { GrpcCode } from '../../csi/grpc-codes.js';
import type { CheckedStep } from './step.js';

/** A call that has come in. */
export interface Arrival {
  readonly rpc: RpcName;
  /** With its secrets masked. */
  readonly request: object;
  /** On the monotonic clock of the machine: comparable between processes. */
  readonly beganAtMs: number;
  /** The socket that it came on: 1 is the first of its process, each that replaces one has the next number. */
  readonly socket: number;
}

export interface CallEnd {
  readonly atMs: number;
  /**
   * `answered`: with `code`; `gone`: given up, because nobody waited any more, or
   * the driver ended; `broken`: its connection was broken by
   * the script; `died`: the process ended under it.
   */
  readonly how: 'answered' | 'gone' | 'broken' | 'died';
  /** What was answered. */
  readonly code?: GrpcCode;
  readonly text?: string;
  /** The answer, where `code` is OK; of a stream the list of its messages, also where it failed later. */
  readonly answer?: object;
  /** How the driver's own work ended; absent where it was not done, or not to its end. */
  readonly work?: GrpcCode;
}

export interface RecordedCall extends Arrival {
  /** From 1, in the order in which calls came; it goes on when the process is started again. */
  readonly number: number;
  /** The node that the driver says it is on. */
  readonly nodeId: string;
  /** What the script made of it; absent where the driver did as it always does. */
  readonly step?: CheckedStep;
  /** When the caller went away, or its deadline passed, before the call had ended. */
  readonly goneAtMs?: number;
  /** Absent while the call goes on. */
  readonly end?: CallEnd;
}

/** What is to become of a call. */
export interface Assignment {
  readonly number: number;
  readonly step?: CheckedStep;
}

/** Knows the script and keeps the record: told of each call before any work, and of its end before the answer. */
export interface Director {
  begin(arrival: Arrival): Promise<Assignment>;
  gone(left: { number: number; atMs: number }): Promise<void>;
  ended(ended: { number: number; end: CallEnd }): Promise<void>;
  /** Resolves when a hanging call is to go on. */
  released(number: number): Promise<void>;
  /** Stops the process; resolves when it goes on. */
  freeze(): Promise<void>;
  /** Kills the process, after it has noted how far the call had come. */
  die(dying: { number: number; work: GrpcCode | undefined }): Promise<never>;
}

/** The monotonic clock of the machine, the same in all its processes. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
