import { expect } from 'chai';
import { Repeats } from '../../src/cluster/messages.js';

describe('numbers of messages', () => {
  const heard = (...numbers: number[]): boolean[] => {
    const repeats = new Repeats();
    return numbers.map((send) => repeats.isRepeated({ from: 'a', send }));
  };

  it('D11 the same number twice: the second is a repeat, with gaps between too', () => {
    expect(heard(1, 2, 2, 7, 1, 7)).to.deep.equal([false, false, true, false, true, true]);
  });

  it('D11 a message that another one has overtaken is no repeat, and is one when it comes again', () => {
    expect(heard(1, 4, 3, 2, 3, 2, 4)).to.deep.equal([false, false, false, false, true, true, true]);
  });

  it('D11 what comes after very many later ones counts as a repeat', () => {
    expect(heard(1, 1_000, 2, 999)).to.deep.equal([false, false, true, false]);
  });

  it('D11 senders have numbers of their own', () => {
    const repeats = new Repeats();
    expect(['a', 'b', 'a'].map((from) => repeats.isRepeated({ from, send: 1 }))).to.deep.equal([false, false, true]);
  });
});
