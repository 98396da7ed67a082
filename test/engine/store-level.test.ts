/** The table of levels, against what is there: a change that older code can't read raises the level. */
import { expect } from 'chai';
import { catalog } from '../../machines/catalog.js';
import { emptyRecord } from '../../src/engine/actor/actor-record.js';
import { adviceForOlder, levels, storeLevel } from '../../src/engine/store-level.js';
import { packageVersion } from '../../src/host/version.js';

const advice =
  'raise the level: add a row to src/engine/store-level.ts, with the version of the package that has it first';

/** Compares versions such as 0.10.2 by their numbers. */
const isAtLeast = (one: string, other: string): boolean => one.localeCompare(other, 'en', { numeric: true }) >= 0;

describe('the table of levels', () => {
  const last = levels[storeLevel - 1];

  it('O5, 34.7 the last level has the versions of all machines', () => {
    const present = Object.fromEntries([...catalog].map(([id, { machine }]) => [id, machine.version]));
    expect(last?.machines, advice).to.deep.equal(present);
  });

  it('O5, 34.7 the last level has the format of records', () => {
    expect(last?.format, advice).to.equal(emptyRecord({ name: 'x', version: '1' }).format);
  });

  it('35.9 advice for a record from before the first level, and for no other', () => {
    expect(adviceForOlder('mount', '1')).to.include('begin with an empty store');
    for (const { machines } of levels)
      for (const [machine, version] of Object.entries(machines))
        expect(adviceForOlder(machine, version), machine).to.equal(undefined);
    expect(adviceForOlder('desk', '0')).to.equal(undefined);
  });

  it('O5, 34.7 each level begins with a version of the package, up to the present one', () => {
    const versions = [...levels.map(({ since }) => since), packageVersion()];
    for (const [at, version] of versions.entries())
      expect(isAtLeast(version, versions[at - 1] ?? '0.0.0'), version).to.equal(true);
  });
});
