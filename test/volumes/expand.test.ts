/** Tests the expansion of volumes: alone, during another expansion, and with plugins that refuse it. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import type { Step } from './fake-plugin.js';
import { always } from './scripts.js';
import { spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };
const sized = spec('data', { capacity: { requiredBytes: 10 } });

describe('expanding a volume', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    await house.volumes.create(sized);
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });

  function expandingTells(...steps: Step[]): void {
    house.plugin.script = ({ rpc }) => (rpc === 'ControllerExpandVolume' ? steps.shift() : undefined);
  }
  const expansions = (): unknown[] =>
    house.plugin.calls
      .filter(({ rpc }) => rpc === 'ControllerExpandVolume')
      .map(({ request }) => (request as { capacityRange: { requiredBytes: bigint } }).capacityRange.requiredBytes);

  it('V1 V9 a larger size: one call; the answer tells whether the node must expand, too', async () => {
    const answer = await house.volumes.expand(key, { requiredBytes: 20 });
    expect(answer).to.deep.equal({ capacityBytes: 20, nodeExpansionRequired: true });
    expect(await house.volumes.get(key)).to.deep.include({ capacityBytes: 20, nodeExpansionRequired: true });
    expect(expansions()).to.deep.equal([20n]);
  });

  it('V9 plugin reports no size: the size is unknown, and a smaller request is still refused', async () => {
    const expand = house.plugin.controllerExpandVolume.bind(house.plugin);
    house.plugin.controllerExpandVolume = async (request) => ({ ...(await expand(request)), capacityBytes: 0n });
    expect(await house.volumes.expand(key, { requiredBytes: 20 })).to.deep.equal({ nodeExpansionRequired: true });
    const volume = await house.volumes.get(key);
    expect(volume).not.to.have.property('capacityBytes');
    expect(volume?.requested).to.deep.equal({ requiredBytes: 20 });
    await house.volumes.expand(key, { requiredBytes: 20 });
    expect(expansions()).to.deep.equal([20n]);
    const smaller = await refusalOf(house.volumes.expand(key, { requiredBytes: 15 }));
    expect(smaller).to.include({ code: 'INVALID_ARGUMENT' });
  });

  it('V9, 34 plugin answers with less than was asked for: no expansion; tried again, with that reason', async () => {
    const expand = house.plugin.controllerExpandVolume.bind(house.plugin);
    const short = async (request: Parameters<typeof expand>[0]): ReturnType<typeof expand> => ({
      ...(await expand(request)),
      capacityBytes: 15n,
    });
    house.plugin.controllerExpandVolume = short;
    const expanding = house.volumes.expand(key, { requiredBytes: 20 });
    await house.clock.advance(1_000);
    const volume = await house.volumes.get(key);
    expect(volume?.capacityBytes).to.equal(10);
    expect(volume?.error?.message).to.include('it has 15 bytes, though at least 20 were asked for');
    house.plugin.controllerExpandVolume = expand;
    await house.clock.advance(60_000);
    expect(await expanding).to.include({ capacityBytes: 20 });
  });

  it('V11 V21 a failed expansion is marked as failed, a running one is not', async () => {
    expandingTells({ code: 'UNAVAILABLE' }, { code: 'OUT_OF_RANGE' });
    const expanding = refusalOf(house.volumes.expand(key, { requiredBytes: 20 }));
    await house.rest();
    expect((await house.volumes.get(key))?.expansion).not.to.have.property('failed');
    await house.clock.advance(60_000);
    await expanding;
    expect((await house.volumes.get(key))?.expansion).to.include({ failed: true });
  });

  it('V1 the present size: no call', async () => {
    expect(await house.volumes.expand(key, { requiredBytes: 10 })).to.deep.equal({
      capacityBytes: 10,
      nodeExpansionRequired: false,
    });
    expect(expansions()).to.deep.equal([]);
  });

  it('V16 a smaller size or limit: refused, naming the present size', async () => {
    const smaller = await refusalOf(house.volumes.expand(key, { requiredBytes: 9 }));
    expect(smaller).to.deep.include({ code: 'INVALID_ARGUMENT' });
    expect(smaller.message).to.equal('volume default/data: its size is 10: a volume can only grow');
    const empty = await refusalOf(house.volumes.expand(key, {} as { requiredBytes: number }));
    expect(empty.code).to.equal('INVALID_ARGUMENT');
    expect(expansions()).to.deep.equal([]);
  });

  it('V1 repeated after success: the same answer, even if the plugin granted more', async () => {
    house.plugin.blockBytes = 16n;
    await house.volumes.expand(key, { requiredBytes: 20 });
    await house.restart();
    expect(await house.volumes.expand(key, { requiredBytes: 20 })).to.deep.include({ capacityBytes: 32 });
    expect(expansions()).to.deep.equal([20n]);
  });

  it('V1 V12 a larger size during an expansion: both are done, one after the other', async () => {
    let finish = (): void => {};
    expandingTells({ before: new Promise<void>((resolve) => (finish = resolve)) });
    const first = house.volumes.expand(key, { requiredBytes: 20 });
    await house.rest();
    const second = house.volumes.expand(key, { requiredBytes: 30 });
    await house.rest();
    expect(expansions()).to.deep.equal([20n]);
    finish();
    expect((await first).capacityBytes).to.be.oneOf([20, 30]);
    expect(await second).to.deep.include({ capacityBytes: 30 });
    expect(expansions()).to.deep.equal([20n, 30n]);
  });

  it('V11 V12 a failed expansion, then the present size: dropped; waiters for the larger one are rejected', async () => {
    expandingTells({ code: 'OUT_OF_RANGE' });
    await refusalOf(house.volumes.expand(key, { requiredBytes: 20 }));
    const large = refusalOf(house.volumes.expand(key, { requiredBytes: 20 }));
    const small = house.volumes.expand(key, { requiredBytes: 10 });
    expect((await large).code).to.be.oneOf(['ABORTED', 'CSI_ERROR']);
    expect(await small).to.deep.include({ capacityBytes: 10 });
    expect((await house.volumes.get(key))?.expansion).to.equal(undefined);
    expect(expansions()).to.deep.equal([20n]);
  });

  it('V11 OUT_OF_RANGE: rejected, stays failed until another size is requested; the volume stays usable', async () => {
    expandingTells({ code: 'OUT_OF_RANGE' });
    const error = await refusalOf(house.volumes.expand(key, { requiredBytes: 2 ** 50 }));
    expect(error).to.deep.include({ code: 'CSI_ERROR', grpcCode: 'OUT_OF_RANGE', final: true });
    await house.clock.advance(600_000);
    expect((await refusalOf(house.volumes.expand(key, { requiredBytes: 2 ** 50 }))).grpcCode).to.equal('OUT_OF_RANGE');
    expect(expansions()).to.have.length(1);
    await house.volumes.publish(key, 'a');
    expect(await house.volumes.get(key)).to.deep.include({ state: 'published', capacityBytes: 10 });
    expect(await house.volumes.expand(key, { requiredBytes: 20 })).to.deep.include({ capacityBytes: 20 });
    expect((await house.volumes.get(key))?.expansion).to.equal(undefined);
  });

  it('V11 a failed expansion is retried: called again', async () => {
    expandingTells({ code: 'INVALID_ARGUMENT' });
    await refusalOf(house.volumes.expand(key, { requiredBytes: 20 }));
    await house.volumes.retry(key);
    expect(await house.volumes.expand(key, { requiredBytes: 20 })).to.deep.include({ capacityBytes: 20 });
    expect(expansions()).to.deep.equal([20n, 20n]);
  });

  it('V10 answer lost after the work: the same call is repeated until it succeeds', async () => {
    expandingTells({ code: 'DEADLINE_EXCEEDED', work: true }, { code: 'ABORTED' });
    const expanding = house.volumes.expand(key, { requiredBytes: 20 });
    await house.clock.advance(60_000);
    expect(await expanding).to.deep.include({ capacityBytes: 20 });
    expect(expansions()).to.deep.equal([20n, 20n, 20n]);
  });

  it('V1 the runtime ends during the call: the next one calls again and completes it', async () => {
    expandingTells({ before: new Promise(() => {}) });
    const cut = refusalOf(house.volumes.expand(key, { requiredBytes: 20 }));
    await house.rest();
    await house.restart();
    expect((await cut).code).to.equal('RUNTIME_CLOSED');
    await house.clock.advance(60_000);
    expect(await house.volumes.expand(key, { requiredBytes: 20 })).to.deep.include({ capacityBytes: 20 });
    expect(house.plugin.volumes.get('vol-1')?.capacityBytes).to.equal(20n);
    house.plugin.wrongs.length = 0; // The call of the closed runtime never ends.
  });

  it('V13 volume deleted during an expansion: the caller is rejected', async () => {
    expandingTells({ code: 'UNAVAILABLE' });
    const expanding = refusalOf(house.volumes.expand(key, { requiredBytes: 20 }));
    await house.rest();
    await house.volumes.delete(key);
    expect(await expanding).to.deep.include({ code: 'ABORTED' });
  });

  it('V1 TIMEOUT: names the reason, and the work goes on', async () => {
    expandingTells({ code: 'UNAVAILABLE' });
    const expanding = refusalOf(house.volumes.expand(key, { requiredBytes: 20 }, { timeoutMs: 1 }));
    await house.clock.advance(1);
    const { code, message } = await expanding;
    expect(code).to.equal('TIMEOUT');
    expect(message).to.match(/the work goes on: .*UNAVAILABLE/);
    await house.clock.advance(60_000);
    expect((await house.volumes.get(key))?.capacityBytes).to.equal(20);
  });

  it('V11 without EXPAND_VOLUME: PLUGIN_LACKS without a call', async () => {
    const lacking = await new VolumeHouse().open();
    try {
      lacking.plugin.capabilities = ['CREATE_DELETE_VOLUME'];
      await lacking.register();
      await lacking.rest();
      await lacking.volumes.create(sized);
      const error = await refusalOf(lacking.volumes.expand(key, { requiredBytes: 20 }));
      expect(error.code).to.equal('PLUGIN_LACKS');
      expect(error.message).to.contain('EXPAND_VOLUME');
      expect(lacking.plugin.told()).to.deep.equal(['CreateVolume: OK']);
    } finally {
      await lacking.dispose();
    }
  });

  describe('with several capabilities', () => {
    const block = { accessMode: 'single-node-writer', attachmentMode: 'block-device' } as const;
    const files = { accessMode: 'single-node-writer', attachmentMode: 'file-system', fsType: 'ext4' } as const;
    const asBlock = { accessMode: { mode: 'SINGLE_NODE_WRITER' }, block: {} };
    const asFiles = {
      accessMode: { mode: 'SINGLE_NODE_WRITER' },
      mount: { fsType: 'ext4', mountFlags: [], volumeMountGroup: '' },
    };
    const many = { id: 'many' };
    const { fsType: _, ...modes } = files;
    const claimed = { allocId: 'w1', nodeId: 'a', mode: 'write', ...modes } as const;

    const uses: [string, () => Promise<unknown>, object][] = [
      ['published with the second', () => house.volumes.publish(many, 'a', { capability: files }), asFiles],
      ['claimed with the second', () => house.volumes.claim(many, claimed), asFiles],
      ['not in use', async () => {}, asBlock],
    ];
    for (const [how, use, volumeCapability] of uses)
      it(`V17 V9 ${how}: the call has ${volumeCapability === asFiles ? 'that capability' : 'the first capability'}`, async () => {
        await house.volumes.create(spec('many', { capacity: { requiredBytes: 10 }, capabilities: [block, files] }));
        await use();
        await house.volumes.expand(many, { requiredBytes: 20 });
        expect(house.plugin.calls.at(-1)?.request).to.deep.include({ volumeCapability });
      });
  });

  describe('by a plugin with offline expansion only', () => {
    let offline: VolumeHouse;
    beforeEach(async () => {
      offline = new VolumeHouse();
      offline.plugin.pluginCapabilities = ['CONTROLLER_SERVICE', 'VOLUME_EXPANSION_OFFLINE'];
      await offline.furnish();
      await offline.volumes.create(sized);
    });
    afterEach(() => offline.dispose());

    it('V10 V11 publish failed, so the volume is on no node: expanded at once', async () => {
      const publishing = { code: 'INVALID_ARGUMENT' } as const;
      always(offline.plugin, 'ControllerPublishVolume', publishing);
      await refusalOf(offline.volumes.publish(key, 'a'));
      const capacity = { requiredBytes: 20 };
      expect(await offline.volumes.expand(key, capacity)).to.deep.include({ capacityBytes: 20 });
      // The same holds for a publish that failed after the volume had left its node.
      offline.plugin.script = () => undefined;
      await offline.volumes.publish(key, 'b');
      const expanding = offline.volumes.expand(key, { requiredBytes: 30 });
      await offline.rest();
      await offline.volumes.unpublish(key, 'b');
      await offline.rest();
      expect(await expanding).to.deep.include({ capacityBytes: 30 });
    });

    it('V10 V16 while published: waits, naming the node, and is done after the unpublish', async () => {
      await offline.volumes.publish(key, 'a');
      const expanding = offline.volumes.expand(key, { requiredBytes: 20 });
      await offline.clock.advance(3_600_000);
      const volume = await offline.volumes.get(key);
      expect(volume?.state).to.equal('pending-expand');
      expect(volume?.expansion?.message).to.contain('it is on node a: unpublish it there');
      await offline.volumes.unpublish(key, 'a');
      await offline.rest();
      expect(await expanding).to.deep.include({ capacityBytes: 20 });
      expect(offline.plugin.told().at(-1)).to.equal('ControllerExpandVolume: OK');
      expect(offline.plugin.told().filter((call) => call.startsWith('ControllerExpand'))).to.have.length(1);
    });
  });
});
