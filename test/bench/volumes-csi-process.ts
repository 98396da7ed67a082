/** What volumes-csi.ts measures, each contender in a process of its own. Arguments: socket of the driver, URL of Redis. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { Redis } from 'ioredis';
import type { Store } from '../../dist/src/engine/store.js';
import { lmdbStore } from '../../dist/src/stores/lmdb/lmdb.js';
import { memoryStore } from '../../dist/src/stores/memory/memory.js';
import { redisStore } from '../../dist/src/stores/redis/redis.js';
import { csi } from '../generated/csi.js';
import { lendContenders } from './apart.js';
import type { Contender } from './measure.js';
import { csiNodeId, publishMany, withHouse } from './volumes-house.js';

const volumes = 5_000;
const callsInFlight = 64;
const [socketPath = '', redisUrl = ''] = process.argv.slice(2);

type Answered = (error?: Error | null, answer?: unknown) => void;
const answered = (call: (done: Answered) => void): Promise<unknown> =>
  new Promise((resolve, reject) => call((error, answer) => (error ? reject(error) : resolve(answer))));

function capability(): csi.v1.VolumeCapability {
  const { MountVolume, AccessMode } = csi.v1.VolumeCapability;
  return new csi.v1.VolumeCapability({
    mount: new MountVolume(),
    access_mode: new AccessMode({ mode: AccessMode.Mode.SINGLE_NODE_WRITER }),
  });
}

/** The same two calls for each volume, with deadlines, so many in flight all the time; nothing is kept. */
const bare: Contender = {
  name: 'the generated grpc-js client',
  async run() {
    const client = new csi.v1.ControllerClient(`unix://${socketPath}`, credentials.createInsecure());
    const deadline = () => ({ deadline: Date.now() + 30_000 });
    let begun = 0;
    const worker = async (): Promise<void> => {
      while (begun < volumes) {
        begun += 1;
        const name = `sc-${begun}`;
        const create = new csi.v1.CreateVolumeRequest({ name, volume_capabilities: [capability()] });
        await answered((done) => client.CreateVolume(create, deadline(), done));
        const publish = { volume_id: name, node_id: csiNodeId, volume_capability: capability() };
        const request = new csi.v1.ControllerPublishVolumeRequest(publish);
        await answered((done) => client.ControllerPublishVolume(request, deadline(), done));
      }
    };
    await answered((done) => client.waitForReady(Date.now() + 30_000, done));
    const start = performance.now();
    await Promise.all(Array.from({ length: callsInFlight }, worker));
    const ms = performance.now() - start;
    client.close();
    return { units: volumes, ms };
  },
};

/** So many volumes are asked for at a time. */
const ours = (name: string, atOnce: number, storeAt: (path: string) => Store | Promise<Store>): Contender => ({
  name,
  async run() {
    const path = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
    try {
      const store = await storeAt(join(path, 'state'));
      const ms = await withHouse({ store, socketPath, maxInFlight: callsInFlight }, async (runtime) => {
        globalThis.gc?.();
        const start = performance.now();
        await publishMany(runtime, { count: volumes, atOnce });
        return performance.now() - start;
      });
      return { units: volumes, ms };
    } finally {
      rmSync(path, { recursive: true, force: true });
    }
  },
});

async function emptiedRedis(): Promise<Store> {
  const redis = new Redis(redisUrl);
  await redis.flushall();
  redis.disconnect();
  return redisStore(redisUrl);
}

const stores: Record<string, (path: string) => Store | Promise<Store>> = {
  memory: () => memoryStore(),
  'LMDB (fdatasync)': lmdbStore,
  'Redis (fsync every second)': emptiedRedis,
};

lendContenders([
  bare,
  ...Object.entries(stores).flatMap(([store, storeAt]) => [
    ours(`${store}, 64 volumes at a time`, callsInFlight, storeAt),
    ours(`${store}, all volumes at once`, volumes, storeAt),
  ]),
]);
