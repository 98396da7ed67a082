/**
 * Tests answers that come late or never while the driver works on, and requests that are withdrawn while the first call is
 * in doubt.
 */
import { expect } from 'chai';
import type { Step } from '../../src/testing/index.js';
import { refusalOf } from '../refusal.js';
import { AnswersScene } from './answers-scene.js';
import { subjects } from './answers-table.js';

const lost: Step = { breakOff: 'after' };
const denied: Step = { code: 'PERMISSION_DENIED', text: 'not with these' };

describe('late answers to calls of volumes', () => {
  let scene: AnswersScene;
  before(async () => {
    // Shortest timeout in which a normal call still succeeds.
    scene = await AnswersScene.start({ calls: { timeoutMs: 500 } });
    await scene.furnish();
  });
  after(() => scene.end());

  for (const { rpc, name, prepare, ask, isReal } of subjects) {
    for (const hang of ['before', 'after'] as const) {
      it(`V9 ${rpc} hangs ${hang} its work: ${name} is called again after the timeout`, async () => {
        const id = scene.begin();
        await prepare(scene, id);
        scene.driver.script(rpc, { hang });
        await ask(scene, id);
        expect(scene.ends(rpc)[0]).to.equal('gone');
        expect(scene.ends(rpc).at(-1)).to.equal('OK');
        await scene.checkSettled(id, isReal);
      });
    }

    it(`V9 ${rpc} works on after its timeout: ${name} is called again until the driver is not busy any more`, async () => {
      const id = scene.begin();
      await prepare(scene, id);
      scene.driver.script(rpc, { hang: 'before', goOn: true, holdsVolume: true });
      const asked = ask(scene, id);
      const { number } = await scene.called(rpc);
      await scene.driver.waitForGone(number);
      const next = await scene.called(rpc);
      await scene.driver.waitForEnd(next.number);
      scene.driver.release(number);
      await asked;
      expect(scene.ends(rpc).slice(0, 2)).to.deep.equal([
        'OK',
        rpc === 'ValidateVolumeCapabilities' ? 'OK' : 'ABORTED',
      ]);
      expect(scene.ends(rpc).at(-1)).to.equal('OK');
      await scene.checkSettled(id, isReal);
    });
  }
});

describe('requests withdrawn while a call of a volume is in doubt', () => {
  let scene: AnswersScene;
  before(async () => {
    scene = await AnswersScene.start();
    await scene.furnish();
  });
  after(() => scene.end());

  it('V13 creation in doubt, then refused: deletion leaves nothing behind', async () => {
    const id = scene.begin();
    scene.driver.script('CreateVolume', lost).script('CreateVolume', denied);
    await refusalOf(scene.runtime.volumes.create(scene.spec(id)));
    await scene.runtime.volumes.delete({ id });
    expect(scene.real()).to.deep.equal([]);
    await scene.checkSettled(id);
  });

  it('V13 creation in doubt: deletion learns the id first, and leaves nothing behind', async () => {
    const id = scene.begin();
    scene.driver.script('CreateVolume', lost).script('CreateVolume', { hang: 'before' });
    const created = scene.runtime.volumes.create(scene.spec(id)).catch(() => {});
    const { number } = await scene.called('CreateVolume');
    await scene.driver.waitForEnd(number);
    const repeated = await scene.called('CreateVolume');
    const deleted = scene.runtime.volumes.delete({ id });
    scene.driver.release(repeated.number);
    await deleted;
    await created;
    expect(scene.real()).to.deep.equal([]);
    await scene.checkSettled(id);
  });

  for (const [when, steps] of [
    ['in doubt, then refused', [lost, denied]],
    ['refused although its work was done', [{ ...denied, work: true }]],
  ] as const) {
    it(`V8 publish ${when}: unpublished from its node`, async () => {
      const id = scene.begin();
      await scene.runtime.volumes.create(scene.spec(id));
      for (const step of steps) scene.driver.script('ControllerPublishVolume', step);
      await refusalOf(scene.runtime.volumes.publish({ id }, 'a'));
      await scene.runtime.volumes.unpublish({ id }, 'a');
      expect(scene.real().map(({ attached }) => attached)).to.deep.equal([[]]);
      await scene.checkSettled(id);
    });

    it(`V13 publish ${when}: unpublished, then the volume is deleted`, async () => {
      const id = scene.begin();
      await scene.runtime.volumes.create(scene.spec(id));
      for (const step of steps) scene.driver.script('ControllerPublishVolume', step);
      await refusalOf(scene.runtime.volumes.publish({ id }, 'a'));
      await scene.runtime.volumes.delete({ id });
      expect(scene.real()).to.deep.equal([]);
      await scene.checkSettled(id);
    });
  }

  it('V8 cancelled publish in doubt: resolved, then unpublished', async () => {
    const id = scene.begin();
    await scene.runtime.volumes.create(scene.spec(id));
    scene.driver.script('ControllerPublishVolume', lost).script('ControllerPublishVolume', { hang: 'before' });
    const published = scene.runtime.volumes.publish({ id }, 'a').catch(() => {});
    await scene.called('ControllerPublishVolume');
    const { number } = await scene.called('ControllerPublishVolume');
    const unpublished = scene.runtime.volumes.unpublish({ id }, 'a');
    scene.driver.release(number);
    await unpublished;
    await published;
    expect(scene.real().map(({ attached }) => attached)).to.deep.equal([[]]);
    await scene.checkSettled(id);
  });

  it('V5 unpublish in doubt, then refused: a second request completes it, then a new publish succeeds', async () => {
    const id = scene.begin();
    await scene.runtime.volumes.create(scene.spec(id));
    await scene.runtime.volumes.publish({ id }, 'a');
    scene.driver.script('ControllerUnpublishVolume', lost).script('ControllerUnpublishVolume', denied);
    await refusalOf(scene.runtime.volumes.unpublish({ id }, 'a'));
    await scene.runtime.volumes.unpublish({ id }, 'a');
    await scene.runtime.volumes.publish({ id }, 'a');
    expect(scene.real().map(({ attached }) => attached)).to.deep.equal([['node-a']]);
    await scene.checkSettled(id);
  });

  it('V13 deletion in doubt, then refused: the volume is not used again', async () => {
    const id = scene.begin();
    await scene.runtime.volumes.create(scene.spec(id));
    scene.driver.script('DeleteVolume', lost).script('DeleteVolume', denied);
    await refusalOf(scene.runtime.volumes.delete({ id }));
    expect(await refusalOf(scene.runtime.volumes.publish({ id }, 'a'))).to.include({ code: 'VOLUME_DELETING' });
    await scene.runtime.volumes.delete({ id }, { force: true });
    await scene.runtime.volumes.acknowledge({ id }).catch(() => {});
    await scene.checkSettled(id);
  });
});
