/** For who asks an agent, and loads nothing else of it. */
export { snapshotStates, volumeStates } from '../volumes/states.js';
