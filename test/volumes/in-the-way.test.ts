/** Tests calls that a plugin refuses because of an unknown attachment: the volumes are compared soon, and repaired. */
import { expect } from 'chai';
import type { KeptVolume } from './fake-plugin.js';
import { spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };
const dayMs = 86_400_000;
const single = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;

describe('unknown attachments in the way of calls', () => {
  let house: VolumeHouse;
  let listedAtMs: number[];
  beforeEach(async () => {
    house = await new VolumeHouse().furnish({ reconcile: { intervalMs: dayMs } });
    await house.volumes.create(spec('data', { capabilities: [single] }));
    house.plugin.calls.splice(0);
    listedAtMs = [];
    house.plugin.script = ({ rpc, volume, nodeId }) => {
      if (rpc === 'ListVolumes') listedAtMs.push(house.clock.now());
      const attached = [...(house.plugin.volumes.get(volume)?.attached ?? [])];
      const isInTheWay =
        (rpc === 'ControllerPublishVolume' && attached.some((other) => other !== nodeId)) ||
        (rpc === 'DeleteVolume' && attached.length > 0);
      return isInTheWay ? { code: 'FAILED_PRECONDITION', text: `it is on ${attached.join()}` } : undefined;
    };
  });
  afterEach(() => house.dispose());

  const kept = (): KeptVolume => {
    const volume = house.plugin.volumes.get('vol-1');
    if (!volume) throw new Error('the plugin has no vol-1');
    return volume;
  };

  it('V20 attached elsewhere from outside: found soon after the refusal, detached, then published', async () => {
    kept().attached.add('csi-c');
    const published = house.volumes.publish(key, 'b');
    await house.clock.advance(60_000);
    await published;
    expect([...kept().attached]).to.deep.equal(['csi-b']);
    expect(house.plugin.told()).to.include('ControllerUnpublishVolume csi-c: OK');
    const drift = (await house.events()).find(({ kind }) => kind === 'drifted');
    expect(drift).to.deep.include({ lost: [], strays: ['c'] });
  });

  it('V20 found during another attempt: detached after that call', async () => {
    kept().attached.add('csi-c');
    const { script } = house.plugin;
    let answered = (): void => {};
    const answer = new Promise<void>((resolve) => {
      answered = resolve;
    });
    // Each attempt is still under way when the plugin lists its volumes.
    house.plugin.script = (call) => {
      const step = script(call);
      return call.rpc === 'ControllerPublishVolume' && listedAtMs.length === 0 ? { ...step, after: answer } : step;
    };
    const published = house.volumes.publish(key, 'b');
    await house.rest();
    await house.volumes.reconcile('disk');
    expect(house.plugin.told()).to.deep.equal(['ControllerPublishVolume csi-b: no answer']);
    answered();
    await house.clock.advance(60_000);
    await published;
    expect([...kept().attached]).to.deep.equal(['csi-b']);
    expect(house.plugin.wrongs.filter((wrong) => wrong.includes('was under way'))).to.deep.equal([]);
  });

  it('V20 refused repeatedly for another reason: the plugin lists at most once a minute', async () => {
    house.plugin.script = ({ rpc }) => {
      if (rpc === 'ListVolumes') listedAtMs.push(house.clock.now());
      return rpc === 'ControllerPublishVolume' ? { code: 'FAILED_PRECONDITION' } : undefined;
    };
    await house.volumes.create(spec('more', { capabilities: [single] }));
    for (const id of ['data', 'more']) house.volumes.publish({ id }, 'b').catch(() => {});
    await house.clock.advance(600_000);
    expect(listedAtMs.length).to.be.within(2, 11);
    const gaps = listedAtMs.slice(1).map((atMs, index) => atMs - (listedAtMs[index] ?? 0));
    expect(Math.min(...gaps)).to.be.at.least(60_000);
  });

  it('V20 killed before the list: the next refusal requests it again', async () => {
    kept().attached.add('csi-c');
    house.volumes.publish(key, 'b').catch(() => {});
    await house.rest();
    expect(house.plugin.told()).to.deep.equal(['ControllerPublishVolume csi-b: FAILED_PRECONDITION']);
    expect(listedAtMs).to.deep.equal([]);
    await house.restart();
    await house.clock.advance(60_000);
    expect([...kept().attached]).to.deep.equal(['csi-b']);
  });

  it('V20 C5 attached where it is claimed: left alone, the error names the claim', async () => {
    kept().attached.add('csi-c');
    house.volumes.publish(key, 'b').catch(() => {});
    await house.rest();
    await house.volumes.claim(key, { allocId: 'web', nodeId: 'c', mode: 'write', ...single });
    await house.clock.advance(300_000);
    expect([...kept().attached]).to.deep.equal(['csi-c']);
    const waits = await house.volumes.get(key);
    expect(waits?.error?.message).to.include('FAILED_PRECONDITION').and.to.include('alloc web on node c');
    const told = (await house.events()).filter(({ kind }) => kind === 'seen');
    expect(told.map((event) => event.kind === 'seen' && event.heldOn)).to.deep.equal([['c']]);
    await house.volumes.release(key, 'web');
    await house.clock.advance(600_000);
    expect([...kept().attached]).to.deep.equal(['csi-b']);
    expect(await house.volumes.get(key)).to.not.have.property('error');
  });

  it('V20, 34.34 attached to a machine that is not among the nodes: left alone, the error names the command', async () => {
    kept().attached.add('csi-rescue');
    const published = house.volumes.publish(key, 'b');
    await house.clock.advance(300_000);
    expect([...kept().attached]).to.deep.equal(['csi-rescue']);
    const { error } = (await house.volumes.get(key)) ?? {};
    expect(error?.message).to.include('machine csi-rescue').and.include('stagecraft volume unpublish data csi-rescue');
    const detached = house.volumes.unpublish(key, 'csi-rescue');
    await house.clock.advance(600_000);
    await Promise.all([published, detached]);
    expect([...kept().attached]).to.deep.equal(['csi-b']);
  });

  it('V20, V13, 34.34 deletion refused as it is attached to such a machine: waits until it is unpublished there', async () => {
    kept().attached.add('csi-rescue');
    const deleted = house.volumes.delete(key);
    await house.clock.advance(120_000);
    expect((await house.volumes.get(key))?.error?.message).to.include('stagecraft volume unpublish data csi-rescue');
    house.volumes.unpublish(key, 'csi-rescue').catch(() => {});
    await house.clock.advance(600_000);
    await deleted;
    expect(house.plugin.told().slice(-2)).to.deep.equal([
      'ControllerUnpublishVolume csi-rescue: OK',
      'DeleteVolume: OK',
    ]);
  });

  it('V20 V13 deletion refused because of an attachment from outside: detached, then deleted', async () => {
    kept().attached.add('csi-c');
    const deleted = house.volumes.delete(key);
    await house.clock.advance(60_000);
    await deleted;
    expect(house.plugin.told().slice(-2)).to.deep.equal(['ControllerUnpublishVolume csi-c: OK', 'DeleteVolume: OK']);
  });

  it('V20 plugin that does not list published nodes: not asked', async () => {
    house.plugin.capabilities = ['CREATE_DELETE_VOLUME', 'PUBLISH_UNPUBLISH_VOLUME', 'LIST_VOLUMES'];
    await house.clock.advance(30_000);
    kept().attached.add('csi-c');
    house.volumes.publish(key, 'b').catch(() => {});
    await house.clock.advance(600_000);
    expect(listedAtMs).to.deep.equal([]);
  });
});
