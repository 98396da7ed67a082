/** Why an alloc refuses a request, or is undone, in words. Pure. */
import type { ErrorCode } from '../kit/error-table.js';
import type { Failure } from '../kit/host.js';
import { differencesOf } from './differences.js';
import type { AllocContext, AllocVolume } from './types.js';

/** Why an alloc refuses volumes other than its own. */
export const conflictIn = ({ allocId, volumes }: AllocContext, asked: AllocVolume[]): Failure => {
  const how = differencesOf(volumes, asked).join('; ');
  return {
    code: 'CLAIM_CONFLICT',
    message: `alloc ${allocId} has other volumes, or has them otherwise (${how}): release it first, or give it what it has`,
    final: true,
  };
};

/** Why an alloc that is being released takes no request. */
export const leavingIn = ({ allocId }: AllocContext): Failure => ({
  code: 'ABORTED',
  message: `alloc ${allocId} is being released: prepare it again once that is done`,
  final: false,
});

interface Waiting {
  allocId: string;
  /** By the name of a volume: what it waits for. */
  waits: Record<string, string>;
}

const undoneFor =
  (code: ErrorCode, why: string) =>
  ({ allocId, waits }: Waiting): Failure => {
    const reasons = Object.entries(waits).map(([name, reason]) => `${name}: ${reason}`);
    const still = reasons.length > 0 ? ` (${reasons.join('; ')})` : '';
    return { code, message: `alloc ${allocId} ${why}${still}: what was begun is undone`, final: false };
  };

/** Why it is undone where its time is over. */
export const lateIn = undoneFor('TIMEOUT', 'was not prepared in time');

/** Why it is undone where whoever asked for it wants it no more. */
export const givenUpIn = undoneFor('ABORTED', 'was given up before it was prepared');
