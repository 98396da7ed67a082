// Registers a device, prints its fingerprint, uses it, and follows how it dies and comes back.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRuntime } from 'stagecraft';
import { device } from './kind.mjs';

const directory = mkdtempSync(join(tmpdir(), 'device-'));
const socketPath = join(directory, 'thermometer.sock');
const daemonPath = fileURLToPath(new URL('daemon.mjs', import.meta.url));
const startDaemon = () => spawn(process.execPath, [daemonPath, socketPath], { stdio: 'inherit' });

const runtime = await createRuntime({
  nodeId: 'worker-1',
  dataDir: join(directory, 'data'),
  dispensers: { device }, // the key is the type of its plugins
});
const { plugins } = runtime;
const events = plugins.updates('device'); // from now on
let daemon = startDaemon();
try {
  await plugins.register({ type: 'device', name: 'thermometer', allocId: 'run-1', connection: { socketPath } });
  const { state, fingerprint } = await plugins.waitFor('device', 'thermometer', { timeoutMs: 10_000 });
  console.log(state, fingerprint);

  const client = await plugins.dispense('device', 'thermometer'); // a DeviceClient
  console.log(await client.ask('read'));

  daemon.kill('SIGKILL');
  let hasDied = false;
  for await (const { kind, was, healthy, description } of events) {
    console.log(kind === 'health' ? `${was} → ${healthy ? 'healthy' : 'unhealthy'}: ${description}` : kind);
    if (hasDied && healthy) break;
    if (was !== 'healthy') continue;
    hasDied = true;
    daemon = startDaemon();
  }
  console.log(await client.ask('read'));
} finally {
  await runtime.close();
  daemon.kill();
  rmSync(directory, { recursive: true });
}
