/**
 * Counts V8's hidden classes of the objects that each volume has: an object with a hidden class of its own is slow to make
 * and to read, and so is each copy of it. Node 20 gives one to each object that a spread adds keys to.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const program = fileURLToPath(new URL('hidden-classes-process.ts', import.meta.url));
/** Few, whatever the number of volumes. */
const most = 2;
const kinds = ['contexts', 'lifecycles', 'publications', 'pieces of work', 'records', 'effects', 'inputs of effects'];

describe('hidden classes of a thousand volumes', () => {
  /** Numbers of classes after each of the four steps. */
  let counts: Record<string, number[]>;

  before(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--import=tsx', program]);
    counts = JSON.parse(stdout);
  });

  for (const kind of [...kinds, 'journal entries', 'sources', 'events'])
    it(`${kind}: at most ${most} after each step`, () => {
      const found = counts[kind] ?? [];
      expect(Math.max(...found), `after each step: ${found.join(', ')}`).to.be.within(1, most);
    });
});
