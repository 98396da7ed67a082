/**
 * Entry point `stagecraft/testing`: a simulated clock and seeded randomness, the contract of a store as tests, that
 * of a CSI driver as checks, a CSI driver that fails on command, and replaceable dispensers.
 */
export { type CsiHandlers, CsiStatus } from '../csi/server.js';
export type { CheckResult } from '../driver-check/check.js';
export { type CleanUpReport, cleanUpDriver } from '../driver-check/clean-up-driver.js';
export type { ByRpc, CheckDriverOptions } from '../driver-check/options.js';
export { checkDriver } from '../driver-check/run.js';
export type { CallReport, Outcome } from '../driver-check/verdict.js';
export type { CallEnd, RecordedCall } from './fault-driver/call.js';
export type { WaitOptions } from './fault-driver/call-book.js';
export { type FaultDriver, type FaultDriverOptions, faultDriver } from './fault-driver/fault-driver.js';
export {
  type JudgeOptions,
  type Offers,
  type Violation,
  type ViolationKind,
  violationsIn,
} from './fault-driver/judge/violations.js';
export { type FaultyOptions, type FaultyServer, serveFaulty } from './fault-driver/serve-faulty.js';
export type { AnswerOf, CheckedStep, Moment, Step, Use } from './fault-driver/step.js';
export { replaceDispenser } from './replace-dispenser.js';
export { seededRandom } from './seeded-random.js';
export { type SimulatedClock, simulatedClock } from './simulated-clock.js';
export type { TestRunner } from './store-suite/runner.js';
export { type StoreHarness, storeSuite } from './store-suite/store-suite.js';
