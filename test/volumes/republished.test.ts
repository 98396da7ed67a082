/** Tests requests while a volume is published again after its plugin had lost the attachment. */
import { expect } from 'chai';
import { type DataHouse, inDataHouse, key } from './data-house.js';
import type { Step } from './fake-plugin.js';
import { always, gate, inOrder } from './scripts.js';

const single = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
/** Time for all calls, but too short for the next comparison with the plugin. */
const longMs = 60_000;

describe('a volume that is published again after a lost attachment', () => {
  let house: DataHouse;
  inDataHouse(
    (furnished) => {
      house = furnished;
    },
    { isMade: true },
  );

  const claim = () => house.volumes.claim(key, { allocId: 'web', nodeId: 'a', mode: 'write', ...single });

  /** Detaches the volume from outside, and compares. */
  async function lose(): Promise<void> {
    for (const volume of house.plugin.volumes.values()) volume.attached.clear();
    await house.volumes.reconcile();
    await house.rest();
  }

  for (const [name, step] of [
    ['succeeds', {}],
    ['has an unknown outcome', { code: 'DEADLINE_EXCEEDED', work: true }],
    ['fails finally', { code: 'INVALID_ARGUMENT' }],
  ] satisfies [string, Step][])
    describe(`during its call, which ${name}`, () => {
      const held = { open: (): void => {} };
      const lost = async (): Promise<void> => {
        const { passed, open } = gate();
        held.open = open;
        await house.volumes.publish(key, 'a');
        inOrder(house.plugin, 'ControllerPublishVolume', [{ ...step, before: passed }]);
        await lose();
        house.plugin.calls.splice(0, house.plugin.calls.length - 1);
      };
      const isUndone = async (): Promise<void> => {
        held.open();
        await house.clock.advance(longMs);
        expect(house.plugin.told().slice(1)).to.deep.equal(['ControllerUnpublishVolume csi-a: OK']);
        expect(await house.volumes.get(key)).to.deep.include({ claims: [], publications: {}, state: 'created' });
        expect(house.attached()).to.deep.equal([]);
      };

      it('V5 V8 released and reported unstaged: unpublished after the call', async () => {
        const { generation } = await claim();
        await lost();
        await house.volumes.release(key, 'web');
        await house.runtime.nodes.reportUnstaged('a', key, { claimGeneration: generation });
        await isUndone();
      });

      it('V5 V8 released, reported unstaged after the answer: waits for the report', async () => {
        const { generation } = await claim();
        await lost();
        await house.volumes.release(key, 'web');
        held.open();
        await house.clock.advance(longMs);
        expect(await house.stateOn('a')).to.equal('pending-node-unpublish');
        expect(house.plugin.told()).to.have.length(1);
        await house.runtime.nodes.reportUnstaged('a', key, { claimGeneration: generation });
        await isUndone();
      });

      it('V8 unpublished: done after the call', async () => {
        await lost();
        const gone = house.volumes.unpublish(key, 'a');
        await house.rest();
        await isUndone();
        await gone;
      });

      it('N3 V8 node fenced: unpublished after the call', async () => {
        await claim();
        await lost();
        await house.runtime.nodes.fence('a', 'burnt');
        await house.rest();
        await isUndone();
      });

      it('V8 V13 deleted with force: unpublished after the call, then deleted', async () => {
        await lost();
        const forced = house.volumes.delete(key, { force: true });
        await house.rest();
        held.open();
        await house.clock.advance(longMs);
        await forced;
        expect(house.plugin.told().slice(1)).to.deep.equal(['ControllerUnpublishVolume csi-a: OK', 'DeleteVolume: OK']);
        expect(await house.volumes.get(key)).to.equal(undefined);
      });
    });

  describe('that failed finally and was released', () => {
    let generation = 0;
    beforeEach(async () => {
      ({ generation } = await claim());
      await house.volumes.publish(key, 'a');
      always(house.plugin, 'ControllerPublishVolume', { code: 'INVALID_ARGUMENT' });
      await lose();
      expect(await house.stateOn('a')).to.equal('failed');
      await house.volumes.release(key, 'web');
      house.plugin.calls.length = 0;
    });
    const reported = async (): Promise<void> => {
      await house.runtime.nodes.reportUnstaged('a', key, { claimGeneration: generation });
      await house.rest();
      expect(house.plugin.told()).to.deep.equal(['ControllerUnpublishVolume csi-a: OK']);
      expect(await house.volumes.get(key)).to.deep.include({ claims: [], publications: {} });
    };

    it('V5 N3 unpublished: waits for the report of the node', async () => {
      const gone = house.volumes.unpublish(key, 'a');
      await house.rest();
      expect(house.plugin.told()).to.deep.equal([]);
      expect(await house.stateOn('a')).to.equal('pending-node-unpublish');
      await reported();
      await gone;
    });

    it('V5 N3 retried: not published, waits for the report of the node', async () => {
      await house.volumes.retry(key);
      await house.rest();
      expect(house.plugin.told()).to.deep.equal([]);
      expect(await house.stateOn('a')).to.equal('pending-node-unpublish');
      await reported();
    });
  });

  it('V5 V7 failed finally, requested under the new CSI node id, then released: waits for the report', async () => {
    const { generation } = await claim();
    await house.volumes.publish(key, 'a');
    always(house.plugin, 'ControllerPublishVolume', { code: 'NOT_FOUND' });
    await lose();
    await house.runtime.nodes.report({ id: 'a', plugins: [{ name: 'disk', nodeId: 'renamed' }] });
    const held = gate();
    inOrder(house.plugin, 'ControllerPublishVolume', [{ before: held.passed }]);
    const asked = house.volumes.publish(key, 'a').catch(() => {});
    await house.rest();
    await house.volumes.release(key, 'web');
    held.open();
    await house.rest();
    expect(await house.stateOn('a')).to.equal('pending-node-unpublish');
    await house.runtime.nodes.reportUnstaged('a', key, { claimGeneration: generation });
    await asked;
    expect(house.plugin.told().slice(-2)).to.deep.equal([
      'ControllerPublishVolume renamed: OK',
      'ControllerUnpublishVolume renamed: OK',
    ]);
  });
});
