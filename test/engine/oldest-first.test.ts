/** OldestFirst compared with a Map through many changes. */
import { expect } from 'chai';
import fc from 'fast-check';
import { OldestFirst } from '../../src/engine/oldest-first.js';

describe('a map that knows its oldest entry', () => {
  it('after any changes: same entries as a Map whose entries are deleted before they are set again', () => {
    const change = fc.record({ key: fc.option(fc.nat(5)), value: fc.option(fc.nat()) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const tried = new OldestFirst<number, number>();
        const model = new Map<number, number>();
        for (const { key: named, value } of changes) {
          const key = named ?? tried.oldest ?? 0;
          model.delete(key);
          if (value === null) {
            tried.delete(key);
          } else {
            model.set(key, value);
            tried.add(key, value);
          }
          const [oldest] = model.keys();
          expect([...tried.keys()].map((each) => [each, tried.get(each)])).to.deep.equal([...model]);
          expect([tried.oldest, tried.size, tried.has(key)]).to.deep.equal([oldest, model.size, model.has(key)]);
        }
      }),
    );
  });
});
