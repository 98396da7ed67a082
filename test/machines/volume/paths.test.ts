/** Paths of states that the code around the charts of volumes and mounts names, in its own texts. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { AnyStateMachine } from 'xstate';
import { allocMachine } from '../../../machines/alloc/alloc.js';
import { stagingMachine } from '../../../machines/mount/staging.js';
import { targetMachine } from '../../../machines/mount/target.js';
import { expansionMachine, modificationMachine } from '../../../machines/volume/change.js';
import { lifecycleMachine } from '../../../machines/volume/lifecycle.js';
import { publicationMachine, publicStateOf } from '../../../machines/volume/publication.js';
import { pathOf, statesOf } from '../states-of.js';

/** Allocs, and the parts of a volume and of a mount. */
const charts: AnyStateMachine[] = [
  ...[lifecycleMachine, publicationMachine, expansionMachine, modificationMachine],
  ...[stagingMachine, targetMachine, allocMachine],
];

const root = fileURLToPath(new URL('../../../', import.meta.url));
const directories = ['machines/volume', 'machines/mount', 'src/volumes', 'src/mounts'];

const pathsIn = (machine: AnyStateMachine): string[] => statesOf(machine).map(pathOf);

/** What compares a path: `isIn(…, 'a')`, `at === 'a.b'`, `wantedStates = ['a', 'b']`. */
const comparisons = [/\bisIn\([^']*?'([^']+)'\)/g, /\bat [!=]== '([^']+)'/g, /\bwantedStates = \[([^\]]+)\]/g];

function namedIn(file: string): string[] {
  const text = readFileSync(`${root}${file}`, 'utf8');
  const found = comparisons.flatMap((comparison) => [...text.matchAll(comparison)]);
  return found.flatMap(([, path = '']) => path.split(', ').map((one) => one.replaceAll("'", '')));
}

describe('paths of states', () => {
  const known = new Set(charts.flatMap(pathsIn));

  it('V5 each that the code of volumes and mounts names is one of a chart', () => {
    const files = directories.flatMap((directory) =>
      readdirSync(root + directory).map((name) => `${directory}/${name}`),
    );
    // Migrations name paths of older versions.
    const named = files
      .filter((file) => !file.endsWith('migrations.ts'))
      .flatMap((file) => namedIn(file).map((path) => ({ file, path })));
    expect(named.length).to.be.greaterThan(20);
    expect(named.filter(({ path }) => !known.has(path))).to.deep.equal([]);
  });

  it('V5 each state of a publication that is stored has a public one', () => {
    const ends = ['new', 'removed'];
    for (const at of pathsIn(publicationMachine).filter((path) => !ends.includes(path)))
      expect(publicStateOf({ at }), at).to.be.a('string');
    for (const at of ends)
      expect(() => publicStateOf({ at })).to.throw(`has no state to show to users while it is ${at}`);
  });
});
