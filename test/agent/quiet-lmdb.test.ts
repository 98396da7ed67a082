/** The console of an agent, while lmdb-js prints errors into it. */
import { expect } from 'chai';
import { quietLmdb } from '../../src/agent/quiet-lmdb.js';

describe('the console of an agent', () => {
  it('34 what lmdb-js prints of a failed transaction is dropped; all other errors are printed', () => {
    const printed: unknown[] = [];
    const console = { error: (...said: unknown[]): void => void printed.push(...said) };
    quietLmdb(console);
    const full = Object.assign(new Error('No space left on device'), { code: 28 });
    full.stack = 'Error: No space left on device\n    at Function.<anonymous> (/app/node_modules/lmdb/write.js:516:7)';
    console.error(full);
    console.error('In aftercommit callback', full);
    const others = [
      new Error('ours'),
      Object.assign(new Error('without a number'), { stack: full.stack }),
      Object.assign(new Error('of another library'), { code: 28 }),
      'a line',
    ];
    for (const other of others) console.error(other);
    expect(printed).to.deep.equal(others);
  });
});
