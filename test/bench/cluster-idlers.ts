/** Idle agents of cluster.ts, all in this process. Arguments: URL of Redis, their number. Once asked, sends the CPU time of each, in µs per second. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRuntime } from '../../dist/src/runtime/runtime.js';
import { redisStore } from '../../dist/src/stores/redis/redis.js';

const [url = '', count = '0'] = process.argv.slice(2);
const dataDir = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
for (let index = 0; index < Number(count); index += 1) {
  const nodeId = `idle-${index}`;
  await createRuntime({ nodeId, dataDir: join(dataDir, nodeId), store: redisStore(url), cluster: { own: 'never' } });
}
process.send?.('ready');
process.on('message', async (seconds: number) => {
  const before = process.cpuUsage();
  await sleep(seconds * 1_000);
  const { user, system } = process.cpuUsage(before);
  process.send?.((user + system) / seconds / Number(count));
});
process.once('disconnect', () => {
  rmSync(dataDir, { recursive: true });
  process.exit();
});
