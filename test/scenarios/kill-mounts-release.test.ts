/** The cells of the fault matrix in which an alloc is released. */
import { faultMatrix } from './kill-mounts-suite.js';

describe('M2 M3 M6 H2 whoever is killed while an alloc is released: it is released, and nothing of it is left', () => {
  faultMatrix('release');
});
