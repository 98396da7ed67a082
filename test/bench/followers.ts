/** Followers of `GET /v1/events`: many at once, and whether each gets every event. */
import { request } from 'node:http';
import { serveInspector } from '../../dist/src/inspector/serve-inspector.js';
import { memoryStore } from '../../dist/src/stores/memory/memory.js';
import { driverInProcess } from './volumes-driver.js';
import { specOf, withHouse } from './volumes-house.js';

const followers = 1_000;
const events = 10_000;
const perSecond = 1_000;

const cpuMs = (): number => process.cpuUsage().user / 1_000 + process.cpuUsage().system / 1_000;

export async function reportFollowers(): Promise<void> {
  await withHouse({ store: memoryStore(), dispenser: driverInProcess() }, async (runtime) => {
    await runtime.volumes.create(specOf('data'));
    const inspector = await serveInspector(runtime);
    const { hostname, port } = new URL(inspector.url);
    const headers = { authorization: `Bearer ${inspector.token}` };
    const counts = new Array<number>(followers).fill(0);
    const idleFrom = cpuMs();
    await Promise.all(
      counts.map(
        (_, index) =>
          new Promise<void>((begun) => {
            const call = request(
              { hostname, port, path: '/v1/events?kind=availability', headers, agent: false },
              (response) => {
                response.setEncoding('latin1');
                response.on('data', (text: string) => {
                  counts[index] = (counts[index] ?? 0) + text.split('\ndata: ').length - 1;
                  begun();
                });
              },
            );
            call.on('error', () => {});
            call.end();
          }),
      ),
    );
    console.log(`\n${followers.toLocaleString('en')} followers of events, in this process`);
    console.log(`  all connected: ${Math.round(cpuMs() - idleFrom)} ms of CPU time`);
    const restFrom = cpuMs();
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    console.log(`  5 s at rest: ${Math.round(cpuMs() - restFrom)} ms of CPU time`);
    const begun = performance.now();
    for (let sent = 0; sent < events; ) {
      const due = Math.min(events, ((performance.now() - begun) / 1_000) * perSecond);
      for (; sent < due; sent += 1)
        await runtime.volumes.setAvailability({ id: 'data' }, sent % 2 === 0 ? 'pause' : 'active');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const sentMs = performance.now() - begun;
    while (counts.some((count) => count < events)) await new Promise((resolve) => setTimeout(resolve, 50));
    const gotMs = performance.now() - begun;
    console.log(
      `  ${events.toLocaleString('en')} events sent in ${(sentMs / 1_000).toFixed(1)} s, had by all after ${(gotMs / 1_000).toFixed(1)} s`,
    );
    const rate = (followers * events) / (gotMs / 1_000);
    console.log(
      `  ${Math.round(rate).toLocaleString('en')} deliveries/s, none lost, none twice: ${counts.every((count) => count === events)}`,
    );
    await inspector.close();
  });
}
