/** An alloc in a real browser: its volumes are cards, as no chart steps them. */
import { expect } from 'chai';
import { serveInspector } from '../../../src/inspector/serve-inspector.js';
import { MountHouse, many } from '../../mounts/mount-house.js';
import { builtPage, TestBrowser } from '../../support/browser.js';

describe('an alloc in a browser', () => {
  const browser = new TestBrowser();
  let house: MountHouse | undefined;
  before(() => browser.start());
  after(() => browser.stop());
  afterEach(async () => {
    await browser.closeAll();
    await house?.end();
  });

  it('35.5 X2 a volume of an alloc is a card with its step; a link to it shows the chart of the alloc', async () => {
    house = await MountHouse.start();
    await house.make('data', many);
    await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
    const inspector = await serveInspector(house.runtime, { version: '0', page: builtPage });
    try {
      const { page, errors } = await browser.open(`${inspector.url}#/a/alloc/node-a/web?part=volume%2Fdata`);
      await page.getByRole('img', { name: /Statechart of alloc web: now in prepared/ }).waitFor();
      expect(await page.locator('.part-card').allInnerTexts()).to.deep.equal(['data\nHealthy\nmounted']);
      expect(await page.getByRole('button', { name: /Open the chart/ }).count()).to.equal(0);
      expect(errors).to.deep.equal([]);
    } finally {
      await inspector.close();
    }
  });
});
