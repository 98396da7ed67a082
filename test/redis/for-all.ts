/** One Redis server for all workers of a test run: named by $REDIS_URL, where nobody has given one. Mocha's global fixtures. */
import { RedisProcess } from './servers.js';

let server: RedisProcess | undefined;

export async function mochaGlobalSetup(): Promise<void> {
  if (process.env.REDIS_URL !== undefined) return;
  server = await RedisProcess.start();
  process.env.REDIS_URL = server.url;
}

export async function mochaGlobalTeardown(): Promise<void> {
  await server?.remove();
}
