/** Which refusals of claims a node asks again for, and which it tells at once. */
import { expect } from 'chai';
import { errorTable, isErrorCode, isRetryable, StagecraftError } from '../../src/errors.js';

const retried = [
  ...['NOT_LEADER', 'STORE_UNAVAILABLE', 'RUNTIME_CLOSED', 'FENCED', 'TIMEOUT', 'ABORTED'],
  ...['CLAIM_CONFLICT', 'VOLUME_IN_USE', 'NODE_FULL'],
  ...['PLUGIN_UNAVAILABLE', 'PLUGIN_NOT_FOUND', 'NODE_NOT_FOUND', 'NODE_NOT_READY', 'NODE_UNFIT'],
  ...['VOLUME_ELSEWHERE', 'MOUNT_ELSEWHERE'],
];

const codes = Object.keys(errorTable).filter(isErrorCode);

describe('refusals of claims', () => {
  for (const code of codes) {
    it(`H4 ${code}: ${retried.includes(code) ? 'asked for again' : 'final'}`, () => {
      for (const final of [true, false])
        expect(isRetryable(new StagecraftError(code, 'no', { final }))).to.equal(retried.includes(code));
    });
  }

  it('H4 all that are asked for again are codes that there are', () => {
    expect(codes).to.include.members(retried);
  });

  it('H4 what is no error of ours is a fault of the program: final', () => {
    for (const thrown of [new TypeError('x is undefined'), 'NOT_LEADER', undefined, { code: 'NOT_LEADER' }])
      expect(isRetryable(thrown)).to.equal(false);
  });
});
