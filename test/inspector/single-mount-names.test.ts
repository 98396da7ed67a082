/** A single mount is an actor of the alloc machine: people see it as a mount. */
import { expect } from 'chai';
import { allocAddress, singleMountAddress, singleMountAt } from '../../machines/kit/addresses.js';
import { actorName, troubleOf } from '../../src/inspector/trouble.js';

const single = singleMountAddress('n1', 'a/b', 'default', 'data');
const alloc = allocAddress('n1', 'a/b');

describe('names of single mounts', () => {
  it('35.6 no alloc that somebody prepares has its address, whatever its id', () => {
    expect([singleMountAt(single), singleMountAt(alloc)]).to.deep.equal([
      { namespace: 'default', id: 'data' },
      undefined,
    ]);
    expect(singleMountAt(allocAddress('n1', 'a/default/data'))).to.equal(undefined);
  });

  it('35.6 trouble names its volume and its alloc', () => {
    expect([actorName(single), actorName(alloc)]).to.deep.equal(['mount of volume data for alloc a/b', 'alloc a/b']);
    const failed = {
      address: single,
      machine: 'alloc',
      state: 'failed',
      why: 'refused',
      health: 'failed',
      seq: 1,
    } as const;
    expect(troubleOf(failed)?.command).to.equal('stagecraft mount list');
  });
});
