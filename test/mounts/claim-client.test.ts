/** Which refusals of claims a node asks again for, and which it tells at once. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { StagecraftError } from '../../src/errors.js';
import { isRetryable } from '../../src/mounts/claim-client.js';

const retried = [
  ...['NOT_LEADER', 'STORE_UNAVAILABLE', 'RUNTIME_CLOSED', 'FENCED', 'TIMEOUT', 'ABORTED'],
  ...['CLAIM_CONFLICT', 'VOLUME_IN_USE', 'NODE_FULL'],
  ...['PLUGIN_UNAVAILABLE', 'PLUGIN_NOT_FOUND', 'NODE_NOT_FOUND', 'NODE_NOT_READY', 'NODE_UNFIT'],
];

/** All codes that there are: the first column of the table. */
const documented = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .flatMap((line) => (line.split('|')[1] ?? '').match(/[A-Z_]+/g) ?? []);

describe('refusals of claims', () => {
  for (const code of documented) {
    it(`H4 ${code}: ${retried.includes(code) ? 'asked for again' : 'final'}`, () => {
      for (const final of [true, false])
        expect(isRetryable(new StagecraftError(code, 'no', { final }))).to.equal(retried.includes(code));
    });
  }

  it('H4 all that are asked for again are documented', () => {
    expect(documented).to.include.members(retried);
  });

  it('H4 what is no error of ours is a fault of the program: final', () => {
    for (const thrown of [new TypeError('x is undefined'), 'NOT_LEADER', undefined, { code: 'NOT_LEADER' }])
      expect(isRetryable(thrown)).to.equal(false);
  });
});
