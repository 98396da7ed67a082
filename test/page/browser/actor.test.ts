/** Actors in a real browser: their chart, its past, what if; and a real plugin that dies and comes back. */
import { join } from 'node:path';
import { expect } from 'chai';
import { openJournal } from '../../../src/index.js';
import { type Inspector, serveInspector } from '../../../src/inspector/serve-inspector.js';
import { AgentProcess, makePlace, type Place, pluginPids, removePlace } from '../../scenarios/agent-process.js';
import { builtPage, TestBrowser } from '../../support/browser.js';
import { spec, VolumeHouse } from '../../volumes/volume-house.js';

describe('an actor in a browser', () => {
  const browser = new TestBrowser();
  before(() => browser.start());
  after(() => browser.stop());
  afterEach(() => browser.closeAll());

  describe('a volume whose publish fails three times', () => {
    let house: VolumeHouse;
    let inspector: Inspector;

    beforeEach(async () => {
      house = await new VolumeHouse().furnish();
      inspector = await serveInspector(house.runtime, { version: '0', page: builtPage });
    });

    afterEach(async () => {
      await inspector.close();
      await house.dispose();
    });

    const at = (query = ''): string => `${inspector.url}#/a/volume/default/data${query}`;

    async function create(): Promise<void> {
      const creating = house.runtime.volumes.create(spec('data'));
      await house.rest();
      await creating;
    }

    /** Publishes it: the plugin fails this often, with another answer each time. */
    async function publish(times: number): Promise<void> {
      let failed = 0;
      house.plugin.script = ({ rpc }) => {
        if (rpc !== 'ControllerPublishVolume' || failed >= times) return undefined;
        failed += 1;
        return { code: 'INTERNAL', text: `no luck number ${failed}` };
      };
      const publishing = house.runtime.volumes.publish({ id: 'data' }, 'a');
      await house.clock.advance(60_000);
      await publishing;
    }

    it('X2 J3 from created to published, live; back to the second failure: its answer and the difference', async () => {
      await create();
      const { page, errors } = await browser.open(at());
      await page.getByRole('img', { name: /Statechart of volume data: now in created/ }).waitFor();
      await publish(3);
      await page.getByRole('img', { name: /now in published, before in/ }).waitFor();
      await page.getByText('ControllerPublishVolume: OK').first().waitFor();
      await page
        .getByText(/no luck number 2/)
        .first()
        .click();
      await page.waitForURL(/\?seq=\d+$/);
      await page.getByText(/rebuilt from the journal: no effect runs/).waitFor();
      await page.getByRole('img', { name: /now in backing-off, before in pending-publish/ }).waitFor();
      await page
        .getByText(/In doubt/)
        .first()
        .waitFor();
      await page.getByText(/changed by step \d+/).waitFor();
      expect(errors).to.deep.equal([]);
    });

    it('X2 J3 a link to a moment opens it; keys step on and back, and lead to the present', async () => {
      await create();
      await publish(3);
      const { page } = await browser.open(at('?seq=4'));
      const step = page.getByText(/^Step \d+ of \d+$/);
      await page.getByText('Step 4 of').first().waitFor();
      await page.keyboard.press(']');
      await page.waitForURL(/seq=5/);
      await page.keyboard.press('[');
      await page.waitForURL(/seq=4/);
      await page.keyboard.press('Home');
      await page.waitForURL(/seq=1/);
      await page.keyboard.press('l');
      await page.waitForURL(/data$/);
      await step.waitFor({ state: 'detached' });
    });

    it('J3 two moments are compared', async () => {
      await create();
      await publish(1);
      const { page } = await browser.open(at('?seq=2&b=6'));
      await page.getByRole('img', { name: /at the other moment in/ }).waitFor();
    });

    it('J3 what if it had been unpublished then: another course, and the live volume is not touched', async () => {
      await create();
      await publish(2);
      const before = await house.runtime.actors.inspect('volume/default/data');
      const { page } = await browser.open(at());
      await page
        .getByText(/no luck number 1/)
        .first()
        .click();
      await page.waitForURL(/\?seq=\d+$/);
      await page.getByRole('button', { name: /What if/ }).click();
      await page.getByRole('radio', { name: 'Leave it out' }).check();
      await page.getByRole('button', { name: 'See where it leads' }).click();
      await page
        .getByRole('alert')
        .getByText(/not set in this course/)
        .waitFor();
      await page.getByRole('radio', { name: 'Put an event in after it' }).check();
      await page.getByLabel('As JSON').fill('{ "type": "volume.unpublish", "nodeId": "a" }');
      await page.getByRole('button', { name: 'See where it leads' }).click();
      const course = page.getByRole('region', { name: 'What if' });
      await course.getByText('asked to unpublish it from node a').waitFor();
      await page.getByRole('button', { name: 'Another change' }).click();
      await page.getByLabel('Event', { exact: true }).fill('volume.publish');
      // The last publish of the journal is offered.
      await page.waitForFunction('document.querySelector("textarea").value.includes("nodeId")');
      const offered = JSON.parse(await page.getByLabel('As JSON').inputValue());
      expect(offered).to.include({ type: 'volume.publish' }).and.not.have.property('at');
      await page.getByRole('button', { name: 'See where it leads' }).click();
      await page
        .getByText(/volume\.unpublish had come after step \d+, and volume\.publish had come after step \d+/)
        .waitFor();
      expect(await house.runtime.actors.inspect('volume/default/data')).to.deep.equal(before);
    });

    it('J4 the journal can be saved from the page, and read', async () => {
      await create();
      const { page } = await browser.open(at());
      const saving = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Export the journal' }).click();
      const file = join(house.directory, 'saved.ndjson');
      await (await saving).saveAs(file);
      expect((await openJournal(file)).actors.map(({ address }) => address)).to.deep.equal(['volume/default/data']);
    });

    it('X2 steps of another day stand below its date', async () => {
      await create();
      const { page } = await browser.open(at());
      const [day] = new Date(house.clock.now()).toISOString().split('T');
      await page
        .getByRole('region', { name: 'History' })
        .getByText(day ?? '', { exact: true })
        .waitFor();
    });

    it('X2 the history shows all steps, the calls, or the failures', async () => {
      await create();
      await publish(2);
      const { page } = await browser.open(at());
      const steps = page.getByRole('region', { name: 'History' }).getByRole('listitem');
      await steps.first().waitFor();
      const all = await steps.count();
      await page.getByRole('button', { name: 'Calls' }).click();
      const calls = await steps.count();
      await page.getByRole('button', { name: 'Failures' }).click();
      expect([await steps.count(), calls < all]).to.deep.equal([2, true]);
    });

    it('X2 the volume of a snapshot is shown beside it in the timeline, with its own steps', async () => {
      await create();
      const snapshot = house.runtime.snapshots.create({ id: 'nightly', volume: { id: 'data' } });
      await house.rest();
      await snapshot;
      const { page, errors } = await browser.open(`${inspector.url}#/timeline/volume-snapshot/default/nightly`);
      await page.getByRole('button', { name: '+ volume/default/data' }).click();
      await page.waitForURL(/with=volume/);
      await page
        .getByRole('button', { name: /^CreateVolume: OK/ })
        .first()
        .click();
      await page.waitForURL(/of=volume/);
      await page
        .getByRole('region', { name: /^Step \d+$/ })
        .getByText('CreateVolume')
        .first()
        .waitFor();
      await page.getByRole('button', { name: '− volume/default/data' }).click();
      await page.getByRole('button', { name: /^CreateVolume: OK/ }).waitFor({ state: 'detached' });
      expect(errors).to.deep.equal([]);
    });

    it('X2 a timeline of many steps is drawn on a canvas, and its marks can be chosen', async () => {
      await create();
      for (let round = 0; round < 45; round += 1) {
        const volume = { id: 'data' };
        const published = house.runtime.volumes.publish(volume, 'a');
        await house.rest();
        await published;
        const unpublished = house.runtime.volumes.unpublish(volume, 'a');
        await house.rest();
        await unpublished;
        await house.clock.advance(300);
      }
      const { page, errors } = await browser.open(`${inspector.url}#/timeline/volume/default/data`);
      const canvas = page.getByRole('img', { name: /\d+ marks; the calls are listed below/ });
      await canvas.waitFor();
      const { width } = (await canvas.boundingBox()) ?? { width: 0 };
      await canvas.click({ position: { x: width / 3, y: 30 + 48 + 25 } });
      await page.waitForURL(/\?seq=\d+$/);
      expect(errors).to.deep.equal([]);
    });

    it('X2 the timeline: its calls as bars, with their answers', async () => {
      await create();
      await publish(2);
      const { page } = await browser.open(`${inspector.url}#/timeline/volume/default/data`);
      await page
        .getByRole('button', { name: /ControllerPublishVolume.*INTERNAL/ })
        .first()
        .waitFor();
      await page.getByText(/\d+ calls, 2 failed/).waitFor();
    });

    it('X3 sending is off: the page says which setting allows it, and has no button', async () => {
      await create();
      const { page } = await browser.open(at());
      await page.getByRole('tab', { name: /Accepts/ }).click();
      await page.getByText('inspector.allowSend').waitFor();
      expect(await page.getByRole('button', { name: /Send/ }).count()).to.equal(0);
    });

    it('X3 sending is allowed: an event goes only after a name and a word are typed, and the history says who', async () => {
      await create();
      await inspector.close();
      inspector = await serveInspector(house.runtime, { page: builtPage, allowSend: true });
      const { page } = await browser.open(at());
      await page.getByRole('tab', { name: /Accepts/ }).click();
      const row = page.getByRole('listitem').filter({ hasText: 'volume.set-availability' });
      await row.getByRole('button', { name: 'Send…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Send volume.set-availability' });
      const button = dialog.getByRole('button', { name: 'Send', exact: true });
      await dialog.getByLabel('Event, as JSON').fill('{ "type": "volume.set-availability", "availability": "pause" }');
      expect(await button.isDisabled()).to.equal(true);
      await dialog.getByLabel('Your name, for the journal').fill('alice');
      await dialog.getByLabel(/^Type/).fill('send');
      await button.click();
      await dialog.getByText('Sent: the actor has taken it.').waitFor();
      expect((await house.runtime.volumes.get({ id: 'data' }))?.availability).to.equal('pause');
      await page.keyboard.press('Escape');
      await page.getByText('availability set to pause').first().waitFor();
      await page.getByText('alice').first().waitFor();
    });

    it('X2 an actor that never was: says so, with a way back', async () => {
      const { page } = await browser.open(`${inspector.url}#/a/volume/default/none`);
      await page.getByText(/there is no actor volume\/default\/none/).waitFor();
      await page
        .getByRole('link', { name: /overview/i })
        .first()
        .click();
      await page.getByRole('heading', { name: 'Needs a person' }).waitFor();
    });
  });

  describe('a real agent with a real plugin', () => {
    let place: Place;
    let agent: AgentProcess;

    beforeEach(() => {
      place = makePlace(
        {},
        { fingerprint: { intervalMs: 200, timeoutMs: 1_000 }, inspector: { listen: '127.0.0.1:0' } },
      );
      agent = new AgentProcess(place);
    });
    afterEach(() => removePlace(place, agent));

    it('X2 the plugin dies and comes back: the overview and its actor show it, live', async () => {
      await agent.line(/plugin hostpath \(csi-node\): healthy/);
      const line = await agent.line(/^ {2}page {2}/);
      const { page, errors } = await browser.open(line.trim().split(/\s+/)[1] ?? '');
      await page.getByText('Nothing needs a person.').waitFor();
      const [pid] = pluginPids(place);
      process.kill(pid ?? 0, 'SIGSTOP');
      await page
        .getByText(/Plugin hostpath \(csi-node\): /)
        .first()
        .waitFor();
      process.kill(pid ?? 0, 'SIGCONT');
      await page.getByText('Nothing needs a person.').waitFor();
      process.kill(pid ?? 0, 'SIGKILL');
      await page
        .getByText(/ended by SIGKILL|process of|spawnProcess ended|pause is over/)
        .first()
        .waitFor();
      await agent.line(/plugin hostpath \(csi-node\): healthy[\s\S]*/);
      await page.getByText('Nothing needs a person.').waitFor();
      expect(errors).to.deep.equal([]);
    });
  });
});
