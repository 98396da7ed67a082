/** What plugins.ts measures: one runtime that registers plugins which answer at once, and one follower of its events. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PluginInfo } from '../../dist/machines/plugin/plugin.js';
import type { Store } from '../../dist/src/engine/store.js';
import type { Dispenser } from '../../dist/src/registry/dispenser.js';
import { createRuntime, type Runtime } from '../../dist/src/runtime/runtime.js';

/** There is nobody to connect to. */
const nobody: Dispenser = {
  connect: () => ({}),
  fingerprint: async () => ({ healthy: true }),
  close: () => {},
};

interface Registering {
  /** All of them at once. */
  plugins: number;
  /** Made for each run, on data of its own. */
  store(path: string): Store | Promise<Store>;
  /** Whether somebody waits for each, until it is healthy. */
  isWaitedFor?: boolean;
}

/** Since the first call was made, in milliseconds: by the clock, and of all cores. */
interface Spent {
  ms: number;
  cpuMs: number;
}

/** Until all are. */
export interface Registered {
  registered: Spent;
  healthy: Spent;
}

/** @throws Error where the follower got another number of events than there were, or one of them twice */
export async function registerAll({ plugins, store, isWaitedFor }: Registering): Promise<Registered> {
  const path = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
  try {
    const runtime = await createRuntime({
      nodeId: 'bench',
      dataDir: path,
      store: await store(join(path, 'state')),
      dispensers: { device: nobody },
    });
    const followed = follow(runtime, plugins);
    const infos = Array.from({ length: plugins }, (_, index) => infoOf(index, path));
    const spent = stopwatch();
    const waits = isWaitedFor ? infos.map(({ type, name }) => runtime.plugins.waitFor(type, name)) : [];
    await Promise.all(infos.map((info) => runtime.plugins.register(info)));
    const registered = spent();
    await Promise.all([followed.allHealthy, ...waits]);
    const healthy = spent();
    await runtime.close();
    await followed.end;
    return { registered, healthy };
  } finally {
    rmSync(path, { recursive: true });
  }
}

function stopwatch(): () => Spent {
  const startMs = performance.now();
  const cpu = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(cpu);
    return { ms: performance.now() - startMs, cpuMs: (user + system) / 1_000 };
  };
}

const infoOf = (index: number, path: string): PluginInfo => ({
  type: 'device',
  name: `device-${index}`,
  allocId: `alloc-${index}`,
  version: '1.0.0',
  connection: { socketPath: join(path, 'plugins', `alloc-${index}`, 'csi.sock') },
});

/** Reads all events until the runtime ends. */
function follow(runtime: Runtime, plugins: number): { allHealthy: Promise<void>; end: Promise<void> } {
  const seen = new Set<string>();
  let events = 0;
  let tell = (): void => {};
  const allHealthy = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const updates = runtime.plugins.updates();
  const read = async (): Promise<void> => {
    for await (const { kind, info } of updates) {
      events += 1;
      seen.add(`${kind} ${info.allocId}`);
      if (seen.size === 2 * plugins) tell();
    }
    if (events !== 2 * plugins || seen.size !== events) {
      throw new Error(`${plugins} plugins, and ${events} events, of which ${seen.size} are different`);
    }
  };
  return { allHealthy, end: read() };
}
