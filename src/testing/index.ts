/**
 * Entry point `stagecraft/testing`: a simulated clock and seeded randomness, the contract of a store as tests, that
 * of a CSI driver as checks, a CSI driver that fails on command, and replaceable dispensers.
 */
export { type CsiHandlers, CsiStatus } from '../csi/server.js';

export type { CallReport } from '../tools/driver-check/ask.js';
export { type CleanUpReport, cleanUpDriver } from '../tools/driver-check/clean-up-driver.js';
export type { ByRpc, CheckDriverOptions } from '../tools/driver-check/options.js';
export { checkDriver } from '../tools/driver-check/run.js';
export type { CheckResult, Outcome } from '../tools/driver-check/verdict.js';
export type { CallEnd, RecordedCall } from '../tools/fault-driver/call.js';
export type { WaitOptions } from '../tools/fault-driver/call-book.js';
export { type FaultDriver, type FaultDriverOptions, faultDriver } from '../tools/fault-driver/fault-driver.js';
export {
  type JudgeOptions,
  type Offers,
  type Violation,
  type ViolationKind,
  violationsIn,
} from '../tools/fault-driver/judge/violations.js';
export { type FaultyOptions, type FaultyServer, serveFaulty } from '../tools/fault-driver/serve-faulty.js';
export type { AnswerOf, CheckedStep, Moment, Step, Use } from '../tools/fault-driver/step.js';
export { type StoreHarness, storeSuite } from '../tools/store-suite/store-suite.js';
export type { TestRunner } from '../tools/store-suite/subject.js';
export { replaceDispenser } from './replace-dispenser.js';
export { seededRandom } from './seeded-random.js';
export { type SimulatedClock, simulatedClock } from './simulated-clock.js';
