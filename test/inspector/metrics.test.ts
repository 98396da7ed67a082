/** Metrics of a runtime, read as Prometheus reads them. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { routes } from '../../src/api/routes.js';
import { jsonServer, serve } from '../../src/inspector/json-server.js';
import { runtimeMetrics, watchAnswers } from '../../src/inspector/metrics.js';
import { createRuntime } from '../../src/runtime/runtime.js';
import { faultDriver } from '../../src/testing/index.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

/** Values by name with labels: `a{b="c"}`. */
function valuesIn(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

describe('metrics', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });
  afterEach(() => house.dispose());

  async function create(id: string): Promise<void> {
    const creating = house.runtime.volumes.create(spec(id));
    await house.rest();
    await creating;
  }

  it('counts commits, retries and actors by state, and reads them when they are asked for', async () => {
    const registry = runtimeMetrics(house.runtime);
    const before = valuesIn(await registry.metrics());
    let failures = 2;
    house.plugin.script = ({ rpc }) => {
      failures -= rpc === 'ControllerPublishVolume' ? 1 : 0;
      return rpc === 'ControllerPublishVolume' && failures >= 0 ? { code: 'INTERNAL', text: 'no luck' } : undefined;
    };
    await create('data');
    const publishing = house.runtime.volumes.publish({ id: 'data' }, 'a');
    await house.clock.advance(10_000);
    await publishing;
    const after = valuesIn(await registry.metrics());
    expect(after.get('stagecraft_call_retries_total')).to.equal(2);
    expect(after.get('stagecraft_commits_total')).to.be.above(before.get('stagecraft_commits_total') ?? 0);
    expect(after.get('stagecraft_actor_crashes_total')).to.equal(0);
    expect(after.get('stagecraft_store_available')).to.equal(1);
    expect(after.get('stagecraft_leader')).to.equal(1);
    expect(after.get('stagecraft_messages_total{outcome="accepted"}')).to.equal(0);
    expect(after.get('stagecraft_actors{machine="node",state="ready"}')).to.be.above(0);
  });

  it('calls of a real plugin: by method and code, with how long they took', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'stagecraft-metrics-'));
    const socketPath = join(dataDir, 'csi.sock');
    const driver = await faultDriver({ socketPath, nodeId: 'n1', dataDir: join(dataDir, 'driver') });
    const fingerprint = { intervalMs: 100, timeoutMs: 5_000 };
    const runtime = await createRuntime({ nodeId: 'n1', dataDir: join(dataDir, 'runtime'), fingerprint });
    try {
      const registry = runtimeMetrics(runtime);
      driver.script('Probe', { code: 'INTERNAL' });
      const connection = { socketPath };
      await runtime.plugins.register({ type: 'csi-controller', name: 'disk', allocId: 'a1', connection });
      await runtime.plugins.waitFor('csi-controller', 'disk', { until: 'healthy' });
      const values = valuesIn(await registry.metrics());
      const series = (code: string): string =>
        `stagecraft_csi_call_duration_seconds_count{plugin="disk",method="Probe",code="${code}"}`;
      expect(values.get(series('INTERNAL'))).to.equal(1);
      expect(values.get(series('OK'))).to.be.above(0);
    } finally {
      await runtime.close();
      await driver.stop();
      rmSync(dataDir, { recursive: true });
    }
  });

  it('over HTTP: text for Prometheus; healthz and readyz', async () => {
    const server = jsonServer();
    let store: { available: boolean; since?: number } = { available: true };
    const runtime = {
      get store() {
        return store;
      },
    };
    serve(server, routes, { agent: watchAnswers(runtime, runtimeMetrics(house.runtime)) });
    const metrics = await server.inject('/metrics');
    expect(metrics.headers['content-type']).to.match(/^text\/plain/);
    expect(metrics.body).to.match(/^stagecraft_commits_total \d+$/m);
    expect((await server.inject('/healthz')).statusCode).to.equal(200);
    expect((await server.inject('/readyz')).statusCode).to.equal(200);
    store = { available: false, since: 0 };
    const refused = await server.inject('/readyz');
    expect(refused.statusCode).to.equal(503);
    expect(refused.json()).to.include({ code: 'STORE_UNAVAILABLE' });
    await server.close();
  });

  it('docs/metrics.md lists all metrics with their kinds and labels, and no others', async () => {
    const registry = runtimeMetrics(house.runtime);
    const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `(stagecraft_\w+)` \| (\w+) \|([^|]*)\|/gm)];
    const described = rows.map(([, name, kind, labels = '']) =>
      [name, kind, labels.replaceAll(/[`\s]/g, '')].join(' '),
    );
    const known = registry.getMetricsAsArray().map((metric) => {
      const labels = (Reflect.get(metric, 'labelNames') as string[]).join(',');
      return [metric.name, Reflect.get(metric, 'type'), labels].join(' ');
    });
    expect(described.toSorted()).to.deep.equal(known.toSorted());
  });
});
