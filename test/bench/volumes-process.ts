/** One measurement of volumes.ts, in a process of its own: prints it as JSON. */
import { memoryStore } from '../../dist/src/stores/memory.js';
import { driverInProcess } from './volumes-driver.js';
import { publishMany, withHouse } from './volumes-house.js';

export interface Rates {
  volumes: number;
  ms: number;
  cpuMs: number;
}

/** Until V8 knows its way. */
const warmUp = 3_000;

async function published(
  count: number,
  { callMs, maxInFlight }: { callMs: number; maxInFlight: number },
): Promise<Rates> {
  return withHouse({ store: memoryStore(), dispenser: driverInProcess({ callMs }), maxInFlight }, async (runtime) => {
    globalThis.gc?.();
    const cpu = process.cpuUsage();
    const start = performance.now();
    await publishMany(runtime, { count });
    const ms = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    return { volumes: count, ms, cpuMs: (user + system) / 1_000 };
  });
}

const [count, callMs = '0', maxInFlight = '64', turn = '1000'] = process.argv.slice(2);
const options = { callMs: Number(callMs), maxInFlight: Number(maxInFlight) };
await published(warmUp, { ...options, callMs: 0 });
const sum: Rates = { volumes: 0, ms: 0, cpuMs: 0 };
while (sum.volumes < Number(turn)) {
  const { volumes, ms, cpuMs } = await published(Number(count), options);
  sum.volumes += volumes;
  sum.ms += ms;
  sum.cpuMs += cpuMs;
}
console.log(JSON.stringify(sum));
