/** The cells of the fault matrix in which an alloc is prepared. */
import { faultMatrix } from './kill-mounts-suite.js';

describe('M2 M3 M6 H1 H3 whoever is killed while an alloc is prepared: it is prepared, and nothing else is left', () => {
  faultMatrix('prepare');
});
