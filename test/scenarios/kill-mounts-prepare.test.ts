/** The cells of the fault matrix in which an alloc is prepared. */
import { faultMatrix } from './kill-mounts-suite.js';

describe('M2 M3 M6 H1 H3 any process is killed while an alloc is prepared: it is prepared, without remains', () => {
  faultMatrix('prepare');
});
