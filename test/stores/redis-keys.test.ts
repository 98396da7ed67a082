/** Where the Redis store puts things: changed once, and nothing that is stored is found again. */

import { expect } from 'chai';
import { bucketOf, buckets, fromSortable, RedisKeys, slotOf, sortable } from '../../src/stores/redis/redis-keys.js';

describe('redis keys', () => {
  it('a name has its bucket for ever', () => {
    const names = ['a', 'volume/default/data', 'plugin/n-1/csi-node/hostpath/a-1', 'é', '😀'];
    expect(names.map(bucketOf)).to.deep.equal([7, 5, 40, 4, 15]);
  });

  it('names spread over all buckets', () => {
    const used = new Set(Array.from({ length: 1_000 }, (_, i) => bucketOf(`volume/default/v-${i}`)));
    expect(used.size).to.equal(buckets);
  });

  it('a slot is the one that Redis Cluster computes', () => {
    // CLUSTER KEYSLOT {0}, {1}, {63}
    expect([0, 1, 63].map(slotOf)).to.deep.equal([13_907, 9_842, 10_499]);
  });

  it('moments as text are ordered as in time, and come back as they were', () => {
    const moments = [
      -Infinity,
      -1e300,
      -30,
      -4.5,
      -5e-324,
      0,
      5e-324,
      4,
      4.5,
      30,
      200,
      1.7e12,
      2 ** 53,
      1e300,
      Infinity,
    ];
    const texts = moments.map(sortable);
    expect([...texts].sort()).to.deep.equal(texts);
    expect(texts.map(fromSortable)).to.deep.equal(moments);
  });

  it('the key of a record gives its address back, whatever it holds', () => {
    const keys = new RedisKeys('x:');
    for (const address of ['a', '}:r:', 'a{b}:r:c', ' ']) {
      expect(keys.addressOf(keys.record(address))).to.equal(address);
    }
    expect(keys.addressOf('x:{0}:r:a')).to.equal(undefined);
  });
});
