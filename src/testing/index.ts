/** Entry point `stagecraft/testing`: what makes runs repeatable. */
export { seededRandom } from './seeded-random.js';
export { type SimulatedClock, simulatedClock } from './simulated-clock.js';
