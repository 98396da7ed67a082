/** Tests ListVolumes as evidence: when a missing attachment counts as detached, and when it proves nothing. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { always, gate } from './scripts.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };
const multi = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;

describe('ListVolumes as evidence', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish({ calls: { timeoutMs: 1_000 } });
    await house.volumes.create(spec('data'));
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });

  const claim = (allocId: string, nodeId = 'a') =>
    house.volumes.claim(key, { allocId, nodeId, mode: 'write', ...multi });
  const publish = () => house.volumes.publish(key, 'a', { capability: multi });
  const detach = (): void => {
    for (const volume of house.plugin.volumes.values()) volume.attached.clear();
  };
  const attached = (): string[] => [...house.plugin.volumes.values()].flatMap((one) => [...one.attached]);
  const compare = async (): Promise<void> => {
    await house.volumes.reconcile(pluginName);
    await house.rest();
  };
  const claims = async (): Promise<string[]> =>
    ((await house.volumes.get(key))?.claims ?? []).map(({ allocId, state }) => `${allocId} ${state}`);
  const stateOn = async (nodeId: string) => (await house.volumes.get(key))?.publications[nodeId]?.state;

  it('N3 C6 detached where another alloc has claimed it since: only the released claim ends', async () => {
    await claim('w1');
    await publish();
    await house.volumes.release(key, 'w1');
    await claim('w2');
    detach();
    await compare();
    expect(await claims()).to.deep.equal(['w2 taken']);
    expect(await stateOn('a')).to.equal(undefined);
    await publish();
    expect(attached()).to.deep.equal(['csi-a']);
  });

  it('N3 C6 detached where another alloc waits for its publish: published, and its claim stays', async () => {
    await claim('w1');
    await publish();
    await house.volumes.release(key, 'w1');
    await claim('w2');
    const published = publish();
    await house.rest();
    detach();
    await compare();
    await published;
    expect(await claims()).to.deep.equal(['w2 taken']);
    expect(attached()).to.deep.equal(['csi-a']);
  });

  it('V20 C6 attached where it is claimed, CSI node id changed since: left alone', async () => {
    await claim('w1', 'b');
    await house.runtime.nodes.report({ id: 'b', plugins: [{ name: pluginName, nodeId: 'renamed' }] });
    for (const volume of house.plugin.volumes.values()) volume.attached.add('csi-b');
    await compare();
    expect(attached()).to.deep.equal(['csi-b']);
    expect(await stateOn('csi-b')).to.equal(undefined);
  });

  it('V8 V20 unpublish under way: not taken for done before its answer', async () => {
    await publish();
    always(house.plugin, 'ControllerUnpublishVolume', { code: 'ABORTED' });
    const gone = house.volumes.unpublish(key, 'a');
    await house.rest();
    detach();
    await compare();
    expect(await stateOn('a')).to.equal('pending-unpublish');
    house.plugin.script = () => undefined;
    await house.clock.advance(60_000);
    await gone;
    expect(house.plugin.told().at(-1)).to.equal('ControllerUnpublishVolume csi-a: OK');
  });

  it('V8 V20 unpublish after a publish in doubt: not taken for done, as the publish may still come', async () => {
    house.plugin.script = ({ rpc }) => {
      if (rpc === 'ControllerUnpublishVolume') return { code: 'NOT_FOUND' };
      return rpc === 'ControllerPublishVolume' ? { code: 'DEADLINE_EXCEEDED' } : undefined;
    };
    publish().catch(() => {});
    await house.rest();
    const gone = house.volumes.unpublish(key, 'a');
    await house.clock.advance(60_000);
    expect(house.plugin.told().at(-1)).to.equal('ControllerUnpublishVolume csi-a: NOT_FOUND');
    await compare();
    expect(await stateOn('a')).to.equal('pending-unpublish');
    // The publish arrives late.
    house.plugin.volumes.get('vol-1')?.attached.add('csi-a');
    house.plugin.script = () => undefined;
    await house.clock.advance(600_000);
    await gone;
    expect(attached()).to.deep.equal([]);
  });

  it('V5 V20 node has not reported, publish in doubt again: not taken for done', async () => {
    await claim('w1');
    await publish();
    const held = gate();
    always(house.plugin, 'ControllerPublishVolume', { before: held.passed, code: 'DEADLINE_EXCEEDED' });
    detach();
    await compare();
    await house.volumes.release(key, 'w1');
    held.open();
    await house.rest();
    await compare();
    expect(await claims()).to.deep.equal(['w1 unpublishing']);
    expect(await stateOn('a')).to.equal('pending-node-unpublish');
  });

  it('N3 V20 listed without published nodes: no evidence, claim and publication stay', async () => {
    await claim('w1');
    await publish();
    await house.volumes.release(key, 'w1');
    const listVolumes = house.plugin.listVolumes.bind(house.plugin);
    house.plugin.listVolumes = async (request) => {
      const { entries, nextToken } = await listVolumes(request);
      return { entries: entries.map(({ status: _, ...entry }) => entry), nextToken };
    };
    await compare();
    expect(await claims()).to.deep.equal(['w1 unpublishing']);
    expect(await stateOn('a')).to.equal('pending-node-unpublish');
    expect(attached()).to.deep.equal(['csi-a']);
  });

  describe('of an outdated list, while the volume is attached', () => {
    const single = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
    /** Makes the plugin list a moment before the attachment. */
    const listsNowhere = (): void => {
      const listVolumes = house.plugin.listVolumes.bind(house.plugin);
      house.plugin.listVolumes = async (request) => {
        const { entries, nextToken } = await listVolumes(request);
        return { entries: entries.map((entry) => ({ ...entry, status: { publishedNodeIds: [] } })), nextToken };
      };
    };
    const claimAlone = (allocId: string, nodeId: string) =>
      house.volumes.claim(key, { allocId, nodeId, mode: 'write', ...single });

    it('N3 C6 V20 node has not reported: unpublished by a call, the claim ends only after it', async () => {
      await claimAlone('w1', 'a');
      await house.volumes.publish(key, 'a', { capability: single });
      await house.volumes.release(key, 'w1');
      const held = gate();
      always(house.plugin, 'ControllerUnpublishVolume', { before: held.passed });
      listsNowhere();
      await compare();
      expect(await claims()).to.deep.equal(['w1 node-detached']);
      expect(await stateOn('a')).to.equal('pending-unpublish');
      expect(await refusalOf(claimAlone('w2', 'b'))).to.include({ code: 'CLAIM_CONFLICT' });
      held.open();
      await house.rest();
      expect(attached()).to.deep.equal([]);
      expect(await claims()).to.deep.equal([]);
      await claimAlone('w2', 'b');
    });

    it('N3 V20 unpublish answers NOT_FOUND: with the list, that is proof', async () => {
      await claimAlone('w1', 'a');
      await house.volumes.publish(key, 'a', { capability: single });
      await house.volumes.release(key, 'w1');
      always(house.plugin, 'ControllerUnpublishVolume', { code: 'NOT_FOUND', work: true });
      listsNowhere();
      await compare();
      expect(house.plugin.told().at(-1)).to.equal('ControllerUnpublishVolume csi-a: NOT_FOUND');
      expect(await claims()).to.deep.equal([]);
      expect(await stateOn('a')).to.equal(undefined);
    });

    it('N3 C6 V20 killed before that call: the next runtime makes it, and the claim counts until then', async () => {
      await claimAlone('w1', 'a');
      await house.volumes.publish(key, 'a', { capability: single });
      await house.volumes.release(key, 'w1');
      always(house.plugin, 'ControllerUnpublishVolume', { code: 'UNAVAILABLE' });
      listsNowhere();
      await compare();
      await house.restart();
      expect(await claims()).to.deep.equal(['w1 node-detached']);
      house.plugin.script = () => undefined;
      await house.clock.advance(600_000);
      expect(attached()).to.deep.equal([]);
      expect(await claims()).to.deep.equal([]);
    });

    it('V8 V20 unpublish begun but not confirmed: done by a call, not by the list', async () => {
      await publish();
      always(house.plugin, 'ControllerUnpublishVolume', { code: 'NOT_FOUND' });
      const gone = house.volumes.unpublish(key, 'a');
      await house.rest();
      house.plugin.script = () => undefined;
      listsNowhere();
      await compare();
      await gone;
      expect(attached()).to.deep.equal([]);
    });

    it('V7 V20 repeated publish fails: no other node gets the volume before it is unpublished here', async () => {
      await house.volumes.publish(key, 'a', { capability: single });
      always(house.plugin, 'ControllerPublishVolume', { code: 'INVALID_ARGUMENT' });
      listsNowhere();
      await compare();
      house.plugin.script = () => undefined;
      expect(await stateOn('a')).to.equal('failed');
      const refusal = await refusalOf(house.volumes.publish(key, 'b', { capability: single }));
      expect(refusal).to.include({ code: 'VOLUME_IN_USE' });
      expect(refusal.message).to.contain('unpublish it there first');
      await house.volumes.unpublish(key, 'a');
      await house.volumes.publish(key, 'b', { capability: single });
      expect(attached()).to.deep.equal(['csi-b']);
    });
  });

  it('V20 external volume attached by its earlier owner: reported once, never detached', async () => {
    const attachedThere = new Set(['k8s-node-7', 'csi-b']);
    house.plugin.volumes.set('their', {
      id: 'their',
      name: '',
      isFound: true,
      capacityBytes: 1n,
      attached: attachedThere,
    });
    const theirs = { id: 'theirs' };
    await house.volumes.create(spec('theirs', { external: { csiId: 'their' } }));
    await compare();
    await compare();
    expect([...attachedThere]).to.deep.equal(['k8s-node-7', 'csi-b']);
    expect((await house.volumes.get(theirs))?.publications).to.deep.equal({});
    const seen = (await house.events()).filter(({ kind }) => kind === 'seen' || kind === 'drifted');
    expect(seen.map((event) => event.kind === 'seen' && event.heldOn)).to.deep.equal([['k8s-node-7', 'b']]);
    // A publication of ours that was lost is published again.
    await house.volumes.publish(theirs, 'a', { capability: multi });
    attachedThere.clear();
    await compare();
    expect([...attachedThere]).to.deep.equal(['csi-a']);
    expect((await house.events()).at(-2)).to.deep.include({ kind: 'drifted', lost: ['a'], strays: [] });
  });
});
