/** Turns what was thrown at a call to a plugin into data that a machine can keep. */
import type { CallFailure } from '../../machines/kit/csi-types.js';
import { codeIn } from '../../machines/kit/host.js';
import { messageOf, StagecraftError } from '../errors.js';

/** What was thrown, as data. A failure that is no answer of a plugin is never final. */
export function failureOf(error: unknown): CallFailure {
  const { rpc, grpcCode, answerClass, final = false } = error instanceof StagecraftError ? error : {};
  return {
    ...codeIn(error, 'CALL_FAILED'),
    message: messageOf(error),
    final,
    ...(rpc !== undefined && { rpc }),
    ...(grpcCode !== undefined && { grpcCode }),
    ...(answerClass !== undefined && { answerClass }),
  };
}
