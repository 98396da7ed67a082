/** How far a listing is evidence: what it takes for gone, and what it leaves alone. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { always, gate } from './scripts.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };
const multi = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;

describe('a listing as evidence', () => {
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

  it('N3 C6 detached from a node where another has claimed it since: only the claim that was let go of is released', async () => {
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

  it('N3 C6 and where that one waits to be published: it is, and keeps its claim', async () => {
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

  it('V20 C6 attached where it is claimed, though its node has another name since: left alone', async () => {
    await claim('w1', 'b');
    await house.runtime.nodes.report({ id: 'b', plugins: [{ name: pluginName, nodeId: 'renamed' }] });
    for (const volume of house.plugin.volumes.values()) volume.attached.add('csi-b');
    await compare();
    expect(attached()).to.deep.equal(['csi-b']);
    expect(await stateOn('csi-b')).to.equal(undefined);
  });

  it('V8 V20 a detaching that its plugin is busy with is not taken for done: only its answer says so', async () => {
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

  it('V8 V20 nor one after a publishing of unknown outcome: that may still come', async () => {
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
    // It comes.
    house.plugin.volumes.get('vol-1')?.attached.add('csi-a');
    house.plugin.script = () => undefined;
    await house.clock.advance(600_000);
    await gone;
    expect(attached()).to.deep.equal([]);
  });

  it('V5 V20 nor one that its node has still to report, published again with an unknown outcome', async () => {
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

  it('N3 V20 listed without a word of where it is: no evidence, its claim stays and so does its publication', async () => {
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

  describe('that is out of date: it is still attached', () => {
    const single = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
    /** The plugin says so of a moment at which it was not attached yet. */
    const listsNowhere = (): void => {
      const listVolumes = house.plugin.listVolumes.bind(house.plugin);
      house.plugin.listVolumes = async (request) => {
        const { entries, nextToken } = await listVolumes(request);
        return { entries: entries.map((entry) => ({ ...entry, status: { publishedNodeIds: [] } })), nextToken };
      };
    };
    const claimAlone = (allocId: string, nodeId: string) =>
      house.volumes.claim(key, { allocId, nodeId, mode: 'write', ...single });

    it('N3 C6 V20 its node has still to report: unpublished by a call, and only then is its slot free', async () => {
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

    it('N3 V20 as the plugin does not find it: that and the listing are proof together', async () => {
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

    it('N3 C6 V20 the runtime is gone before that call: the next one makes it, and keeps the slot until then', async () => {
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

    it('V8 V20 its detaching was begun and not confirmed: done by a call, not by the listing', async () => {
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

    it('V7 V20 published anew in vain: it goes to no other node before it is unpublished there', async () => {
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

  it('V20 one that was taken over, attached by whoever had it before: told once, and never undone', async () => {
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
    // What was published here is published again all the same.
    await house.volumes.publish(theirs, 'a', { capability: multi });
    attachedThere.clear();
    await compare();
    expect([...attachedThere]).to.deep.equal(['csi-a']);
    expect((await house.events()).at(-2)).to.deep.include({ kind: 'drifted', lost: ['a'], strays: [] });
  });
});
