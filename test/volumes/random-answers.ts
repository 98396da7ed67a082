/** Answers of a plugin at random: a failure before or after the work, or none in time. Which codes mean what: a test's own. */
import fc from 'fast-check';
import type { GrpcCode } from '../../src/csi/grpc-codes.js';
import type { SimulatedClock } from '../../src/testing/simulated-clock.js';
import type { Step } from './fake-plugin.js';

export type Answer = { code?: GrpcCode; work: boolean; lateMs?: number; hangs?: true };

/** Codes of an answer, and how often each kind of answer comes. */
interface Answers {
  /** The work may be done or still under way. */
  unknown: readonly GrpcCode[];
  /** The work is not done. */
  refusals: readonly GrpcCode[];
  weights: { done: number; unknown: number; refused: number; late: number; never: number };
}

export const randomAnswer = ({ unknown, refusals, weights }: Answers): fc.Arbitrary<Answer> =>
  fc.oneof(
    { weight: weights.done, arbitrary: fc.constant({ work: true }) },
    { weight: weights.unknown, arbitrary: fc.record({ code: fc.constantFrom(...unknown), work: fc.boolean() }) },
    {
      weight: weights.refused,
      arbitrary: fc.record({ code: fc.constantFrom(...refusals), work: fc.constant(false) }),
    },
    {
      weight: weights.late,
      arbitrary: fc.record({ work: fc.constant(true), lateMs: fc.integer({ min: 1, max: 119_000 }) }),
    },
    { weight: weights.never, arbitrary: fc.record({ work: fc.boolean(), hangs: fc.constant(true as const) }) },
  );

const never = new Promise<never>(() => {});

/** Step of the plugin that gives this answer. */
export function stepOf({ code, work, lateMs, hangs }: Answer, clock: SimulatedClock): Step {
  const step: Step = { work, ...(code && { code }), ...(hangs && { after: never }) };
  if (lateMs !== undefined)
    step.before = new Promise<void>((resolve) => {
      clock.after(lateMs, resolve);
    });
  return step;
}
