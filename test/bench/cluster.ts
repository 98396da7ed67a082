/** A publish that is asked on another agent, against one that is asked on the agent that works on volumes. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, type Runtime } from '../../dist/src/runtime/runtime.js';
import { redisStore } from '../../dist/src/stores/redis/redis.js';
import { RedisProcess } from '../redis/servers.js';
import { median } from './measure.js';
import { driverInProcess } from './volumes-driver.js';
import { nodeId, specOf, withHouse } from './volumes-house.js';

const rounds = 500;

/** Creates a volume. @returns time of its publish, in ms */
async function timeOf({ volumes }: Runtime, id: string): Promise<number> {
  await volumes.create(specOf(id));
  const beganMs = performance.now();
  await volumes.publish({ id }, nodeId);
  return performance.now() - beganMs;
}

export async function reportCluster(): Promise<void> {
  const server = await RedisProcess.start({ config: ['appendonly yes', 'appendfsync everysec'] });
  const folder = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
  try {
    await withHouse({ store: redisStore(server.url), dispenser: driverInProcess() }, async (owner) => {
      const other = await createRuntime({ nodeId: 'other', dataDir: folder, store: redisStore(server.url) });
      if (other.leadership.isOurs) throw new Error('the wrong agent works on volumes');
      const times: Record<'here' | 'there', number[]> = { here: [], there: [] };
      for (let round = 0; round < rounds; round += 1) {
        times.here.push(await timeOf(owner, `here-${round}`));
        times.there.push(await timeOf(other, `there-${round}`));
      }
      const [here, there] = [median(times.here), median(times.there)];
      console.log('\npublish, a driver that answers at once, one Redis: median');
      console.log(`  asked on the agent that works on volumes  ${here.toFixed(2)} ms`);
      console.log(
        `  asked on another one, in this process     ${there.toFixed(2)} ms, ${(there / here).toFixed(2)} of that`,
      );
      await other.close();
    });
  } finally {
    rmSync(folder, { recursive: true });
    await server.remove();
  }
}
