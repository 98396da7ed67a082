/** One call about a volume at a time: who waits, for whom, and who does not. */
import { expect } from 'chai';
import { lockKey, VolumeLocks } from '../../src/calls/volume-locks.js';

describe('locks of volumes', () => {
  const [a, b, c] = [lockKey('disk', 'a'), lockKey('disk', 'b'), lockKey('disk', 'c')];
  let locks: VolumeLocks;
  let order: string[];
  beforeEach(() => {
    locks = new VolumeLocks();
    order = [];
  });

  const { signal } = new AbortController();
  const wait = (name: string, keys: string[], until = signal): Promise<void> =>
    locks.wait(keys, until).then(() => void order.push(name));
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('V9 one that is free is had at once, a held one not; others are not concerned', () => {
    expect(locks.take([a])).to.equal(true);
    expect(locks.take([a])).to.equal(false);
    expect(locks.take([lockKey('other', 'a')])).to.equal(true);
    expect(locks.take([b])).to.equal(true);
    locks.leave([a]);
    expect(locks.take([a])).to.equal(true);
  });

  it('V9 those who wait for the same get it in order', async () => {
    locks.take([a]);
    void wait('first', [a]);
    void wait('second', [a]);
    locks.leave([a]);
    await settled();
    expect(order).to.deep.equal(['first']);
    locks.leave([a]);
    await settled();
    expect(order).to.deep.equal(['first', 'second']);
  });

  it('V9 who wants several waits without holding any: a call that hangs delays its own volume only', async () => {
    locks.take([c]);
    void wait('group', [a, b, c]);
    expect(locks.take([a])).to.equal(true);
    locks.leave([c]);
    await settled();
    expect(order).to.deep.equal([]);
    locks.leave([a]);
    await settled();
    expect(order).to.deep.equal(['group']);
    expect(locks.take([b])).to.equal(false);
  });

  it("V9 two groups in each other's way: one after the other, in whatever order they name their volumes", async () => {
    locks.take([a, b]);
    void wait('one', [b, c]);
    void wait('two', [c, b]);
    locks.leave([a, b]);
    await settled();
    expect(order).to.deep.equal(['one']);
    locks.leave([b, c]);
    await settled();
    expect(order).to.deep.equal(['one', 'two']);
  });

  it('V9 who gives up leaves the queue, and takes nothing', async () => {
    locks.take([a]);
    const given = new AbortController();
    const gone = wait('gone', [a, b], given.signal).catch((error: unknown) => order.push(String(error)));
    void wait('next', [a]);
    given.abort('enough');
    await gone;
    locks.leave([a]);
    await settled();
    expect(order).to.deep.equal(['enough', 'next']);
    expect(locks.take([b])).to.equal(true);
    const late = await wait('late', [c], given.signal).catch((error: unknown) => String(error));
    expect(late).to.equal('enough');
    expect(locks.take([c])).to.equal(true);
  });

  it('V9 the first of those who wait can not have all yet: whoever comes after it and can, goes before', async () => {
    locks.take([a]);
    locks.take([b]);
    void wait('both', [a, b]);
    void wait('one', [a]);
    locks.leave([a]);
    await settled();
    expect(order).to.deep.equal(['one']);
    locks.leave([b]);
    locks.leave([a]);
    await settled();
    expect(order).to.deep.equal(['one', 'both']);
  });
});
