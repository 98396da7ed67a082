/** The Redis store under the contract of all stores: both protocols, and a cluster. */

import { storeSuite } from '../../src/tools/store-suite/store-suite.js';
import { redisHarness } from '../redis/harness.js';
import { type RedisProcess, startCluster } from '../redis/servers.js';
import { sharedUrl } from '../redis/shared.js';

for (const protocol of [2, 3] as const) {
  storeSuite(`redis, RESP${protocol}`, async () => {
    const url = await sharedUrl();
    return redisHarness({ url, protocol }, [url]);
  });
}

describe('redis cluster', () => {
  let nodes: RedisProcess[] = [];

  before(async () => {
    nodes = await startCluster();
  });

  after(() => Promise.all(nodes.map((node) => node.remove())));

  storeSuite('redis, cluster of three masters', () =>
    redisHarness(
      { cluster: nodes.map(({ port }) => ({ host: '127.0.0.1', port })) },
      nodes.map(({ url }) => url),
    ),
  );
});
