/** Converts errors of calls to plugins into data that a machine can keep. */
import type { CallFailure } from '../../machines/kit/csi-types.js';
import { codeIn } from '../../machines/kit/host.js';
import { messageOf, StagecraftError } from '../errors.js';

/** Returns a thrown value as data. Only an answer of a plugin can be final. */
export function callFailureOf(error: unknown): CallFailure {
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
