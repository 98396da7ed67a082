import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { Line } from '../../dist/src/engine/line.js';

interface Item {
  name: string;
}

const itemsOf = (...names: string[]): Item[] => names.map((name) => ({ name }));

describe('a line', () => {
  it('items come and leave from anywhere: the first is the one of those left that came first', () => {
    const [a, b, c, d] = itemsOf('a', 'b', 'c', 'd') as [Item, Item, Item, Item];
    const line = new Line<Item>();
    for (const item of [a, b, c]) line.join(item);
    strictEqual(line.first, a);
    strictEqual(line.leave(b), true);
    strictEqual(line.leave(b), false);
    strictEqual(line.first, a);
    line.leave(a);
    strictEqual(line.first, c);
    line.join(d);
    line.leave(c);
    strictEqual(line.first, d);
    deepStrictEqual([...line], [d]);
  });

  it('the first joins again: it is the last', () => {
    const [a, b] = itemsOf('a', 'b') as [Item, Item];
    const line = new Line<Item>();
    line.join(a);
    line.join(b);
    strictEqual(line.first, a);
    line.join(a);
    strictEqual(line.first, b);
    deepStrictEqual([...line], [b, a]);
  });

  it('it was found empty: who comes then is the first', () => {
    const [a, b] = itemsOf('a', 'b') as [Item, Item];
    const line = new Line<Item>();
    strictEqual(line.first, undefined);
    line.join(a);
    strictEqual(line.first, a);
    line.leave(a);
    strictEqual(line.first, undefined);
    line.join(b);
    strictEqual(line.first, b);
    strictEqual(line.size, 1);
    strictEqual(line.has(a), false);
  });
});
