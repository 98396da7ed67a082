/** Entry point `stagecraft/testing`: what makes runs repeatable, and the contract of a store as tests. */
export { seededRandom } from './seeded-random.js';
export { type SimulatedClock, simulatedClock } from './simulated-clock.js';
export type { TestRunner } from './store-suite/runner.js';
export { type StoreHarness, storeSuite } from './store-suite/store-suite.js';
