/** The codes of gRPC statuses by name, and the error that carries them. What they mean: answers.ts */
import type { AnswerClass } from '../../machines/kit/csi-types.js';
import { StagecraftError } from '../errors.js';
import { answerClassOf, type RpcName } from './answers.js';

/** The names of all gRPC status codes, each at its number. */
export const grpcCodes = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

export type GrpcCode = (typeof grpcCodes)[number];

/** Drivers' texts are shown to people, and kept: they are cut to this. */
const maxMessageBytes = 4096;

/** The name of a status; a number that gRPC doesn't know is `UNKNOWN`, as its specification says. */
export const grpcCodeOf = (status: number): GrpcCode => grpcCodes[status] ?? 'UNKNOWN';

/**
 * A failed call: code `CSI_ERROR` with `rpc`, `grpcCode`, `answerClass` and `final`; `text` is cut to 4 KiB.
 * @param answerClass where more is known than the code says
 */
export function csiError(
  rpc: RpcName,
  grpcCode: GrpcCode,
  text: string,
  answerClass: AnswerClass = answerClassOf(rpc, grpcCode, text),
): StagecraftError {
  const details = { rpc, grpcCode, answerClass, final: answerClass === 'final' };
  return new StagecraftError('CSI_ERROR', `${rpc}: ${cutText(text)}`, details);
}

/** The first 4 KiB of a text in UTF-8, without half a character at its end. */
export function cutText(text: string): string {
  if (Buffer.byteLength(text) <= maxMessageBytes) return text;
  return new TextDecoder().decode(Buffer.from(text).subarray(0, maxMessageBytes), { stream: true });
}
