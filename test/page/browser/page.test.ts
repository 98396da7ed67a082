/** The inspector page in a real browser, on a runtime with volumes: overview, lists, log, find, keys, themes, phone. */
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { type Inspector, serveInspector } from '../../../src/inspector/serve-inspector.js';
import { builtPage, TestBrowser } from '../../support/browser.js';
import { spec, VolumeHouse } from '../../volumes/volume-house.js';

describe('the inspector page in a browser', () => {
  const browser = new TestBrowser();
  let house: VolumeHouse;
  let inspector: Inspector;

  before(() => browser.start());
  after(() => browser.stop());

  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    inspector = await serveInspector(house.runtime, { version: '0', page: builtPage });
  });

  afterEach(async () => {
    await browser.closeAll();
    await inspector.close();
    await house.dispose();
  });

  async function create(id: string): Promise<void> {
    const creating = house.runtime.volumes.create(spec(id));
    await house.rest();
    await creating;
  }

  /** A volume whose publish is refused for good. */
  async function refused(id: string): Promise<void> {
    await create(id);
    house.plugin.script = ({ rpc }) =>
      rpc === 'ControllerPublishVolume' ? { code: 'INVALID_ARGUMENT', text: 'no such node there' } : undefined;
    house.runtime.volumes.publish({ id }, 'a').catch(() => {});
    await house.rest();
  }

  const at = (hash: string): string => `${inspector.url}${hash}`;

  it('X2 the overview: kinds with their health, who has to act and what to do, live', async () => {
    await create('data');
    const { page, errors } = await browser.open(inspector.url);
    await page.getByText('Nothing needs a person.').waitFor();
    await page.getByRole('link', { name: /Volumes 1 all healthy/ }).waitFor();
    await page.getByText(/Nothing yet since this page was opened/).waitFor();
    await page.getByRole('link', { name: /data not published/ }).waitFor();
    await refused('logs');
    const trouble = page.getByRole('link', { name: /Volume logs: on a: publish refused.*no such node there/ });
    await trouble.waitFor();
    await page.getByText('stagecraft volume retry logs').waitFor();
    await page.getByRole('link', { name: /Volumes 2 1 failed/ }).waitFor();
    await page.getByText('asked to publish it to node a').first().waitFor();
    await trouble.click();
    await page.waitForURL(/#\/a\/volume\/default\/logs$/);
    expect(errors).to.deep.equal([]);
  });

  it('X2 the token leaves the address bar, and the page loads again without it', async () => {
    const { page } = await browser.open(at('#/list/volume'));
    await page.getByRole('heading', { name: /Volumes/ }).waitFor();
    expect(page.url()).to.equal(`${new URL(inspector.url).origin}/#/list/volume`);
    await page.reload();
    await page.getByRole('heading', { name: /Volumes/ }).waitFor();
  });

  it('X6, 34.12 without the token the page asks for it; other tabs, cookies and wrong tokens give none', async () => {
    await create('data');
    const { page } = await browser.open(`${new URL(inspector.url).origin}/#/list/volume`);
    const field = page.getByLabel('Token');
    await field.fill('a-wrong-token-of-nobody');
    await page.getByRole('button', { name: 'Open the page' }).click();
    await page.getByRole('heading', { name: 'The token is wrong' }).waitFor();
    await field.fill(inspector.token);
    await field.press('Enter');
    await page.getByRole('heading', { name: /Volumes/ }).waitFor();
    expect(await page.context().cookies()).to.deep.equal([]);
  });

  it('X6, 34.12 a link of the page that is opened in a new tab has the token of its neighbour', async () => {
    const { page } = await browser.open(at('#/list/volume'));
    await page.getByRole('heading', { name: /Volumes/ }).waitFor();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByRole('heading', { name: /Volumes/ }).waitFor();
  });

  it('X6, 34.12 an address of the API in the address bar: the field leads to the page', async () => {
    const { page } = await browser.open(`${new URL(inspector.url).origin}/v1/overview`);
    await page.getByLabel('Token').fill(inspector.token);
    await page.getByRole('button').click();
    await page.getByText('Nothing needs a person.').waitFor();
    expect(page.url()).not.to.contain('token');
  });

  it('J4, 34.12 the journal of an actor is downloaded with a ticket of its own', async () => {
    await create('data');
    const { page } = await browser.open(at('#/a/volume/default/data'));
    const downloading = page.waitForEvent('download');
    await page.getByText('Export the journal').click();
    const download = await downloading;
    expect(download.suggestedFilename()).to.equal('volume-default-data.journal.ndjson');
    const text = await readFile(await download.path(), 'utf8');
    expect(text).to.contain('volume/default/data');
  });

  it('X4, 34.12 the bridge hands the actors to the frame of Stately, by the link with the token', async () => {
    await create('data');
    const { page } = await browser.open('about:blank');
    const frame = `<p></p><script>
      onmessage = ({ data }) => { document.querySelector('p').textContent += data.sessionId + ' '; };
      parent.postMessage({ type: '@statelyai.connected' }, '*');
    </script>`;
    await page.route('https://stately.ai/**', (route) => route.fulfill({ contentType: 'text/html', body: frame }));
    await page.goto(inspector.url.replace('/?', '/bridge?'));
    await page.frameLocator('#inspector').getByText('volume/default/data').waitFor();
    expect(page.url()).to.equal(`${new URL(inspector.url).origin}/bridge`);
  });

  it('X2 a list: the worst first, filtered by health and text, opened by keys', async () => {
    for (const id of ['a', 'b', 'c']) await create(id);
    await refused('z');
    const { page } = await browser.open(at('#/list/volume'));
    const rows = page.getByRole('listitem').filter({ has: page.locator('.list-row') });
    await page.getByText('Volumes').first().waitFor();
    await rows.nth(3).waitFor();
    expect(await rows.first().innerText()).to.match(/^z/);
    await page.getByRole('button', { name: /Failed 1/ }).click();
    expect(await rows.count()).to.equal(1);
    await page.keyboard.press('x');
    await rows.nth(3).waitFor();
    await page.keyboard.press('f');
    await page.keyboard.type('default/b');
    await page.getByText('b', { exact: true }).waitFor();
    await page.getByRole('searchbox').press('Escape');
    await page.getByRole('searchbox').fill('nothing like that');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await rows.nth(3).waitFor();
    await page.locator('h1').click();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/a\/volume\/default\/z$/);
  });

  it('X2 the log: records as they come, held, filtered, with their detail and a link to the moment', async () => {
    const { page } = await browser.open(at('#/log'));
    await page.getByText(/Nothing has happened since this page was opened/).waitFor();
    await page.locator('.live', { hasText: /^Live/ }).waitFor();
    await create('data');
    await page.getByText('CreateVolume: OK').first().waitFor();
    await page.keyboard.press('p');
    await create('other');
    await page.getByText(/\d+ new: scroll to the top and go on to see them/).waitFor();
    expect(await page.getByText('volume/default/other').count()).to.equal(0);
    await page.getByRole('button', { name: /Go on/ }).click();
    await page.getByText('volume/default/other').first().waitFor();
    await page.getByRole('button', { name: 'part', exact: true }).click();
    await page
      .getByRole('button', { name: /lifecycle: .* → created/ })
      .first()
      .click();
    await page.getByRole('complementary', { name: 'Record' }).getByRole('link').click();
    await page.waitForURL(/#\/a\/volume\/default\/\w+\?seq=\d+$/);
  });

  it('X2 find: by a few letters, by keys alone; the focus comes back', async () => {
    for (const id of ['data', 'logs']) await create(id);
    const { page } = await browser.open(inspector.url);
    await page.getByText('Nothing needs a person.').waitFor();
    // At once: no key may be lost while the dialog opens.
    await page.keyboard.type('/log');
    await page.getByRole('option', { name: /logs/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/a\/volume\/default\/logs$/);
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    await page.waitForURL(/#\/$/);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' });
  });

  it('X2 keys: a dialog has all of them, a field too, and a button or a link is pressed by them', async () => {
    await refused('z');
    const { page } = await browser.open(at('#/a/volume/default/z?seq=2'));
    const past = page.getByText(/^Step 2 of \d+$/);
    await past.waitFor();
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keys' });
    await dialog.waitFor();
    await page.keyboard.press('l');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await past.waitFor();
    await page.goto(`${new URL(inspector.url).origin}/#/list/volume`);
    await page.getByRole('listitem').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('f');
    await page.keyboard.type('?z');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Event log' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/log$/);
  });

  it('X2 light and dark: as the system has it, until somebody chooses, and then it stays', async () => {
    const { page } = await browser.open(inspector.url, { colorScheme: 'dark' });
    const theme = (): Promise<string | null> => page.locator('html').getAttribute('data-theme');
    expect(await theme()).to.equal('dark');
    await page.getByRole('button', { name: 'Use light colours' }).click();
    expect(await theme()).to.equal('light');
    await page.reload();
    await page.getByRole('button', { name: 'Use dark colours' }).waitFor();
    expect(await theme()).to.equal('light');
  });

  it('X2 times: in UTC, until somebody chooses those of the place, and then it stays', async () => {
    await create('data');
    const { page } = await browser.open(at('#/a/volume/default/data'), { timezoneId: 'Asia/Kolkata' });
    const times = page.getByRole('region', { name: 'History' }).locator('time');
    const { first } = await house.runtime.journal.range('volume/default/data');
    let utc = 0;
    for await (const entry of house.runtime.journal.entries('volume/default/data', { to: first })) utc = entry.at;
    await times.last().waitFor();
    expect(await times.last().innerText()).to.equal(new Date(utc).toISOString().slice(11, 23));
    await page.getByRole('button', { name: /show local times/ }).click();
    const local = new Date(utc + 5.5 * 3_600_000).toISOString().slice(11, 23);
    await times.last().getByText(local).waitFor();
    await page.reload();
    await times.last().getByText(local).waitFor();
  });

  it('X2 on a phone every view fits the width', async () => {
    await refused('data');
    const viewport = { width: 390, height: 844 };
    const { page } = await browser.open(inspector.url, { viewport });
    await page.getByText('Needs a person').waitFor();
    for (const hash of ['#/', '#/list/volume', '#/log', '#/a/volume/default/data', '#/timeline/volume/default/data']) {
      await page.goto(`${new URL(inspector.url).origin}/${hash}`);
      await page.locator('h1').first().waitFor({ state: 'attached' });
      const width = await page.locator('#main').evaluate((main) => Reflect.get(main, 'scrollWidth'));
      expect(width, hash).to.be.at.most(viewport.width);
    }
  });

  it('X2 every control has a name', async () => {
    await refused('data');
    const { page } = await browser.open(inspector.url);
    for (const hash of ['#/', '#/list/volume', '#/log', '#/a/volume/default/data', '#/timeline/volume/default/data']) {
      await page.goto(`${new URL(inspector.url).origin}/${hash}`);
      await page.locator('h1').first().waitFor({ state: 'attached' });
      const controls = await page.getByRole('button').or(page.getByRole('link')).or(page.getByRole('searchbox')).all();
      expect(controls.length, hash).to.be.above(5);
      for (const control of controls) {
        const snapshot = await control.ariaSnapshot();
        expect(snapshot, `${hash}: ${await control.evaluate((element) => Reflect.get(element, 'outerHTML'))}`).to.match(
          /"|: /,
        );
      }
    }
  });

  it('X2 the agent is away: says since when, and goes on when it is back', async () => {
    await create('data');
    const { page } = await browser.open(inspector.url);
    await page.getByText('Live').waitFor();
    const { port } = new URL(inspector.url);
    const { token } = inspector;
    await inspector.close();
    await page
      .getByRole('alert')
      .getByText(/The agent does not answer/)
      .waitFor();
    await create('later');
    inspector = await serveInspector(house.runtime, { listen: `127.0.0.1:${port}`, token, page: builtPage });
    await page.getByText('Live').waitFor();
    await page
      .getByRole('link', { name: /Volumes 2/ })
      .first()
      .waitFor();
  });

  it('X6 a page of another origin can neither read nor follow', async () => {
    const other = await serveInspector(house.runtime, { page: builtPage });
    try {
      const { page } = await browser.open(inspector.url);
      await page.getByText('Live').waitFor();
      await page.goto(other.url);
      await page.getByText('Live').waitFor();
      const target = new URL(inspector.url).origin;
      const outcome = await page.evaluate(async (origin) => {
        const read = await fetch(`${origin}/v1/overview`, { credentials: 'include' }).then(
          () => 'read',
          () => 'refused',
        );
        const followed = await new Promise((resolve) => {
          const socket = new WebSocket(`${origin.replace('http', 'ws')}/v1/feed`);
          socket.onopen = () => resolve('opened');
          socket.onerror = () => resolve('refused');
        });
        return [read, followed];
      }, target);
      expect(outcome).to.deep.equal(['refused', 'refused']);
    } finally {
      await other.close();
    }
  });
});
