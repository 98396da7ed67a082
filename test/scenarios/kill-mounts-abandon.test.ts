/** The cells of the fault matrix in which an alloc was to be prepared, and is released once the agent is back. */
import { faultMatrix } from './kill-mounts-suite.js';

describe('M7 M8 H1 H2 whoever is killed while an alloc is prepared: released afterwards, nothing of it is left', () => {
  faultMatrix('abandon');
});
