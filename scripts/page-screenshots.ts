/**
 * Takes the pictures of the inspector page for the documents: each view, light and dark, of a runtime in which something
 * goes well, something is in doubt and something was refused. Build first: npm run build
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { serveInspector } from '../src/inspector/serve-inspector.js';
import { builtPage, TestBrowser } from '../test/support/browser.js';
import { spec, VolumeHouse } from '../test/volumes/volume-house.js';

const directory = fileURLToPath(new URL('../docs/inspector', import.meta.url));

/** Names of pictures, with the places that they show. */
const views: Record<string, string> = {
  overview: '#/',
  list: '#/list/volume',
  log: '#/log',
  actor: '#/a/volume/default/data',
  publication: '#/a/volume/default/data?part=publication%2Fa',
  past: '#/a/volume/default/data?seq=6',
  compare: '#/a/volume/default/data?seq=4&b=8',
  timeline: '#/timeline/volume/default/data',
};

/** Makes volumes: one at rest, one in doubt, one refused. */
async function furnished(): Promise<VolumeHouse> {
  const house = await new VolumeHouse().furnish();
  for (const id of ['archive', 'data', 'logs', 'media', 'registry']) {
    const creating = house.runtime.volumes.create(spec(id));
    await house.rest();
    await creating;
  }
  let failures = 0;
  house.plugin.script = ({ rpc }) => {
    if (rpc !== 'ControllerPublishVolume') return undefined;
    failures += 1;
    if (failures === 1) return { code: 'INVALID_ARGUMENT', text: 'the volume is of another zone' };
    return { code: 'INTERNAL', text: 'backend timed out' };
  };
  house.runtime.volumes.publish({ id: 'logs' }, 'a').catch(() => {});
  await house.rest();
  house.runtime.volumes.publish({ id: 'data' }, 'a').catch(() => {});
  for (let round = 0; round < 3; round += 1) await house.clock.advance(1_000);
  return house;
}

/** Something to see in the log and among the activity. */
async function happen(id: string): Promise<void> {
  const creating = house.runtime.volumes.create(spec(id));
  await house.rest();
  await creating;
  await house.clock.advance(1_000);
}

const standAt = (page: Page, moment: number): Promise<void> =>
  page.evaluate((at) => {
    Date.now = () => at;
  }, moment);

const browser = new TestBrowser();
await browser.start();
const house = await furnished();
const inspector = await serveInspector(house.runtime, { version: '0', page: builtPage });
mkdirSync(directory, { recursive: true });
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await browser.open(inspector.url, { colorScheme });
    await page.getByText('Live').waitFor();
    await happen(`scratch-${colorScheme}`);
    // The clock of the runtime stands: that of the page has to stand there too.
    await standAt(page, house.clock.now() + 400);
    for (const [name, hash] of Object.entries(views)) {
      await page.evaluate((to) => Reflect.set(Reflect.get(globalThis, 'location'), 'hash', to), hash);
      await page.locator('h1').first().waitFor({ state: 'attached' });
      await page.waitForTimeout(700);
      await page.screenshot({ path: join(directory, `${name}-${colorScheme}.png`) });
    }
  }
  const phone = await browser.open(inspector.url, { viewport: { width: 390, height: 844 } });
  await phone.page.getByText('Needs a person').first().waitFor();
  await standAt(phone.page, house.clock.now() + 400);
  for (const name of ['overview', 'past', 'timeline']) {
    await phone.page.evaluate((to) => Reflect.set(Reflect.get(globalThis, 'location'), 'hash', to), views[name]);
    await phone.page.waitForTimeout(700);
    await phone.page.screenshot({ path: join(directory, `phone-${name}-light.png`) });
  }
} finally {
  await browser.stop();
  await inspector.close();
  await house.dispose();
}
