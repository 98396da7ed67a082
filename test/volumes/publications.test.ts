/** Tests publish and unpublish, each requested in every state of the other. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { type DataHouse, inDataHouse, key } from './data-house.js';
import { always, gate, inOrder, toldOf } from './scripts.js';
import { pluginName, spec } from './volume-house.js';

const multi = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
const longMs = 3_600_000;

describe('publishing a volume', () => {
  let house: DataHouse;
  inDataHouse(
    (furnished) => {
      house = furnished;
    },
    { isMade: true },
  );

  /** Restarts the runtime while a call is under way, which goes on at the plugin. */
  const restartAfter = async (ms: number): Promise<void> => {
    const closing = house.runtime.close();
    await house.clock.advance(ms);
    await closing;
    await house.open();
  };

  describe('and unpublishing it before it is published', () => {
    it('V8 call under way: waits for the outcome, then unpublishes', async () => {
      const held = gate();
      inOrder(house.plugin, 'ControllerPublishVolume', [{ after: held.passed }]);
      const asked = refusalOf(house.volumes.publish(key, 'a'));
      await house.rest();
      const gone = house.volumes.unpublish(key, 'a');
      await house.rest();
      expect(await house.stateOn('a')).to.equal('pending-publish');
      held.open();
      await gone;
      expect(await asked).to.include({ code: 'ABORTED' });
      expect(house.plugin.told()).to.deep.equal([
        'ControllerPublishVolume csi-a: OK',
        'ControllerUnpublishVolume csi-a: OK',
      ]);
      expect(await house.publications()).to.deep.equal({});
    });

    it('V8 call fails finally meanwhile: unpublished nevertheless, as only the plugin knows the state', async () => {
      const held = gate();
      inOrder(house.plugin, 'ControllerPublishVolume', [{ before: held.passed, code: 'INVALID_ARGUMENT' }]);
      const asked = refusalOf(house.volumes.publish(key, 'a'));
      await house.rest();
      const gone = house.volumes.unpublish(key, 'a');
      await house.rest();
      held.open();
      await gone;
      await asked;
      expect(house.plugin.told()).to.deep.equal([
        'ControllerPublishVolume csi-a: INVALID_ARGUMENT',
        'ControllerUnpublishVolume csi-a: OK',
      ]);
    });

    it('V8 in doubt and in backoff: calls again at once, then unpublishes', async () => {
      const steps = Array.from({ length: 9 }, () => ({ code: 'DEADLINE_EXCEEDED', work: true }) as const);
      inOrder(house.plugin, 'ControllerPublishVolume', steps);
      const asked = refusalOf(house.volumes.publish(key, 'a'));
      await house.clock.advance(20_000);
      while (house.plugin.calls.length < 9) await house.clock.advance(10_000);
      await house.volumes.unpublish(key, 'a');
      expect(await asked).to.include({ code: 'ABORTED' });
      expect(house.plugin.told().slice(-2)).to.deep.equal([
        'ControllerPublishVolume csi-a: OK',
        'ControllerUnpublishVolume csi-a: OK',
      ]);
      expect(house.plugin.calls).to.have.length(11);
      expect(house.attached()).to.deep.equal([]);
    });

    it('V8 outcome stays unknown: three more attempts, then unpublished regardless', async () => {
      always(house.plugin, 'ControllerPublishVolume', { code: 'DEADLINE_EXCEEDED', work: true });
      const asked = refusalOf(house.volumes.publish(key, 'a'));
      await house.rest();
      const gone = house.volumes.unpublish(key, 'a');
      await house.clock.advance(60_000);
      await gone;
      await asked;
      expect(house.plugin.told()).to.deep.equal([
        'ControllerPublishVolume csi-a: DEADLINE_EXCEEDED',
        'ControllerPublishVolume csi-a: DEADLINE_EXCEEDED',
        'ControllerPublishVolume csi-a: DEADLINE_EXCEEDED',
        'ControllerPublishVolume csi-a: DEADLINE_EXCEEDED',
        'ControllerUnpublishVolume csi-a: OK',
      ]);
      expect(house.attached()).to.deep.equal([]);
    });

    it('V8 requested again during the unpublish: published again after it', async () => {
      const held = gate();
      house.plugin.script = ({ rpc }) => {
        if (rpc === 'ControllerUnpublishVolume') return { before: held.passed };
        return house.plugin.calls.length < 5 ? { code: 'DEADLINE_EXCEEDED', work: true } : undefined;
      };
      const asked = house.volumes.publish(key, 'a');
      await house.rest();
      const gone = house.volumes.unpublish(key, 'a');
      await house.clock.advance(60_000);
      expect(await house.stateOn('a')).to.equal('pending-unpublish');
      const again = house.volumes.publish(key, 'a');
      await house.rest();
      held.open();
      await gone;
      expect(await again).to.deep.equal({ publishContext: { device: 'vol-1@csi-a' } });
      expect(await asked).to.deep.equal(await again);
      expect(house.plugin.told().slice(-2)).to.deep.equal([
        'ControllerUnpublishVolume csi-a: OK',
        'ControllerPublishVolume csi-a: OK',
      ]);
      expect(house.attached()).to.deep.equal(['csi-a']);
    });

    it('V8 requested again before the outcome is known: not unpublished, and the unpublish is rejected', async () => {
      const held = gate();
      inOrder(house.plugin, 'ControllerPublishVolume', [{ before: held.passed }]);
      const first = house.volumes.publish(key, 'a');
      await house.rest();
      const gone = refusalOf(house.volumes.unpublish(key, 'a'));
      await house.rest();
      const second = house.volumes.publish(key, 'a');
      await house.rest();
      held.open();
      expect(await first).to.deep.equal(await second);
      expect(await gone).to.include({ code: 'ABORTED' });
      expect(house.plugin.told()).to.deep.equal(['ControllerPublishVolume csi-a: OK']);
    });

    it('V8 waiting for the plugin: cancelled at once without a call', async () => {
      await house.makeUnwell();
      const asked = refusalOf(house.volumes.publish(key, 'a'));
      await house.rest();
      expect((await house.volumes.get(key))?.error?.message).to.include('initialising');
      await house.volumes.unpublish(key, 'a');
      expect(await asked).to.include({ code: 'ABORTED' });
      await house.makeWell();
      expect(house.plugin.told()).to.deep.equal([]);
      expect(await house.volumes.get(key)).to.deep.include({ state: 'created', publications: {} });
    });

    it('V8 call under way after a wait for the plugin: waits for the outcome, then unpublishes', async () => {
      await house.makeUnwell();
      const held = gate();
      inOrder(house.plugin, 'ControllerPublishVolume', [{ after: held.passed }]);
      const asked = refusalOf(house.volumes.publish(key, 'a'));
      await house.rest();
      await house.makeWell();
      expect(house.plugin.calls).to.have.length(1);
      const gone = house.volumes.unpublish(key, 'a');
      await house.rest();
      expect(await house.stateOn('a')).to.equal('pending-publish');
      held.open();
      await gone;
      await asked;
      expect(house.plugin.told()).to.deep.equal([
        'ControllerPublishVolume csi-a: OK',
        'ControllerUnpublishVolume csi-a: OK',
      ]);
      expect(house.attached()).to.deep.equal([]);
    });

    it('V8 restart during the call, plugin gone: in doubt, resolved once the plugin is back', async () => {
      always(house.plugin, 'ControllerPublishVolume', { work: true, after: new Promise(() => {}) });
      house.volumes.publish(key, 'a').catch(() => {});
      await house.rest();
      house.plugin.health = { healthy: false, description: 'initialising' };
      await restartAfter(30_000);
      house.plugin.inFlight.clear();
      await house.clock.advance(200);
      house.plugin.script = () => undefined;
      const gone = house.volumes.unpublish(key, 'a');
      await house.clock.advance(1_000);
      expect(await house.stateOn('a')).to.equal('pending-publish');
      await house.makeWell();
      // The call of the earlier runtime may still arrive: the unpublish waits for its deadline.
      await house.clock.advance(130_000);
      await gone;
      expect(house.plugin.told().slice(1)).to.deep.equal([
        'ControllerPublishVolume csi-a: OK',
        'ControllerUnpublishVolume csi-a: OK',
      ]);
      expect(house.attached()).to.deep.equal([]);
    });

    it('V8 two restarts within the deadline of the call, which arrives late: still unpublished', async () => {
      const held = gate();
      inOrder(house.plugin, 'ControllerPublishVolume', [{ before: held.passed }]);
      house.plugin.overlaps = 'allowed';
      house.volumes.publish(key, 'a').catch(() => {});
      await house.rest();
      await restartAfter(30_000);
      // The repeated publish has succeeded, but the call of the earlier runtime may still be open.
      await house.clock.advance(1_000);
      expect(await house.stateOn('a')).to.equal('published');
      house.volumes.unpublish(key, 'a').catch(() => {});
      await house.clock.advance(1_000);
      await restartAfter(30_000);
      await house.clock.advance(30_000);
      held.open();
      await house.clock.advance(130_000);
      expect(house.attached()).to.deep.equal([]);
      expect(house.plugin.told()).to.deep.equal([
        'ControllerPublishVolume csi-a: OK',
        'ControllerPublishVolume csi-a: OK',
        'ControllerUnpublishVolume csi-a: OK',
      ]);
    });

    it('V8 restart while waiting for the plugin: cancelled at once without a call', async () => {
      await house.makeUnwell();
      house.volumes.publish(key, 'a').catch(() => {});
      await house.rest();
      await house.restart();
      await house.volumes.unpublish(key, 'a');
      expect(await house.publications()).to.deep.equal({});
      await house.makeWell();
      expect(house.plugin.told()).to.deep.equal([]);
    });

    it('V8 restart while waiting, plugin healthy since: waits for the outcome of the call, then unpublishes', async () => {
      await house.makeUnwell();
      const held = gate();
      inOrder(house.plugin, 'ControllerPublishVolume', [{ after: held.passed }]);
      house.volumes.publish(key, 'a').catch(() => {});
      await house.rest();
      house.plugin.health = { healthy: true, description: 'ready' };
      await house.restart();
      await house.clock.advance(1_000);
      expect(house.plugin.calls).to.have.length(1);
      const gone = house.volumes.unpublish(key, 'a');
      await house.rest();
      held.open();
      await house.clock.advance(130_000);
      await gone;
      expect(house.plugin.told()).to.have.length(2);
      expect(house.attached()).to.deep.equal([]);
    });
  });

  describe('while it is being unpublished', () => {
    it('V8 queued once, however often requested, and published after the unpublish', async () => {
      await house.volumes.publish(key, 'a');
      const held = gate();
      inOrder(house.plugin, 'ControllerUnpublishVolume', [{ before: held.passed }]);
      const gone = house.volumes.unpublish(key, 'a');
      await house.rest();
      const asked = [house.volumes.publish(key, 'a'), house.volumes.publish(key, 'a')];
      await house.rest();
      expect(await house.stateOn('a')).to.equal('pending-unpublish');
      held.open();
      await gone;
      await Promise.all(asked);
      expect(house.plugin.told()).to.deep.equal([
        'ControllerPublishVolume csi-a: OK',
        'ControllerUnpublishVolume csi-a: OK',
        'ControllerPublishVolume csi-a: OK',
      ]);
    });

    it('V8 unpublished again while queued: not published again', async () => {
      await house.volumes.publish(key, 'a');
      const held = gate();
      inOrder(house.plugin, 'ControllerUnpublishVolume', [{ before: held.passed }]);
      const gone = house.volumes.unpublish(key, 'a');
      await house.rest();
      const asked = refusalOf(house.volumes.publish(key, 'a'));
      await house.rest();
      const goneAgain = house.volumes.unpublish(key, 'a');
      await house.rest();
      held.open();
      await Promise.all([gone, goneAgain]);
      expect(await asked).to.include({ code: 'ABORTED' });
      expect(await house.publications()).to.deep.equal({});
    });

    it('V8 requested in another mode than the queued one: refused, naming that', async () => {
      await house.volumes.publish(key, 'a');
      const held = gate();
      inOrder(house.plugin, 'ControllerUnpublishVolume', [{ before: held.passed }]);
      const gone = house.volumes.unpublish(key, 'a');
      await house.rest();
      const asked = house.volumes.publish(key, 'a');
      await house.rest();
      const other = await refusalOf(house.volumes.publish(key, 'a', { readOnly: true }));
      expect(other).to.include({ code: 'VOLUME_IN_USE' });
      expect(other.message).to.include('node a (pending-unpublish, single-node-writer)');
      held.open();
      await Promise.all([gone, asked]);
    });
  });

  describe('on one node at a time', () => {
    it('V16 on a second node while published: refused, naming the first node', async () => {
      await house.volumes.publish(key, 'a');
      const error = await refusalOf(house.volumes.publish(key, 'b'));
      expect(error).to.include({ code: 'VOLUME_IN_USE', address: 'volume/default/data' });
      expect(error.message)
        .to.include('node a (published, single-node-writer)')
        .and.include('unpublish it there first');
    });

    it('V16 on a second node during an unpublish: waits, naming the first node, then published', async () => {
      await house.volumes.publish(key, 'a');
      always(house.plugin, 'ControllerUnpublishVolume', { code: 'UNAVAILABLE', text: 'no backend' });
      const gone = house.volumes.unpublish(key, 'a');
      await house.rest();
      const late = refusalOf(house.volumes.publish(key, 'b', { timeoutMs: 50 }));
      await house.clock.advance(50);
      expect((await late).message).to.include('no backend');
      const moved = house.volumes.publish(key, 'b');
      await house.rest();
      house.plugin.script = () => undefined;
      await house.clock.advance(longMs);
      await gone;
      expect(await moved).to.deep.equal({ publishContext: { device: 'vol-1@csi-b' } });
      expect(house.attached()).to.deep.equal(['csi-b']);
    });

    it('V16 on a second node, unpublish failed finally: refused until the unpublish is retried', async () => {
      await house.volumes.publish(key, 'a');
      always(house.plugin, 'ControllerUnpublishVolume', { code: 'PERMISSION_DENIED' });
      expect(await refusalOf(house.volumes.unpublish(key, 'a'))).to.include({ code: 'CSI_ERROR' });
      const error = await refusalOf(house.volumes.publish(key, 'b'));
      expect(error).to.include({ code: 'VOLUME_IN_USE' });
      expect(error.message).to.include('node a (failed');
      house.plugin.script = () => undefined;
      await house.volumes.unpublish(key, 'a');
      await house.volumes.publish(key, 'b');
      expect(house.attached()).to.deep.equal(['csi-b']);
    });

    it('V11 V16 unpublish fails finally while a second node waits: rejected, naming why; the request stands', async () => {
      await house.volumes.publish(key, 'a');
      const held = gate();
      inOrder(house.plugin, 'ControllerUnpublishVolume', [{ before: held.passed, code: 'PERMISSION_DENIED' }]);
      const gone = refusalOf(house.volumes.unpublish(key, 'a'));
      await house.rest();
      const moved = refusalOf(house.volumes.publish(key, 'b'));
      await house.rest();
      held.open();
      await gone;
      const stuck = /published on node b.*gone from node a.*failed.*PERMISSION_DENIED/;
      expect((await house.volumes.get(key))?.error?.message).to.match(stuck);
      for (const refusal of [moved, refusalOf(house.volumes.publish(key, 'b'))]) {
        const error = await refusal;
        expect(error).to.include({ code: 'VOLUME_IN_USE', address: 'volume/default/data' });
        expect(error.message).to.match(stuck).and.include('the request stands');
      }
      await house.volumes.retry(key);
      await house.volumes.publish(key, 'b');
      expect(house.attached()).to.deep.equal(['csi-b']);
    });

    it('V16 on a second node in another mode during an unpublish: waits, too', async () => {
      await house.volumes.publish(key, 'a');
      const held = gate();
      inOrder(house.plugin, 'ControllerUnpublishVolume', [{ before: held.passed }]);
      const gone = house.volumes.unpublish(key, 'a');
      await house.rest();
      const moved = house.volumes.publish(key, 'b', { capability: multi });
      await house.rest();
      expect(house.plugin.told().filter((line) => line.includes('csi-b'))).to.deep.equal([]);
      held.open();
      await Promise.all([gone, moved]);
    });
  });

  describe('that fails for good', () => {
    it('V11 failed with code and message; a repeated request fails at once, a retry calls again', async () => {
      inOrder(house.plugin, 'ControllerPublishVolume', [{ code: 'INVALID_ARGUMENT', text: 'no such size' }]);
      const error = await refusalOf(house.volumes.publish(key, 'a'));
      expect(error).to.include({ code: 'CSI_ERROR', rpc: 'ControllerPublishVolume', grpcCode: 'INVALID_ARGUMENT' });
      expect((await house.publications()).a).to.deep.include({ state: 'failed' });
      expect((await house.publications()).a?.message).to.include('no such size');
      expect(await refusalOf(house.volumes.publish(key, 'a'))).to.include({ grpcCode: 'INVALID_ARGUMENT' });
      await house.clock.advance(longMs);
      expect(toldOf(house.plugin, 'ControllerPublishVolume')).to.have.length(1);
      await house.volumes.retry(key);
      await house.rest();
      expect(await house.stateOn('a')).to.equal('published');
    });

    it('V11 requested in another mode: called with it', async () => {
      inOrder(house.plugin, 'ControllerPublishVolume', [{ code: 'INVALID_ARGUMENT' }]);
      await refusalOf(house.volumes.publish(key, 'a'));
      await house.volumes.publish(key, 'a', { capability: multi });
      expect((await house.publications()).a).to.deep.include({ state: 'published', capability: multi });
    });

    it('V11 a failed node does not block other nodes', async () => {
      house.plugin.script = ({ nodeId }) => (nodeId === 'csi-a' ? { code: 'INVALID_ARGUMENT' } : undefined);
      const failing = refusalOf(house.volumes.publish(key, 'a', { capability: multi }));
      await house.volumes.publish(key, 'b', { capability: multi });
      await failing;
      expect(await house.stateOn('a')).to.equal('failed');
      expect(await house.volumes.get(key)).to.include({ state: 'published' });
    });

    it('V16 retry of a failed publish while another node has the volume: stays failed', async () => {
      house.plugin.script = ({ nodeId }) => (nodeId === 'csi-a' ? { code: 'INVALID_ARGUMENT' } : undefined);
      await refusalOf(house.volumes.publish(key, 'a'));
      await house.volumes.publish(key, 'b');
      await house.volumes.retry(key);
      await house.rest();
      expect(await house.stateOn('a')).to.equal('failed');
      expect(await house.stateOn('b')).to.equal('published');
    });

    for (const code of ['UNAUTHENTICATED', 'OUT_OF_RANGE'] as const)
      it(`V11 V16 ${code} after an in-doubt call, which may still arrive: no other node gets the volume`, async () => {
        inOrder(house.plugin, 'ControllerPublishVolume', [{ code: 'DEADLINE_EXCEEDED', work: true }, { code }]);
        const failing = refusalOf(house.volumes.publish(key, 'a'));
        await house.clock.advance(1_000);
        expect(await failing).to.include({ grpcCode: code });
        expect(await refusalOf(house.volumes.publish(key, 'b'))).to.include({ code: 'VOLUME_IN_USE' });
        await house.volumes.unpublish(key, 'a');
        await house.volumes.publish(key, 'b');
        expect(house.attached()).to.deep.equal(['csi-b']);
      });

    it('V11 V13 of a volume whose creation failed: rejected with that error', async () => {
      always(house.plugin, 'CreateVolume', { code: 'OUT_OF_RANGE' });
      await refusalOf(house.volumes.create(spec('other')));
      const error = await refusalOf(house.volumes.publish({ id: 'other' }, 'a'));
      expect(error).to.include({ rpc: 'CreateVolume', grpcCode: 'OUT_OF_RANGE' });
    });
  });

  describe('by a plugin that offers less', () => {
    it('V5 without PUBLISH_UNPUBLISH_VOLUME: published and unpublished without calls', async () => {
      house.plugin.capabilities = ['CREATE_DELETE_VOLUME'];
      await house.clock.advance(31_000);
      expect(await house.volumes.publish(key, 'a')).to.deep.equal({ publishContext: {} });
      expect(await house.stateOn('a')).to.equal('published');
      await house.volumes.unpublish(key, 'a');
      expect(house.plugin.told()).to.deep.equal([]);
    });

    it('V17 read-only is sent only to a plugin that offers it', async () => {
      await house.volumes.publish(key, 'a', { readOnly: true });
      expect(house.plugin.calls.at(-1)?.request).to.include({ readonly: true });
      await house.volumes.unpublish(key, 'a');
      house.plugin.capabilities = ['CREATE_DELETE_VOLUME', 'PUBLISH_UNPUBLISH_VOLUME'];
      await house.clock.advance(31_000);
      await house.volumes.publish(key, 'a', { readOnly: true });
      expect(house.plugin.calls.at(-1)?.request).to.include({ readonly: false });
      expect((await house.publications()).a).to.deep.include({ readOnly: true });
    });

    it('V17, 35.8 a capability outside of its spec: refused in the words of its claims, or names the options', async () => {
      const asked = { accessMode: 'single-node-writer', attachmentMode: 'block-device' } as const;
      const error = await refusalOf(house.volumes.publish(key, 'a', { capability: asked }));
      const claim = { allocId: 'web', nodeId: 'a', mode: 'write', ...asked } as const;
      const { code, message } = await refusalOf(house.volumes.claim(key, claim));
      expect([error.code, error.message]).to.deep.equal([code, message]);
      expect([code, message]).to.deep.equal([
        'INVALID_ARGUMENT',
        'volume default/data: it was not made for block-device, single-node-writer, but for file-system, ' +
          'single-node-writer or file-system, multi-node-multi-writer: ask for one of these',
      ]);
      const xfs = { ...asked, attachmentMode: 'file-system', fsType: 'xfs' } as const;
      expect((await refusalOf(house.volumes.publish(key, 'a', { capability: xfs }))).message)
        .to.include('was not made for')
        .and.include('file-system, single-node-writer, xfs');
    });

    it('V17 block volume is sent as block', async () => {
      const block = { accessMode: 'single-node-writer', attachmentMode: 'block-device' } as const;
      await house.volumes.create(spec('raw', { capabilities: [block] }));
      await house.volumes.publish({ id: 'raw' }, 'a');
      expect(house.plugin.calls.at(-1)?.request).to.deep.include({
        volumeCapability: { accessMode: { mode: 'SINGLE_NODE_WRITER' }, block: {} },
      });
    });
  });

  it('V7 CSI node id changed since the publish: unpublished by the old one', async () => {
    await house.volumes.publish(key, 'a');
    await house.runtime.nodes.report({ id: 'a', plugins: [{ name: pluginName, nodeId: 'renamed' }] });
    await house.volumes.unpublish(key, 'a');
    expect(house.plugin.told().at(-1)).to.equal('ControllerUnpublishVolume csi-a: OK');
    await house.volumes.publish(key, 'a');
    expect(house.plugin.told().at(-1)).to.equal('ControllerPublishVolume renamed: OK');
  });

  it('V7 failed in doubt under an old CSI node id: unpublished there first', async () => {
    inOrder(house.plugin, 'ControllerPublishVolume', [
      { code: 'DEADLINE_EXCEEDED', work: true },
      { code: 'UNAUTHENTICATED' },
    ]);
    const failing = refusalOf(house.volumes.publish(key, 'a'));
    await house.clock.advance(1_000);
    await failing;
    await house.runtime.nodes.report({ id: 'a', plugins: [{ name: pluginName, nodeId: 'renamed' }] });
    await house.volumes.publish(key, 'a', { capability: multi });
    expect(house.attached()).to.deep.equal(['renamed']);
  });
});
