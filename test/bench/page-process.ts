/** A runtime with many volumes whose page is served: makes changes at a steady rate until it is told to end. */
import { serveInspector } from '../../dist/src/inspector/serve-inspector.js';
import { memoryStore } from '../../dist/src/stores/memory/memory.js';
import { driverInProcess } from './volumes-driver.js';
import { publishMany, withHouse } from './volumes-house.js';

const [count = 0, perSecond = 0] = process.argv.slice(2).map(Number);
const tickMs = 20;
/** A change of availability: an event, a snapshot, a broadcast. */
const recordsOfChange = 3;

await withHouse({ store: memoryStore(), dispenser: driverInProcess() }, async (runtime) => {
  await publishMany(runtime, { count, atOnce: 500 });
  const inspector = await serveInspector(runtime, { version: 'bench' });
  process.send?.({ url: inspector.url });
  const begun = performance.now();
  let made = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - begun) / 1_000) * (perSecond / recordsOfChange);
    for (; made < due; made += 1) {
      const id = `volume-${1 + (made % count)}`;
      void runtime.volumes.setAvailability({ id }, made % (2 * count) < count ? 'pause' : 'active');
    }
  }, tickMs);
  await new Promise((resolve) => process.once('message', resolve));
  clearInterval(timer);
  await inspector.close();
});
process.disconnect();
