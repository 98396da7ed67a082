/** Locks of volumes: one call about a volume at a time; which callers wait, and which do not. */
import { expect } from 'chai';
import { contentOf, copyOf, lockKey, VolumeLocks } from '../../src/calls/volume-locks.js';

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

  it('V9 a free lock is taken at once, a held lock is not; other locks are not affected', () => {
    expect(locks.take([a])).to.equal(true);
    expect(locks.take([a])).to.equal(false);
    expect(locks.take([lockKey('other', 'a')])).to.equal(true);
    expect(locks.take([b])).to.equal(true);
    locks.leave([a]);
    expect(locks.take([a])).to.equal(true);
  });

  it('V9 callers that wait for the same lock get it in order', async () => {
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

  it('V9 waiting for several locks holds none: a hanging call delays only its own volume', async () => {
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

  it('V9 two groups that share locks run one after the other, in whatever order they name their volumes', async () => {
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

  it('V9 a caller that gives up leaves the queue and takes no lock', async () => {
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

  it('V9 first caller in the queue lacks a lock: a later caller that can have all its locks goes first', async () => {
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

  it('V9, 34.3 copies share their source; its removal waits for the last one, and copies wait for it', async () => {
    const [content, copies] = [lockKey('disk', contentOf('volume', 'a')), lockKey('disk', copyOf('volume', 'a'))];
    expect(locks.take([copies])).to.equal(true);
    expect(locks.take([copies])).to.equal(true);
    void wait('removal', [a, content]);
    locks.leave([copies]);
    await settled();
    expect(order).to.deep.equal([]);
    locks.leave([copies]);
    await settled();
    expect(order).to.deep.equal(['removal']);
    void wait('copy', [copies]);
    void wait('another', [copies]);
    await settled();
    expect(order).to.deep.equal(['removal']);
    locks.leave([a, content]);
    await settled();
    expect(order).to.deep.equal(['removal', 'copy', 'another']);
    expect(locks.take([lockKey('disk', contentOf('snapshot', 'a'))])).to.equal(true);
  });
});
