/** States for filters of lists, so that commands load nothing else of the agent. */
export { snapshotStates, volumeStates } from '../volumes/states.js';
