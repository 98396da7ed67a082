/** Answers of a plugin to the calls of a mount, and what becomes of calls that can't be made. */
import type { AdmissionOutcome, AnswerClass, CallOutcome } from '../../../machines/kit/csi-types.js';

export type Answer = CallOutcome<unknown>;
export const done = (answer: object): Answer => ({ status: 'done', answer });
export const failed = (final: boolean, answerClass: AnswerClass = final ? 'final' : 'unknown'): Answer => ({
  status: 'failed',
  failure: { code: 'CSI_ERROR', message: 'no', final, answerClass },
});
export const notBegun: Answer = {
  status: 'not-sent',
  failure: { code: 'MOUNT_MISSING', message: 'not staged', final: false, answerClass: 'repair' },
};
export const wait = { reason: 'away', for: 'plugin' } as const;
export const late: AdmissionOutcome = {
  status: 'not-sent',
  failure: { code: 'PLUGIN_UNAVAILABLE', message: 'too long', final: false },
};
export const mustWait: Answer = { status: 'must-wait', ...wait };
export const interrupted = { code: 'INTERRUPTED', message: 'it may have been done', final: false };
