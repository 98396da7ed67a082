/** What docs/driver-check.md says is what is checked. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { selectedChecks } from '../../src/tools/driver-check/run.js';

describe('docs/driver-check.md', () => {
  it('lists every rule, in the order of the checks', () => {
    const text = readFileSync(new URL('../../docs/driver-check.md', import.meta.url), 'utf8');
    const listed = [...text.matchAll(/^\| `([^`]+\/[^`]+)` \| (.+) \|$/gm)].map(([, id, rule]) => [id, rule]);
    expect(listed).to.deep.equal(selectedChecks().map(({ id, rule }) => [id, rule]));
  });

  it('no two checks have the same id', () => {
    const ids = selectedChecks().map(({ id }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
  });
});
