import { byTurns, report } from '/work/main/test/bench/measure.ts';
import { withRedis } from '/work/main/test/bench/redis-commits.ts';
await withRedis(async (c) => report('redis', 'commits/s', await byTurns(c)));
