/** A viewer of the live feed that is slower than the feed: it loses the oldest records, and is told how many. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { FeedRecord } from '../../src/engine/feed.js';
import { shown } from '../../src/host/shown.js';
import type { FeedListener } from '../../src/index.js';
import { FeedViewer } from '../../src/inspector/feed-viewer.js';

class Source {
  readonly listeners = new Set<FeedListener>();
  #seq = 0;

  inspect(listener: FeedListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  say(count = 1, address = 'volume/default/a'): void {
    for (let left = count; left > 0; left -= 1) {
      this.#seq += 1;
      const record: FeedRecord = { seq: this.#seq, at: 0, address, kind: 'actor', phase: 'loaded' };
      for (const listener of this.listeners) listener(shown(record));
    }
  }
}

const seqsOf = (records: readonly FeedRecord[] = []): number[] => records.map(({ seq }) => seq);

describe('a viewer of the live feed', () => {
  let source: Source;

  beforeEach(() => {
    source = new Source();
  });

  it('X1 gets all records since the last read, in order', async () => {
    const viewer = new FeedViewer(source);
    source.say(3);
    expect(seqsOf((await viewer.read())?.records)).to.deep.equal([1, 2, 3]);
    const next = viewer.read();
    source.say();
    expect(await next).to.deep.include({ dropped: 0 });
    expect(seqsOf((await next)?.records)).to.deep.equal([4]);
  });

  it('X1 read too seldom: the oldest are dropped and counted, the newest are there', async () => {
    const viewer = new FeedViewer(source, { most: 4 });
    source.say(7);
    const batch = await viewer.read();
    expect([seqsOf(batch?.records), batch?.dropped]).to.deep.equal([[4, 5, 6, 7], 3]);
    source.say(2);
    expect(await viewer.read()).to.deep.include({ dropped: 0 });
  });

  it('X1 not read at all: it stops listening, is told of that at its next read, and goes on', async () => {
    const viewer = new FeedViewer(source, { most: 4 });
    source.say(50);
    expect(source.listeners.size).to.equal(0);
    expect(await viewer.read()).to.deep.equal({ records: [], dropped: 8, stopped: true });
    source.say(2);
    const { records, ...batch } = (await viewer.read()) ?? {};
    expect([seqsOf(records), batch]).to.deep.equal([[51, 52], { dropped: 0 }]);
    source.say(50);
    viewer.close();
    expect([await viewer.read(), source.listeners.size]).to.deep.equal([undefined, 0]);
  });

  it('X1 however it is read, nothing is lost uncounted', async () => {
    const reads = fc.array(fc.nat({ max: 20 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(reads, fc.integer({ min: 1, max: 10 }), async (counts, most) => {
        const feed = new Source();
        const viewer = new FeedViewer(feed, { most });
        let last = 0;
        for (const count of counts.filter((one) => one > 0)) {
          feed.say(count);
          const { records = [], dropped = 0, stopped = false } = (await viewer.read()) ?? {};
          const seqs = seqsOf(records);
          expect(seqs).to.deep.equal(seqs.map((_, at) => last + dropped + at + 1));
          expect([seqs.length, stopped]).to.deep.equal(count < 2 * most ? [Math.min(count, most), false] : [0, true]);
          if (stopped) expect(dropped).to.equal(2 * most);
          last += count;
        }
      }),
      { seed: 20, numRuns: 300 },
    );
  });

  it('X1 records that it does not want are neither kept nor counted', async () => {
    const viewer = new FeedViewer(source, { most: 2, wants: ({ address }) => address === 'node/a' });
    source.say(5);
    source.say(1, 'node/a');
    const batch = await viewer.read();
    expect([seqsOf(batch?.records), batch?.dropped]).to.deep.equal([[6], 0]);
  });

  it('X1 closed, also while it waits: it gets nothing more, and the feed forgets it', async () => {
    const viewer = new FeedViewer(source);
    const waiting = viewer.read();
    viewer.close();
    viewer.close();
    expect(await waiting).to.equal(undefined);
    expect(source.listeners.size).to.equal(0);
    expect(await viewer.read()).to.equal(undefined);
  });
});
