/** Tests repeated publishes: with the present CSI node id, and without remains of the publish before. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { faultyStore } from '../support/faulty-store.js';
import { type DataHouse, inDataHouse, key } from './data-house.js';
import { always, gate, inOrder, toldOf } from './scripts.js';
import { pluginName } from './volume-house.js';

describe('publishing a volume again', () => {
  let house: DataHouse;
  inDataHouse(
    (furnished) => {
      house = furnished;
    },
    { isMade: true },
  );

  const rename = (): Promise<void> =>
    house.runtime.nodes.report({ id: 'a', plugins: [{ name: pluginName, nodeId: 'renamed' }] });

  it('V7 V11 failed finally, CSI node id changed since: published under the new id', async () => {
    house.plugin.script = ({ nodeId }) => (nodeId === 'csi-a' ? { code: 'NOT_FOUND' } : undefined);
    await refusalOf(house.volumes.publish(key, 'a'));
    await rename();
    await house.volumes.publish(key, 'a');
    expect(house.attached()).to.deep.equal(['renamed']);
    expect((await house.volumes.get(key))?.publications.a?.csiNodeId).to.equal('renamed');
  });

  it('V7 published, CSI node id changed since: refused with advice, the publication stays', async () => {
    const { publishContext } = await house.volumes.publish(key, 'a');
    await rename();
    const error = await refusalOf(house.volumes.publish(key, 'a'));
    expect(error).to.include({ code: 'VOLUME_IN_USE' });
    expect(error.message)
      .to.include('published on node a as csi-a')
      .and.include('renamed now: unpublish it there first');
    expect(house.attached()).to.deep.equal(['csi-a']);
    await house.volumes.unpublish(key, 'a');
    expect((await house.volumes.publish(key, 'a')).publishContext).not.to.deep.equal(publishContext);
    expect(house.attached()).to.deep.equal(['renamed']);
  });

  it('V7 V8 in doubt under the old CSI node id: unpublished there, then published under the new one', async () => {
    house.plugin.script = ({ rpc, nodeId }) =>
      rpc === 'ControllerPublishVolume' && nodeId === 'csi-a' ? { code: 'DEADLINE_EXCEEDED', work: true } : undefined;
    const first = house.volumes.publish(key, 'a');
    await house.rest();
    await rename();
    const second = house.volumes.publish(key, 'a');
    await house.clock.advance(60_000);
    await Promise.all([first, second]);
    expect(house.plugin.told().slice(-2)).to.deep.equal([
      'ControllerUnpublishVolume csi-a: OK',
      'ControllerPublishVolume renamed: OK',
    ]);
    expect(house.attached()).to.deep.equal(['renamed']);
  });

  it('V7 waiting for its plugin: the old CSI node id is never sent', async () => {
    house.plugin.health = { healthy: false, description: 'initialising' };
    await house.clock.advance(31_000);
    const first = house.volumes.publish(key, 'a');
    await house.rest();
    await rename();
    const second = house.volumes.publish(key, 'a');
    await house.rest();
    house.plugin.health = { healthy: true, description: 'ready' };
    await house.clock.advance(31_000);
    await Promise.all([first, second]);
    expect(house.plugin.told()).to.deep.equal(['ControllerPublishVolume renamed: OK']);
  });

  it('V1 V8 unpublished during its call: each state is emitted once', async () => {
    const held = gate();
    inOrder(house.plugin, 'ControllerPublishVolume', [{ before: held.passed }]);
    const asked = refusalOf(house.volumes.publish(key, 'a'));
    await house.rest();
    const gone = house.volumes.unpublish(key, 'a');
    await house.rest();
    held.open();
    await Promise.all([asked, gone]);
    const told = (await house.events()).flatMap((event) => (event.kind === 'publication' ? [event.state] : []));
    expect(told).to.deep.equal(['pending-publish', 'pending-unpublish', 'removed']);
  });

  it('V8 unpublished as it begins to wait for its plugin: cancelled without a call', async () => {
    house.plugin.health = { healthy: false, description: 'initialising' };
    await house.clock.advance(31_000);
    const stored = gate();
    const { commit } = house.store;
    house.store.commit = async (commits) => {
      await stored.passed;
      return commit.call(house.store, commits);
    };
    const asked = refusalOf(house.volumes.publish(key, 'a'));
    await house.rest();
    const gone = house.volumes.unpublish(key, 'a');
    await house.rest();
    stored.open();
    await Promise.all([asked, gone]);
    expect(await house.volumes.get(key)).to.deep.include({ publications: {} });
    expect(house.plugin.told()).to.deep.equal([]);
  });

  it('V8 V16 unpublished in doubt, requested on another node: resolved and unpublished before that', async () => {
    inOrder(house.plugin, 'ControllerPublishVolume', [
      { code: 'DEADLINE_EXCEEDED', work: true },
      { code: 'DEADLINE_EXCEEDED', work: true },
    ]);
    const first = refusalOf(house.volumes.publish(key, 'a'));
    await house.rest();
    const gone = house.volumes.unpublish(key, 'a');
    const second = house.volumes.publish(key, 'b');
    await house.clock.advance(60_000);
    expect(house.plugin.told().slice(2)).to.deep.equal([
      'ControllerPublishVolume csi-a: OK',
      'ControllerUnpublishVolume csi-a: OK',
      'ControllerPublishVolume csi-b: OK',
    ]);
    await Promise.all([first, gone, second]);
  });

  it('V8 V10 unpublished in doubt, then retried: three more attempts, then unpublished', async () => {
    always(house.plugin, 'ControllerPublishVolume', { code: 'DEADLINE_EXCEEDED', work: true });
    const asked = refusalOf(house.volumes.publish(key, 'a'));
    while (house.plugin.calls.length < 9) await house.clock.advance(10_000);
    const gone = house.volumes.unpublish(key, 'a');
    await house.rest();
    const before = toldOf(house.plugin, 'ControllerPublishVolume').length;
    await house.volumes.retry(key);
    await house.clock.advance(60_000);
    expect(toldOf(house.plugin, 'ControllerPublishVolume')).to.have.length(before + 3);
    await Promise.all([asked, gone]);
    expect(house.attached()).to.deep.equal([]);
  });

  const unwanted: [string, () => Promise<unknown>][] = [
    ['unpublished', () => house.volumes.unpublish(key, 'a')],
    ['its node renamed', () => rename().then(() => house.volumes.publish(key, 'a'))],
  ];
  for (const [how, end] of unwanted)
    it(`V10, 34.23 ${how} after an hour in doubt: undone within a second`, async () => {
      always(house.plugin, 'ControllerPublishVolume', { code: 'DEADLINE_EXCEEDED', work: true });
      const asked = house.volumes.publish(key, 'a').catch(() => {});
      await house.clock.advance(3_600_000);
      const ended = end();
      await house.clock.advance(1_000);
      expect(toldOf(house.plugin, 'ControllerUnpublishVolume')).to.deep.equal(['ControllerUnpublishVolume csi-a: OK']);
      house.plugin.script = () => undefined;
      await house.clock.advance(1_000);
      await Promise.all([ended, asked]);
    });

  it('V8 unpublished while a second publication follows the first: waits until both are gone', async () => {
    const held = gate();
    const late = gate();
    const stored = gate();
    let storing: Promise<void> | undefined;
    await house.runtime.close();
    house.store = faultyStore(house.store, {
      at: 'commit',
      how: async (_, proceed) => {
        await storing;
        return proceed();
      },
    });
    await house.open();
    await house.volumes.publish(key, 'a');
    inOrder(house.plugin, 'ControllerUnpublishVolume', [{ before: held.passed }]);
    const first = house.volumes.unpublish(key, 'a');
    const second = refusalOf(house.volumes.publish(key, 'a'));
    await house.rest();
    inOrder(house.plugin, 'ControllerPublishVolume', [{ before: late.passed }]);
    storing = stored.passed;
    held.open();
    await house.rest();
    // The end of the first publication is committed. The second publication is not committed yet.
    let isGone = false;
    const gone = house.volumes.unpublish(key, 'a').then(() => {
      isGone = true;
    });
    await house.rest();
    stored.open();
    await house.rest();
    expect(isGone).to.equal(false);
    late.open();
    await Promise.all([first, second, gone]);
    expect(house.attached()).to.deep.equal([]);
  });

  it('V8 N3 fenced during its call, then requested again: a later NOT_FOUND is no proof', async () => {
    const held = gate();
    inOrder(house.plugin, 'ControllerPublishVolume', [{ before: held.passed }]);
    const first = house.volumes.publish(key, 'a');
    await house.rest();
    await house.runtime.nodes.fence('a', 'burnt');
    await house.rest();
    await house.runtime.nodes.report({ id: 'a', plugins: [{ name: pluginName, nodeId: 'csi-a' }] });
    const second = house.volumes.publish(key, 'a');
    await house.rest();
    held.open();
    await Promise.all([first, second]);
    always(house.plugin, 'ControllerUnpublishVolume', { code: 'NOT_FOUND' });
    const gone = house.volumes.unpublish(key, 'a');
    await house.clock.advance(1_000);
    expect((await house.volumes.get(key))?.publications.a?.state).to.equal('pending-unpublish');
    house.plugin.script = () => undefined;
    await house.clock.advance(60_000);
    await gone;
  });

  it('V8 runtime closed during the call: the next one unpublishes only after the deadline of that call', async () => {
    const late = gate();
    house.plugin.overlaps = 'allowed';
    inOrder(house.plugin, 'ControllerPublishVolume', [{ before: late.passed }]);
    house.volumes.publish(key, 'a').catch(() => {});
    await house.rest();
    const closing = house.runtime.close();
    await house.clock.advance(30_000);
    await closing;
    await house.open();
    await house.clock.advance(1_000);
    expect(house.plugin.told().slice(1)).to.deep.equal(['ControllerPublishVolume csi-a: OK']);
    const gone = house.volumes.unpublish(key, 'a');
    await house.clock.advance(60_000);
    expect(toldOf(house.plugin, 'ControllerUnpublishVolume')).to.deep.equal([]);
    late.open();
    await house.clock.advance(120_000);
    await gone;
    expect(house.attached()).to.deep.equal([]);
  });

  it('V8 runtime closed during the call, the next one while it waits: the third one waits, too', async () => {
    const late = gate();
    house.plugin.overlaps = 'allowed';
    inOrder(house.plugin, 'ControllerPublishVolume', [{ before: late.passed }]);
    house.volumes.publish(key, 'a').catch(() => {});
    await house.rest();
    const ended = house.runtime.close();
    await house.clock.advance(30_000);
    await ended;
    await house.open();
    await house.clock.advance(1_000);
    house.volumes.unpublish(key, 'a').catch(() => {});
    await house.clock.advance(1_000);
    await house.restart();
    await house.clock.advance(60_000);
    expect(toldOf(house.plugin, 'ControllerUnpublishVolume')).to.deep.equal([]);
    late.open();
    await house.clock.advance(120_000);
    expect(house.attached()).to.deep.equal([]);
  });

  it('V8 C2 requested again while its claim is released: the claim ends, the volume stays published', async () => {
    const hung = gate();
    inOrder(house.plugin, 'ControllerPublishVolume', [{ before: hung.passed }]);
    const claim = { mode: 'write', accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
    await house.volumes.claim(key, { ...claim, allocId: 'w1', nodeId: 'a' });
    const second = house.volumes.claim(key, { ...claim, allocId: 'w2', nodeId: 'a', wait: true });
    const first = house.volumes.publish(key, 'a');
    await house.rest();
    await house.volumes.release(key, 'w1');
    const again = house.volumes.publish(key, 'a');
    await house.rest();
    hung.open();
    await Promise.all([first, again]);
    expect((await second).state).to.equal('taken');
    const { claims = [], publications = {} } = (await house.volumes.get(key)) ?? {};
    expect(claims.map(({ allocId, state }) => `${allocId} ${state}`)).to.deep.equal(['w2 taken']);
    expect(publications.a?.state).to.equal('published');
  });
});
