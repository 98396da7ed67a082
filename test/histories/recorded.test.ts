/** What was recorded can be read, and is chosen so that it shows as much as there was to see. */
import { expect } from 'chai';
import { type Recorded, recorded } from './recorded.js';
import { chosen, featuresOf, type History } from './recording.js';

describe('recorded histories', () => {
  for (const version of ['2', '3', '4'])
    it(`of volumes of version ${version}: each volume from its first commit on, in order`, () => {
      const last = new Map<string, number>();
      const disordered = recorded(version, 'volumes').filter(({ seed, address, seq }) => {
        const before = last.get(`${seed} ${address}`);
        last.set(`${seed} ${address}`, seq);
        // Tombstones are not recorded.
        return before === undefined ? seq !== 1 : seq <= before;
      });
      expect(disordered).to.deep.equal([]);
      expect(last.size).to.be.greaterThan(300);
    });

  const line = (seed: number, seq: number, state: string, more: object = {}): Recorded => ({
    ...{ seed, address: 'volume/default/v', seq, value: 'created' },
    context: { publications: { a: { state, number: seq, ...more } } },
  });
  const history = (seed: number, ...lines: Recorded[]): History => ({ seed, lines });

  it('a history that shows nothing but what others show is not chosen', () => {
    const whole = history(1, line(1, 1, 'pending-publish'), line(1, 2, 'published'));
    const same = history(2, line(2, 1, 'pending-publish'), line(2, 2, 'published'));
    const other = history(3, line(3, 1, 'published'), line(3, 2, 'pending-publish'));
    expect(chosen([whole, same, other], 10).map(({ seed }) => seed)).to.deep.equal([1, 3]);
  });

  it('a flag is a feature, a number is none', () => {
    const plain = [line(1, 1, 'failed', { tries: { count: 1 } })];
    expect(featuresOf([line(1, 1, 'failed', { tries: { count: 2 } })])).to.deep.equal(featuresOf(plain));
    expect(featuresOf([line(1, 1, 'failed', { tries: { count: 1 }, inDoubt: true })])).not.to.deep.equal(
      featuresOf(plain),
    );
  });
});
