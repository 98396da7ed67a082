/** The codes of gRPC statuses by name, and the error that carries them. What they mean: answers.ts */
import type { AnswerClass } from '../../machines/kit/csi-types.js';
import { StagecraftError } from '../errors.js';
import { answerClassOf, type RpcName } from './answers.js';
import type { GrpcCode } from './grpc-codes.js';

/** Limit of drivers' texts, which are shown to people and stored. */
const maxMessageBytes = 4096;

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
