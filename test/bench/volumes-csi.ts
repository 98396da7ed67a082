/**
 * Volumes created and published per second with a driver in another process, over its socket, against a loop that makes
 * the same two calls with the generated grpc-js client. The contenders: volumes-csi-process.ts
 */
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RedisProcess } from '../redis/servers.js';
import { apart } from './apart.js';
import { byTurns, report } from './measure.js';

const program = new URL('volumes-csi-process.ts', import.meta.url);
const driver = fileURLToPath(new URL('volumes-server.ts', import.meta.url));

export async function reportVolumesCsi(): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
  const socketPath = join(path, 'csi.sock');
  const server = fork(driver, [socketPath], { execArgv: ['--import=tsx'] });
  await once(server, 'message');
  const stores = ['memory', 'LMDB (fdatasync)'];
  let redis: RedisProcess | undefined;
  if (spawnSync('redis-server', ['--version']).status === 0) {
    redis = await RedisProcess.start({ config: ['appendonly yes', 'appendfsync everysec'] });
    stores.push('Redis (fsync every second)');
  }
  const ours = stores.flatMap((store) => [`${store}, 64 volumes at a time`, `${store}, all volumes at once`]);
  const names = ['the generated grpc-js client', ...ours];
  const contenders = names.map((name) => apart(name, program, [socketPath, redis?.url ?? '']));
  try {
    report('volumes created and published, 64 calls in flight', 'volumes/s', await byTurns(contenders));
  } finally {
    for (const contender of contenders) contender.stop();
    server.disconnect();
    await redis?.remove();
    rmSync(path, { recursive: true });
  }
}
